//! Health of one object by the rules of kstatus, so that `status` says what other tools say.
//!
//! What a controller has not said is never guessed: an object whose controller says nothing is current. Messages hold
//! counts, phases and what controllers wrote into conditions, never values of a spec or of a Secret.

mod workloads;

use serde_json::Value;

use crate::world::{Health, HealthStatus};

/// Longest message taken from an object, in characters: conditions are written by anybody.
const MAX_MESSAGE: usize = 300;

/// The health of a live object with its status.
#[must_use]
pub fn of(object: &Value) -> Health {
    generic(object).or_else(|| by_kind(object)).or_else(|| ready_condition(object)).unwrap_or_else(current)
}

/// What holds for every kind: deletion, a generation that was not seen yet, the two abnormal conditions.
fn generic(object: &Value) -> Option<Health> {
    if !text(object, "/metadata/deletionTimestamp").is_empty() {
        return Some(health(HealthStatus::Terminating, "is being deleted"));
    }
    let generation = object.pointer("/metadata/generation").and_then(Value::as_i64);
    let observed = object.pointer("/status/observedGeneration").and_then(Value::as_i64);
    if let (Some(generation), Some(observed)) = (generation, observed)
        && generation != observed
    {
        return Some(in_progress(format!(
            "generation {generation} not yet seen by its controller (at {observed})"
        )));
    }
    for condition in conditions(object) {
        match (text(condition, "/type"), text(condition, "/status")) {
            ("Reconciling", "True") => return Some(in_progress(said(condition))),
            ("Stalled", "True") => return Some(health(HealthStatus::Failed, said(condition))),
            _ => {}
        }
    }
    None
}

/// The rules of kinds that say it in their own way.
fn by_kind(object: &Value) -> Option<Health> {
    let api_version = text(object, "/apiVersion");
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    Some(match (group, text(object, "/kind")) {
        ("apps", "Deployment") => workloads::deployment(object),
        ("apps", "StatefulSet") => workloads::stateful_set(object),
        ("apps", "DaemonSet") => workloads::daemon_set(object),
        ("apps", "ReplicaSet") => workloads::replica_set(object),
        ("", "Pod") => workloads::pod(object),
        ("batch", "Job") => workloads::job(object),
        ("batch", "CronJob") | ("", "ConfigMap" | "Secret") => current(),
        ("policy", "PodDisruptionBudget") => workloads::seen(object).unwrap_or_else(current),
        ("", "PersistentVolumeClaim") => match text(object, "/status/phase") {
            "Bound" => current(),
            "" => in_progress("not bound yet"),
            phase => in_progress(format!("not bound: phase {}", short(phase))),
        },
        ("", "Service") => service(object),
        ("", "Namespace") if text(object, "/status/phase") == "Terminating" => {
            health(HealthStatus::Terminating, "is being deleted")
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(object),
        ("apiregistration.k8s.io", "APIService") => match condition(object, "Available") {
            Some(found) if text(found, "/status") == "True" => current(),
            Some(found) => in_progress(said(found)),
            None => in_progress("not available yet"),
        },
        _ => return None,
    })
}

/// A load balancer without an address takes no traffic: a copy that only has one must not count as healthy.
fn service(object: &Value) -> Health {
    if text(object, "/spec/type") != "LoadBalancer" {
        return current();
    }
    let ingress = object.pointer("/status/loadBalancer/ingress").and_then(Value::as_array);
    if ingress.is_some_and(|it| !it.is_empty()) {
        current()
    } else {
        in_progress("no load-balancer address yet")
    }
}

fn definition(object: &Value) -> Health {
    if let Some(names) = condition(object, "NamesAccepted").filter(|it| text(it, "/status") == "False") {
        return health(HealthStatus::Failed, said(names));
    }
    match condition(object, "Established") {
        Some(found) if text(found, "/status") == "True" => current(),
        Some(found) if text(found, "/status") == "False" && text(found, "/reason") != "Installing" => {
            health(HealthStatus::Failed, said(found))
        }
        _ => in_progress("not established yet"),
    }
}

/// Custom resources mostly say it in `Ready`.
fn ready_condition(object: &Value) -> Option<Health> {
    let ready = condition(object, "Ready")?;
    Some(if text(ready, "/status") == "True" { current() } else { in_progress(said(ready)) })
}

fn health(status: HealthStatus, message: impl Into<String>) -> Health {
    Health { status, message: message.into() }
}

fn current() -> Health {
    health(HealthStatus::Current, "")
}

fn in_progress(message: impl Into<String>) -> Health {
    health(HealthStatus::InProgress, message)
}

/// The text at a JSON pointer; empty where there is none.
fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn conditions(object: &Value) -> &[Value] {
    object.pointer("/status/conditions").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    conditions(object).iter().find(|it| text(it, "/type") == kind)
}

/// What a condition says: its message, else its reason, else its type.
fn said(condition: &Value) -> String {
    let texts = ["/message", "/reason", "/type"].map(|pointer| text(condition, pointer));
    short(texts.into_iter().find(|it| !it.is_empty()).unwrap_or("not ready"))
}

/// One line of bounded length.
fn short(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_MESSAGE).collect();
    line.trim().to_owned()
}

#[cfg(test)]
mod tests;

//! The kinds that run pods: counts in their status against counts in their spec.

use serde_json::Value;

use super::{condition, current, health, in_progress, said, short, text};
use crate::world::{Health, HealthStatus};

fn count(object: &Value, pointer: &str, default: i64) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(default)
}

/// Not healthy while `have` is below `want`.
fn at_least(what: &str, have: i64, want: i64) -> Option<Health> {
    (have < want).then(|| in_progress(format!("{what}: {have}/{want}")))
}

/// Pods that shall go are still there.
fn surplus(have: i64, want: i64) -> Option<Health> {
    (have > want).then(|| in_progress(format!("still to stop: {}", have.saturating_sub(want))))
}

/// Kinds whose controller always says which generation it saw: until it does, nothing is known.
pub(super) fn seen(object: &Value) -> Option<Health> {
    let has = |pointer: &str| object.pointer(pointer).is_some_and(Value::is_i64);
    let seen = has("/metadata/generation") && has("/status/observedGeneration");
    (!seen).then(|| in_progress("not yet seen by its controller"))
}

pub(super) fn deployment(object: &Value) -> Health {
    let progress = condition(object, "Progressing");
    if progress.is_some_and(|it| text(it, "/reason") == "ProgressDeadlineExceeded") {
        return health(HealthStatus::Failed, "progress deadline exceeded");
    }
    let want = count(object, "/spec/replicas", 1);
    let have = count(object, "/status/replicas", 0);
    let updated = count(object, "/status/updatedReplicas", 0);
    let counts = at_least("replicas", have, want)
        .or_else(|| at_least("updated", updated, want))
        .or_else(|| surplus(have, want))
        .or_else(|| at_least("available", count(object, "/status/availableReplicas", 0), updated))
        .or_else(|| at_least("ready", count(object, "/status/readyReplicas", 0), want));
    if let Some(waiting) = counts {
        return waiting;
    }
    // Without a deadline the controller never writes the condition.
    let deadline = count(object, "/spec/progressDeadlineSeconds", i64::from(i32::MAX)) != i64::from(i32::MAX);
    let rolled_out = progress
        .is_some_and(|it| text(it, "/status") == "True" && text(it, "/reason") == "NewReplicaSetAvailable");
    if deadline && !rolled_out {
        return in_progress("the new ReplicaSet is not available yet");
    }
    match condition(object, "Available") {
        Some(it) if text(it, "/status") == "True" => current(),
        Some(it) => in_progress(said(it)),
        None => in_progress("not available yet"),
    }
}

pub(super) fn stateful_set(object: &Value) -> Health {
    if text(object, "/spec/updateStrategy/type") == "OnDelete" {
        return current();
    }
    let want = count(object, "/spec/replicas", 1);
    let have = count(object, "/status/replicas", 0);
    let counts = at_least("replicas", have, want)
        .or_else(|| at_least("ready", count(object, "/status/readyReplicas", 0), want))
        .or_else(|| surplus(have, want));
    if let Some(waiting) = counts {
        return waiting;
    }
    let updated = count(object, "/status/updatedReplicas", 0);
    // A partition of 0 is the default that servers fill in, and updates all.
    if let Some(partition) =
        object.pointer("/spec/updateStrategy/rollingUpdate/partition").and_then(Value::as_i64)
    {
        return at_least("updated", updated, want.saturating_sub(partition)).unwrap_or_else(current);
    }
    if let Some(waiting) = at_least("current", count(object, "/status/currentReplicas", 0), want) {
        return waiting;
    }
    if text(object, "/status/currentRevision") == text(object, "/status/updateRevision") {
        current()
    } else {
        in_progress("the new revision is not complete yet")
    }
}

pub(super) fn daemon_set(object: &Value) -> Health {
    if let Some(waiting) = seen(object) {
        return waiting;
    }
    let Some(want) = object.pointer("/status/desiredNumberScheduled").and_then(Value::as_i64) else {
        return in_progress("number of nodes not known yet");
    };
    [
        ("scheduled", "/status/currentNumberScheduled"),
        ("updated", "/status/updatedNumberScheduled"),
        ("available", "/status/numberAvailable"),
        ("ready", "/status/numberReady"),
    ]
    .into_iter()
    .find_map(|(what, pointer)| at_least(what, count(object, pointer, 0), want))
    .unwrap_or_else(current)
}

pub(super) fn replica_set(object: &Value) -> Health {
    if let Some(failure) = condition(object, "ReplicaFailure").filter(|it| text(it, "/status") == "True") {
        return in_progress(said(failure));
    }
    let want = count(object, "/spec/replicas", 1);
    at_least("labelled", count(object, "/status/fullyLabeledReplicas", 0), want)
        .or_else(|| at_least("available", count(object, "/status/availableReplicas", 0), want))
        .or_else(|| at_least("ready", count(object, "/status/readyReplicas", 0), want))
        .or_else(|| surplus(count(object, "/status/replicas", 0), want))
        .unwrap_or_else(current)
}

pub(super) fn pod(object: &Value) -> Health {
    let is =
        |kind: &str, status: &str| condition(object, kind).is_some_and(|it| text(it, "/status") == status);
    match text(object, "/status/phase") {
        // A pod that ended is where it wanted to be; whether it ended well is for its Job to say.
        "Succeeded" | "Failed" => current(),
        "Running" if is("Ready", "True") => current(),
        "Running" => {
            let crashing = crashing(object);
            if crashing.is_empty() {
                return in_progress("running, not ready yet");
            }
            health(
                HealthStatus::Failed,
                format!("containers that crash again and again: {}", crashing.join(", ")),
            )
        }
        // How long is too long needs a clock, which is not here: waiting for a node is progress.
        "Pending" => match condition(object, "PodScheduled").filter(|it| text(it, "/status") == "False") {
            Some(waiting) => in_progress(said(waiting)),
            None => in_progress("pending"),
        },
        "" => in_progress("not yet seen by a kubelet"),
        phase => health(HealthStatus::Unknown, format!("unknown phase {}", short(phase))),
    }
}

fn crashing(pod: &Value) -> Vec<String> {
    let states = pod.pointer("/status/containerStatuses").and_then(Value::as_array);
    states
        .into_iter()
        .flatten()
        .filter(|it| text(it, "/state/waiting/reason") == "CrashLoopBackOff")
        .map(|it| short(text(it, "/name")))
        .take(10)
        .collect()
}

pub(super) fn job(object: &Value) -> Health {
    let is_true = |kind: &str| condition(object, kind).filter(|it| text(it, "/status") == "True");
    if is_true("Complete").is_some() {
        return current();
    }
    if let Some(failed) = is_true("Failed") {
        return health(HealthStatus::Failed, said(failed));
    }
    if is_true("Suspended").is_some() || !text(object, "/status/startTime").is_empty() {
        return current();
    }
    in_progress("not started yet")
}

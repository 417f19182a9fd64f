use serde_json::{Value, json};

use super::of;
use crate::world::HealthStatus::{self, Current, Failed, InProgress, Terminating, Unknown};

/// An object of a kind with parts laid over it.
fn object(api_version: &str, kind: &str, parts: Value) -> Value {
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}});
    for (key, value) in parts.as_object().expect("a map of parts") {
        object[key] = value.clone();
    }
    object
}

#[track_caller]
fn check(api_version: &str, kind: &str, cases: &[(Value, HealthStatus)]) {
    for (parts, expected) in cases {
        let health = of(&object(api_version, kind, parts.clone()));
        assert_eq!(health.status, *expected, "{kind} {parts}: {health:?}");
        assert_eq!(health.message.is_empty(), health.status == Current, "{kind} {parts}: {health:?}");
    }
}

fn condition(kind: &str, status: &str, reason: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": "words"})
}

#[test]
fn rules_for_every_kind() {
    check(
        "shop.example/v1",
        "Widget",
        &[
            (json!({}), Current),
            (json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), Terminating),
            (json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1}}), InProgress),
            (json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 2}}), Current),
            (json!({"status": {"conditions": [condition("Reconciling", "True", "")]}}), InProgress),
            (json!({"status": {"conditions": [condition("Stalled", "True", "")]}}), Failed),
            (json!({"status": {"conditions": [condition("Stalled", "False", "")]}}), Current),
            (json!({"status": {"conditions": [condition("Ready", "True", "")]}}), Current),
            (json!({"status": {"conditions": [condition("Ready", "False", "")]}}), InProgress),
            (json!({"status": {"conditions": [condition("Ready", "Unknown", "")]}}), InProgress),
            (json!({"status": {"conditions": "hostile", "observedGeneration": "x"}}), Current),
        ],
    );
    check(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        &[(
            json!({"status": {"conditions": [condition("ScalingActive", "False", "FailedGetResourceMetric")]}}),
            Current,
        )],
    );
    check("v1", "ConfigMap", &[(json!({}), Current)]);
    check("batch/v1", "CronJob", &[(json!({}), Current)]);
    check("networking.k8s.io/v1", "Ingress", &[(json!({}), Current)]);
    check(
        "v1",
        "Namespace",
        &[
            (json!({"status": {"phase": "Active"}}), Current),
            (json!({"status": {"phase": "Terminating"}}), Terminating),
        ],
    );
    check(
        "v1",
        "PersistentVolumeClaim",
        &[
            (json!({}), InProgress),
            (json!({"status": {"phase": "Pending"}}), InProgress),
            (json!({"status": {"phase": "Bound"}}), Current),
        ],
    );
    check(
        "v1",
        "Service",
        &[
            (json!({"spec": {"type": "ClusterIP"}}), Current),
            (json!({"spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}}), InProgress),
            (
                json!({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"hostname": "a"}]}}}),
                Current,
            ),
        ],
    );
    check(
        "policy/v1",
        "PodDisruptionBudget",
        &[
            (json!({"metadata": {"generation": 1}}), InProgress),
            (json!({"metadata": {"generation": 1}, "status": {"observedGeneration": 1}}), Current),
        ],
    );
    check(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &[
            (json!({}), InProgress),
            (json!({"status": {"conditions": [condition("NamesAccepted", "False", "")]}}), Failed),
            (
                json!({"status": {"conditions": [condition("Established", "False", "Installing")]}}),
                InProgress,
            ),
            (json!({"status": {"conditions": [condition("Established", "False", "NotAccepted")]}}), Failed),
            (json!({"status": {"conditions": [condition("Established", "True", "")]}}), Current),
        ],
    );
    check(
        "apiregistration.k8s.io/v1",
        "APIService",
        &[
            (json!({}), InProgress),
            (json!({"status": {"conditions": [condition("Available", "False", "")]}}), InProgress),
            (json!({"status": {"conditions": [condition("Available", "True", "")]}}), Current),
        ],
    );
    check(
        "batch/v1",
        "Job",
        &[
            (json!({}), InProgress),
            (json!({"status": {"startTime": "2026-01-01T00:00:00Z"}}), Current),
            (json!({"status": {"conditions": [condition("Complete", "True", "")]}}), Current),
            (json!({"status": {"conditions": [condition("Suspended", "True", "")]}}), Current),
            (json!({"status": {"startTime": "t", "conditions": [condition("Failed", "True", "")]}}), Failed),
        ],
    );
    check(
        "v1",
        "Pod",
        &[
            (json!({}), InProgress),
            (json!({"status": {"phase": "Pending"}}), InProgress),
            (json!({"status": {"phase": "Running"}}), InProgress),
            (
                json!({"status": {"phase": "Running", "conditions": [condition("Ready", "True", "")]}}),
                Current,
            ),
            (
                json!({"status": {"phase": "Running", "containerStatuses": [
                {"name": "web", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}}),
                Failed,
            ),
            (json!({"status": {"phase": "Succeeded"}}), Current),
            (json!({"status": {"phase": "Odd"}}), Unknown),
        ],
    );
}

#[test]
fn rules_for_workloads() {
    let deployment = |spec: i64, have: i64, updated: i64, available: i64, ready: i64| {
        json!({
            "spec": {"replicas": spec, "progressDeadlineSeconds": 600},
            "status": {
                "replicas": have, "updatedReplicas": updated, "availableReplicas": available, "readyReplicas": ready,
                "conditions": [
                    condition("Progressing", "True", "NewReplicaSetAvailable"),
                    condition("Available", "True", ""),
                ],
            },
        })
    };
    check(
        "apps/v1",
        "Deployment",
        &[
            (json!({}), InProgress),
            (deployment(3, 3, 3, 3, 3), Current),
            (deployment(0, 0, 0, 0, 0), Current),
            (deployment(3, 2, 2, 2, 2), InProgress),
            (deployment(3, 3, 2, 3, 3), InProgress),
            (deployment(3, 4, 3, 3, 3), InProgress),
            (deployment(3, 3, 3, 2, 3), InProgress),
            (deployment(3, 3, 3, 3, 2), InProgress),
            (
                json!({"spec": {"replicas": 0}, "status": {"conditions": [condition("Available", "True", "")]}}),
                Current,
            ),
            (
                json!({"spec": {"replicas": 0, "progressDeadlineSeconds": 9},
                "status": {"conditions": [condition("Available", "True", "")]}}),
                InProgress,
            ),
            (
                json!({"status": {"conditions": [condition("Progressing", "False", "ProgressDeadlineExceeded")]}}),
                Failed,
            ),
        ],
    );
    let stateful = |partition: Value, ready: i64, current: i64, updated: i64, revision: &str| {
        json!({
            "spec": {"replicas": 3, "updateStrategy": {"rollingUpdate": partition}},
            "status": {
                "replicas": 3, "readyReplicas": ready, "currentReplicas": current, "updatedReplicas": updated,
                "currentRevision": revision, "updateRevision": "b",
            },
        })
    };
    check(
        "apps/v1",
        "StatefulSet",
        &[
            (json!({}), InProgress),
            (json!({"spec": {"replicas": 0}}), Current),
            (json!({"spec": {"updateStrategy": {"type": "OnDelete"}}}), Current),
            (stateful(json!({}), 3, 3, 0, "b"), Current),
            (stateful(json!({}), 2, 3, 0, "b"), InProgress),
            (stateful(json!({}), 3, 2, 0, "b"), InProgress),
            (stateful(json!({}), 3, 3, 0, "a"), InProgress),
            (stateful(json!({"partition": 0}), 3, 0, 2, "a"), InProgress),
            (stateful(json!({"partition": 1}), 3, 0, 2, "a"), Current),
        ],
    );
    let daemon = |want: Value, scheduled: i64, updated: i64, available: i64, ready: i64| {
        json!({"metadata": {"generation": 1}, "status": {
            "observedGeneration": 1, "desiredNumberScheduled": want, "currentNumberScheduled": scheduled,
            "updatedNumberScheduled": updated, "numberAvailable": available, "numberReady": ready,
        }})
    };
    check(
        "apps/v1",
        "DaemonSet",
        &[
            (json!({"metadata": {"generation": 1}}), InProgress),
            (daemon(json!(2), 2, 2, 2, 2), Current),
            (daemon(json!(0), 0, 0, 0, 0), Current),
            (daemon(json!(null), 0, 0, 0, 0), InProgress),
            (daemon(json!(2), 1, 2, 2, 2), InProgress),
            (daemon(json!(2), 2, 1, 2, 2), InProgress),
            (daemon(json!(2), 2, 2, 1, 2), InProgress),
            (daemon(json!(2), 2, 2, 2, 1), InProgress),
        ],
    );
    let replica_set = |labelled: i64, available: i64, ready: i64, have: i64| {
        json!({"spec": {"replicas": 2}, "status": {"fullyLabeledReplicas": labelled, "availableReplicas": available,
            "readyReplicas": ready, "replicas": have}})
    };
    check(
        "apps/v1",
        "ReplicaSet",
        &[
            (replica_set(2, 2, 2, 2), Current),
            (replica_set(1, 2, 2, 2), InProgress),
            (replica_set(2, 1, 2, 2), InProgress),
            (replica_set(2, 2, 1, 2), InProgress),
            (replica_set(2, 2, 2, 3), InProgress),
            (
                json!({"spec": {"replicas": 0}, "status": {"conditions": [condition("ReplicaFailure", "True", "")]}}),
                InProgress,
            ),
        ],
    );
}

#[test]
fn messages_are_one_bounded_line() {
    let long = format!("a\nb{}", "x".repeat(10_000));
    let health = of(&object(
        "x.io/v1",
        "W",
        json!({"status": {"conditions": [
        {"type": "Ready", "status": "False", "message": long}]}}),
    ));
    assert_eq!(health.message.chars().count(), 300);
    assert!(health.message.starts_with("a b"));
}

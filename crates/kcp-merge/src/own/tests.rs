//! Objects as API servers give them back: what we applied comes out as we sent it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{own_fields, without_annotations};
use crate::canonical_bytes;

const DROP: [&str; 2] = ["kcp.dev/commit", "kcp.dev/source"];

fn assert_comes_back(sent: &Value, live: &Value) {
    let own = own_fields(live, "kcp", &DROP).expect("readable").expect("ours");
    let wanted = without_annotations(sent, &DROP);
    assert_eq!(canonical_bytes(&own), canonical_bytes(&wanted), "own: {own:#}\nsent: {wanted:#}");
}

#[test]
fn deployment_with_defaults_and_other_managers() {
    let sent = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "shop",
            "labels": {"app": "web"},
            "annotations": {"kcp.dev/commit": "abc", "kcp.dev/workspace": "shop"},
            "finalizers": ["example.com/b"],
        },
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{
                        "name": "web", "image": "nginx:1", "args": ["-v"],
                        "ports": [{"containerPort": 80}],
                        "resources": {"requests": {"cpu": 1}},
                        "securityContext": {},
                    }],
                    "volumes": [{"name": "tmp", "emptyDir": {}}, {"name": "c", "configMap": {"name": "c"}}],
                },
            },
        },
    });
    let fields = json!({
        "f:metadata": {
            "f:annotations": {"f:kcp.dev/commit": {}, "f:kcp.dev/workspace": {}},
            "f:labels": {"f:app": {}},
            "f:finalizers": {"v:\"example.com/b\"": {}},
        },
        "f:spec": {
            "f:selector": {},
            "f:template": {
                "f:metadata": {"f:labels": {"f:app": {}}},
                "f:spec": {
                    "f:containers": {"k:{\"name\":\"web\"}": {
                        ".": {}, "f:name": {}, "f:image": {}, "f:args": {},
                        "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}},
                        "f:resources": {"f:requests": {"f:cpu": {}}},
                        "f:securityContext": {},
                    }},
                    "f:volumes": {
                        "k:{\"name\":\"tmp\"}": {".": {}, "f:name": {}, "f:emptyDir": {}},
                        "k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:configMap": {"f:name": {}}},
                    },
                },
            },
        },
    });
    let live = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": 2,
            "labels": {"app": "web", "theirs": "x"},
            "annotations": {
                "deployment.kubernetes.io/revision": "1", "kcp.dev/commit": "abc", "kcp.dev/workspace": "shop"
            },
            "finalizers": ["a/theirs", "example.com/b"],
            "managedFields": [
                {"manager": "kcp", "operation": "Apply", "subresource": "status", "fieldsV1": {"f:status": {}}},
                {"manager": "kcp", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                {"manager": "kcp", "operation": "Apply", "fieldsV1": fields},
                {"manager": "other", "operation": "Apply", "fieldsV1": {"f:spec": {"f:paused": {}}}},
            ],
        },
        "spec": {
            "replicas": 1, "paused": true, "progressDeadlineSeconds": 600,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"creationTimestamp": null, "labels": {"app": "web"}},
                "spec": {
                    "dnsPolicy": "ClusterFirst",
                    "containers": [
                        {"name": "sidecar", "image": "theirs"},
                        {
                            "name": "web", "image": "nginx:1", "args": ["-v"], "imagePullPolicy": "IfNotPresent",
                            "ports": [{"containerPort": 80, "protocol": "TCP"}],
                            "resources": {"requests": {"cpu": "1000m", "memory": "1Gi"}},
                            "securityContext": {},
                        },
                    ],
                    "volumes": [
                        {"name": "tmp", "emptyDir": {}},
                        {"name": "c", "configMap": {"name": "c", "defaultMode": 420}},
                    ],
                },
            },
        },
        "status": {"replicas": 1},
    });
    assert_comes_back(&sent, &live);

    let mut edited = live.clone();
    edited["spec"]["template"]["spec"]["containers"][1]["image"] = json!("evil");
    let own = |live: &Value| canonical_bytes(&own_fields(live, "kcp", &DROP).expect("ok").expect("ours"));
    assert_ne!(own(&edited), own(&live), "a changed field of ours shows");

    let mut elsewhere = live.clone();
    elsewhere["spec"]["replicas"] = json!(9);
    elsewhere["metadata"]["annotations"]["kcp.dev/commit"] = json!("def");
    assert_eq!(own(&elsewhere), own(&live), "fields of others and the commit do not count");

    let mut gone = live.clone();
    gone["spec"]["template"]["spec"]["volumes"] = json!([]);
    assert_ne!(own(&gone), own(&live), "a lost item shows");
}

#[test]
fn only_ours_counts() {
    let live = json!({"metadata": {"name": "a", "managedFields": [
        {"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:data": {}}}
    ]}});
    assert_eq!(own_fields(&live, "kcp", &DROP), Ok(None));
    let live = json!({"kind": "X", "metadata": {"name": "a", "managedFields": [
        {"manager": "kcp", "operation": "Apply", "fieldsV1": {}}
    ]}});
    assert_eq!(own_fields(&live, "kcp", &DROP), Ok(Some(json!({"kind": "X", "metadata": {"name": "a"}}))));
    let live =
        json!({"metadata": {"managedFields": [{"manager": "kcp", "operation": "Apply", "fieldsV1": []}]}});
    assert!(own_fields(&live, "kcp", &DROP).is_err());
}

#[test]
fn an_annotations_map_that_gets_empty_goes() {
    let object = json!({"metadata": {"annotations": {"kcp.dev/commit": "a"}, "name": "x"}});
    assert_eq!(without_annotations(&object, &DROP), json!({"metadata": {"name": "x"}}));
    assert_eq!(without_annotations(&json!([1]), &DROP), json!([1]));
}

/// A map of scalars and maps, and the fieldsV1 that an API server writes for it when all maps are granular.
fn granular() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![any::<u8>().prop_map(Value::from), "[a-z]{1,3}".prop_map(Value::from), Just(json!({}))];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop::collection::btree_map("[a-d]", inner, 1..4)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    })
    .prop_map(|spec| json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "spec": spec}))
}

fn fields_of(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (format!("f:{key}"), fields_of(value))).collect())
        }
        _ => json!({}),
    }
}

proptest! {
    #[test]
    fn what_was_sent_comes_back_whatever_others_add(sent in granular(), extra in "[e-h]") {
        let mut live = sent.clone();
        live["metadata"]["managedFields"] = json!([
            {"manager": "kcp", "operation": "Apply", "fieldsV1": {"f:spec": fields_of(&sent["spec"])}}
        ]);
        // Others write next to ours, wherever ours is not an empty map.
        if live["spec"].as_object().is_some_and(|map| !map.is_empty()) {
            live["spec"][extra] = json!("theirs");
        }
        let own = own_fields(&live, "kcp", &DROP).expect("readable").expect("ours");
        prop_assert_eq!(canonical_bytes(&own), canonical_bytes(&sent));
    }
}

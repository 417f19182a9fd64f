//! What is served, and what is only unknown.

use kcp_core::object::GroupKind;
use serde_json::json;

use super::{discover, identity};
use crate::fake::Fake;

#[tokio::test]
async fn a_stale_group_is_unknown_and_not_gone() {
    let fake = Fake::new();
    let list = json!({"kind": "APIGroupDiscoveryList", "items": [
        {"metadata": {"name": "autoscaling"}, "versions": [
            {"version": "v2", "resources": [{
                "resource": "horizontalpodautoscalers", "scope": "Namespaced", "verbs": ["get"],
                "responseKind": {"kind": "HorizontalPodAutoscaler"},
            }]},
            {"version": "v1", "resources": [{
                "resource": "horizontalpodautoscalers", "scope": "Namespaced", "verbs": ["get"],
                "responseKind": {"kind": "HorizontalPodAutoscaler"},
            }]},
        ]},
        {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "freshness": "Stale"}]},
    ]});
    fake.fail("GET /apis", 200, list, 1);
    let api = discover(&fake.cluster()).await.expect("discovered");
    let hpa = api.kind(&GroupKind::new("autoscaling", "HorizontalPodAutoscaler")).expect("served");
    assert_eq!(hpa.versions, ["v2", "v1"], "preferred first");
    assert!(!api.lacks(&GroupKind::new("metrics.k8s.io", "PodMetrics")));
    assert!(api.lacks(&GroupKind::new("gone.example", "Gone")));
}

#[tokio::test]
async fn servers_without_aggregation_are_asked_group_by_group() {
    let fake = Fake::new();
    fake.fail("GET /apis/broken.example/v1", 503, json!({"message": "down"}), 1);
    let widgets = json!({"resources": [
        {"name": "widgets", "kind": "Widget", "namespaced": true, "verbs": ["get", "list"]},
        {"name": "widgets/status", "kind": "Widget", "namespaced": true, "verbs": ["get"]},
        {"name": "reviews", "kind": "Review", "namespaced": false, "verbs": ["create"]},
    ]});
    fake.fail("GET /apis/fine.example/v1", 200, widgets, 1);
    let groups = json!({"kind": "APIGroupList", "groups": [
        {"name": "broken.example", "versions": [{"version": "v1"}]},
        {"name": "fine.example", "versions": [{"version": "v1"}]},
    ]});
    fake.fail("GET /apis", 200, groups, 1);
    let api = discover(&fake.cluster()).await.expect("discovered");
    assert_eq!(api.failed_groups.get("broken.example").map(String::as_str), Some("down"));
    assert_eq!(api.kinds["fine.example"].len(), 1);
    assert_eq!(api.kinds["fine.example"][0].plural, "widgets");
}

#[tokio::test]
async fn a_lost_list_of_groups_is_an_error_and_never_an_empty_answer() {
    let fake = Fake::new();
    fake.fail("GET /apis", 200, json!({}), 1);
    assert!(discover(&fake.cluster()).await.is_err());
    fake.fail("GET /api/v1/namespaces/kube-system", 200, json!({"metadata": {}}), 1);
    assert!(identity(&fake.cluster()).await.is_err());
    assert_eq!(identity(&fake.cluster()).await.expect("known").uid.0, "the-uid");
}

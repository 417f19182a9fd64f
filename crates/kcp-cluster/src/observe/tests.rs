//! Lists: whole, in pages, and failing.

use std::collections::BTreeSet;
use std::sync::Arc;

use kcp_core::applyset;
use kcp_core::object::{ContentHash, GroupKind};
use kcp_core::world::{ClusterUid, ClusterView, Contact};
use serde_json::{Value, json};

use crate::fake::Fake;
use crate::worker::Clock;

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": name, "namespace": "shop",
            "labels": {"applyset.kubernetes.io/part-of": applyset::set_id("f1", "shop")},
            "annotations": {"kcp.dev/workspace": "shop"},
        },
        "data": {"a": "1"},
    })
}

/// A cluster with the workspace `shop` of three ConfigMaps, and one that only copied the label of another set.
async fn shop() -> Fake {
    let fake = Fake::new();
    let kinds = BTreeSet::from([GroupKind::new("", "ConfigMap"), GroupKind::new("gone.example", "Gone")]);
    let parent =
        applyset::parent_body("f1", "shop", None, &kinds, &["shop".to_owned()].into(), &Default::default());
    fake.put(
        &format!("/api/v1/namespaces/kcp-system/secrets/{}", applyset::parent_name("f1", "shop")),
        parent,
    );
    let session = crate::execute::tests::session(&fake);
    for name in ["a", "b", "c"] {
        let action = crate::execute::tests::create(config_map(name));
        session.apply("shop", &action).await;
    }
    let mut other = config_map("other");
    other["metadata"]["labels"]["applyset.kubernetes.io/part-of"] = json!("applyset-other-v1");
    fake.put("/api/v1/namespaces/shop/configmaps/other", other);
    fake.log(|_| false);
    fake
}

async fn look(fake: &Fake, expected: Option<&ClusterUid>) -> ClusterView {
    let clock: Clock = Arc::new(|| 5);
    crate::observe_once(&fake.cluster(), "f1", expected, &BTreeSet::new(), &clock).await
}

#[tokio::test]
async fn members_are_reduced_and_counted_by_their_set() {
    let fake = shop().await;
    let view = look(&fake, None).await;
    assert!(view.complete && view.contact == Contact::Live { since: 5 }, "{view:?}");
    let objects = &view.sets["shop"].objects;
    assert_eq!(objects.keys().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    let hash = ContentHash::of_value(&config_map("a"));
    assert!(objects.values().next().is_some_and(|object| object.own == hash && object.managed));
    assert!(fake.writes().is_empty());
}

#[tokio::test]
async fn a_list_that_expires_between_pages_begins_again() {
    let fake = shop().await;
    fake.pages_of(1);
    let path = "GET /api/v1/configmaps?labelSelector=applyset.kubernetes.io%2Fpart-of&limit=250&continue=2";
    fake.fail(path, 410, json!({"reason": "Expired"}), 1);
    let view = look(&fake, None).await;
    assert!(view.complete && view.sets["shop"].objects.len() == 3);
    let pages = fake.log(|line| line.contains("/configmaps?"));
    assert_eq!(pages.iter().filter(|line| !line.contains("continue")).count(), 2, "{pages:?}");
}

#[tokio::test]
async fn what_cannot_be_listed_is_unknown() {
    let fake = shop().await;
    fake.fail("GET /api/v1/configmaps", 500, json!({"message": "no"}), 1);
    let view = look(&fake, None).await;
    assert!(!view.complete);
    assert_eq!(view.sets["shop"].unlisted["ConfigMap"], "no");

    fake.fail("GET /api/v1/namespaces/kcp-system/secrets", 401, json!({"message": "Unauthorized"}), 1);
    let view = look(&fake, None).await;
    assert!(!view.complete && matches!(view.contact, Contact::Lost { .. }));

    let path = format!("/api/v1/namespaces/kcp-system/secrets/{}", applyset::parent_name("f1", "shop"));
    let mut parent = fake.get(&path).expect("there");
    parent["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"] = json!("?!,,");
    fake.put(&path, parent);
    let view = look(&fake, None).await;
    assert!(!view.complete && view.parent_errors.contains_key("shop"), "{view:?}");
}

#[tokio::test]
async fn another_cluster_is_refused_before_anything_is_read() {
    let fake = shop().await;
    let view = look(&fake, Some(&ClusterUid("other".into()))).await;
    assert!(matches!(view.contact, Contact::Refused { .. }) && view.sets.is_empty());
    assert!(fake.log(|line| line.contains("secrets") || line.contains("configmaps")).is_empty());
}

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::*;
use crate::world::{ClusterUid, Decision};

fn decision() -> Decision {
    Decision {
        epoch: 3,
        targets: BTreeSet::from([ClusterUid("u1".into())]),
        leaving: BTreeSet::from([ClusterUid("u2".into())]),
        since: 1_700_000_000,
    }
}

fn parent() -> Value {
    parent_body(
        "5f0c7c1e",
        "shop",
        Some(&decision()),
        &BTreeSet::from([GroupKind::new("apps", "Deployment"), GroupKind::new("", "ConfigMap")]),
        &BTreeSet::from(["shop".into(), "jobs".into(), PARENT_NAMESPACE.into()]),
        &BTreeMap::from([("ConfigMap shop/web".to_owned(), ContentHash::of_bytes(b"x"))]),
    )
}

#[test]
fn ids_are_those_of_kubectl() {
    // The example of the Kubernetes documentation: the Secret `my-set` in namespace `test`.
    let secret = GroupKind::new("", "Secret");
    assert_eq!(id("my-set", "test", &secret), "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1");
    // base64url of sha256 of `kcp-5f0c7c1e-shop.kcp-system.Secret.`
    assert_eq!(set_id("5f0c7c1e", "shop"), "applyset-4gJ5s3AAbDKRG9mDnxNxvNiP94SSIFkcwnyjABG6wBo-v1");
}

#[test]
fn names_are_readable_unless_two_pairs_could_share_one() {
    assert_eq!(parent_name("5f0c7c1e", "shop-eu"), "kcp-5f0c7c1e-shop-eu");
    let (one, other) = (parent_name("a-b", "c"), parent_name("a", "b-c"));
    assert_ne!(one, other);
    for odd in [one, parent_name("UPPER", "c"), parent_name("a", &"x".repeat(300)), parent_name("", "")] {
        assert_eq!(odd.len(), 36, "{odd}");
        assert!(odd.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{odd}");
    }
}

#[test]
fn the_parent_is_what_kubectl_would_write_and_reads_back() {
    let parent = parent();
    let annotation = |key: &str| parent["metadata"]["annotations"][key].clone();
    assert_eq!(annotation(TOOLING_ANNOTATION), "kcp/v1.0.0");
    assert_eq!(annotation(GROUP_KINDS_ANNOTATION), "ConfigMap,Deployment.apps");
    assert_eq!(annotation(NAMESPACES_ANNOTATION), "jobs,shop", "without the parent's own");
    assert_eq!(parent["metadata"]["labels"][ID_LABEL], set_id("5f0c7c1e", "shop"));

    let (workspace, facts) = parse_parent(&parent).expect("our own parent");
    assert_eq!(workspace, "shop");
    assert_eq!(facts.decision, Some(decision()));
    assert_eq!(facts.namespaces, BTreeSet::from(["shop".into(), "jobs".into(), PARENT_NAMESPACE.into()]));
    let again = parent_body(
        "5f0c7c1e",
        "shop",
        facts.decision.as_ref(),
        &facts.group_kinds,
        &facts.namespaces,
        &facts.applied,
    );
    assert_eq!(parent.to_string(), again.to_string());
}

#[test]
fn hostile_parents_are_errors() {
    let broken = |pointer: &str, value: Value| {
        let mut parent = parent();
        *parent.pointer_mut(pointer).expect("a field of the parent") = value;
        parse_parent(&parent).expect_err(pointer)
    };
    let annotations = "/metadata/annotations";
    let tooling = format!("{annotations}/applyset.kubernetes.io~1tooling");
    assert!(broken(&tooling, json!("kubectl/v1.30.0")).contains("another tool"));
    assert!(broken(&tooling, json!("kcp/v2.0.0")).contains("another version"));
    let kinds = format!("{annotations}/applyset.kubernetes.io~1contains-group-kinds");
    broken(&kinds, json!("Deployment.apps,../../x"));
    broken(&kinds, json!(7));
    broken(&kinds, json!("x,".repeat(1 << 20)));
    broken(&kinds, json!(Vec::from_iter((0..6_000).map(|i| format!("K{i}"))).join(",")));
    broken(&format!("{annotations}/applyset.kubernetes.io~1additional-namespaces"), json!("a b"));
    broken(&format!("{annotations}/kcp.dev~1decision"), json!("{\"epoch\":-1}"));
    broken(&format!("{annotations}/kcp.dev~1workspace"), json!("other"));
    broken("/metadata/labels/applyset.kubernetes.io~1id", json!("applyset-x-v1"));
    broken("/metadata/name", json!("a-copy-of-it"));
    broken("/data/applied", json!("%%%"));
    broken("/data/applied", json!("W10="));
    broken("/metadata", json!(null));
    parse_parent(&json!([])).expect_err("no object");
}

#[test]
fn a_record_that_is_too_large_is_cut_and_still_reads() {
    let applied: BTreeMap<String, ContentHash> = (0..20_000)
        .map(|i| (format!("ConfigMap shop/some-name-{i:06}"), ContentHash::of_bytes(b"x")))
        .collect();
    let parent = parent_body("f", "shop", None, &BTreeSet::new(), &BTreeSet::new(), &applied);
    assert!(parent.to_string().len() < 1 << 20);
    let (_, facts) = parse_parent(&parent).expect("our own parent");
    assert!(facts.applied.len() > 5_000 && facts.applied.len() < 20_000);
}

use std::sync::Arc;

use serde_json::json;

use super::{Custom, Field, Schema, table};

fn keys(schema: &Schema, kind: (&str, &str), path: &[&str]) -> Option<Vec<String>> {
    let mut shape = schema.kind(kind.0, kind.1)?;
    let (last, path) = path.split_last()?;
    for name in path {
        shape = match shape.field(name)? {
            Field::Value(shape) => shape,
            Field::List { item, .. } => item?,
        };
    }
    match shape.field(last)? {
        Field::List { keys, .. } => Some(keys.iter().map(|key| (*key).to_owned()).collect()),
        Field::Value(_) => None,
    }
}

#[test]
fn the_table_is_sorted_and_knows_the_lists_that_are_merged() {
    assert!(table::KINDS.is_sorted() && table::SCOPES.is_sorted());
    assert!(table::TYPES.iter().all(|fields| fields.is_sorted_by_key(|(name, _)| name)));
    let builtin = Schema::default();
    let template = ["spec", "template", "spec", "containers"];
    assert_eq!(keys(&builtin, ("apps/v1", "Deployment"), &template), Some(vec!["name".into()]));
    let ports = ["spec", "template", "spec", "containers", "ports"];
    let both = vec!["containerPort".to_owned(), "protocol".into()];
    assert_eq!(keys(&builtin, ("apps/v1", "Deployment"), &ports), Some(both));
    assert_eq!(keys(&builtin, ("v1", "ConfigMap"), &["metadata", "finalizers"]), Some(vec![]));
    assert_eq!(keys(&builtin, ("apps/v1", "Deployment"), &["spec", "template", "spec", "tolerations"]), None);
    assert_eq!(keys(&builtin, ("example.com/v1", "Deployment"), &template), None);
    assert_eq!(builtin.namespaced("v1", "Namespace"), Some(false));
    assert_eq!(builtin.namespaced("apps/v1", "Deployment"), Some(true));
    assert_eq!(builtin.namespaced("example.com/v1", "Shop"), None);
}

#[test]
fn a_document_of_a_build_replaces_the_table_or_stands_beside_it() {
    let document = json!({
        "definitions": {
            "shop": {
                "properties": {"spec": {"$ref": "#/definitions/spec"}, "loop": {"$ref": "#/definitions/loop"}},
                "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Shop"}],
            },
            "spec": {"properties": {"tills": {
                "type": "array", "items": {"$ref": "#/definitions/till"},
                "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "number",
            }}},
            "till": {"type": "object"},
            "loop": {"$ref": "#/definitions/loop"},
        },
        "paths": {"/apis/example.com/v1/shops": {"get": {
            "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Shop"}}}},
    });
    let document = Arc::new(Custom::new(document).expect("a document"));
    let mut schema = Schema::Custom { document, with_builtin: false };
    let shop = ("example.com/v1", "Shop");
    assert_eq!(keys(&schema, shop, &["spec", "tills"]), Some(vec!["number".into()]));
    assert_eq!(keys(&schema, shop, &["loop", "x"]), None);
    assert!(schema.kind("apps/v1", "Deployment").is_none() && schema.cluster_scoped(shop.0, shop.1));
    assert!(schema.cluster_scoped("v1", "Namespace"));
    if let Schema::Custom { with_builtin, .. } = &mut schema {
        *with_builtin = true;
    }
    assert!(schema.kind("apps/v1", "Deployment").is_some());
    let nameless = json!({"definitions": {"x": {"x-kubernetes-group-version-kind": [{"group": "x"}]}}});
    assert!(Custom::new(nameless).is_err());
}

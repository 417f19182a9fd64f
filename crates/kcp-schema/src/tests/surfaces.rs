//! Surfaces and the use of fields.

use std::sync::Arc;

use serde_json::{Value, json};

use super::corpus;
use crate::{
    Crd, Gvk, Judge, Options, Pool, Release, Rules, Schema, Surface, SurfaceChange, Verdict, accepted_by,
    fields_used, shut_out_by,
};

fn schema(properties: &Value) -> Schema {
    let spec = json!({"type": "object", "properties": properties});
    let root = json!({"type": "object", "properties": {"spec": spec}});
    Schema::parse(&root, &Options::default(), &mut Pool::new()).unwrap()
}

fn object(spec: &Value) -> Value {
    json!({"apiVersion": "g.io/v1", "kind": "A", "metadata": {"name": "x"}, "spec": spec})
}

fn crd(fields: &Value, more: &Value) -> Crd {
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
        {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}}});
    for (key, value) in more.as_object().unwrap() {
        version[key] = value.clone();
    }
    let value = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {
        "group": "g.io", "scope": "Namespaced", "names": {"plural": "as", "kind": "A"}, "versions": [version]}});
    Crd::parse(&value, &Options::default(), &mut Pool::new()).unwrap()
}

#[test]
fn a_surface_survives_its_record_and_says_what_changed() {
    let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items":
        {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}});
    let mut old = Surface::new(Release(34));
    old.add_crd(&crd(&json!({"a": {"type": "string"}}), &json!({"subresources": {"status": {}}})));
    let mut new = Surface::new(Release(36));
    new.add_crd(&crd(&json!({"list": list}), &json!({"selectableFields": [{"jsonPath": ".spec.a"}]})));
    let text = serde_json::to_string(&new).unwrap();
    assert_eq!(serde_json::from_str::<Surface>(&text).unwrap(), new);
    assert_eq!(new.kinds[0].lists["spec.list"], [Arc::from("k")]);
    let changes: Vec<_> = old.diff(&new).iter().map(ToString::to_string).collect();
    assert_eq!(
        changes,
        [
            "A (g.io/v1): has another schema",
            "A (g.io/v1): subresources was status, is none",
            "A (g.io/v1): selectableFields was none, is .spec.a",
            "A (g.io/v1): lists was , is spec.list by k",
        ]
    );
    let mut unserved = Surface::new(Release(36));
    unserved.add_crd(&crd(&json!({}), &json!({"served": false})));
    assert_eq!(new.diff(&unserved)[0].change, SurfaceChange::Removed);
    assert!(unserved.diff(&Surface::default()).is_empty());
    let gvk = Gvk { group: "g.io".into(), version: "v1".into(), kind: "A".into() };
    assert!(new.get(&gvk).is_some());
}

#[test]
fn every_surface_of_the_corpus_can_be_recorded() {
    let mut surface = Surface::new(Release(36));
    corpus::crds().iter().for_each(|file| surface.add_crd(&file.crd));
    assert!(surface.kinds.is_sorted_by_key(|kind| &kind.gvk));
    let text = serde_json::to_string(&surface).unwrap();
    assert_eq!(serde_json::from_str::<Surface>(&text).unwrap(), surface);
    assert!(surface.diff(&surface).is_empty());
}

#[test]
fn the_fields_in_use_are_paths_of_the_schema() {
    let schema = schema(&json!({"a": {"type": "string"}, "unused": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "integer"}}}}}));
    let object = object(&json!({"a": "x", "labels": {"k": "v"}, "list": [{"b": 1}, {"c": 2}], "none": null}));
    let used: Vec<_> = fields_used(&object, &schema, true).iter().map(ToString::to_string).collect();
    assert_eq!(
        used,
        [
            "spec",
            "spec.a",
            "spec.labels",
            "spec.labels{}",
            "spec.list",
            "spec.list[]",
            "spec.list[].b",
            "spec.list[].c"
        ]
    );
}

#[test]
fn who_takes_an_object_and_what_keeps_it_out() {
    let old = schema(&json!({"a": {"type": "string"}}));
    let new = schema(
        &json!({"a": {"type": "string"}, "color": {"type": "string"}, "size": {"type": "integer", "maximum": 3}}),
    );
    let (old, new) = (Judge::new(&old, Rules::default()), Judge::new(&new, Rules::default()));
    let used = object(&json!({"a": "x", "color": "red", "size": 7}));
    let verdicts = accepted_by(&used, [("eu-1", &old), ("eu-2", &new), ("us-1", &old)]);
    assert!(verdicts.values().all(|verdict| matches!(verdict, Verdict::No { .. })));
    let shut = |judge: &Judge, object: &Value| {
        shut_out_by(object, judge)
            .map(|shut| (shut.fields.iter().map(ToString::to_string).collect::<Vec<_>>(), shut.enough))
    };
    assert_eq!(shut(&old, &used), Some((vec!["spec.color".to_owned(), "spec.size".to_owned()], true)));
    assert_eq!(shut(&new, &used), Some((vec!["spec.size".to_owned()], true)));
    assert_eq!(shut(&new, &object(&json!({"color": "red"}))), None);
    // Taking things out does not help where something is missing.
    let needs = json!({"type": "object", "required": ["spec"], "properties": {"spec": {"type": "object"}}});
    let needs = Schema::parse(&needs, &Options::default(), &mut Pool::new()).unwrap();
    let judge = Judge::new(&needs, Rules::default());
    let empty = json!({"apiVersion": "g.io/v1", "kind": "A", "metadata": {"name": "x"}});
    assert_eq!(shut(&judge, &empty), Some((vec![], false)));
}

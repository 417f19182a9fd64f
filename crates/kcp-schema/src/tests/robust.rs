//! What must never happen, whatever comes in: a panic, or a rule of a real CRD that is not run.

use serde_json::{Value, json};

use super::corpus;
use crate::{Crd, Judge, OpenApi, Options, Pool, Release, Verdict};

/// A small CRD with every word of a schema, to be damaged.
fn sample() -> Value {
    let fields = json!({
        "n": {"type": "integer", "format": "int32", "minimum": 0, "maximum": 10, "multipleOf": 1, "default": 1},
        "s": {"type": "string", "pattern": "^[a-z]+$", "minLength": 1, "maxLength": 9, "enum": ["x", "y"], "nullable": true},
        "m": {"type": "object", "additionalProperties": {"type": "string", "format": "ipv4"}, "x-kubernetes-map-type": "atomic"},
        "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items":
            {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}},
        "p": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
        "e": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "j": {"type": "string", "oneOf": [{"minLength": 2}, {"maxLength": 1}], "not": {"pattern": "^q"}}});
    let spec = json!({"type": "object", "required": ["n"], "minProperties": 1, "properties": fields,
        "x-kubernetes-validations": [{"rule": "self.n > 0", "message": "positive", "optionalOldSelf": false}]});
    let root = json!({"type": "object", "properties": {"spec": spec}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "as.g.io"}, "spec": {
        "group": "g.io", "scope": "Namespaced", "names": {"plural": "as", "kind": "A", "shortNames": ["a"]},
        "conversion": {"strategy": "None"},
        "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}, "scale":
            {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
            "additionalPrinterColumns": [{"name": "n", "type": "integer", "jsonPath": ".spec.n", "priority": 1}],
            "selectableFields": [{"jsonPath": ".spec.s"}],
            "schema": {"openAPIV3Schema": root}}]}})
}

fn object() -> Value {
    json!({"apiVersion": "g.io/v1", "kind": "A", "metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {
        "n": 2, "s": "x", "m": {"k": "1.2.3.4"}, "l": [{"k": "a"}, {"k": "b"}], "p": 1, "j": "r",
        "e": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "y"}}}})
}

/// Damages one place of `value`, chosen by `number`.
fn damage(value: &mut Value, number: u64) {
    fn places(value: &Value) -> u64 {
        1 + match value {
            Value::Array(items) => items.iter().map(places).sum(),
            Value::Object(map) => map.values().map(places).sum(),
            _ => 0,
        }
    }
    fn at(value: &mut Value, mut place: u64, with: &Value) -> bool {
        if place == 0 {
            *value = with.clone();
            return true;
        }
        place -= 1;
        let inner: Vec<&mut Value> = match value {
            Value::Array(items) => items.iter_mut().collect(),
            Value::Object(map) => map.values_mut().collect(),
            _ => return false,
        };
        for inner in inner {
            let count = places(inner);
            if place < count {
                return at(inner, place, with);
            }
            place -= count;
        }
        false
    }
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("["),
        json!("\u{0}\u{fffd}"),
        json!([]),
        json!({}),
        json!({"$ref": "#/a"}),
        json!([[[]]]),
        json!({"type": "object", "additionalProperties": true}),
        json!("a.b.c/d"),
    ];
    let with = &odd[(number % odd.len() as u64) as usize];
    let place = (number / odd.len() as u64) % places(value);
    at(value, place, with);
}

#[test]
fn no_document_and_no_object_makes_it_panic() {
    let whole = Judge::of_crd(
        &Crd::parse(&sample(), &Options::default(), &mut Pool::new()).unwrap(),
        "v1",
        Release(36),
    )
    .unwrap();
    assert_eq!(whole.accepts_and_keeps(&object()), Verdict::Yes);
    let mut state = 7_u64;
    let mut parsed = 0;
    for _ in 0..2000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut document = sample();
        let mut damaged = object();
        damage(&mut document, state >> 20);
        if state.is_multiple_of(3) {
            damage(&mut document, state >> 40);
        }
        damage(&mut damaged, state >> 30);
        let _ = whole.create(&damaged);
        let _ = whole.update(&damaged, &object());
        let _ = OpenApi::parse(&document, &Options::default(), &mut Pool::new());
        let Ok(crd) = Crd::parse(&document, &Options::default(), &mut Pool::new()) else { continue };
        parsed += 1;
        let again = Crd::parse(&crd.to_json(), &Options::default(), &mut Pool::new());
        assert!(again.is_ok(), "{document}: {again:?}");
        for version in &crd.versions {
            if let Some(judge) = Judge::of_crd(&crd, &version.name, Release(36)) {
                let _ = judge.create(&damaged);
            }
        }
    }
    assert!(parsed > 150, "{parsed}: most documents are damaged beyond reading");
}

#[test]
fn every_rule_of_the_corpus_can_be_run() {
    let mut rules = 0;
    let mut refused = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for file in corpus::crds() {
        for version in &file.crd.versions {
            let Some(judge) = Judge::of_crd(&file.crd, &version.name, Release(36)) else { continue };
            for (rule, why) in judge.compiled_rules() {
                if seen.insert(rule.to_owned()) {
                    rules += 1;
                    refused.extend(why.map(|why| format!("{rule}: {why}")));
                }
            }
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(corpus::crds().is_empty() || rules > 90, "{rules}");
}

#[test]
fn what_the_stored_version_lacks_is_lost_without_a_webhook() {
    let mut document = sample();
    let mut old = document["spec"]["versions"][0].clone();
    old["name"] = json!("v1alpha1");
    old["storage"] = json!(false);
    old["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["older"] = json!({"type": "string"});
    document["spec"]["versions"].as_array_mut().unwrap().push(old);
    let mut used = object();
    used["apiVersion"] = json!("g.io/v1alpha1");
    used["spec"]["older"] = json!("x");
    let verdict = |document: &Value| {
        let crd = Crd::parse(document, &Options::default(), &mut Pool::new()).unwrap();
        Judge::of_crd(&crd, "v1alpha1", Release(36)).unwrap().accepts_and_keeps(&used)
    };
    let Verdict::No { path, .. } = verdict(&document) else { panic!() };
    assert_eq!(path.to_string(), "spec.older");
    document["spec"]["conversion"]["strategy"] = json!("Webhook");
    assert_eq!(verdict(&document), Verdict::Yes);
}

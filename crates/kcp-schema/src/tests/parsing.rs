//! Reading and writing.

use serde_json::{Value, json};

use super::corpus;
use crate::{Crd, Limits, Options, Pool, Problem, Schema};

fn error(schema: &Value) -> (String, Problem) {
    let error = Schema::parse(schema, &Options::default(), &mut Pool::new()).unwrap_err();
    (error.path.to_string(), error.problem)
}

#[test]
fn every_crd_of_the_corpus_is_read_and_written_back_the_same() {
    let mut pool = Pool::new();
    for file in corpus::crds() {
        let mut written = file.crd.to_json();
        // What a webhook's address looks like is not part of the model.
        written["status"] = file.value.get("status").cloned().unwrap_or(Value::Null);
        let again = Crd::parse(&written, &Options::default(), &mut pool);
        let mut again = again.unwrap_or_else(|error| panic!("{}: {error}", file.name));
        if file.crd.preserve_unknown_fields {
            continue;
        }
        again.stored_versions.clone_from(&file.crd.stored_versions);
        assert!(again == file.crd, "{}", file.name);
    }
    let files = corpus::crds().len();
    assert!(files == 0 || files == 175, "{files}");
}

#[test]
fn equal_schemas_are_one_and_their_hash_ignores_key_order_and_descriptions() {
    let mut pool = Pool::new();
    let one = json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer", "minimum": 1}}});
    let other = json!({"description": "x", "properties": {"a": {"minimum": 1.0, "type": "integer", "description": "y"}, "b": {"type": "string"}}, "type": "object"});
    let one = Schema::parse(&one, &Options::default(), &mut pool).unwrap();
    let before = pool.len();
    let twin = Schema::parse(&other, &Options::default(), &mut pool).unwrap();
    assert_eq!((one.address(), pool.len()), (twin.address(), before));
    let options = Options { descriptions: true, ..Options::default() };
    let told = Schema::parse(&other, &options, &mut pool).unwrap();
    assert!(told == one && told.hash() == one.hash() && told.address() != one.address());
    assert_eq!(told.description.as_deref(), Some("x"));
    // The format of the hash is recorded in surfaces: a change needs a new version of the encoding.
    assert_eq!(one.hash().to_string().parse(), Ok(one.hash()));
    drop((one, twin, told));
    pool.shrink();
    assert!(pool.is_empty());
}

#[test]
fn what_an_api_server_refuses_is_refused_with_its_place() {
    let object = |inner: Value| json!({"type": "object", "properties": {"a": inner}});
    let place = |inner: Value| error(&object(inner)).0;
    assert_eq!(place(json!({"type": "array"})), "properties[a].items");
    assert_eq!(place(json!({})), "properties[a].type");
    assert_eq!(place(json!({"type": "string", "pattern": "("})), "properties[a].pattern");
    assert_eq!(place(json!({"type": "text"})), "properties[a].type");
    assert_eq!(place(json!({"$ref": "#/definitions/a"})), "properties[a].$ref");
    assert_eq!(
        place(json!({"type": "object", "additionalProperties": false})),
        "properties[a].additionalProperties"
    );
    assert_eq!(place(json!({"type": "string", "anyOf": [{"type": "string"}]})), "properties[a].anyOf");
    assert_eq!(place(json!({"type": "string", "not": {"default": 1}})), "properties[a].not.default");
    assert_eq!(
        place(json!({"type": "object", "oneOf": [{"properties": {"x": {"minimum": 1}}}]})),
        "properties[a].oneOf"
    );
    assert_eq!(place(json!({"type": "string", "maxLength": -1})), "properties[a].maxLength");
    assert_eq!(
        place(json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"})),
        "properties[a].x-kubernetes-list-map-keys"
    );
    assert_eq!(error(&json!([])).0, ".");
    assert_eq!(
        error(&json!({"type": "object", "additionalProperties": {"type": "string"}})).0,
        "additionalProperties"
    );
}

#[test]
fn int_or_string_is_folded_and_written_as_its_idiom() {
    let idiom = json!([{"type": "integer"}, {"type": "string"}]);
    let plain = json!({"x-kubernetes-int-or-string": true, "anyOf": idiom});
    let more = json!({"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": idiom}, {"maxLength": 3}]});
    for source in [plain, more] {
        let root = json!({"type": "object", "properties": {"a": source}});
        let schema = Schema::parse(&root, &Options::default(), &mut Pool::new()).unwrap();
        let inner = &schema.properties["a"];
        assert!(inner.int_or_string && inner.any_of.is_empty() && inner.all_of.len() <= 1);
        let again = Schema::parse(&schema.to_json(), &Options::default(), &mut Pool::new()).unwrap();
        assert!(again == schema);
    }
}

#[test]
fn what_is_too_large_is_refused_not_run() {
    let mut deep = json!({"type": "string"});
    for _ in 0..1000 {
        // Built by hand: the macro would copy it, level by level.
        let inner = serde_json::Map::from_iter([("a".to_owned(), deep)]);
        let node = [("type".to_owned(), json!("object")), ("properties".to_owned(), Value::Object(inner))];
        deep = Value::Object(serde_json::Map::from_iter(node));
    }
    assert!(matches!(error(&deep).1, Problem::TooDeep { limit: 100 }));
    let wide: serde_json::Map<_, _> =
        (0..2000).map(|index| (format!("f{index}"), json!({"type": "string"}))).collect();
    let wide = json!({"type": "object", "properties": wide});
    let limits = Limits { nodes: 1000, ..Limits::default() };
    let refused = Schema::parse(&wide, &Options { limits, ..Options::default() }, &mut Pool::new());
    assert!(matches!(refused.unwrap_err().problem, Problem::TooManyNodes { limit: 1000 }));
    let limits = Limits { bytes: 1000, ..Limits::default() };
    let big = json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x".repeat(2000)]}}});
    let refused = Schema::parse(&big, &Options { limits, ..Options::default() }, &mut Pool::new());
    assert!(matches!(refused.unwrap_err().problem, Problem::TooLarge { limit: 1000 }));
    let mut nested = json!(1);
    for _ in 0..500 {
        nested = Value::Array(vec![nested]);
    }
    let mut value = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    value["properties"]["a"]["default"] = nested;
    assert!(matches!(error(&value).1, Problem::TooDeep { .. }));
}

#[test]
fn another_document_is_no_crd() {
    for (document, found) in [
        (json!({"apiVersion": "v1", "kind": "Secret"}), "v1 Secret"),
        (json!({}), "a mapping without apiVersion and kind"),
    ] {
        let error = Crd::parse(&document, &Options::default(), &mut Pool::new()).unwrap_err();
        assert!(matches!(&error.problem, Problem::NotACrd { found: said } if said == found), "{error}");
    }
    let twice = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {
    "group": "g.io", "scope": "Cluster", "names": {"plural": "as", "kind": "A"}, "versions": [
        {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
        {"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
    ]}});
    let error = Crd::parse(&twice, &Options::default(), &mut Pool::new()).unwrap_err();
    assert_eq!(error.to_string(), "spec.versions[1]: \"v1\" is there twice");
}

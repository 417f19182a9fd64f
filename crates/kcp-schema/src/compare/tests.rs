//! Comparison, on small schemas and on the corpus.

mod corpus;
mod rules;

use serde_json::{Value, json};

use super::*;
use crate::{Options, Pool, SchemaStep};

pub(super) fn schema(value: &Value) -> Schema {
    Schema::parse(value, &Options::default(), &mut Pool::new()).unwrap()
}

fn compare(old: &Value, new: &Value) -> Comparison {
    compare_schemas(
        &schema(old),
        &schema(new),
        &CompareOptions { resource: false, ..CompareOptions::default() },
    )
}

/// The rules found at the field `x`, with the answers for writers and readers.
fn field(old: &Value, new: &Value) -> (Vec<&'static str>, Answer, Answer) {
    let object = |x: &Value| json!({"type": "object", "properties": {"x": x}});
    let found = compare(&object(old), &object(new));
    let at =
        found.differences.iter().filter(|it| it.path.0.first() == Some(&SchemaStep::Property("x".into())));
    let rules = at.map(|it| it.rule.id).collect();
    (rules, found.answer(Direction::Writers), found.answer(Direction::Readers))
}

const NO: Answer = Answer::No;
const YES: Answer = Answer::Yes;

#[test]
fn another_spelling_of_the_same_is_no_change() {
    let same = |a: Value, b: Value| assert_eq!(field(&a, &b), (Vec::new(), YES, YES), "{a} {b}");
    same(json!({"type": "string", "pattern": r"^\d+$"}), json!({"type": "string", "pattern": "^[0-9]+$"}));
    same(
        json!({"type": "string", "pattern": "^a{1,3}$"}),
        json!({"type": "string", "pattern": "^a{1,3}$", "maxLength": 9}),
    );
    same(
        json!({"type": "integer", "minimum": 1}),
        json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}),
    );
    let list =
        |kind: Value| json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": kind});
    same(json!({"type": "array", "items": {"type": "string"}}), list(json!("atomic")));
    same(
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": "string", "allOf": [{"enum": ["b", "a"]}], "enum": ["a", "b", "c"]}),
    );
}

#[test]
fn a_list_of_values_is_judged_by_its_values() {
    let listed = json!({"type": "string", "enum": ["a1", "b2"]});
    let pattern = json!({"type": "string", "pattern": "^[a-z][0-9]$"});
    assert_eq!(field(&listed, &pattern), (vec!["enum-removed"], YES, NO));
    assert_eq!(field(&pattern, &listed), (vec!["enum-added"], NO, YES));
    let narrower = json!({"type": "string", "pattern": "^a"});
    let (rules, writers, _) = field(&listed, &narrower);
    assert_eq!((rules, writers), (vec!["enum-removed", "pattern-added"], NO));
}

#[test]
fn widening_is_safe_for_writers_and_known_to_readers() {
    let open = json!({"x-kubernetes-preserve-unknown-fields": true});
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let (rules, writers, _) = field(&object, &open);
    assert!(!rules.contains(&"field-removed"), "{rules:?}");
    assert_eq!(writers, YES);
    let integer = json!({"type": "integer"});
    let both = json!({"x-kubernetes-int-or-string": true});
    assert_eq!(field(&integer, &both), (vec!["type-widened"], YES, NO));
    assert_eq!(field(&both, &integer), (vec!["int-or-string-removed"], NO, YES));
    assert_eq!(field(&integer, &json!({"type": "number"})), (vec!["type-widened"], YES, NO));
}

#[test]
fn required_counts_only_without_a_default() {
    let object =
        |x: Value, required: Value| json!({"type": "object", "properties": {"x": x}, "required": required});
    let text = json!({"type": "string"});
    let given = json!({"type": "string", "default": "a"});
    let found = compare(&object(text.clone(), json!([])), &object(given.clone(), json!(["x"])));
    assert_eq!(found.answer(Direction::Writers), YES);
    assert_eq!(found.differences[0].rule.id, "default-added");
    let found = compare(&object(given, json!(["x"])), &object(text, json!(["x"])));
    assert_eq!(found.answer(Direction::Writers), NO);
}

#[test]
fn nothing_is_said_to_be_safe_that_is_not_decided() {
    let rule = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "has(self.a)"}]});
    let free = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    // An object without the field shows it.
    assert_eq!(field(&free, &rule).1, NO);
    let strange = json!({"type": "object", "properties": {"a": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "!has(self.a) || self.a != 'strange'"}]});
    assert_eq!(field(&free, &strange).1, Answer::Unknown);
    // A default below a rule may break it.
    let ruled = |a: Value| json!({"type": "object", "properties": {"a": a}, "x-kubernetes-validations": [{"rule": "!has(self.a)"}]});
    let (_, writers, _) =
        field(&ruled(json!({"type": "string"})), &ruled(json!({"type": "string", "default": "x"})));
    assert_eq!(writers, NO);
}

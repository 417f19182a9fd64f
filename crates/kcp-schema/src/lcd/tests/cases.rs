//! One case for each construct: the members' `spec`, and what is common, lost, or impossible.

use serde_json::{Value, json};

use crate::{Denominator, Lcd, Lost, Options, Pool, Schema, WhyEmpty, WhyUnknown};

fn root(spec: &Value, required: bool) -> Schema {
    let required: &[&str] = if required { &["spec"] } else { &[] };
    let root = json!({"type": "object", "properties": {"spec": spec}, "required": required});
    Schema::parse(&root, &Options::default(), &mut Pool::new()).unwrap()
}

fn of(members: &[Value], required: bool) -> Lcd {
    Lcd::of(&members.iter().map(|spec| root(spec, required)).collect::<Vec<_>>())
}

/// The common `spec`.
fn spec(members: &[Value]) -> Value {
    let lcd = of(members, true);
    let schema = lcd.schema().unwrap_or_else(|| panic!("{:?}", lcd.outcome));
    schema.properties["spec"].to_json()
}

fn why_empty(members: &[Value]) -> (String, WhyEmpty) {
    match of(members, true).outcome {
        Denominator::Empty(empty) => (empty.path.to_string(), empty.why),
        other => panic!("{other:?}"),
    }
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn scalars_take_the_tighter_of_everything() {
    let members = [
        json!({"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": true}),
        json!({"type": "number", "minimum": 3, "maximum": 9}),
        json!({"type": "integer", "maximum": 20, "multipleOf": 2}),
    ];
    let common =
        json!({"type": "integer", "minimum": 3, "maximum": 9, "exclusiveMaximum": true, "multipleOf": 2});
    assert_eq!(spec(&members), common);
    let texts = [
        json!({"type": "string", "pattern": "^b", "minLength": 2, "enum": ["bb", "c", "bcd", "b"]}),
        json!({"type": "string", "pattern": "d?", "maxLength": 3, "enum": ["b", "bcd", "bb", "e", "c"]}),
    ];
    // Values that the other conditions exclude are gone as well.
    let common = json!({"type": "string", "pattern": "^b", "minLength": 2, "maxLength": 3, "enum": ["bb", "bcd"],
        "allOf": [{"pattern": "d?"}]});
    assert_eq!(spec(&texts), common);
    let either = json!({"x-kubernetes-int-or-string": true});
    assert_eq!(spec(&[either.clone(), json!({"type": "number"})]), json!({"type": "integer"}));
    assert_eq!(spec(&[either, json!({"type": "string"})]), json!({"type": "string"}));
}

#[test]
fn what_excludes_each_other_is_proven_empty_with_its_place() {
    let a = |field: Value| json!({"type": "object", "required": ["a"], "properties": {"a": field}});
    let text = |value: &str| a(json!({"type": "string", "enum": [value]}));
    assert_eq!(why_empty(&[text("x"), text("y")]), ("spec.a".to_owned(), WhyEmpty::Values));
    let types = [a(json!({"type": "boolean"})), a(json!({"type": "string"}))];
    assert_eq!(why_empty(&types), ("spec.a".to_owned(), WhyEmpty::Types));
    let limits = [a(json!({"type": "integer", "minimum": 3})), a(json!({"type": "integer", "maximum": 2}))];
    assert_eq!(why_empty(&limits), ("spec.a".to_owned(), WhyEmpty::Limits));
    let missing = [a(json!({"type": "integer"})), object(&json!({"b": {"type": "integer"}}))];
    assert_eq!(why_empty(&missing), ("spec.a".to_owned(), WhyEmpty::Required));
    // No alternative is left when the fields that they need are gone.
    let mut one_of = object(&json!({"a": {"type": "integer"}, "b": {"type": "integer"}}));
    one_of["oneOf"] = json!([{"required": ["a"]}, {"required": ["b"]}]);
    assert_eq!(why_empty(&[one_of, object(&json!({"c": {"type": "integer"}}))]).1, WhyEmpty::Condition);
}

#[test]
fn an_optional_field_that_is_not_common_is_lost_and_said_to_whom() {
    let old = object(&json!({"a": {"type": "string"}}));
    let new = object(&json!({"a": {"type": "string"}, "b": {"type": "string"}}));
    let lcd = of(&[old.clone(), new.clone(), new.clone()], true);
    let Denominator::Common(common) = &lcd.outcome else { panic!("{lcd:?}") };
    assert_eq!(common.schema, root(&old, true));
    assert!(common.exact());
    let [loss] = &common.losses[..] else { panic!("{:?}", common.losses) };
    assert_eq!((loss.path.to_string().as_str(), loss.lost), ("spec.b", Lost::Field));
    assert_eq!((lcd.given(&loss.to), lcd.given(&loss.because_of)), (vec![1, 2], vec![0]));
    // And it comes back when the old one leaves.
    assert_eq!(of(&[new.clone(), new.clone()], true).schema(), Some(&root(&new, true)));
}

#[test]
fn openness_is_the_tightest_of_all() {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let map = |values: Value| json!({"type": "object", "additionalProperties": values});
    let fields = object(&json!({"a": {"type": "string", "maxLength": 3}}));
    assert_eq!(spec(&[open.clone(), fields.clone()]), fields);
    assert_eq!(
        spec(&[map(json!({"type": "string", "minLength": 1})), fields.clone()]),
        object(&json!({"a": {"type": "string", "minLength": 1, "maxLength": 3}}))
    );
    assert_eq!(spec(&[map(json!({"type": "integer"})), open.clone()]), map(json!({"type": "integer"})));
    // Under `additionalProperties: true` nested fields are pruned.
    assert_eq!(spec(&[map(json!(true)), map(fields.clone())]), map(json!({"type": "object"})));
    assert_eq!(spec(&[map(json!(true)), open.clone()]), map(json!(true)));
    assert_eq!(
        spec(&[map(json!({"type": "string"})), map(json!({"type": "integer"}))]),
        json!({"type": "object"})
    );
    // Where keys that nobody names are kept, a field can only be kept out by name.
    let with = |kind: &str| {
        let mut node = object(&json!({"a": {"type": kind}}));
        node["x-kubernetes-preserve-unknown-fields"] = json!(true);
        node
    };
    let both = spec(&[with("string"), with("boolean")]);
    assert_eq!(both["properties"]["a"], json!({"x-kubernetes-preserve-unknown-fields": true, "not": {}}));
}

#[test]
fn defaults_stay_if_they_are_the_same_and_must_be_given_if_a_rule_sees_the_difference() {
    let with = |a: Value| object(&json!({"a": a, "b": {"type": "integer"}}));
    let default = |value: u32| with(json!({"type": "integer", "default": value}));
    let mut narrow = default(1);
    narrow["properties"]["a"]["maximum"] = json!(5);
    assert_eq!(spec(&[default(1), narrow.clone()]), narrow);
    let lcd = of(&[default(1), default(2)], true);
    let Denominator::Common(common) = &lcd.outcome else { panic!("{lcd:?}") };
    assert!(common.exact() && common.losses.iter().all(|loss| loss.lost == Lost::Default));
    assert_eq!(common.schema.properties["spec"].to_json(), with(json!({"type": "integer"})));
    // `b` needs `a` in one of them: without `a`, its default would be there in one, and nothing here.
    let mut rule = default(1);
    rule["x-kubernetes-validations"] = json!([{"rule": "!has(self.b) || self.a > 0"}]);
    let lcd = of(&[rule.clone(), default(2)], true);
    let Denominator::Common(common) = &lcd.outcome else { panic!("{lcd:?}") };
    assert!(!common.exact() && common.losses.iter().any(|loss| loss.lost == Lost::Implicit));
    assert_eq!(common.schema.properties["spec"].to_json()["required"], json!(["a"]));
    // A default that one member fills in and that a rule looks at: nothing can be said.
    let without = object(&json!({"b": {"type": "integer"}}));
    let Denominator::Unknown(unknown) = of(&[rule, without], true).outcome else { panic!() };
    assert!(matches!(unknown.why, WhyUnknown::Rule(_)), "{unknown}");
    // Filled in counts as given.
    let mut required = default(1);
    required["required"] = json!(["a"]);
    assert_eq!(spec(&[required, default(1)]), default(1));
}

#[test]
fn a_rule_that_names_a_lost_field_still_compiles() {
    let mut rule = object(&json!({"a": {"type": "string", "maxLength": 9}, "b": {"type": "string"}}));
    rule["x-kubernetes-validations"] = json!([{"rule": "!has(self.a) || self.a.size() > 1"}]);
    let common = spec(&[rule.clone(), object(&json!({"b": {"type": "string"}}))]);
    assert_eq!(common["properties"]["a"], json!({"type": "string", "maxLength": 9, "not": {}}));
    assert_eq!(common["x-kubernetes-validations"], rule["x-kubernetes-validations"]);
}

#[test]
fn lists_take_the_strictest_uniqueness() {
    let list = |kind: &str, keys: &[&str], items: Value| {
        let mut list = json!({"type": "array", "items": items});
        if !kind.is_empty() {
            list["x-kubernetes-list-type"] = json!(kind);
        }
        if !keys.is_empty() {
            list["x-kubernetes-list-map-keys"] = json!(keys);
        }
        list
    };
    let text = json!({"type": "string"});
    let set = list("set", &[], text.clone());
    assert_eq!(spec(&[list("", &[], text.clone()), set.clone()]), set);
    let items = json!({"type": "object", "required": ["a", "b"], "properties": {"a": text, "b": text}});
    let one = list("map", &["a"], items.clone());
    assert_eq!(
        spec(&[list("map", &["a", "b"], items.clone()), one.clone(), list("", &[], items.clone())]),
        one
    );
    // Told apart by `a` here and by `b` there: one item is safe.
    let either = spec(&[one, list("map", &["b"], items.clone())]);
    assert_eq!(either["maxItems"], json!(1));
    // No item is right for both: the empty list is.
    assert_eq!(spec(&[list("", &[], text), list("", &[], items)])["maxItems"], json!(0));
}

#[test]
fn null_stays_only_where_all_allow_it() {
    let text = json!({"type": "string"});
    let nullable = json!({"type": "string", "nullable": true, "maxLength": 2});
    assert_eq!(spec(&[text, nullable.clone()]), json!({"type": "string", "maxLength": 2}));
    // Only null is common: no schema says that.
    let other = json!({"type": "integer", "nullable": true});
    assert!(matches!(of(&[nullable, other], true).outcome, Denominator::Unknown(_)));
}

#[test]
fn too_much_work_is_said_to_be_that() {
    let big = |extra: &str| {
        let fields: serde_json::Map<String, Value> =
            (0..50).map(|number| (format!("f{number}{extra}"), json!({"type": "string"}))).collect();
        root(&object(&fields.into()), true)
    };
    let lcd = Lcd::within(&[big(""), big("x")], 2);
    let Denominator::Unknown(unknown) = lcd.outcome else { panic!("{lcd:?}") };
    assert_eq!(unknown.why, WhyUnknown::Cost(2));
}

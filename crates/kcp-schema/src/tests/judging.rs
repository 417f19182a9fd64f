//! Pruning, defaults and validation, case by case.

use serde_json::{Value, json};

use crate::{Judge, Options, Pool, Release, Rules, Schema, Verdict, Why, prune};

fn schema(value: &Value) -> Schema {
    Schema::parse(value, &Options::default(), &mut Pool::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// A judge of any value at `field`, of an object that is nothing but that field.
fn judge(field: &Value) -> Judge {
    let root = json!({"type": "object", "properties": {"a": field}});
    Judge::new(&schema(&root), Rules { resource: false, ..Rules::default() })
}

/// The first thing said about `{a: value}`; empty if it is accepted and kept.
fn said(field: &Value, value: Value) -> String {
    match judge(field).accepts_and_keeps(&json!({"a": value})) {
        Verdict::Yes => String::new(),
        Verdict::No { path, why } => format!("{path}: {why}"),
        Verdict::Unknown(doubt) => format!("? {doubt}"),
    }
}

#[test]
fn pruning_drops_what_is_not_described_and_says_where() {
    let schema = schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "string"}, "list": {"type": "array", "items":
            {"type": "object", "properties": {"b": {"type": "string"}}}}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "closed": {"type": "object", "properties": {"c": {"type": "string"}}}}},
        "labels": {"type": "object", "additionalProperties": {"type": "object", "properties": {"d": {"type": "string"}}}},
        "anything": {"type": "object", "additionalProperties": true},
    }}));
    let mut object = json!({
        "apiVersion": "g/v1", "kind": "A", "metadata": {"name": "x", "unknown": 1}, "status": {"x": 1}, "none": null,
        "spec": {"a": "kept", "b": "gone", "list": [{"b": "kept", "c": "gone"}]},
        "open": {"x": {"y": 1}, "closed": {"c": "kept", "d": "gone"}},
        "labels": {"k": {"d": "kept", "e": "gone"}},
        "anything": {"scalar": 1, "nested": {"gone": 1}, "list": [{"gone": 1}, 2], "empty": {}},
    });
    let dropped: Vec<_> = prune(&mut object, &schema, true).iter().map(ToString::to_string).collect();
    assert_eq!(
        dropped,
        [
            "status",
            "spec.b",
            "spec.list[0].c",
            "open.closed.d",
            "labels[k].e",
            "anything[nested].gone",
            "anything[list][0].gone"
        ]
    );
    assert_eq!(object["anything"], json!({"scalar": 1, "nested": {}, "list": [{}, 2], "empty": {}}));
    assert_eq!(object["open"], json!({"x": {"y": 1}, "closed": {"c": "kept"}}));
    assert_eq!(object["metadata"]["unknown"], 1, "metadata is none of the schema's business");
}

#[test]
fn nulls_and_defaults_come_in_the_servers_order() {
    let field = json!({"type": "object", "properties": {
        "plain": {"type": "string"}, "nullable": {"type": "string", "nullable": true},
        "default": {"type": "object", "default": {}, "properties": {"inner": {"type": "integer", "default": 3}}},
        "both": {"type": "string", "nullable": true, "default": "x"},
    }, "required": ["default"]});
    let outcome =
        judge(&field).create(&json!({"a": {"plain": null, "nullable": null, "default": null, "both": null}}));
    assert_eq!(outcome.object, json!({"a": {"nullable": null, "default": {"inner": 3}, "both": null}}));
    assert_eq!(outcome.verdict(), Verdict::Yes);
    let outcome = judge(&field).create(&json!({"a": {}}));
    assert_eq!(outcome.object, json!({"a": {"default": {"inner": 3}, "both": "x"}}));
    // A null in a list stays, and is refused.
    let list = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(said(&list, json!([null])), "a[0]: must be string, but is null");
    // The order matters: what is left after pruning is too little.
    let least = json!({"type": "object", "minProperties": 1, "properties": {"b": {"type": "string"}}});
    let outcome = judge(&least).create(&json!({"a": {"old": "x"}}));
    assert_eq!(outcome.dropped[0].to_string(), "a.old");
    assert_eq!(outcome.violations[0].to_string(), "a: must have at least 1 keys");
}

#[test]
fn each_word_of_a_schema_is_checked() {
    for (field, right, wrong, message) in [
        (json!({"type": "integer"}), json!(1.0), json!(1.5), "a: must be integer, but is number"),
        (json!({"type": "number"}), json!(1), json!("1"), "a: must be number, but is string"),
        (
            json!({"type": "string", "enum": ["x", "y"]}),
            json!("x"),
            json!("z"),
            "a: must be one of the 2 values listed",
        ),
        (
            json!({"type": "integer", "minimum": 2, "exclusiveMinimum": true}),
            json!(3),
            json!(2),
            "a: must be above 2",
        ),
        (json!({"type": "number", "maximum": 2.5}), json!(2.5), json!(2.6), "a: must be at most 2.5"),
        (json!({"type": "integer", "multipleOf": 3}), json!(6), json!(7), "a: must be a multiple of 3"),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(1),
            json!(3_000_000_000_u64),
            "a: must be a number that fits int32",
        ),
        (
            json!({"type": "string", "maxLength": 2}),
            json!("\u{e9}\u{e9}"),
            json!("abc"),
            "a: must have at most 2 characters",
        ),
        (
            json!({"type": "string", "pattern": "^a+$"}),
            json!("aa"),
            json!("ab"),
            "a: must match the pattern \"^a+$\"",
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!("2024-01-01T00:00:00Z"),
            json!("x"),
            "a: must have the format date-time",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "maxItems": 1}),
            json!([1]),
            json!([1, 2]),
            "a: must have at most 1 items",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}),
            json!([1, 2]),
            json!([1, 2, 1]),
            "a[2]: is there more than once in a list whose items must differ",
        ),
        (
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
            "type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}}),
            json!([{"k": "x"}, {"k": "y", "v": "1"}]),
            json!([{"k": "x"}, {"k": "x", "v": "1"}]),
            "a[1]: is there more than once in a list whose items must differ",
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!(1),
            json!(true),
            "a: must be integer or string, but is boolean",
        ),
        (
            json!({"type": "string", "anyOf": [{"maxLength": 1}, {"pattern": "^x"}]}),
            json!("xy"),
            json!("ab"),
            "a: must satisfy at least one of the 2 alternatives of anyOf",
        ),
        (
            json!({"type": "string", "oneOf": [{"maxLength": 1}, {"pattern": "^x"}]}),
            json!("xy"),
            json!("x"),
            "a: must satisfy exactly one of the 2 alternatives of oneOf, but satisfies 2",
        ),
        (
            json!({"type": "string", "not": {"pattern": "x"}}),
            json!("y"),
            json!("x"),
            "a: must not satisfy the schema under not",
        ),
        (
            json!({"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}}}),
            json!({"b": ""}),
            json!({}),
            "a.b: is required",
        ),
        (
            json!({"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}}),
            json!({"x": "y"}),
            json!({"x": 1}),
            "a[x]: must be string, but is integer",
        ),
        (
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": 1}),
            json!({"apiVersion": "v1"}),
            "a.kind: is required",
        ),
    ] {
        assert_eq!(said(&field, right.clone()), "", "{field} {right}");
        assert_eq!(said(&field, wrong.clone()), message, "{field} {wrong}");
    }
}

#[test]
fn metadata_is_decoded_and_status_is_for_its_subresource() {
    let root = schema(&json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {"type": "object"}, "status": {"type": "object", "properties": {"x": {"type": "integer"}}}}}));
    let object = |metadata: Value| json!({"apiVersion": "g/v1", "kind": "A", "metadata": metadata, "spec": {}, "status": {"x": "wrong"}});
    let plain = Judge::new(&root, Rules::default());
    assert!(matches!(plain.accepts_and_keeps(&object(json!({}))), Verdict::No { .. }));
    let judge = Judge::new(&root, Rules { status_subresource: true, ..Rules::default() });
    assert_eq!(
        judge.accepts_and_keeps(&object(json!({"labels": {"a": "b"}, "creationTimestamp": null}))),
        Verdict::Yes
    );
    let Verdict::No { path, why } = judge.accepts_and_keeps(&object(json!({"lables": {}}))) else { panic!() };
    assert_eq!((path.to_string().as_str(), why), ("metadata.lables", Why::Dropped));
    let outcome = judge.create(&object(json!({"labels": {"a": 1}})));
    assert_eq!(outcome.violations[0].path.to_string(), "metadata.labels[a]");
}

#[test]
fn formats_depend_on_the_release() {
    let root = schema(
        &json!({"type": "object", "properties": {"a": {"type": "string", "format": "k8s-short-name"}}}),
    );
    let judge = |release| Judge::new(&root, Rules { release, resource: false, ..Rules::default() });
    let object = json!({"a": "Not Short"});
    assert_eq!(judge(Release(33)).accepts_and_keeps(&object), Verdict::Yes);
    assert!(matches!(judge(Release(34)).accepts_and_keeps(&object), Verdict::No { .. }));
}

fn with_rule(rule: &str) -> Value {
    json!({"type": "object", "x-kubernetes-validations": [{"rule": rule, "message": "no"}], "properties": {
        "n": {"type": "integer"}, "s": {"type": "string"}, "namespace": {"type": "string"}, "a-b": {"type": "string"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "when": {"type": "string", "format": "date-time"}, "map": {"type": "object", "additionalProperties": {"type": "string"}}}})
}

#[test]
fn rules_are_run_like_on_a_server() {
    for (rule, right, wrong) in [
        ("self.n > 1", json!({"n": 2}), json!({"n": 1})),
        ("!has(self.s) || self.s.startsWith('x')", json!({}), json!({"s": "y"})),
        (
            "self.__namespace__ == 'x' && self.a__dash__b != ''",
            json!({"namespace": "x", "a-b": "c"}),
            json!({"namespace": "y", "a-b": ""}),
        ),
        ("self.list.all(x, x < 3)", json!({"list": [1, 2]}), json!({"list": [1, 3]})),
        ("self.list.exists_one(x, x == 1)", json!({"list": [1, 2]}), json!({"list": [1, 1]})),
        (
            "self.list.map(x, x * 2).filter(y, y > 2).size() == 1",
            json!({"list": [1, 2]}),
            json!({"list": [2, 2]}),
        ),
        (
            "self.when > timestamp('2020-01-01T00:00:00Z')",
            json!({"when": "2021-01-01T00:00:00Z"}),
            json!({"when": "2019-01-01T00:00:00Z"}),
        ),
        (
            "'a-b' in self.map && self.map['a-b'].matches('^c+$')",
            json!({"map": {"a-b": "cc"}}),
            json!({"map": {"a-b": "d"}}),
        ),
        (
            "'a' + self.s.replace('x', 'yy') + ['b', 'c'].join('-') == 'ayyb-c'",
            json!({"s": "x"}),
            json!({"s": "y"}),
        ),
        (
            "[1] + self.list == [1, 2] && self.n + 1 == 3",
            json!({"list": [2], "n": 2}),
            json!({"list": [], "n": 2}),
        ),
        ("self.n in [1, 2] ? self.s == 'x' : true", json!({"n": 3}), json!({"n": 1, "s": "y"})),
        (
            "isQuantity(self.s) && quantity(self.s).isLessThan(quantity('1Gi'))",
            json!({"s": "1Mi"}),
            json!({"s": "2Gi"}),
        ),
    ] {
        assert_eq!(said(&with_rule(rule), right), "", "{rule}");
        assert_eq!(said(&with_rule(rule), wrong), "a: no", "{rule}");
    }
    // A field that is missing is an error, on a server too.
    assert!(said(&with_rule("self.n > 1"), json!({})).contains("is not there"));
    assert!(said(&with_rule("self.unknownFunction()"), json!({})).starts_with("? a: the rule"));
}

#[test]
fn transition_rules_need_an_old_value() {
    let field = with_rule("self.n >= oldSelf.n");
    let judge = judge(&field);
    assert_eq!(judge.accepts_and_keeps(&json!({"a": {"n": 1}})), Verdict::Yes);
    let update = |new: Value, old: Value| judge.update(&json!({"a": new}), &json!({"a": old})).verdict();
    assert_eq!(update(json!({"n": 2}), json!({"n": 1})), Verdict::Yes);
    assert!(matches!(update(json!({"n": 1}), json!({"n": 2})), Verdict::No { .. }));
    let mut optional = with_rule("!oldSelf.hasValue() || oldSelf.value().n == self.n");
    optional["x-kubernetes-validations"][0]["optionalOldSelf"] = json!(true);
    assert_eq!(said(&optional, json!({"n": 1})), "");
}

#[test]
fn hostile_rules_and_objects_are_unknown_not_endless() {
    let deep = format!("{}true{}", "(".repeat(5000), ")".repeat(5000));
    for rule in [
        deep.as_str(),
        &format!("{}self.n > 0", "!".repeat(3000)),
        &format!("self.n > 0 {}", "|| self.n > 0".repeat(2000)),
        &vec!["self.n > 0"; 700].join(" ? true : "),
        "self.list.all(a, self.list.all(b, self.list.all(c, self.list.all(d, self.list.all(e, true)))))",
        "lists.range(1000000000000).size() > 0",
        "'%.999999999f'.format([1.0]) == ''",
        "Foo{a: 1}.a == 1",
        "self.n ===== 1",
    ] {
        let said = said(&with_rule(rule), json!({"n": 1, "list": [1]}));
        assert!(said.is_empty() || said.starts_with("? a: the rule"), "{}", &said[..said.len().min(200)]);
    }
    let many: Vec<_> = (0..2000).collect();
    for rule in [
        "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))",
        "self.list.map(a, self.list.map(b, [a, b])).size() > 0",
        "self.list.exists(a, self.s.matches('(a*)*b'))",
        &format!("[self.s]{}.size() > 0", ".map(x, x + x)".repeat(25)),
        &format!("[self.list]{}.size() > 0", ".map(x, x + x)".repeat(25)),
        &format!("self.s{}.size() > 0", ".replace('a', self.s)".repeat(12)),
    ] {
        let said = said(&with_rule(rule), json!({"list": many, "s": "aaaa"}));
        assert!(said.contains("more work than is allowed"), "{rule}: {said}");
    }
    let mut nested = json!(1);
    for _ in 0..5000 {
        nested = Value::Array(vec![nested]);
    }
    let mut object = json!({"a": {}});
    object["a"] = nested;
    let judge = judge(&json!({"type": "object", "additionalProperties": true}));
    assert!(matches!(judge.accepts_and_keeps(&object), Verdict::Unknown(_)));
}

#[test]
fn no_answer_holds_a_value_of_the_object() {
    const SECRET: &str = "hunter2";
    for (field, value) in [
        (json!({"type": "integer"}), json!(SECRET)),
        (json!({"type": "string", "enum": ["x"]}), json!(SECRET)),
        (json!({"type": "string", "pattern": "^x$"}), json!(SECRET)),
        (with_rule("self.s == 'x'"), json!({"s": SECRET})),
        (with_rule("self.map[self.s] == 'x'"), json!({"s": SECRET, "map": {}})),
        (with_rule("self.s.unknown()"), json!({"s": SECRET})),
        (with_rule("int(self.s) > 1"), json!({"s": SECRET})),
    ] {
        let said = said(&field, value);
        assert!(!said.is_empty() && !said.contains(SECRET), "{said}");
    }
}

#[test]
fn a_judge_can_be_shared() {
    fn shareable<T: Send + Sync>(_: &T) {}
    shareable(&judge(&with_rule("self.n > 1")));
}

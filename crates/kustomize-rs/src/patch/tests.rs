use serde_json::{Value, json};
use yaml_span::{Limits, Schema as Words};

use super::{json as operations, strategic};
use crate::marks::{Marks, Place};
use crate::schema::Schema;
use crate::value;

/// The object and its marks, as they are read from a file.
fn read(text: &str) -> (Value, Marks) {
    let documents = yaml_span::parse(text, Words::Kustomize, &Limits::default()).expect("valid YAML");
    let root = &documents[0].root;
    (value::json(root).expect("text for keys"), crate::marks::of_node(root, text))
}

/// A Deployment with this pod, merged with another; the pod that comes of it.
fn pod(base: &str, patch: &str) -> Result<Option<Value>, String> {
    let object = |pod: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{template: {{spec: {pod}}}}}\n"
        )
    };
    merged(&object(base), &object(patch)).map(|it| it.map(|it| it["spec"]["template"]["spec"].clone()))
}

fn merged(base: &str, patch: &str) -> Result<Option<Value>, String> {
    let ((mut value, mut marks), (patch, patched)) = (read(base), read(patch));
    let kept = strategic::merge(&mut value, &patch, &Schema::Builtin, &mut marks, &patched)?;
    Ok(kept.then_some(value))
}

#[test]
fn what_the_patch_adds_comes_first_and_the_rest_keeps_its_order() {
    let found = pod(
        "{containers: [{name: a, image: x}, {name: b}, {name: c}]}",
        "{containers: [{name: new}, {name: c, image: y}, {name: a, image: null}]}",
    );
    let expected =
        json!({"containers": [{"name": "new"}, {"name": "c", "image": "y"}, {"name": "a"}, {"name": "b"}]});
    assert_eq!(found, Ok(Some(expected)));
}

#[test]
fn ports_are_told_apart_by_number_and_protocol_and_keep_their_places() {
    let ports = |list: &str| format!("{{containers: [{{name: a, ports: {list}}}]}}");
    let base = ports("[{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]");
    let patch = ports("[{containerPort: 53, protocol: UDP, name: dns}, {containerPort: 80, protocol: TCP}]");
    let found = pod(&base, &patch).expect("fits").expect("kept");
    let expected = json!([
        {"containerPort": 80, "protocol": "TCP"},
        {"containerPort": 53, "protocol": "TCP"},
        {"containerPort": 53, "protocol": "UDP", "name": "dns"},
    ]);
    assert_eq!(found["containers"][0]["ports"], expected);
    // Without the protocol, what is there stays as it is.
    let found = pod(&ports("[{containerPort: 80}]"), &ports("[{containerPort: 80, protocol: TCP, name: x}]"));
    assert_eq!(found.expect("fits").expect("kept")["containers"][0]["ports"], json!([{"containerPort": 80}]));
}

#[test]
fn directives_delete_and_replace() {
    let base =
        "{hostNetwork: true, containers: [{name: a, env: [{name: x}]}, {name: b}], volumes: [{name: v}]}";
    let found = pod(
        base,
        "{containers: [{name: b, $patch: delete}, {name: a, env: [{name: x, $patch: delete}]}], \
          volumes: [{$patch: replace}, {name: w}]}",
    );
    let expected =
        json!({"hostNetwork": true, "containers": [{"name": "a", "env": []}], "volumes": [{"name": "w"}]});
    assert_eq!(found, Ok(Some(expected)));
    assert_eq!(pod(base, "{$patch: replace, hostPID: true}"), Ok(Some(json!({"hostPID": true}))));
    assert!(pod(base, "{$patch: drop}").is_err());
    let whole = merged("kind: A\nmetadata: {name: x}\n", "kind: A\nmetadata: {name: x}\n$patch: delete\n");
    assert_eq!(whole, Ok(None));
}

#[test]
fn null_deletes_and_leaves_empty_parents_and_what_was_written_null_stays() {
    let found = pod(
        "{affinity: {a: 1}, dnsConfig: null, hostAliases: }",
        "{affinity: {a: null}, securityContext: {b: null}}",
    );
    assert_eq!(found, Ok(Some(json!({"affinity": {}, "dnsConfig": null, "securityContext": {}}))));
}

#[test]
fn lists_of_unknown_kinds_are_replaced_unless_something_inside_says_its_kind() {
    let (base, patch) = ("kind: A\nspec: {l: [{name: a}]}\n", "kind: A\nspec: {l: [{name: b}]}\n");
    assert_eq!(merged(base, patch).expect("fits").expect("kept")["spec"]["l"], json!([{"name": "b"}]));
    let inside = |name: &str| {
        format!(
            "kind: A\nspec: {{pod: {{apiVersion: v1, kind: Pod, spec: {{containers: [{{name: {name}}}]}}}}}}\n"
        )
    };
    let found = merged(&inside("a"), &inside("b")).expect("fits").expect("kept");
    assert_eq!(found["spec"]["pod"]["spec"]["containers"], json!([{"name": "b"}, {"name": "a"}]));
}

#[test]
fn a_number_takes_the_quotes_of_the_text_in_its_place() {
    let found = pod(
        "{containers: [{name: a, args: [x], env: [{name: p, value: \"80\"}, {name: q, value: plain}]}]}",
        "{containers: [{name: a, env: [{name: q, value: 1}, {name: p, value: 81}]}]}",
    );
    let env = found.expect("fits").expect("kept")["containers"][0]["env"].clone();
    assert_eq!(env, json!([{"name": "q", "value": 1}, {"name": "p", "value": "81"}]));
}

#[test]
fn an_item_without_its_key_drives_out_those_that_have_it() {
    let found = pod("{containers: [{name: a}, {name: b}]}", "{containers: [{image: x}]}");
    assert_eq!(found, Ok(Some(json!({"containers": []}))));
}

#[test]
fn hostile_patches_end_with_an_error() {
    assert!(pod("{containers: {a: 1}}", "{containers: [{name: a}]}").is_err());
    assert!(pod("{containers: [{name: a}]}", "{containers: 3}").is_err());
    let many = |names: std::ops::Range<usize>| {
        let items: Vec<String> = names.map(|number| format!("{{name: n{number}}}")).collect();
        format!("{{volumes: [{}]}}", items.join(", "))
    };
    assert!(pod(&many(0..3_000), &many(0..3_000)).is_err());
    // What the patch does not touch may be long.
    assert!(pod(&many(0..3_000), "{hostPID: true}").is_ok());
}

#[test]
fn operations_are_lenient_where_the_reference_is() {
    let run = |object: Value, list: Value| {
        let mut object = object;
        operations::read(&list).and_then(|list| operations::apply(&mut object, &list, true)).map(|()| object)
    };
    let object = json!({"metadata": {"name": "x"}, "l": [1, 2], "big": 9_007_199_254_740_993_u64});
    let found = run(
        object.clone(),
        json!([
            {"op": "replace", "path": "/new", "value": 1},
            {"op": "add", "path": "/metadata/annotations/a~1b", "value": "c"},
            {"op": "add", "path": "/l/-", "value": 3},
            {"op": "remove", "path": "/l/0"},
        ]),
    );
    let found = found.expect("applies");
    assert_eq!((&found["new"], &found["l"]), (&json!(1), &json!([2, 3])));
    assert_eq!(found["metadata"]["annotations"], json!({"a/b": "c"}));
    assert_eq!(found["big"], json!(9_007_199_254_740_992.0_f64));
    for wrong in [
        json!([{"op": "remove", "path": "/none"}]),
        json!([{"op": "add", "path": "/l/9", "value": 1}]),
        json!([{"op": "test", "path": "/l/0", "value": 2}]),
        json!([{"op": "set", "path": "/l"}]),
        json!({"op": "add"}),
    ] {
        assert!(run(object.clone(), wrong).is_err());
    }
}

#[test]
fn places_stay_the_same_when_items_move() {
    let (value, marks) = read("l: [{name: a, v: 'x'}, {name: b, v: y}]\n");
    let place = |at: usize| Place::ROOT.key("l").item(at + 7, &value["l"][at]).key("v");
    assert!(marks.quoted.has(place(0), "x") && !marks.quoted.has(place(1), "y"));
}

mod any {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::{json as operations, strategic, too_large};
    use crate::marks::Marks;
    use crate::schema::Schema;

    const KEYS: [&str; 12] = [
        "spec",
        "template",
        "containers",
        "name",
        "ports",
        "containerPort",
        "protocol",
        "env",
        "$patch",
        "metadata",
        "finalizers",
        "value",
    ];

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            Just(json!(80)),
            Just(json!(true)),
            prop::sample::select(vec!["", "a", "TCP", "80", "delete", "replace", "merge", "x"])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 64, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((prop::sample::select(KEYS.to_vec()), inner), 0..5).prop_map(|pairs| {
                    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
                }),
            ]
        })
    }

    fn deployment(spec: Value) -> Value {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {"spec": spec}}})
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn a_merge_ends_and_only_adds_what_is_in_the_patch(base in tree(), patch in tree()) {
            let (mut value, patch) = (deployment(base.clone()), deployment(patch));
            let size = |value: &Value| value.to_string().len();
            let limit = size(&value) + 2 * size(&patch);
            let kept = strategic::merge(&mut value, &patch, &Schema::Builtin, &mut Marks::default(), &Marks::default());
            if kept == Ok(true) {
                prop_assert!(size(&value) <= limit);
            }
        }

        #[test]
        fn operations_end(object in tree(), paths in prop::collection::vec("(/[a-c0-2~-]{0,2}){0,4}", 0..6), value in tree()) {
            let verbs = ["add", "remove", "replace", "move", "copy", "test"];
            let list: Vec<Value> = paths.windows(2).zip(verbs.iter().cycle()).map(|(pair, verb)| {
                json!({"op": verb, "path": pair[0], "from": pair[1], "value": value})
            }).collect();
            let mut object = deployment(object);
            if let Ok(list) = operations::read(&Value::Array(list)) {
                let done = operations::apply(&mut object, &list, true);
                prop_assert!(done.is_err() || !too_large(&object));
            }
        }
    }
}

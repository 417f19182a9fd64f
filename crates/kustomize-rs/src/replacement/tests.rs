use serde_json::{Value, json};

use super::path::{get, split, visit};
use super::value::{Copied, Kind};
use crate::kustomization::FieldOptions;

fn options(delimiter: &str, index: i64) -> FieldOptions {
    FieldOptions { delimiter: delimiter.into(), index, ..FieldOptions::default() }
}

/// The object with a value put at a path.
fn put(
    mut object: Value,
    path: &str,
    value: Value,
    create: bool,
    options: &FieldOptions,
) -> Result<(usize, Value), String> {
    let copied = Copied::whole(&value);
    let make = create.then(|| copied.kind());
    let found = visit(&mut object, &split(path), make, &mut |field, made| {
        copied.put(field, made, options).and_then(|misfit| misfit.map_or(Ok(()), |is| Err(is.to_owned())))
    })?;
    Ok((found, object))
}

#[test]
fn paths_have_escapes_brackets_and_conditions() {
    assert_eq!(split(r"a.b\.c.d"), ["a", "b.c", "d"]);
    assert_eq!(split("metadata.annotations.[a.b/c]"), ["metadata", "annotations", "a.b/c"]);
    assert_eq!(split("spec.[name=a.b].x.[=-q]"), ["spec", "[name=a.b]", "x", "[=-q]"]);
    assert_eq!(split(".a.b"), ["a", "b"]);
}

#[test]
fn sources_are_found_in_lists_by_position_and_by_condition() {
    let object = json!({"l": [{"n": "a", "v": 1}, {"n": "b", "v": 2}], "s": ["x", "y"]});
    let at = |path: &str| get(&object, &split(path)).map(|found| found.cloned());
    assert_eq!(at("l.[n=b].v"), Ok(Some(json!(2))));
    assert_eq!(at("l.-.v"), Ok(Some(json!(2))));
    assert_eq!(at("s.0"), Ok(Some(json!("x"))));
    assert_eq!(at("s.[=y]"), Ok(Some(json!("y"))));
    assert_eq!(at("l.7.v"), Ok(None));
    assert!(at("l.x").is_err() && at("s.*").is_err() && at("l.[n].v").is_err());
}

#[test]
fn a_field_keeps_its_type_and_a_new_one_takes_what_the_text_looks_like() {
    let none = FieldOptions::default();
    let object = json!({"text": "a", "number": 1, "list": [1], "nothing": null});
    let put = |path: &str, value: Value, create| put(object.clone(), path, value, create, &none);
    assert_eq!(put("text", json!(80), false).map(|it| it.1["text"].clone()), Ok(json!("80")));
    assert_eq!(put("number", json!("80"), false).map(|it| it.1["number"].clone()), Ok(json!(80)));
    assert_eq!(put("new.deep", json!("80"), true).map(|it| it.1["new"].clone()), Ok(json!({"deep": 80})));
    assert_eq!(put("list", json!({"a": 1}), false).map(|it| it.1["list"].clone()), Ok(json!({"a": 1})));
    assert_eq!(put("new", json!("x"), false).map(|it| it.0), Ok(0));
    assert!(put("number", json!("x"), false).is_err() && put("nothing", json!("x"), false).is_err());
    assert!(put("text.deep", json!("x"), true).is_err());
}

#[test]
fn conditions_and_stars_reach_several_items_and_can_be_made() {
    let none = FieldOptions::default();
    let object = json!({"l": [{"n": "a1", "v": 1}, {"n": "a2", "v": 2}, {"n": "b", "v": 3}]});
    let (found, _) = put(object.clone(), "l.[n=a].v", json!(9), false, &none).expect("fits");
    assert_eq!(found, 2, "a pattern is found anywhere in the value");
    let (found, all) = put(object.clone(), "l.*.v", json!(9), false, &none).expect("fits");
    assert_eq!((found, &all["l"][2]["v"]), (3, &json!(9)));
    let (found, made) = put(object.clone(), "l.[n=c].v", json!("x"), true, &none).expect("made");
    assert_eq!((found, &made["l"][3]), (1, &json!({"n": "c", "v": "x"})));
    let (_, made) = put(object.clone(), "m.0.v", json!("x"), true, &none).expect("made");
    assert_eq!(made["m"], json!([{"v": "x"}]));
    assert!(put(object.clone(), "l.[n=^.$].v", json!("x"), true, &none).is_err(), "would never be found");
    assert!(put(object, "l.9.v", json!("x"), true, &none).is_err());
}

#[test]
fn delimiters_take_and_replace_parts() {
    let part = |index| Copied::part(&json!("a.b.c"), &options(".", index)).map(|it| format!("{it:?}"));
    assert!(part(1).is_ok_and(|it| it.contains("\"b\"")));
    assert!(part(3).is_err() && part(-1).is_err());
    assert!(Copied::part(&json!([1]), &options(".", 0)).is_err());
    let text = |index| {
        let object = json!({"t": "x/y"});
        put(object, "t", json!("n"), false, &options("/", index)).map(|it| it.1["t"].clone())
    };
    assert_eq!(text(0), Ok(json!("n/y")));
    assert_eq!(text(-1), Ok(json!("n/x/y")));
    assert_eq!(text(9), Ok(json!("x/y/n")));
    assert_eq!(Copied::whole(&json!({"a": 1})).kind(), Kind::Mapping);
}

#[test]
fn a_build_copies_between_the_objects_that_are_meant() {
    use crate::{MemoryFiles, Options, build};
    let object = |name: &str, label: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, labels: {{app: {label}}}}}\ndata: {{v: {name}}}\n---\n"
        )
    };
    let run = |replacement: &str| {
        let files: MemoryFiles = [
            (
                "kustomization.yaml",
                "resources: [a.yaml]\nnamePrefix: p-\nreplacements: [{path: r.yaml}]\n".to_owned(),
            ),
            (
                "a.yaml",
                ["a", "b", "c"].map(|name| object(name, if name == "c" { "y" } else { "x" })).concat(),
            ),
            ("r.yaml", replacement.to_owned()),
        ]
        .into_iter()
        .collect();
        let built = build(&files, "", &Options::default());
        built.map(|objects| objects.iter().map(|it| it.value["data"]["v"].clone()).collect::<Vec<_>>())
    };
    // By its first name, and by the one it has.
    for source in ["a", "p-a"] {
        let found = run(&format!(
            "source: {{kind: ConfigMap, name: {source}, fieldPath: data.v}}\n\
             targets: [{{select: {{kind: ConfigMap}}, reject: [{{labelSelector: app=y}}], fieldPaths: [data.v]}}]\n"
        ));
        assert_eq!(found, Ok(vec![json!("a"), json!("a"), json!("c")]));
    }
    for wrong in [
        "source: {kind: ConfigMap, fieldPath: data.v}\ntargets: [{select: {}, fieldPaths: [data.v]}]\n",
        "source: {name: none}\ntargets: [{select: {}, fieldPaths: [data.v]}]\n",
        "source: {name: a, fieldPath: data.none}\ntargets: [{select: {}, fieldPaths: [data.v]}]\n",
        "source: {name: a}\ntargets: [{select: {}, fieldPaths: [data.none]}]\n",
        "source: {name: a}\ntargets: [{fieldPaths: [data.v]}]\n",
        "source: {name: a}\n",
    ] {
        assert!(run(wrong).is_err(), "{wrong}");
    }
}

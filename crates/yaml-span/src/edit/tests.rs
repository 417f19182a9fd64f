use serde_json::{Value as Json, json};

use crate::{EditError, Editor, Path};

fn path(text: &str) -> Path {
    text.parse().expect("a path")
}

fn set(text: &str, at: &str, value: &Json) -> Result<String, EditError> {
    let mut editor = Editor::new(text)?;
    editor.set(0, &path(at), value)?;
    Ok(editor.into_text())
}

fn remove(text: &str, at: &str) -> Result<String, EditError> {
    let mut editor = Editor::new(text)?;
    assert!(editor.remove(0, &path(at))?, "{at} exists");
    Ok(editor.into_text())
}

const CLUSTER: &str = "\
# the first cluster
apiVersion: kcp.dev/v1alpha1
kind: Cluster
metadata:
  name: eu-1   # short
  labels: {region: eu}

spec:
  # open for all
  unschedulable: false # cordon
  taints:
  # planned
  - {key: a, effect: NoSchedule}
  - key: b  # second
    effect: NoExecute

  connection:
    context: 'eu-1'
# end
";

#[test]
fn a_value_changes_only_its_own_bytes() {
    let cases = [
        ("spec.unschedulable", json!(true), "unschedulable: false # cordon", "unschedulable: true # cordon"),
        ("spec.connection.context", json!("y"), "'eu-1'", "\"y\""),
        ("metadata.labels.zone", json!("a,b"), "{region: eu}", "{region: eu, zone: \"a,b\"}"),
        ("metadata.labels.region", json!("us"), "{region: eu}", "{region: us}"),
        (
            "spec.taints[0].effect",
            json!("NoExecute"),
            "{key: a, effect: NoSchedule}",
            "{key: a, effect: NoExecute}",
        ),
        (
            "spec.taints[1].tag",
            json!({"x": [1]}),
            "NoExecute\n",
            "NoExecute\n    tag:\n      x:\n      - 1\n",
        ),
        (
            "spec.taints[2]",
            json!({"key": "c", "effect": "NoSchedule"}),
            "NoExecute\n",
            "NoExecute\n  - key: c\n    effect: NoSchedule\n",
        ),
        (
            "spec.drain.reason",
            json!("a\nb\n"),
            "'eu-1'\n",
            "'eu-1'\n  drain:\n    reason: |\n      a\n      b\n",
        ),
        ("spec.connection", json!({"context": "eu-1", "n": 1}), "'eu-1'\n", "'eu-1'\n    \"n\": 1\n"),
        ("spec.unschedulable", json!({"a": 1}), " false # cordon\n", " # cordon\n    a: 1\n"),
        ("metadata.name", json!("eu\n2"), "name: eu-1   # short\n", "name: |-   # short\n    eu\n    2\n"),
    ];
    for (at, value, from, to) in cases {
        let expected = CLUSTER.replacen(from, to, 1);
        assert_ne!(expected, CLUSTER, "{at}");
        assert_eq!(set(CLUSTER, at, &value).map_err(|e| e.to_string()), Ok(expected), "{at}");
        let crlf = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(
            set(&format!("\u{feff}{}", crlf(CLUSTER)), at, &value).map_err(|e| e.to_string()),
            Ok(format!("\u{feff}{}", crlf(&CLUSTER.replacen(from, to, 1)))),
            "{at} with CRLF"
        );
    }
    assert_eq!(set(CLUSTER, "metadata.name", &json!("eu-1")), Ok(CLUSTER.to_owned()), "nothing to do");
}

#[test]
fn what_is_removed_takes_its_lines_and_no_others() {
    for (at, from, to) in [
        ("spec.unschedulable", "  unschedulable: false # cordon\n", ""),
        ("spec.taints[0]", "  - {key: a, effect: NoSchedule}\n", ""),
        ("spec.taints[1]", "  - key: b  # second\n    effect: NoExecute\n", ""),
        ("spec.taints[1].key", "- key: b  # second\n    effect", "- effect"),
        ("spec.taints[0].key", "{key: a, effect: NoSchedule}", "{effect: NoSchedule}"),
        ("spec.taints[0].effect", "{key: a, effect: NoSchedule}", "{key: a}"),
        ("metadata.labels.region", "{region: eu}", "{}"),
        ("spec.connection.context", "connection:\n    context: 'eu-1'", "connection: {}"),
        ("spec", &CLUSTER[CLUSTER.find("spec").expect("spec")..CLUSTER.find("# end").expect("end")], ""),
    ] {
        assert_eq!(remove(CLUSTER, at).map_err(|e| e.to_string()), Ok(CLUSTER.replacen(from, to, 1)), "{at}");
    }
    let mut editor = Editor::new(CLUSTER).expect("valid");
    assert_eq!(editor.remove(0, &path("spec.nothing")), Ok(false));
    assert_eq!(
        remove("b: &b {x: 1}\nm:\n  z: 2\n  <<: *b\nn: 1\n", "m.z"),
        Ok("b: &b {x: 1}\nm:\n  <<: *b\nn: 1\n".to_owned())
    );
    assert_eq!(remove("a: 1\nb: 2", "b"), Ok("a: 1".to_owned()), "no final newline before, none after");
    assert_eq!(set("a: 1", "b", &json!([1])), Ok("a: 1\nb:\n- 1".to_owned()));
}

#[test]
fn lists_are_indented_as_in_the_rest_of_the_file() {
    let text = "a:\n    - 1\nb:\n    c: {}\n";
    assert_eq!(
        set(text, "b.c", &json!({"d": [{"e": 1, "f": 2}]})),
        Ok("a:\n    - 1\nb:\n    c:\n        d:\n            - e: 1\n              f: 2\n".to_owned())
    );
    let mut editor = Editor::new("a:\nb: []\n").expect("valid");
    editor.push(0, &path("a"), &json!("x")).expect("null becomes a list");
    editor.push(0, &path("a"), &json!("z")).expect("appended");
    editor.push(0, &path("b"), &json!({"k": null})).expect("[] becomes a block");
    editor.push(0, &path("c"), &json!(1)).expect("made");
    assert_eq!(editor.text(), "a:\n- x\n- z\nb:\n- k: null\nc:\n- 1\n");
}

#[test]
fn documents_are_chosen_and_added() {
    let mut editor = Editor::new("# one\na: 1\n---\n# two\na: 1 # x\n").expect("valid");
    editor.set(1, &path("a"), &json!(2)).expect("second document");
    editor.insert_document(&json!({"b": {"c": 1}})).expect("third document");
    assert_eq!(editor.text(), "# one\na: 1\n---\n# two\na: 2 # x\n---\nb:\n  c: 1\n");
    assert_eq!(editor.set(3, &path("a"), &json!(1)), Err(EditError::NoDocument { index: 3, count: 3 }));
    let mut empty = Editor::new("# only a comment\n").expect("valid");
    empty.insert_document(&json!({"a": 1})).expect("first document");
    assert_eq!(empty.text(), "# only a comment\na: 1\n");
    let mut started = Editor::new("---\n").expect("valid");
    started.set(0, &path("a.b"), &json!(1)).expect("into the empty document");
    assert_eq!(started.text(), "---\na:\n  b: 1\n");
}

#[test]
fn what_needs_a_rewrite_is_refused_with_a_line_and_a_hint() {
    let shared =
        "base: &b\n  x: 1\nalias: *b\nmerged:\n  <<: *b\n  z: 2\ntagged: !!str 5\nlist:\n- a # c\n- b\n";
    for (at, message) in [
        ("alias.x", "line 3: alias: it is an alias; edit the node it names"),
        ("base.x", "line 2: base: it has an anchor, so aliases would change too; edit the file by hand"),
        ("merged.x", "line 5: merged.x: it comes from a merge key `<<`; edit the node that is merged in"),
        ("tagged", "line 7: tagged: it has a tag; remove the tag first"),
        ("list", "line 9: list: there are comments inside, which would be lost; move or remove them first"),
        ("merged.z.y", "line 6: merged.z: expected a mapping, found integer 2"),
        ("list[5]", "line 9: list: the index is past the end of the list"),
    ] {
        let mut editor = Editor::new(shared).expect("valid");
        let error = editor.set(0, &path(at), &json!("new")).expect_err(at);
        assert_eq!(error.to_string(), message);
        assert_eq!(editor.text(), shared);
    }
    assert!(matches!(Editor::new("a: [\n"), Err(EditError::Parse(_))));
}

#[test]
fn an_edit_that_would_mean_something_else_is_refused() {
    // Taking out the last line would take a blank line from the text before it; an alias would lose its anchor.
    for (text, at) in [("- |+\n  p\n\n- z", "[1]"), ("a: &x 1\nb: *x\n", "a")] {
        let mut editor = Editor::new(text).expect("valid");
        let error = editor.remove(0, &path(at)).expect_err(at);
        assert!(matches!(error, EditError::Refused { .. }), "{error}");
        assert_eq!(editor.text(), text);
    }
}

mod random;

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use super::objects;
use crate::read::{self, Reader};
use crate::{Limits, MemoryFiles};

/// Both ways of reading a text agree, where the quick one reads it at all.
fn agrees(text: &str) -> bool {
    let Some(quick) = objects("a.yaml", text) else { return false };
    let (files, limits) = (MemoryFiles::new(), Limits::default());
    let reader = Reader::new(&files, &limits, yaml_span::Schema::Kustomize);
    let documents = reader.parse_as("a.yaml", text, yaml_span::Schema::Kustomize).expect(text);
    let full = read::objects("a.yaml", &documents, yaml_span::Schema::Kustomize).expect(text);
    assert_eq!(quick.len(), full.len(), "{text}");
    for ((quick, quick_marks), (full, full_marks)) in quick.iter().zip(&full) {
        assert_eq!((&quick.value, &quick.origin), (&full.value, &full.origin), "{text}");
        assert_eq!(quick_marks, full_marks, "{text}");
    }
    true
}

const HEAD: &str = "apiVersion: v1\nkind: X\nmetadata:\n  name: a\n";

#[test]
fn what_machines_write_is_read_quickly() {
    for body in [
        "spec:\n  a: b\n  c:\n  - d: 1\n    e: 'it''s'\n  - - x\n    - y\n  - z\n  f: []\n  g: {}\n",
        "spec:\n  text: |-\n    one\n      two\n\n    three\n  clip: |\n    x\n\n  keep: |+\n    y\n\nend: 1\n",
        "spec:\n  long: some words that\n    go on\n    and on\n  next: \"a\\n\\\"b\\\"\"\n",
        "# comment\nspec:\n- --flag=x\n- 10Gi\n- 1.2.3\n- 0\n- -5\n- 80%\n\n- http://x:8080\n- 'no'\n- true\nempty:\n",
        "---\n# nothing\n---\napiVersion: v1\nkind: Y\nmetadata:\n  name: b\n  labels:\n    a: \"1\"\n",
        "spec:\n  a: b # c\n  d: # e\n    f: 'x y' # z\n  g: 'many\n    words ''in'' quotes'\n  h: \"more\n    words\"\n",
        "spec:\n  verbs: [get, \"*\", '', b-c ]\n",
        "spec:\n  a: null\n  emptyDir:\n  list:\n    - name: x\n      v: yes\n    - name: 5\n      v: on\nü: ö\n",
    ] {
        let quick = agrees(&format!("{HEAD}{body}"));
        assert!(quick || body.contains('ü'), "{body}");
    }
}

#[test]
fn all_else_is_left_to_the_full_reader() {
    for body in [
        "a: &x b\n",
        "a: *x\n",
        "a: !!str b\n",
        "a: [b, {c: d}]\n",
        "a: >\n  b\n",
        "a: b: c\n",
        "a: 1.5\n",
        "a: 0x1F\n",
        "a: 2020-01-01\n",
        "a: ~\n",
        "a: True\n",
        "a: b\na: c\n",
        "8080: a\n",
        "true: a\n",
        "a:\tb\n",
        "\ta: b\n",
        "...\n",
        "a: |2\n   b\n",
        "a: \"\\x41\"\n",
        "a: 007\n",
        "-: a\n",
        "a:\n  - b\n - c\n",
        "a:\n   b: c\n  d: e\n",
        "a:\n- \n",
        "items: [\n",
        "a: b\n\n  c\n",
        "<<: a\n",
        "a: -0\n",
    ] {
        let text = format!("{HEAD}{body}");
        assert!(objects("a.yaml", &text).is_none(), "{body}");
    }
    for text in
        ["a: b\n", "kind: List\napiVersion: v1\nmetadata:\n  name: a\nitems:\n", "- a\n", HEAD.trim_end()]
    {
        assert!(objects("a.yaml", text).is_none(), "{text}");
    }
}

/// Lines that are nearly what is read here.
fn lines() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("a: b"),
        Just("a:"),
        Just("b: |"),
        Just("b: |-"),
        Just("- a: b"),
        Just("- b"),
        Just("- - c"),
        Just("-"),
        Just("text that goes on"),
        Just("# comment"),
        Just(""),
        Just("   "),
        Just("---"),
        Just("c: 'd'"),
        Just("d: 12"),
        Just("e: \"x\""),
        Just("f: []"),
        Just("g: 1.5"),
        Just("h: - x"),
        Just("name: z"),
        Just("port: 80"),
        Just("i: null"),
        Just("- name: q"),
        Just("j: x: y"),
        Just("k: 1 2"),
        Just("- |"),
        Just("l: 2020-01-01"),
        Just("kind: X"),
        Just("y: [a, \"b\", null]"),
        Just("- [c, 'd']"),
        Just("m: n # o"),
        Just("p: # q"),
        Just("r: 's"),
        Just("t'"),
        Just("u: \"v"),
        Just("w\""),
        Just("x: 'y' # z"),
    ];
    let indented = (0..5_usize, line).prop_map(|(indent, line)| format!("{}{line}\n", " ".repeat(indent)));
    proptest::collection::vec(indented, 0..12).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn both_readers_agree(body in lines()) {
        agrees(&format!("{HEAD}{body}"));
        agrees(&body);
    }
}

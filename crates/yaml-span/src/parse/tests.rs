use serde_json::json;

use super::parse;
use crate::{Errors, Limits, Node, Origin, Path, Schema, Style, Value};

fn root(text: &str) -> Node {
    let mut documents = parse(text, Schema::Kubernetes, &Limits::default()).expect("valid YAML");
    documents.remove(0).root
}

fn errors(text: &str, schema: Schema, limits: &Limits) -> Vec<String> {
    let errors: Errors = parse(text, schema, limits).expect_err("an error");
    errors.diagnostics("f.yaml").iter().map(ToString::to_string).collect()
}

fn at<'a>(node: &'a Node, path: &str) -> &'a Node {
    node.at(&path.parse().expect("a path")).expect("a node")
}

#[test]
fn every_node_knows_its_text_and_place() {
    let text = "\u{feff}# c\nä: 'ö' # x\nlist:\n- 1\n-\n- # c\n  k: v\nnested:\n- - -1\n  - 2\nlit: | # h\n  a\n\n  b\n\n\nfold: >+\n  a\n\nflow: [1, {a: b}]\nlast:\n";
    let root = root(text);
    for (path, source, line, column, style) in [
        ("ä", "'ö'", 2, 4, Style::SingleQuoted),
        ("list", "- 1\n-\n- # c\n  k: v", 4, 1, Style::Block),
        ("list[0]", "1", 4, 3, Style::Plain),
        ("list[1]", "", 5, 2, Style::Plain),
        ("list[2]", "k: v", 7, 3, Style::Block),
        ("nested", "- - -1\n  - 2", 9, 1, Style::Block),
        ("nested[0]", "- -1\n  - 2", 9, 3, Style::Block),
        ("nested[0][0]", "-1", 9, 5, Style::Plain),
        ("lit", "| # h\n  a\n\n  b", 11, 6, Style::Literal),
        ("fold", ">+\n  a\n\n", 17, 7, Style::Folded),
        ("flow", "[1, {a: b}]", 20, 7, Style::Flow),
        ("flow[1].a", "b", 20, 15, Style::Plain),
    ] {
        let node = at(&root, path);
        assert_eq!(&text[node.span.bytes()], source, "{path}");
        assert_eq!((node.span.start.line, node.span.start.column), (line, column), "{path}");
        assert_eq!(node.style, style, "{path}");
    }
    assert_eq!(at(&root, "lit").as_str(), Some("a\n\nb\n"));
    let absent: Path = "nested[0][7].x".parse().expect("a path");
    assert_eq!(root.locate(&absent), at(&root, "nested[0]").span, "the nearest ancestor that exists");
    let value: Path = "lit".parse().expect("a path");
    assert_eq!(root.locate(&value).start.to_string(), "11:1", "an entry is shown at its key");
}

#[test]
fn documents_are_told_apart_and_empty_ones_marked() {
    let documents =
        parse("a: 1\n---\n# c\n---\nb\n--- null\n...\n", Schema::Strict, &Limits::default()).expect("valid");
    let shown: Vec<_> = documents.iter().map(|d| (d.span.start.line, d.explicit, d.empty)).collect();
    assert_eq!(shown, [(1, false, false), (2, true, true), (4, true, false), (6, true, false)]);
    assert_eq!(parse("# only comments\n\n", Schema::Strict, &Limits::default()).map(|d| d.len()), Ok(0));
}

#[test]
fn aliases_and_merge_keys_are_expanded_where_they_stand() {
    let text = "base: &b {x: 1, y: [2]}\nuse: *b\nmerged:\n  <<: *b\n  x: 5\nmany:\n  <<: [{p: 1}, {p: 2, q: 3}]\nquoted: {'<<': 1}\n";
    let root = root(text);
    assert_eq!(
        root.to_json(),
        json!({
            "base": {"x": 1, "true": [2]}, "use": {"x": 1, "true": [2]}, "merged": {"x": 5, "true": [2]},
            "many": {"p": 1, "q": 3}, "quoted": {"<<": 1},
        }),
        "and `y` is a boolean key, as for kubectl"
    );
    let used = at(&root, "use");
    assert_eq!((used.origin, used.span.start.to_string()), (Origin::Alias, "2:6".to_owned()));
    assert_eq!(
        at(&root, "use.x").span.start.to_string(),
        "1:14",
        "what is inside has the definition's place"
    );
    assert_eq!(
        root.locate(&"use.x".parse().expect("a path")).start.to_string(),
        "2:1",
        "the reader is shown the alias"
    );
    assert_eq!(at(&root, "merged.x").origin, Origin::Written);
    assert_eq!(at(&root, "merged.true").origin, Origin::Copy);
    assert_eq!(at(&root, "base").anchor.as_deref(), Some("b"));
}

#[test]
fn json_numbers_are_whole_when_they_are() {
    assert_eq!(
        root("[1.0, 1e3, 1.5, 18446744073709551615, 1_000, 0x10, 100000000000000000000, !!str 5, !!float 2, \"7\"]").to_json().to_string(),
        r#"[1,1000,1.5,18446744073709551615,1000,16,1e+20,"5",2,"7"]"#
    );
    assert!(matches!(&root("1.50").value, Value::Float { source, .. } if &**source == "1.50"));
}

#[test]
fn all_readable_errors_come_at_once_with_both_places() {
    let text = "a: yes\nb:\n  c: 1\n  c: 2\n  d: .nan\n  e: 0777\n  f: !secret x\n  ? [k]\n  : 1\n  <<: 5\n  g: !!int x\non: 1\n'a': 2\n";
    assert_eq!(
        errors(text, Schema::Strict, &Limits::default()),
        [
            "f.yaml:1:4: a: `yes` without quotes means different things to different YAML readers; quote it if it is a text, else write true, false or a plain decimal number",
            "f.yaml:4:3: b.c: duplicate key `c`: it is already at line 3, column 3; remove one of them",
            "f.yaml:5:6: b.d: `.nan` is no number that JSON can hold; quote it if it is a text",
            "f.yaml:6:6: b.e: `0777` without quotes means different things to different YAML readers; quote it if it is a text, else write true, false or a plain decimal number",
            "f.yaml:7:14: b.f: the tag `!secret` is not supported; remove it",
            "f.yaml:8:5: b: a key must be a name, found a list; quote it",
            "f.yaml:10:7: b: `<<` takes a mapping or a list of mappings, found integer",
            "f.yaml:11:12: b.g: the text does not fit its tag !!int; remove the tag",
            "f.yaml:12:1: `on` without quotes means different things to different YAML readers; quote it if it is a text, else write true, false or a plain decimal number",
            "f.yaml:13:1: a: duplicate key `a`: it is already at line 1, column 1; remove one of them",
        ]
    );
    let large: String = (0..200).map(|i| format!("k{i}: 1\n")).chain(["k150: 2\n".to_owned()]).collect();
    assert_eq!(
        errors(&large, Schema::Kubernetes, &Limits::default()),
        ["f.yaml:201:1: k150: duplicate key `k150`: it is already at line 151, column 1; remove one of them"]
    );
}

#[test]
fn a_syntax_error_says_where() {
    for (text, start) in [
        ("a: [1, 2\nb: 3\n", "f.yaml:"),
        ("a: b: c\n", "f.yaml:1:5: "),
        ("a: *x\n", "f.yaml:1:4: a: an alias without an anchor of that name before it"),
        ("a: &x [*x]\n", "f.yaml:1:8: a[0]: an alias inside the node that it names"),
        ("a: \"\u{1}\"\n", "f.yaml:1:"),
    ] {
        let found = errors(text, Schema::Kubernetes, &Limits::default());
        assert!(found.len() == 1 && found[0].starts_with(start), "{text:?}: {found:?}");
    }
}

#[test]
fn bombs_are_errors() {
    let limits = Limits::default();
    let one = |text: &str| errors(text, Schema::Kubernetes, &limits).pop().unwrap_or_default();
    assert_eq!(one(&"[".repeat(10_000)), "f.yaml:1:65: nested deeper than 64 levels");
    assert!(one(&"- ".repeat(10_000)).ends_with("nested deeper than 64 levels"));
    assert!(one(&"{a: ".repeat(10_000)).ends_with("nested deeper than 64 levels"));
    let deep: String = (0..10_000).map(|i| format!("{}a:\n", " ".repeat(i % 2000))).take(2000).collect();
    assert!(one(&deep).ends_with("nested deeper than 64 levels"));
    assert_eq!(
        one(&" ".repeat(5 << 20)),
        "f.yaml:1:1: the text has 5242880 bytes, more than the limit of 4194304; split it into several files"
    );
    let many = format!("a: &a 1\nb: [{}]\n", "*a,".repeat(1_000_000));
    assert!(one(&many).ends_with("more than 10000 aliases"), "{}", one(&many));
    // Each level doubles or multiplies by ten what the one before holds.
    let laughs: String = (1..12).fold("a0: &a0 [x, x]\n".to_owned(), |text, i| {
        format!("{text}a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(", "))
    });
    assert!(one(&laughs).ends_with("more than 1000000 values, what aliases copy included"));
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 100].join(","));
    assert!(one(&long).ends_with("anchors and aliases copy more than 8388608 bytes"));
    let chain: String =
        (1..40).fold("a0: &a0 [[x]]\n".to_owned(), |text, i| format!("{text}a{i}: &a{i} [[*a{}]]\n", i - 1));
    assert!(one(&chain).ends_with("nested deeper than 64 levels"));
    assert!(one(&"---\n".repeat(20_000)).ends_with("more than 10000 documents"));
    assert_eq!(errors(&"a: 1\n".repeat(5000), Schema::Strict, &limits).len(), Errors::MAX);
    assert_eq!(errors(&"- on\n".repeat(5000), Schema::Strict, &limits).len(), Errors::MAX);
}

#[test]
fn a_key_may_be_written_again_where_the_last_value_counts() {
    let text = "a: 1\nb: {c: 1, c: 2}\na: 3\n";
    assert_eq!(errors(text, Schema::Kubernetes, &Limits::default()).len(), 2);
    let documents = super::parse_last_wins(text, Schema::Kubernetes, &Limits::default()).expect("valid");
    assert_eq!(documents[0].root.to_json(), serde_json::json!({"a": 3, "b": {"c": 2}}));
}

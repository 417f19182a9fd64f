//! Random files with comments, random edits: an edit is refused, or means exactly what was asked for and loses
//! nothing that was not part of it.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::{Editor, Limits, Node, Path, Schema, Segment, Value, emit, parse};

/// A tree as it will be written: each node knows how.
#[derive(Clone, Debug)]
enum Tree {
    Scalar(String),
    Literal(Vec<String>, &'static str),
    Flow(String),
    List(Vec<(Tree, Noise)>, usize),
    Map(Vec<(Tree, Noise)>, usize),
}

/// What stands above and behind a line: blank line, comment above, comment behind.
type Noise = (bool, bool, bool);

fn tree() -> impl Strategy<Value = Tree> {
    let scalar = prop::sample::select(vec![
        "1", "-1", "text", "'q # x'", "\"d\\n\"", "", "null", "true", "a b", "*", "x#y", "12:30",
    ]);
    let leaf = prop_oneof![
        6 => scalar.prop_map(|s| Tree::Scalar(if s == "*" { "'*'".into() } else { s.into() })),
        1 => (prop::collection::vec("[a-z #:]{0,4}[a-z]", 1..3), prop::sample::select(vec!["|", "|-", "|+", ">", ">-"]))
            .prop_map(|(lines, head)| Tree::Literal(lines.iter().map(|l| l.trim().to_owned()).collect(), head)),
        2 => prop::sample::select(vec!["{}", "[]", "[1, two]", "{a: 1}", "{a: {b: [x, {c: d}]}, e: ''}", "[a, [b], ]"])
            .prop_map(|s| Tree::Flow(s.into())),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let entries = prop::collection::vec(
            (inner, (prop::bool::weighted(0.2), prop::bool::weighted(0.3), prop::bool::weighted(0.3))),
            1..4,
        );
        prop_oneof![
            (entries.clone(), 0..3_usize).prop_map(|(e, i)| Tree::List(e, i)),
            (entries, 1..4_usize).prop_map(|(e, i)| Tree::Map(e, i)),
        ]
    })
}

struct Writer {
    lines: Vec<String>,
    comments: usize,
}

impl Writer {
    fn comment(&mut self) -> String {
        self.comments += 1;
        format!("# c{}.", self.comments)
    }

    fn block(&mut self, tree: &Tree, indent: usize) {
        let (entries, is_map) = match tree {
            Tree::List(entries, _) => (entries, false),
            Tree::Map(entries, _) => (entries, true),
            _ => return,
        };
        for (i, (child, (blank, above, behind))) in entries.iter().enumerate() {
            if *blank {
                self.lines.push(String::new());
            }
            if *above {
                let comment = self.comment();
                self.lines.push(format!("{}{comment}", " ".repeat(indent)));
            }
            let mut line =
                format!("{}{}", " ".repeat(indent), if is_map { format!("k{i}:") } else { "-".to_owned() });
            let comment = if *behind { format!(" {}", self.comment()) } else { String::new() };
            match child {
                Tree::Scalar(text) | Tree::Flow(text) => {
                    if !text.is_empty() {
                        line = format!("{line} {text}");
                    }
                    self.lines.push(line + &comment);
                }
                Tree::Literal(text, head) => {
                    self.lines.push(format!("{line} {head}{comment}"));
                    self.lines.extend(text.iter().map(|l| format!("{}{l}", " ".repeat(indent + 2))));
                    if *blank {
                        self.lines.push(String::new());
                    }
                }
                Tree::List(_, more) | Tree::Map(_, more) => {
                    let below = match child {
                        Tree::List(..) if is_map => indent + more,
                        _ => indent + more.max(&1),
                    };
                    if is_map || *behind || *blank {
                        self.lines.push(line + &comment);
                        self.block(child, below);
                    } else {
                        // The compact form: the first entry on the line of the dash.
                        let start = self.lines.len();
                        self.block(child, indent + 2);
                        if self.lines[start].trim_start().starts_with('#') || self.lines[start].is_empty() {
                            self.lines.insert(start, line);
                        } else {
                            self.lines[start].replace_range(indent..=indent, "-");
                        }
                    }
                }
            }
        }
    }
}

fn file() -> impl Strategy<Value = String> {
    (tree(), any::<bool>(), any::<bool>(), any::<bool>()).prop_filter_map(
        "a block",
        |(tree, crlf, end, marker)| {
            if !matches!(tree, Tree::List(..) | Tree::Map(..)) {
                return None;
            }
            let mut writer = Writer { lines: Vec::new(), comments: 0 };
            if marker {
                writer.lines.extend(["# c0.".to_owned(), "---".to_owned()]);
            }
            writer.block(&tree, 0);
            let mut text = writer.lines.join(if crlf { "\r\n" } else { "\n" });
            if end {
                text.push_str(if crlf { "\r\n" } else { "\n" });
            }
            parse(&text, Schema::Kubernetes, &Limits::default()).is_ok().then_some(text)
        },
    )
}

fn value() -> impl Strategy<Value = Json> {
    prop::sample::select(vec![
        json!("new"),
        json!("y"),
        json!(""),
        json!(" # "),
        json!("a\nb\n"),
        json!("a: b"),
        json!(7),
        json!(null),
        json!(1.5),
        json!([]),
        json!({}),
        json!([1, "x"]),
        json!({"p": 1}),
        json!({"p": {"q": ["r", {"s": "t\nu"}]}}),
        json!([[1], {"a": []}]),
    ])
}

fn paths(node: &Node, at: &Path, found: &mut Vec<Path>) {
    found.push(at.clone());
    match &node.value {
        Value::Sequence(items) => {
            items.iter().enumerate().for_each(|(i, n)| paths(n, &at.clone().index(i), found));
            found.push(at.clone().index(items.len()));
        }
        Value::Mapping(entries) => {
            entries.iter().for_each(|(k, n)| paths(n, &at.clone().key(k.key_text()), found));
            found.push(at.clone().key("added"));
            found.push(at.clone().key("y").key("deep").index(0));
        }
        _ => {}
    }
}

fn comments(text: &str) -> BTreeSet<String> {
    let ids = text.split("# c").skip(1);
    ids.filter_map(|rest| rest.split_once('.')).map(|(id, _)| id.to_owned()).collect()
}

/// The child that a step leads to, made when it is missing.
fn child<'a>(at: &'a mut Json, step: &Segment) -> &'a mut Json {
    match step {
        Segment::Key(key) => &mut at[key.as_str()],
        Segment::Index(index) => {
            if !at.is_array() {
                *at = json!([]);
            }
            let items = at.as_array_mut().expect("a list");
            if items.len() == *index {
                items.push(Json::Null);
            }
            &mut items[*index]
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_is_exact_or_refused(text in file(), pick in any::<prop::sample::Index>(), value in value(), remove in any::<bool>()) {
        let mut editor = Editor::new(text.clone()).expect("the file was read before");
        let root = &editor.documents()[0].root;
        let mut all = Vec::new();
        paths(root, &Path::root(), &mut all);
        let path = &all[pick.index(all.len())];
        let mut expected = root.to_json();
        let exists = root.at(path).is_some();
        let result = if remove {
            // Comments on the lines of what is removed go with it.
            let result = editor.remove(0, path);
            if let Ok(done) = &result {
                prop_assert_eq!(*done, exists);
            }
            if let (Ok(true), Some((parent, last))) = (&result, path.split_last()) {
                let at = parent.segments().iter().fold(&mut expected, child);
                match (at, last) {
                    (Json::Object(map), Segment::Key(key)) => { map.shift_remove(key); }
                    (Json::Array(items), Segment::Index(index)) => { items.remove(*index); }
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            result.map(|_| ())
        } else {
            *path.segments().iter().fold(&mut expected, child) = value.clone();
            editor.set(0, path, &value)
        };
        let new = editor.text();
        match result {
            Err(_) => prop_assert_eq!(new, &text),
            Ok(()) => {
                let documents = parse(new, Schema::Kubernetes, &Limits::default()).expect("valid after the edit");
                prop_assert_eq!(documents[0].root.to_json(), expected, "{}\n=>\n{}", text, new);
                prop_assert!(!new.replace("\r\n", "").contains('\n') || !text.contains('\r'), "one sort of line ends: {new:?}");
                if !remove {
                    let scalar = !(value.is_object() || value.is_array());
                    let lost: Vec<_> = comments(&text).difference(&comments(new)).cloned().collect();
                    // Over a collection, entries that are gone from it are removed with their comments.
                    prop_assert!(!scalar || lost.is_empty(), "{lost:?} lost:\n{text}\n=>\n{new}");
                }
            }
        }
    }

    #[test]
    fn what_is_emitted_reads_back(keys in prop::collection::vec("\\PC{0,8}|[ -~\\n\\t\u{0}-\u{20}\u{85}\u{feff}\u{2028}]{0,8}", 1..5), value in value(), odd in any::<String>(), number in any::<f64>()) {
        let mut map = serde_json::Map::new();
        for (i, key) in keys.iter().enumerate() {
            let item = match i % 4 { 0 => json!(odd), 1 => json!([[odd, key]]), 2 => value.clone(), _ => json!({"k": key}) };
            map.insert(key.clone(), item);
        }
        if number.is_finite() && number.abs() > 1e-300 && number.fract() != 0.0 {
            map.insert("number".to_owned(), json!(number));
        }
        let value = Json::Object(map);
        let text = emit(&value);
        for schema in [Schema::Kubernetes, Schema::Kustomize, Schema::Strict] {
            let read = parse(&text, schema, &Limits::default());
            let read = read.map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
            prop_assert_eq!(read[0].root.to_json(), value.clone(), "{}", text);
        }
        let other: Result<Json, _> = serde_yaml::from_str(&text);
        prop_assert_eq!(other.ok(), Some(value), "another reader: {}", text);
    }

    #[test]
    fn no_text_breaks_the_reader_or_the_editor(text in "([ \\n:\\-?a-c\\[\\]{}&*!|>'\"#,<1\u{e9}\r]|: |- |&a |\\*a|\n  |--- |<<: ){0,40}", pick in any::<prop::sample::Index>(), value in value()) {
        if let Ok(mut editor) = Editor::new(text.clone()) {
            for index in 0..editor.documents().len() {
                let root = &editor.documents()[index].root;
                let mut all = Vec::new();
                paths(root, &Path::root(), &mut all);
                for path in &all {
                    let span = root.locate(path);
                    prop_assert!(text.get(span.bytes()).is_some() && span.start.line > 0);
                }
                let path = all[pick.index(all.len())].clone();
                let mut other = editor.clone();
                let _ = other.set(index, &path, &value);
                let _ = other.remove(index, &path);
            }
            let _ = editor.insert_document(&value);
        }
    }
}

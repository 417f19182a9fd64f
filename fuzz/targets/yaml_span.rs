//! Any text: reading never panics, places are inside the text, and an edit that is accepted means what was asked for
//! and nothing else. What is emitted reads back as the same value.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use yaml_span::{Editor, Limits, Node, Path, Schema, emit, from_node, parse};

/// Far below the defaults: a large text finds nothing that a small one does not, and costs a thousand times as much.
const LIMITS: Limits =
    Limits { bytes: 1 << 16, depth: 64, nodes: 5_000, aliases: 200, alias_bytes: 1 << 16, documents: 50 };

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read")]
struct Typed {
    name: String,
    #[serde(default)]
    labels: std::collections::BTreeMap<String, String>,
    count: Option<u8>,
    ratio: Option<f64>,
    kind: Option<Kind>,
    #[serde(default)]
    list: Vec<Typed>,
}

#[derive(serde::Deserialize)]
enum Kind {
    Push,
    Pull,
}

fuzz_target!(|input: &[u8]| {
    let [choice, value, place, rest @ ..] = input else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let schema = [Schema::Kubernetes, Schema::Kustomize, Schema::Strict][usize::from(choice % 3)];
    let Ok(documents) = parse(text, schema, &LIMITS) else { return };
    let mut places = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let _ = from_node::<Typed>("file.yaml", &document.root);
        let _ = from_node::<Value>("file.yaml", &document.root);
        collect(text, &document.root, &Path::root(), index, &mut places);
        // `Strict` refuses words that `Kubernetes` reads: what is emitted must suit both.
        let meaning = document.root.to_json();
        for schema in [Schema::Kubernetes, Schema::Strict] {
            let emitted = emit(&meaning);
            let again = parse(&emitted, schema, &Limits::default());
            let again = again.unwrap_or_else(|errors| panic!("{errors}\n{emitted}"));
            assert_eq!(again.first().map(|it| it.root.to_json()), Some(meaning.clone()), "{emitted}");
        }
    }
    let Some((index, path)) = places.get(usize::from(*place) % places.len().max(1)) else { return };
    edit(text, schema, *choice, *index, path, &new_value(*value, text));
});

/// All places of a tree, and that their text is there.
fn collect(text: &str, node: &Node, path: &Path, document: usize, places: &mut Vec<(usize, Path)>) {
    let start = node.span.start;
    assert!(text.get(node.span.bytes()).is_some(), "the span of {path} is not in the text");
    if places.len() < 64 {
        // A carriage return alone ends a line too.
        let breaks = text[..start.offset].replace("\r\n", "\n").matches(['\n', '\r']).count();
        assert_eq!(breaks + 1, start.line, "{path}");
        places.push((document, path.clone()));
    }
    for (index, item) in node.as_sequence().unwrap_or_default().iter().enumerate() {
        collect(text, item, &path.clone().index(index), document, places);
    }
    for (key, value) in node.as_mapping().unwrap_or_default() {
        collect(text, value, &path.clone().key(key.key_text()), document, places);
    }
}

fn new_value(choice: u8, text: &str) -> Value {
    match choice % 10 {
        0 => json!(null),
        1 => json!(true),
        2 => json!(-3),
        3 => json!(1.5),
        4 => json!("yes"),
        5 => json!(text.chars().take(40).collect::<String>()),
        6 => json!({}),
        7 => json!([]),
        8 => json!({"a": text.chars().rev().take(20).collect::<String>(), "b": [1, {"c": "two\nlines\n"}]}),
        _ => json!(["#", ": ", {"- ": null}]),
    }
}

fn edit(text: &str, schema: Schema, choice: u8, index: usize, path: &Path, value: &Value) {
    let mut editor = Editor::with(text, schema, LIMITS).expect("it was read before");
    let before = meanings(&editor);
    let done = match choice / 3 % 5 {
        0 => editor.set(index, path, value).is_ok(),
        1 => editor.set(index, &path.clone().key("new: key"), value).is_ok(),
        2 => editor.push(index, path, value).is_ok(),
        3 => editor.insert_document(value).is_ok(),
        _ => editor.remove(index, path).is_ok(),
    };
    let again = parse(editor.text(), schema, &LIMITS).unwrap_or_else(|it| panic!("{it}\n{}", editor.text()));
    let again: Vec<Value> = again.iter().map(|it| it.root.to_json()).collect();
    assert_eq!(again, meanings(&editor), "{:?}", editor.text());
    if !done {
        assert_eq!(editor.text(), text, "a refused edit changed the text");
    }
    for (number, (old, new)) in before.iter().zip(&again).enumerate() {
        let touched = done && number == index && choice / 3 % 5 != 3;
        assert!(touched || old == new, "document {number} changed: {text:?} -> {:?}", editor.text());
    }
}

fn meanings(editor: &Editor) -> Vec<Value> {
    editor.documents().iter().map(|it| it.root.to_json()).collect()
}

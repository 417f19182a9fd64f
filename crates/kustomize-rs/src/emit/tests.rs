//! The rules of the emitter that people see; whole objects are compared with the reference in `tests/`.

use serde_json::{Value, json};

fn text(value: &Value) -> String {
    let mut out = String::new();
    super::document(value, &mut out);
    out
}

fn scalar(value: &str) -> String {
    let out = text(&json!({ "k": value }));
    out["k: ".len()..out.len() - 1].to_owned()
}

#[test]
fn text_that_means_something_else_is_quoted() {
    for quoted in [
        "y",
        "No",
        "on",
        "null",
        "~",
        "",
        "1",
        "-1",
        "1_000",
        "0x1F",
        "0o17",
        "0b1",
        "08",
        "1e5",
        ".5",
        "+.inf",
        "12:30",
        "2001-01-02",
        "2001-1-2T3:04:05Z",
        "2001-01-02 03:04:05",
    ] {
        assert_eq!(scalar(quoted), format!("\"{quoted}\""));
    }
    for plain in ["oFF", "1.2.3", "0x", "2001-13-02", "12:60", "1e999", "v1", "=", "a#b"] {
        assert_eq!(scalar(plain), plain);
    }
    for single in ["a: b", "a #b", "- a", "*a", " a", "a ", "'a'", "@x", "a:", "-", "---"] {
        assert_eq!(scalar(single), format!("'{}'", single.replace('\'', "''")));
    }
    assert_eq!(scalar("a\tb"), r#""a\tb""#);
    assert_eq!(scalar("\u{1f600}"), r#""\U0001F600""#);
}

#[test]
fn lines_become_a_block_with_the_hints_it_needs() {
    assert_eq!(scalar("a\nb"), "|-\n  a\n  b");
    assert_eq!(text(&json!({"k": "a\n"})), "k: |\n  a\n");
    assert_eq!(text(&json!({"k": " a\n\n"})), "k: |2+\n   a\n\n");
    assert_eq!(scalar("a \nb"), r#""a \nb""#);
}

#[test]
fn long_text_is_folded_after_column_80() {
    let words = "word ".repeat(20);
    let out = text(&json!({"k": words.trim()}));
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].len() > 80 && lines[1].starts_with("  word"));
}

#[test]
fn numbers_are_canonical() {
    let out = text(&json!([1.0, 1.5, 1e21, 1_234_567.5, 0.00001, u64::MAX, -0.0]));
    assert_eq!(out, "- 1\n- 1.5\n- 1e+21\n- 1.2345675e+06\n- 1e-05\n- 18446744073709551615\n- 0\n");
}

#[test]
fn keys_are_in_natural_order_and_lists_not_indented() {
    let out = text(
        &json!({"b10": 1, "b9": 2, "a/b": 3, "a.b": 4, "aB": 5, "ab": [[{"x": {}}], []], "n": {"z": null}}),
    );
    assert_eq!(out, "a.b: 4\na/b: 3\naB: 5\nab:\n- - x: {}\n- []\nb9: 2\nb10: 1\n\"n\":\n  z: null\n");
}

#[test]
fn a_key_too_long_for_a_line_is_explicit() {
    let key = "k".repeat(129);
    assert_eq!(text(&json!({ key.clone(): 1 })), format!("? {key}\n: 1\n"));
}

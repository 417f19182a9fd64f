//! Values to block YAML that every YAML reader understands alike: what YAML 1.1 would misread is quoted.

use serde_json::Value;

use crate::resolve;

/// Where nested blocks stand in relation to their key, in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// A mapping below its key.
    pub(crate) step: usize,
    /// The dashes of a list below its key.
    pub(crate) list: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { step: 2, list: 0 }
    }
}

/// A value as text.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Fits behind its key.
    Inline(String),
    /// `|` or `|-` behind its key, and the lines below it.
    Literal(&'static str, Vec<String>),
    /// Lines below its key.
    Block(Vec<String>),
}

/// Block YAML for a value: keys in their order, two columns for a mapping, lists in the column of their key,
/// texts of several lines as `|`, and a newline at the end. YAML allows no key longer than 1024 characters: such a
/// key is written, but readers refuse it.
#[must_use]
pub fn emit(value: &Value) -> String {
    let mut text = match shape(value, Layout::default()) {
        Shape::Inline(text) => text,
        Shape::Literal(head, lines) => format!("{head}\n{}", indented(&lines, 2).join("\n")),
        Shape::Block(lines) => lines.join("\n"),
    };
    text.push('\n');
    text
}

/// One key or string on one line, quoted when it has to be.
#[must_use]
pub fn emit_key(key: &str) -> String {
    scalar(key, false)
}

/// The lines of a value, to be placed by the caller. Empty lines stay empty when they are indented.
pub(crate) fn shape(value: &Value, layout: Layout) -> Shape {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut lines = Vec::new();
            for (key, value) in map {
                lines.extend(entry(key, value, layout));
            }
            Shape::Block(lines)
        }
        Value::Array(items) if !items.is_empty() => {
            let mut lines = Vec::new();
            for value in items {
                lines.extend(item(value, layout));
            }
            Shape::Block(lines)
        }
        Value::String(text) => match literal(text) {
            Some((head, lines)) => Shape::Literal(head, lines),
            None => Shape::Inline(scalar(text, false)),
        },
        other => Shape::Inline(flow(other)),
    }
}

/// The lines of one entry of a mapping.
pub(crate) fn entry(key: &str, value: &Value, layout: Layout) -> Vec<String> {
    let key = scalar(key, false);
    let below = if value.is_array() { layout.list } else { layout.step };
    let (head, lines) = match shape(value, layout) {
        Shape::Inline(text) => (format!("{key}: {text}"), Vec::new()),
        Shape::Literal(head, lines) => (format!("{key}: {head}"), lines),
        Shape::Block(lines) => (format!("{key}:"), lines),
    };
    let mut all = vec![head];
    all.extend(indented(&lines, below));
    all
}

/// The lines of one item of a list.
pub(crate) fn item(value: &Value, layout: Layout) -> Vec<String> {
    match shape(value, layout) {
        Shape::Inline(text) => vec![format!("- {text}")],
        Shape::Literal(head, lines) => {
            let mut all = vec![format!("- {head}")];
            all.extend(indented(&lines, 2));
            all
        }
        Shape::Block(lines) => {
            let mut all = indented(&lines, 2);
            if let Some(first) = all.first_mut() {
                first.replace_range(..2, "- ");
            }
            all
        }
    }
}

/// Lines moved to the right; empty ones stay empty.
pub(crate) fn indented(lines: &[String], columns: usize) -> Vec<String> {
    let indent = " ".repeat(columns);
    let line = |line: &String| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    lines.iter().map(line).collect()
}

/// A value on one line, for inside `[]` and `{}`.
pub(crate) fn flow(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => scalar(text, true),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| format!("{}: {}", scalar(key, true), flow(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A string on one line.
pub(crate) fn scalar(text: &str, in_flow: bool) -> String {
    let plain_is_safe = resolve::is_string_everywhere(text)
        && text != "<<"
        && text != "="
        && !(in_flow && text.contains([',', '[', ']', '{', '}', ':', '?']));
    let escape = text.chars().any(|c| c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}'));
    if escape {
        return double_quoted(text);
    }
    match serde_yaml::to_string(text) {
        Ok(written) => match written.trim_end_matches('\n') {
            plain if plain == text && plain_is_safe => plain.to_owned(),
            quoted if quoted.starts_with(['"', '\'']) && quoted != text && !quoted.contains('\n') => {
                quoted.to_owned()
            }
            _ => double_quoted(text),
        },
        Err(_) => double_quoted(text),
    }
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}') => {
                out.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Header and lines of a `|` scalar, for a text that it can hold without indentation or keep indicators.
fn literal(text: &str) -> Option<(&'static str, Vec<String>)> {
    if !text.contains('\n') {
        return None;
    }
    let (head, body) = match text.strip_suffix('\n') {
        Some(body) => ("|", body),
        None => ("|-", text),
    };
    let odd_char = |c: char| {
        (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}')
    };
    let lines: Vec<String> = body.split('\n').map(str::to_owned).collect();
    let odd_line = |line: &String| !line.is_empty() && line.trim().is_empty();
    let first = lines.first()?;
    let fits = !first.is_empty()
        && !first.starts_with([' ', '\t'])
        && lines.last().is_some_and(|l| !l.is_empty())
        && !lines.iter().any(odd_line)
        && !text.chars().any(odd_char);
    fits.then_some((head, lines))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::emit;
    use crate::{Limits, Schema, parse};

    #[test]
    fn block_yaml_with_everything_quoted_that_old_readers_misread() {
        let value = json!({
            "name": "eu-1", "y": "no", "version": "1.36", "mode": "0777", "time": "12:30", "day": "2001-12-14",
            "empty": "", "null": null, "none": {}, "nothing": [], "n": 1.5,
            "script": "a\n\n  b\n", "odd": " a\nb", "list": [[1, 2], {"a": 1, "b": [true]}, "- x", "a: b", "a # b"],
        });
        assert_eq!(
            emit(&value),
            "name: eu-1\n\"y\": \"no\"\nversion: '1.36'\nmode: '0777'\ntime: \"12:30\"\nday: \"2001-12-14\"\n\
             empty: ''\n'null': null\nnone: {}\nnothing: []\n\"n\": 1.5\nscript: |\n  a\n\n    b\n\
             odd: \" a\\nb\"\nlist:\n- - 1\n  - 2\n- a: 1\n  b:\n  - true\n- '- x'\n- 'a: b'\n- 'a # b'\n"
        );
        for schema in [Schema::Kubernetes, Schema::Kustomize, Schema::Strict] {
            let documents = parse(&emit(&value), schema, &Limits::default()).expect("valid");
            assert_eq!(documents[0].root.to_json(), value, "{schema:?}");
        }
    }
}

//! JSON values as YAML in block style, for generated files that people read.

use serde_json::Value;

/// The value as a YAML document.
pub(super) fn emit(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (i, (key, value)) in map.iter().enumerate() {
                // The first key of an item of a list stands behind the dash.
                if i > 0 || !out.ends_with("- ") {
                    pad(indent, out);
                }
                out.push_str(&scalar(key));
                out.push(':');
                after_key(value, indent, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                pad(indent, out);
                out.push_str("- ");
                match item {
                    Value::Object(map) if !map.is_empty() => block(item, indent + 2, out),
                    other => line(other, out),
                }
            }
        }
        other => line(other, out),
    }
}

fn after_key(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            block(value, indent + 2, out);
        }
        // Lists of lists do not occur in block style here; `line` writes them in JSON's.
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            block(value, indent, out);
        }
        Value::String(text) if is_block_text(text) => {
            out.push_str(" |-\n");
            for text_line in text.split('\n') {
                pad(indent + 2, out);
                out.push_str(text_line);
                out.push('\n');
            }
        }
        other => {
            out.push(' ');
            line(other, out);
        }
    }
}

fn line(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(&scalar(text)),
        // What is left is empty, or short: JSON is YAML.
        other => out.push_str(&other.to_string()),
    }
    out.push('\n');
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Whether a text can stand as a block of lines exactly as it is.
fn is_block_text(text: &str) -> bool {
    text.contains('\n')
        && text.split('\n').all(|line| {
            !line.is_empty()
                && !line.starts_with([' ', '\t'])
                && !line.ends_with([' ', '\t'])
                && line.chars().all(|c| !c.is_control())
        })
}

/// A text on one line: plain where no reader of YAML 1.1 or 1.2 takes it for anything else, else in JSON's quotes.
fn scalar(text: &str) -> String {
    let inner = |c: char| c.is_ascii_alphanumeric() || " -_./(),;'=".contains(c);
    let like_a_word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(inner)
        && !text.ends_with(' ')
        && !text.contains("  ");
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    if like_a_word && !words.contains(&text.to_ascii_lowercase().as_str()) {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::emit;

    #[test]
    fn what_is_written_reads_back_as_the_same() {
        let value = json!({
            "plain": "word with, (signs).",
            "quoted": ["a: b", "- c", "# d", "yes", "No", "1", "", " x ", "a #b", "{}", "\u{1b}", "`kcp`", "x:y"],
            "block": "first\n- second: \"third\"\n- fourth",
            "not block": ["a\n\nb", "a \nb"],
            "odd": "a\n",
            "numbers": [1, -2, 3.5, true, null],
            "empty": {"list": [], "map": {}, "items": [{}, []]},
            "nested": [{"a": [{"b": {"c": [1]}}], "d": "e"}, "f"],
            "yes": 1,
        });
        let text = emit(&value);
        assert_eq!(serde_yaml::from_str::<Value>(&text).unwrap(), value, "{text}");
    }
}

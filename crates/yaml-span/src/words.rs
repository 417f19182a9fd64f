//! How messages speak of values. A value may be a secret: no message quotes more than a few words of it.

use crate::{Node, Value};

/// What was found, for an error: its type, and its text when that is short.
pub(crate) fn found(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => format!("boolean {value}"),
        Value::Int(number) => format!("integer {number}"),
        Value::Float { source, .. } => format!("number {}", short(source)),
        Value::String(text) if text.chars().count() <= SHORT => format!("string {text:?}"),
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "a mapping".to_owned(),
    }
}

/// No message quotes more characters of a text than this: it may be a secret.
pub(crate) const SHORT: usize = 40;

/// A text in backquotes, or how long it is.
pub(crate) fn short(text: &str) -> String {
    match text.chars().count() {
        0..=SHORT => format!("`{}`", text.escape_debug()),
        n => format!("(a text of {n} characters)"),
    }
}

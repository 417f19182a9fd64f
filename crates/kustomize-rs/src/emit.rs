//! Values to the text of `kubectl kustomize`: the layout and quoting rules of the YAML 1.1 emitter that the Kubernetes
//! tools share. Nothing of the input's own style survives; the same value always gives the same bytes.
//!
//! Values are at most as deep as the readers and patches of this crate let them become, so recursion is bounded.

mod keys;
mod number;
mod plain;
mod scalar;

use serde_json::{Map, Value};

/// Columns beyond which text is folded at the next blank.
const WIDTH: usize = 80;
/// Keys longer than this many bytes are written in the explicit form, `? key`.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Appends one document, without a separator.
pub(crate) fn document(value: &Value, out: &mut String) {
    let mut emitter = Emitter { out, column: 0 };
    match value {
        Value::Object(map) if !map.is_empty() => emitter.mapping(map, 0, false),
        Value::Array(items) if !items.is_empty() => emitter.sequence(items, 0, false),
        _ => {
            emitter.inline(value, 0);
            emitter.line_break();
        }
    }
}

/// Whether a text must have quotes, or be a block, to be read as it is.
pub(crate) fn needs_style(text: &str) -> bool {
    scalar::needs_style(text)
}

/// Whether a text without quotes is read as that text: `yes` and `80` are not.
pub(crate) fn reads_as_text(text: &str) -> bool {
    text.is_empty() || text.contains('\n') || plain::means_string(text)
}

/// Writes text and knows the column it is at.
struct Emitter<'a> {
    out: &'a mut String,
    /// Characters since the last line break.
    column: usize,
}

impl Emitter<'_> {
    fn put(&mut self, character: char) {
        self.out.push(character);
        self.column += 1;
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += if text.is_ascii() { text.len() } else { text.chars().count() };
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn indent(&mut self, indent: usize) {
        for _ in self.column..indent {
            self.put(' ');
        }
    }

    fn fold(&mut self, indent: usize) {
        self.line_break();
        self.indent(indent);
    }

    /// A block mapping at `indent`. `compact`: its first key continues the line of a `- `.
    fn mapping(&mut self, map: &Map<String, Value>, indent: usize, compact: bool) {
        for (index, (key, value)) in keys::sorted(map).into_iter().enumerate() {
            if index > 0 || !compact {
                self.indent(indent);
            }
            if key.len() <= LONGEST_SIMPLE_KEY && !key.chars().any(scalar::is_break) {
                scalar::write(self, key, indent, scalar::Place::Key);
                self.put(':');
                self.value(value, indent);
            } else {
                self.text("? ");
                scalar::write(self, key, indent + 2, scalar::Place::Value);
                self.end_line();
                self.indent(indent);
                self.put(':');
                self.item(value, indent);
            }
        }
    }

    /// What follows the `:` of a key.
    fn value(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.line_break();
                self.mapping(map, indent + 2, false);
            }
            // Sequences are not indented below their key.
            Value::Array(items) if !items.is_empty() => {
                self.line_break();
                self.sequence(items, indent, false);
            }
            _ => {
                self.put(' ');
                self.inline(value, indent + 2);
                self.end_line();
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize, compact: bool) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 || !compact {
                self.indent(indent);
            }
            self.put('-');
            self.item(item, indent);
        }
    }

    /// What follows a `-`: on the same line.
    fn item(&mut self, item: &Value, indent: usize) {
        self.put(' ');
        match item {
            Value::Object(map) if !map.is_empty() => self.mapping(map, indent + 2, true),
            Value::Array(items) if !items.is_empty() => self.sequence(items, indent + 2, true),
            _ => {
                self.inline(item, indent + 2);
                self.end_line();
            }
        }
    }

    /// A scalar or an empty collection; `indent` is where further lines of it begin.
    fn inline(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.text("null"),
            Value::Bool(true) => self.text("true"),
            Value::Bool(false) => self.text("false"),
            Value::Number(number) => self.text(&number::format(number)),
            Value::String(text) => scalar::write(self, text, indent, scalar::Place::Value),
            Value::Array(_) => self.text("[]"),
            Value::Object(_) => self.text("{}"),
        }
    }

    /// Block text ends with a line break of its own.
    fn end_line(&mut self) {
        if self.column > 0 {
            self.line_break();
        }
    }
}

#[cfg(test)]
mod tests;

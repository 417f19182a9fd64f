//! The same edits on JSON values: what an edited text has to mean. Knows nothing of text.

use serde_json::{Map, Number, Value};

use crate::{Path, Segment};

/// The value as reading it back gives it: whole numbers are whole however they are written.
pub(super) fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(normal_number(number)),
        Value::Array(items) => Value::Array(items.iter().map(normal).collect()),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), normal(v))).collect()),
        other => other.clone(),
    }
}

fn normal_number(number: &Number) -> Number {
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < 9e18 => {
            Number::from(value as i64)
        }
        _ => number.clone(),
    }
}

/// Sets a value, with missing parents.
pub(super) fn set(root: &mut Value, path: &Path, value: &Value) {
    let mut at = root;
    for segment in path.segments() {
        at = match segment {
            Segment::Key(key) => {
                if !at.is_object() {
                    *at = Value::Object(Map::new());
                }
                match at {
                    Value::Object(map) => map.entry(key.clone()).or_insert(Value::Null),
                    _ => return,
                }
            }
            Segment::Index(index) => {
                if !at.is_array() {
                    *at = Value::Array(Vec::new());
                }
                match at {
                    Value::Array(items) => {
                        if items.len() == *index {
                            items.push(Value::Null);
                        }
                        match items.get_mut(*index) {
                            Some(item) => item,
                            None => return,
                        }
                    }
                    _ => return,
                }
            }
        };
    }
    *at = value.clone();
}

/// Removes an entry or item.
pub(super) fn remove(root: &mut Value, path: &Path) {
    let Some((parent, last)) = path.split_last() else { return };
    let mut at = root;
    for segment in parent.segments() {
        let next = match segment {
            Segment::Key(key) => at.get_mut(key),
            Segment::Index(index) => at.get_mut(index),
        };
        match next {
            Some(next) => at = next,
            None => return,
        }
    }
    match (at, last) {
        (Value::Object(map), Segment::Key(key)) => {
            map.shift_remove(key);
        }
        (Value::Array(items), Segment::Index(index)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
}

/// The value that holds `value` at `path`, in mappings and lists of one.
pub(super) fn nested(path: &[Segment], value: &Value) -> Value {
    path.iter().rev().fold(value.clone(), |inner, segment| match segment {
        Segment::Key(key) => Value::Object(std::iter::once((key.clone(), inner)).collect()),
        Segment::Index(_) => Value::Array(vec![inner]),
    })
}

//! Equality of JSON values as API servers see it: key order does not matter, `1` and `1.0` are the same number.

use serde_json::{Number, Value};

/// The one spelling of a number.
pub(crate) fn canonical_number(number: &Number) -> String {
    if number.is_i64() || number.is_u64() {
        return number.to_string();
    }
    match number.as_f64() {
        // Below 2^53 every whole float is exactly that integer.
        Some(float) if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 => {
            // Adding zero turns minus zero into zero.
            format!("{:.0}", float + 0.0)
        }
        _ => number.to_string(),
    }
}

/// Whether two values are the same.
#[must_use]
pub fn same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => canonical_number(left) == canonical_number(right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_value(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| same_value(value, other)))
        }
        (left, right) => left == right,
    }
}

/// The one spelling of a value: keys sorted, numbers normalised. Two values are the same exactly if their texts are.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => out.push_str(&canonical_number(number)),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in entries {
                // Quoted and escaped, so that no key can pass for another.
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write(value, out);
                out.push(',');
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

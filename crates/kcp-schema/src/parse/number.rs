//! The numbers of a schema.

use serde_json::Value;

use super::error::Problem;

/// What a value is, in a word, for messages.
pub(super) const fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

/// A bound.
pub(super) fn float(value: &Value) -> Result<f64, Problem> {
    match value.as_f64() {
        Some(number) if number.is_finite() => Ok(number),
        _ => Err(Problem::WrongForm { expected: "a number", found: word(value) }),
    }
}

/// A count. API servers take negative ones, which limit nothing below and everything above; nobody means that.
pub(super) fn count(value: &Value) -> Result<u64, Problem> {
    let whole = value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        (float >= 0.0 && float.fract() == 0.0 && float < 9.0e15).then_some(float as u64)
    });
    whole.ok_or(Problem::WrongForm { expected: "a whole number of at least 0", found: word(value) })
}

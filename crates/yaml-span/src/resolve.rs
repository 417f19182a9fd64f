//! What a plain scalar means: string, number, boolean or null, by the rules of each [`Schema`]. Pure text to value.

use serde_json::Number;

use crate::{Schema, Value};

mod date;

/// Words that YAML 1.1 reads as booleans and YAML 1.2 as strings.
const OLD_TRUE: [&str; 8] = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"];
const OLD_FALSE: [&str; 8] = ["n", "N", "no", "No", "NO", "off", "Off", "OFF"];

/// Why a plain scalar has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// YAML 1.1 and 1.2 (or kubectl and others) read it differently.
    Ambiguous,
    /// Infinite or not a number: JSON cannot hold it.
    NotFinite,
}

/// The value of a plain scalar without a tag.
pub(crate) fn plain(text: &str, schema: Schema) -> Result<Value, Refusal> {
    match schema {
        Schema::Kubernetes => go(text, true),
        Schema::Kustomize => match date::rfc3339(text) {
            Some(date) => Ok(Value::String(date)),
            None => go(text, false),
        },
        Schema::Strict => {
            let value = core(text)?;
            if go(text, true)? == value { Ok(value) } else { Err(Refusal::Ambiguous) }
        }
    }
}

/// Null and booleans that all versions agree on, and what is no finite number.
fn common(text: &str) -> Option<Result<Value, Refusal>> {
    Some(Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => {
            let body = text.strip_prefix(['+', '-']).unwrap_or(text);
            let endless =
                matches!(body, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
            return endless.then_some(Err(Refusal::NotFinite));
        }
    }))
}

/// The rules of the YAML library under kubectl (with `old_words`) and under kustomize (without).
fn go(text: &str, old_words: bool) -> Result<Value, Refusal> {
    if let Some(known) = common(text) {
        return known;
    }
    if old_words && OLD_TRUE.contains(&text) {
        return Ok(Value::Bool(true));
    }
    if old_words && OLD_FALSE.contains(&text) {
        return Ok(Value::Bool(false));
    }
    let number = match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'+' | b'-') => {
            let digits = text.replace('_', "");
            go_integer(&digits).or_else(|| float(&digits, text))
        }
        Some(b'.') => float(text, text),
        _ => None,
    };
    Ok(number.unwrap_or_else(|| Value::String(text.to_owned())))
}

/// A whole number whose prefix says the base: `0x`, `0o`, `0b`, and `0` for octal.
fn go_integer(digits: &str) -> Option<Value> {
    let (sign, body) = match digits.as_bytes().first()? {
        b'-' => ("-", &digits[1..]),
        b'+' => ("+", &digits[1..]),
        _ => ("", digits),
    };
    let (radix, body) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &body[2..]),
        [b'0', b'o' | b'O', ..] => (8, &body[2..]),
        [b'0', b'b' | b'B', ..] => (2, &body[2..]),
        [b'0', _, ..] => (8, &body[1..]),
        _ => (10, body),
    };
    integer(sign, body, radix)
}

/// Digits without a prefix; signed ones must fit i64, unsigned ones u64.
fn integer(sign: &str, body: &str, radix: u32) -> Option<Value> {
    if body.is_empty() || !body.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    if let Ok(value) = i64::from_str_radix(&format!("{sign}{body}"), radix) {
        return Some(Value::Int(Number::from(value)));
    }
    let value = sign.is_empty().then(|| u64::from_str_radix(body, radix))?;
    value.ok().map(|v| Value::Int(Number::from(v)))
}

/// A decimal number with an optional fraction and exponent; one too large for 64 bits of float is none.
fn float(digits: &str, source: &str) -> Option<Value> {
    let body = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits_only = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits_only(e)
    });
    let fits = digits_only(whole) && digits_only(fraction) && !(whole.is_empty() && fraction.is_empty());
    if !fits || !exponent_fits {
        return None;
    }
    let value = digits.parse::<f64>().ok().filter(|v| v.is_finite())?;
    Some(Value::Float { value, source: source.into() })
}

/// The core rules of YAML 1.2.
fn core(text: &str) -> Result<Value, Refusal> {
    if let Some(known) = common(text) {
        return known;
    }
    let number = if let Some(body) = text.strip_prefix("0x") {
        integer("", body, 16)
    } else if let Some(body) = text.strip_prefix("0o") {
        integer("", body, 8)
    } else {
        let body = text.strip_prefix(['+', '-']).unwrap_or(text);
        integer(&text[..text.len() - body.len()], body, 10).or_else(|| float(text, text))
    };
    Ok(number.unwrap_or_else(|| Value::String(text.to_owned())))
}

/// True when every schema reads the plain text as exactly this string.
pub(crate) fn is_string_everywhere(text: &str) -> bool {
    [Schema::Kubernetes, Schema::Kustomize, Schema::Strict]
        .into_iter()
        .all(|schema| matches!(plain(text, schema), Ok(Value::String(_))))
        && !looks_like_date_or_base60(text)
}

/// Dates and `12:30` are strings to kubectl but not to every YAML 1.1 reader.
fn looks_like_date_or_base60(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-')
        && text.contains([':', '-'])
        && text.chars().all(|c| c.is_ascii_digit() || ":-+._TtZz ".contains(c))
}

#[cfg(test)]
mod tests {
    use super::{Refusal, plain};
    use crate::{Schema, Value};

    fn show(text: &str, schema: Schema) -> String {
        match plain(text, schema) {
            Ok(Value::Null) => "null".into(),
            Ok(Value::Bool(b)) => format!("bool {b}"),
            Ok(Value::Int(n)) => format!("int {n}"),
            Ok(Value::Float { value, .. }) => format!("float {value}"),
            Ok(Value::String(s)) => format!("string {s}"),
            Ok(_) => "collection".into(),
            Err(Refusal::Ambiguous) => "ambiguous".into(),
            Err(Refusal::NotFinite) => "not finite".into(),
        }
    }

    #[test]
    fn each_schema_reads_plain_words_its_own_way() {
        // text, kubectl, kustomize, ours
        for (text, kubernetes, kustomize, strict) in [
            ("yes", "bool true", "string yes", "ambiguous"),
            ("n", "bool false", "string n", "ambiguous"),
            ("Off", "bool false", "string Off", "ambiguous"),
            ("oFF", "string oFF", "string oFF", "string oFF"),
            ("TRUE", "bool true", "bool true", "bool true"),
            ("~", "null", "null", "null"),
            ("0777", "int 511", "int 511", "ambiguous"),
            ("007", "int 7", "int 7", "int 7"),
            ("08", "float 8", "float 8", "ambiguous"),
            ("0o17", "int 15", "int 15", "int 15"),
            ("0x1F", "int 31", "int 31", "int 31"),
            ("-0b11", "int -3", "int -3", "ambiguous"),
            ("1_000", "int 1000", "int 1000", "ambiguous"),
            ("+5", "int 5", "int 5", "int 5"),
            (
                "18446744073709551615",
                "int 18446744073709551615",
                "int 18446744073709551615",
                "int 18446744073709551615",
            ),
            ("1e3", "float 1000", "float 1000", "float 1000"),
            (".5", "float 0.5", "float 0.5", "float 0.5"),
            ("1e999", "string 1e999", "string 1e999", "string 1e999"),
            (".inf", "not finite", "not finite", "not finite"),
            ("12:30", "string 12:30", "string 12:30", "string 12:30"),
            ("2001-12-14", "string 2001-12-14", "string 2001-12-14T00:00:00Z", "string 2001-12-14"),
            ("-", "string -", "string -", "string -"),
            ("2001-2-30", "string 2001-2-30", "string 2001-2-30", "string 2001-2-30"),
            (
                "2001-1-2 3:4:5.50",
                "string 2001-1-2 3:4:5.50",
                "string 2001-01-02T03:04:05.5Z",
                "string 2001-1-2 3:4:5.50",
            ),
            (
                "2001-01-02t03:04:05+01:30",
                "string 2001-01-02t03:04:05+01:30",
                "string 2001-01-02T03:04:05+01:30",
                "string 2001-01-02t03:04:05+01:30",
            ),
            ("1.2.3", "string 1.2.3", "string 1.2.3", "string 1.2.3"),
        ] {
            assert_eq!(show(text, Schema::Kubernetes), kubernetes, "kubernetes {text}");
            assert_eq!(show(text, Schema::Kustomize), kustomize, "kustomize {text}");
            assert_eq!(show(text, Schema::Strict), strict, "strict {text}");
        }
    }
}

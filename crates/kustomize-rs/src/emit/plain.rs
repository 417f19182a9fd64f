//! Whether text would read back as something else than text if it were written without quotes, by the rules of
//! YAML 1.1: booleans in all their spellings, null, numbers, times in base 60, dates.

use crate::timestamp;

/// Whether the plain text means a string.
pub(super) fn means_string(text: &str) -> bool {
    match text.bytes().next() {
        None => false,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => !is_word(text),
        Some(b'.') => !is_dotted_word(text) && !is_float(text),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            !is_dotted_word(text.strip_prefix(['+', '-']).unwrap_or(text))
                && timestamp::canonical(text).is_none()
                && !is_number(text)
                && !is_base_60(text)
        }
        Some(_) => true,
    }
}

fn is_word(text: &str) -> bool {
    matches!(
        text,
        "~" | "null"
            | "Null"
            | "NULL"
            | "y"
            | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "true"
            | "True"
            | "TRUE"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "false"
            | "False"
            | "FALSE"
            | "off"
            | "Off"
            | "OFF"
    )
}

fn is_dotted_word(text: &str) -> bool {
    matches!(text, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

/// Integers in base 2, 8, 10 and 16 that fit 64 bits, and floats; underscores between digits do not count.
fn is_number(text: &str) -> bool {
    let text = text.replace('_', "");
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, &text[..]),
    };
    is_integer(digits, negative) || is_float(&text)
}

fn is_integer(digits: &str, negative: bool) -> bool {
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    let limit = if negative { 1_u64 << 63 } else { u64::MAX };
    u64::from_str_radix(digits, radix).is_ok_and(|number| number <= limit)
}

/// `[+-] digits [. digits] [e [+-] digits]`, and it must not be too large for a float.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
        && unsigned.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Numbers like `190:20:30.15`.
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = text.split(':');
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let first =
        parts.next().is_some_and(|first| first.starts_with(|c: char| c.is_ascii_digit()) && digits(first));
    let mut rest: Vec<&str> = parts.collect();
    let Some(last) = rest.pop() else { return false };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let sixty = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    first && digits(fraction) && sixty(last) && rest.into_iter().all(sixty)
}

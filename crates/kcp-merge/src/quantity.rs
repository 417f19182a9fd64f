//! Kubernetes quantities (`250m`, `1Gi`, `1e3`) by value.

use serde_json::Value;

/// Longest text that is read as a quantity; more digits than this no API server keeps.
const MAX_LEN: usize = 40;

/// The value in units of 10^-9, the finest that Kubernetes keeps (finer ones are rounded away from zero, as it
/// does). `None` if this is not a quantity or does not fit.
pub(crate) fn nanos(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => parse(text),
        Value::Number(number) => parse(&number.to_string()),
        _ => None,
    }
}

fn parse(text: &str) -> Option<i128> {
    if text.len() > MAX_LEN {
        return None;
    }
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let (ten, two) = exponents(suffix)?;
    let exponent = ten + 9 - i32::try_from(fraction.len()).ok()?;
    let binary = mantissa.checked_mul(1_i128.checked_shl(two)?)?;
    let nanos = match u32::try_from(exponent) {
        Ok(up) => binary.checked_mul(10_i128.checked_pow(up)?)?,
        // More than 10^38 times too fine: nothing but "not zero" is left of it.
        Err(_) => match 10_i128.checked_pow(exponent.unsigned_abs()) {
            Some(divisor) => binary / divisor + i128::from(binary % divisor != 0),
            None => i128::from(binary != 0),
        },
    };
    Some(if negative { -nanos } else { nanos })
}

/// The powers of ten and of two of a suffix.
fn exponents(suffix: &str) -> Option<(i32, u32)> {
    Some(match suffix {
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "" => (0, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        "Ti" => (0, 40),
        "Pi" => (0, 50),
        "Ei" => (0, 60),
        _ => {
            let power: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            (-100..=100).contains(&power).then_some((power, 0))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn values() {
        for (text, nanos) in [
            ("1", 1_000_000_000),
            ("1000m", 1_000_000_000),
            (".5", 500_000_000),
            ("1.", 1_000_000_000),
            ("-1", -1_000_000_000),
            ("+2k", 2_000_000_000_000),
            ("1Ki", 1_024_000_000_000),
            ("0.5Ki", 512_000_000_000),
            ("1e3", 1_000_000_000_000),
            ("1E-3", 1_000_000),
            ("0.1n", 1),
            ("1e-100", 1),
        ] {
            assert_eq!(parse(text), Some(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_none() {
        for text in ["", "m", ".", "1.2.3", "1x", "1e", "1e999", "one", "--1", "9e99", &"9".repeat(41)] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

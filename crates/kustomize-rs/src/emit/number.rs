//! Numbers: integers as they are, others in the shortest form that reads back the same.

use serde_json::Number;

/// The text of a number.
pub(super) fn format(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => match whole(float) {
            Some(integer) => integer.to_string(),
            None => shortest(float),
        },
        _ => number.to_string(),
    }
}

/// The integer that a float stands for, where it is one that fits 64 bits.
fn whole(float: f64) -> Option<i128> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cast saturates, and what is out of range is dropped"
    )]
    let integer = if float.fract() == 0.0 { float as i128 } else { return None };
    // The least one stays a float in the reference.
    (i128::from(i64::MIN) + 1..=i128::from(u64::MAX)).contains(&integer).then_some(integer)
}

/// The fewest digits that read back the same, with an exponent of at least two digits below 1e-4 and from 1e6 on.
fn shortest(float: f64) -> String {
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

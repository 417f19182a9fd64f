//! Limits of numbers, with the server's own arithmetic: whole numbers are compared as 64-bit integers with the limit cut
//! to one, all others as floats.

use serde_json::{Number, Value};

use super::findings::{Findings, Violation};
use super::formats::Release;
use super::trail::Trail;
use crate::model::{Node, ObjectPath, Scale, Step, Type};

fn text(bound: f64) -> String {
    bound.to_string()
}

/// Checks a number against the limits and the format of `node`.
pub(super) fn check(
    number: &Number,
    node: &Node,
    release: Release,
    trail: &Trail<'_>,
    findings: &mut Findings,
) {
    let bounds = &node.bounds;
    let mut refuse = |violation| findings.violation(trail.path(), violation);
    let whole = number.as_i64();
    let float = number.as_f64().unwrap_or(f64::NAN);
    if release.checks_number_formats() && !fits_format(number, node) {
        refuse(Violation::NumberFormat(node.format.clone().unwrap_or_else(|| "integer".into())));
    }
    if let Some(minimum) = bounds.minimum {
        let below = whole.map_or(float < minimum, |whole| whole < minimum as i64);
        let at = whole.map_or(float <= minimum, |whole| whole <= minimum as i64);
        if bounds.exclusive_minimum && at {
            refuse(Violation::ExclusiveMinimum(text(minimum)));
        } else if below {
            refuse(Violation::Minimum(text(minimum)));
        }
    }
    if let Some(maximum) = bounds.maximum {
        let above = whole.map_or(float > maximum, |whole| whole > maximum as i64);
        let at = whole.map_or(float >= maximum, |whole| whole >= maximum as i64);
        if bounds.exclusive_maximum && at {
            refuse(Violation::ExclusiveMaximum(text(maximum)));
        } else if above {
            refuse(Violation::Maximum(text(maximum)));
        }
    }
    if let Some(factor) = bounds.multiple_of
        && !is_multiple(whole, float, factor)
    {
        refuse(Violation::MultipleOf(text(factor)));
    }
}

fn is_multiple(whole: Option<i64>, float: f64, factor: f64) -> bool {
    match whole {
        Some(whole) => {
            let factor = factor as i64;
            factor > 0 && whole % factor == 0
        }
        None if factor <= 0.0 => false,
        None => {
            let times = if factor < 1.0 { 1.0 / factor * float } else { float / factor };
            times.is_finite() && (times - times.round()).abs() < 1e-9 * times.abs().max(1.0)
        }
    }
}

/// A whole number must fit its format, int64 without one; so must the limits themselves, or nothing is accepted.
fn fits_format(number: &Number, node: &Node) -> bool {
    match node.types.single() {
        Some(Type::Integer) => {
            let narrow = node.format.as_deref() == Some("int32");
            let range = if narrow { i64::from(i32::MIN)..=i64::from(i32::MAX) } else { i64::MIN..=i64::MAX };
            let fits_whole = |float: f64| {
                float.fract() == 0.0
                    && float >= *range.start() as f64
                    && float <= *range.end() as f64
                    && (narrow || float < 9_223_372_036_854_775_807.0)
            };
            let value = number
                .as_i64()
                .map_or_else(|| number.as_f64().is_some_and(fits_whole), |whole| range.contains(&whole));
            let bounds = &node.bounds;
            value
                && [bounds.minimum, bounds.maximum, bounds.multiple_of].into_iter().flatten().all(fits_whole)
        }
        Some(Type::Number) if node.format.as_deref() == Some("float") => {
            number.as_f64().is_some_and(|float| float.abs() <= f64::from(f32::MAX))
        }
        _ => true,
    }
}

/// The replica counts of the scale subresource, where they are there, are whole numbers from 0 to 2^31-1.
pub(super) fn check_scale(object: &Value, scale: &Scale, findings: &mut Findings) {
    for path in [&scale.spec_replicas_path, &scale.status_replicas_path] {
        let names = || path.trim_start_matches('.').split('.');
        let Some(found) = names().try_fold(object, |value, name| value.get(name)) else { continue };
        if !found.as_i64().is_some_and(|count| (0..=i64::from(i32::MAX)).contains(&count)) {
            let path = ObjectPath(names().map(|name| Step::Field(name.into())).collect());
            findings.violation(
                path,
                Violation::Resource(
                    "must be a whole number from 0 to 2147483647: it is a number of replicas",
                ),
            );
        }
    }
}

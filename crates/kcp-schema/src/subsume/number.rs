//! Numbers: intervals and steps. Among integers an excluded limit is the same as the next integer.

use serde_json::{Number, Value, json};

use super::{Flat, Kind, Sure, Walk};
use crate::model::{Bounds, Schema, Type};

/// One end of an interval: the limit, and whether it is excluded.
type End = Option<(f64, bool)>;

impl Walk {
    pub(super) fn number(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>) {
        let whole = !left.node.types.allows(Type::Number) || left.node.int_or_string;
        let (own, other) = (left.node.bounds, right.node.bounds);
        let (low, high) = (lower(&own, whole), upper(&own, whole));
        if let Some(limit) = lower(&other, whole)
            && low.is_none_or(|low| below(low, limit))
        {
            let probes =
                vec![number(limit.0), number(limit.0 - 1.0)].into_iter().chain(low.map(|low| number(low.0)));
            let (old, new) = (said(own.minimum), said(other.minimum));
            self.differs(Kind::Bound("minimum"), (a, old), (b, new), Sure::Yes, probes.collect());
        }
        if let Some(limit) = upper(&other, whole)
            && high.is_none_or(|high| below((-high.0, high.1), (-limit.0, limit.1)))
        {
            let probes = vec![number(limit.0), number(limit.0 + 1.0)]
                .into_iter()
                .chain(high.map(|high| number(high.0)));
            let (old, new) = (said(own.maximum), said(other.maximum));
            self.differs(Kind::Bound("maximum"), (a, old), (b, new), Sure::Yes, probes.collect());
        }
        if let Some(step) = other.multiple_of {
            let implied = match own.multiple_of {
                Some(own) => (own / step).fract() == 0.0,
                None => whole && step.fract() == 0.0 && step == 1.0,
            };
            if !implied {
                let own_step = own.multiple_of.unwrap_or(1.0);
                let start = low.map_or(0.0, |low| (low.0 / own_step).ceil() * own_step);
                let probes = (1..=3).map(|times| number(start + own_step * f64::from(times))).collect();
                let (old, new) = (said(own.multiple_of), said(other.multiple_of));
                self.differs(Kind::Bound("multipleOf"), (a, old), (b, new), Sure::Yes, probes);
            }
        }
    }
}

fn lower(bounds: &Bounds, whole: bool) -> End {
    bounds.minimum.map(|limit| match (whole, bounds.exclusive_minimum) {
        (true, true) => (limit.floor() + 1.0, false),
        (true, false) => (limit.ceil(), false),
        (false, exclusive) => (limit, exclusive),
    })
}

fn upper(bounds: &Bounds, whole: bool) -> End {
    bounds.maximum.map(|limit| match (whole, bounds.exclusive_maximum) {
        (true, true) => (limit.ceil() - 1.0, false),
        (true, false) => (limit.floor(), false),
        (false, exclusive) => (limit, exclusive),
    })
}

/// Whether the interval from `low` begins before the one from `limit`.
fn below(low: (f64, bool), limit: (f64, bool)) -> bool {
    low.0 < limit.0 || low.0 == limit.0 && limit.1 && !low.1
}

/// A number as JSON, whole if it can be.
pub(crate) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        return json!(value as i64);
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn said(limit: Option<f64>) -> Option<Value> {
    limit.map(number)
}

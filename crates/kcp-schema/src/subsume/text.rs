//! Text: lists of values, formats, patterns and lengths. Patterns are compared as languages, so that another spelling of
//! the same pattern is no change.

use serde_json::{Value, json};

use super::{Flat, Kind, Sure, Walk};
use crate::language::{self, TooLarge};
use crate::model::{Schema, Type};
use crate::value::same_value;

impl Walk {
    /// The second side lists its values and the first does not, or lists values that are not scalars.
    pub(super) fn enumeration(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>) {
        let Some(values) = right.node.enumeration.as_deref() else { return };
        let own = left.node.enumeration.as_deref();
        let mut probes: Vec<Value> = Vec::new();
        if let Some(own) = own {
            probes
                .extend(own.iter().filter(|own| !values.iter().any(|value| same_value(own, value))).cloned());
            if probes.is_empty() {
                return;
            }
        } else {
            if left.allows(Type::String) {
                let listed = language::literally(values.iter().filter_map(Value::as_str));
                let patterns: Vec<&str> = left.patterns.iter().map(|pattern| &**pattern).collect();
                if let Ok(Some(text)) = language::find(&patterns, Some(&listed), lengths(left)) {
                    probes.push(Value::String(text));
                }
            }
            if left.allows(Type::Boolean) {
                probes.extend([true, false].map(Value::Bool));
            }
            if left.allows(Type::Integer) {
                let start = left.node.bounds.minimum.map_or(0, |least| least.ceil() as i64);
                probes.extend((0..=values.len() as i64).map(|step| json!(start.saturating_add(step))));
            }
            probes.retain(|probe| !values.iter().any(|value| same_value(probe, value)));
            // Lists and types that leave nothing else are rare enough to be left to the probes.
        }
        let all = |values: &[Value]| Some(Value::Array(values.to_vec()));
        self.differs(Kind::Enum, (a, own.and_then(all)), (b, all(values)), Sure::Yes, probes);
    }

    /// Formats are compared as words. What is enforced depends on the server, so that a change is never sure.
    pub(super) fn formats(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>) {
        for format in &right.formats {
            let weaker = match &**format {
                "int64" => left.formats.iter().any(|own| &**own == "int32"),
                "double" => left.formats.iter().any(|own| &**own == "float"),
                _ => false,
            };
            if weaker || left.formats.contains(format) || !matters(format, right) {
                continue;
            }
            let number = json!(
                left.node.bounds.maximum.map_or(2_147_483_648.0, |most| most.min(2_147_483_648.0)) as i64
            );
            let probes = match &**format {
                "int32" => vec![number],
                "int64" => Vec::new(),
                _ => ["?", "x", "", "0"].map(Value::from).to_vec(),
            };
            let said = |flat: &Flat<'_>| flat.formats.first().map(|format| json!(&**format));
            let sure =
                Sure::Maybe(format!("what the format {format} refuses depends on the version of the server"));
            self.differs(Kind::Format, (a, said(left)), (b, said(right)), sure, probes);
        }
    }

    pub(super) fn text(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>) {
        let patterns: Vec<&str> = left.patterns.iter().map(|pattern| &**pattern).collect();
        let said = |flat: &Flat<'_>| {
            let all: Vec<&str> = flat.patterns.iter().map(|pattern| &**pattern).collect();
            (!all.is_empty()).then(|| Value::from(all.join(" and ")))
        };
        for pattern in right.patterns.iter().filter(|pattern| !left.patterns.contains(pattern)) {
            let (sure, probes) = match language::find(&patterns, Some(pattern), lengths(left)) {
                Ok(None) => continue,
                Ok(Some(text)) => (Sure::Yes, vec![Value::String(text)]),
                Err(TooLarge) => (Sure::Maybe("the patterns are too large to compare".into()), Vec::new()),
            };
            self.differs(Kind::Pattern, (a, said(left)), (b, said(right)), sure, probes);
        }
        let (own, other) = (lengths(left), lengths(right));
        let number = |limit: Option<u64>| limit.map(Value::from);
        if other.end() < own.end() {
            let (most, more) = ((left.node.max_length, right.node.max_length), other.end() + 1..=*own.end());
            self.length("maxLength", (a, number(most.0)), (b, number(most.1)), &patterns, more);
        }
        if other.start() > own.start() {
            let (least, fewer) =
                ((left.node.min_length, right.node.min_length), *own.start()..=other.start() - 1);
            self.length("minLength", (a, number(least.0)), (b, number(least.1)), &patterns, fewer);
        }
    }

    /// Whether there is text of the first side with one of these lengths.
    fn length(
        &mut self,
        keyword: &'static str,
        a: (&Schema, Option<Value>),
        b: (&Schema, Option<Value>),
        patterns: &[&str],
        lengths: std::ops::RangeInclusive<u64>,
    ) {
        // Long text costs as many states as it has characters; without patterns there is nothing to search for.
        const SEARCHED: u64 = 512;
        const BUILT: u64 = 1 << 20;
        let least = *lengths.start();
        let (sure, probes) = if patterns.is_empty() {
            let text = (least <= BUILT).then(|| Value::from("a".repeat(least as usize)));
            (Sure::Yes, text.into_iter().collect())
        } else if least > SEARCHED {
            (Sure::Maybe("the length is too great to search for".into()), Vec::new())
        } else {
            match language::find(patterns, None, lengths) {
                Ok(None) => return,
                Ok(Some(text)) => (Sure::Yes, vec![Value::String(text)]),
                Err(TooLarge) => (Sure::Maybe("the pattern is too large to evaluate".into()), Vec::new()),
            }
        };
        self.differs(Kind::Bound(keyword), a, b, sure, probes);
    }
}

/// The lengths allowed.
pub(crate) fn lengths(flat: &Flat<'_>) -> std::ops::RangeInclusive<u64> {
    flat.node.min_length.unwrap_or(0)..=flat.node.max_length.unwrap_or(u64::MAX)
}

/// Whether some server looks at the format for the types allowed.
fn matters(format: &str, flat: &Flat<'_>) -> bool {
    match format {
        "int32" | "int64" => flat.allows(Type::Integer),
        "float" | "double" => flat.allows(Type::Number),
        _ => flat.allows(Type::String),
    }
}

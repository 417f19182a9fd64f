//! What a set of conditions leaves: which types have a value at all, and what a member loses by joining others.

use serde_json::{Map, Value, json};

use super::facts::{Edge, Facts};
use super::kinds::Kinds;
use super::report::{Lost, WhyEmpty};
use crate::{Pattern, Type};

impl Facts {
    /// Drops the types, and the values of enumerations, that no condition on scalars leaves possible.
    pub(super) fn possible(&mut self, kinds: Kinds, nullable: bool) -> Result<Kinds, WhyEmpty> {
        if let Some(mut values) = self.values.take() {
            let patterns: Vec<_> =
                self.patterns.iter().filter_map(|text| Pattern::parse(text).ok()?.compile().ok()).collect();
            values.retain(|_, value| match &*value {
                Value::Null => nullable,
                Value::Number(number) => {
                    kinds.allows(value) && number.as_f64().is_none_or(|n| self.in_range(n))
                }
                Value::String(text) => {
                    let length = text.chars().count() as u64;
                    kinds.allows(value)
                        && self.min_length.is_none_or(|least| length >= least)
                        && self.max_length.is_none_or(|most| length <= most)
                        && patterns.iter().all(|pattern| pattern.is_match(text.as_str()))
                }
                _ => kinds.allows(value),
            });
            let none = values.is_empty();
            self.values = Some(values);
            if none {
                return Err(WhyEmpty::Values);
            }
            // What values are listed says all about types.
            return Ok(kinds);
        }
        let numbers = !crossed(self.lower, self.upper);
        let integers = numbers && !no_integer(self.lower, self.upper);
        let least_most = |least: Option<u64>, most: Option<u64>| least.zip(most).is_none_or(|(l, m)| l <= m);
        let texts = least_most(self.min_length, self.max_length);
        let lists = least_most(self.min_items, self.max_items);
        let possible = kinds.only(|kind| match kind {
            Type::Integer => integers,
            Type::Number => numbers,
            Type::String => texts,
            Type::Array => lists,
            Type::Boolean | Type::Object => true,
        });
        if possible.is_empty() { Err(WhyEmpty::Limits) } else { Ok(possible) }
    }

    fn in_range(&self, number: f64) -> bool {
        self.lower.is_none_or(|(limit, excluded)| number > limit || (number >= limit && !excluded))
            && self.upper.is_none_or(|(limit, excluded)| number < limit || (number <= limit && !excluded))
    }

    /// What `self` allows and `joined` does not, with both as JSON.
    pub(super) fn narrowed(&self, joined: &Self, kinds: Kinds) -> Vec<(Lost, Value, Value)> {
        let mut all = Vec::new();
        let count = |facts: &Self| facts.values.as_ref().map(std::collections::BTreeMap::len);
        if count(self) != count(joined) {
            let list = |facts: &Self| {
                facts
                    .values
                    .as_ref()
                    .map_or(Value::Null, |all| all.values().cloned().collect::<Vec<_>>().into())
            };
            all.push((Lost::Values, list(self), list(joined)));
        }
        let (had, now) = self.limits(joined, kinds);
        if !now.is_empty() {
            all.push((Lost::Limit, had.into(), now.into()));
        }
        for (lost, own, joined) in [
            (Lost::Pattern, &self.patterns, &joined.patterns),
            (Lost::Format, &self.formats, &joined.formats),
        ] {
            if own.len() != joined.len() {
                let list = |all: &std::collections::BTreeSet<std::sync::Arc<str>>| -> Value {
                    all.iter().map(|text| Value::from(&**text)).collect()
                };
                all.push((lost, list(own), list(joined)));
            }
        }
        if joined.any_of.len() + joined.one_of.len() + joined.nots.len()
            > self.any_of.len() + self.one_of.len() + self.nots.len()
        {
            let entries = |facts: &Self| facts.clone().take_junctors();
            let own = entries(self);
            let new =
                entries(joined).into_iter().filter(|entry| !own.contains(entry)).map(|entry| entry.to_json());
            all.push((Lost::Condition, Value::Null, new.collect::<Vec<_>>().into()));
        }
        all
    }

    fn limits(&self, joined: &Self, kinds: Kinds) -> (Map<String, Value>, Map<String, Value>) {
        let (mut had, mut now) = (Map::new(), Map::new());
        let mut put = |name: &str, own: Option<Value>, new: Option<Value>| {
            if own != new && new.is_some() {
                had.insert(name.to_owned(), own.unwrap_or(Value::Null));
                now.insert(name.to_owned(), new.unwrap_or(Value::Null));
            }
        };
        let edge = |edge: Edge| {
            edge.map(|(limit, excluded)| if excluded { json!({"exclusive": limit}) } else { json!(limit) })
        };
        if kinds.has(Type::Integer) {
            put("minimum", edge(self.lower), edge(joined.lower));
            put("maximum", edge(self.upper), edge(joined.upper));
            let multiples = |facts: &Self| {
                let all: Vec<f64> = facts.multiples.iter().map(|bits| f64::from_bits(*bits)).collect();
                (!all.is_empty()).then(|| json!(all))
            };
            put("multipleOf", multiples(self), multiples(joined));
        }
        let count = |count: Option<u64>| count.map(Value::from);
        for (kind, name, own, new) in [
            (Type::String, "minLength", self.min_length, joined.min_length),
            (Type::String, "maxLength", self.max_length, joined.max_length),
            (Type::Array, "minItems", self.min_items, joined.min_items),
            (Type::Array, "maxItems", self.max_items, joined.max_items),
            (Type::Object, "minProperties", self.min_properties, joined.min_properties),
            (Type::Object, "maxProperties", self.max_properties, joined.max_properties),
        ] {
            if kinds.has(kind) {
                put(name, count(own), count(new));
            }
        }
        (had, now)
    }
}

fn crossed(lower: Edge, upper: Edge) -> bool {
    lower
        .zip(upper)
        .is_some_and(|((low, out), (high, also_out))| low > high || (low >= high && (out || also_out)))
}

fn no_integer(lower: Edge, upper: Edge) -> bool {
    let Some(((low, low_out), (high, high_out))) = lower.zip(upper) else { return false };
    let first = if low_out { low.floor() + 1.0 } else { low.ceil() };
    let last = if high_out { high.ceil() - 1.0 } else { high.floor() };
    first > last
}

//! Values made up for a schema: small, plain and, as a rule, valid. Whoever uses them judges them.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::language;
use crate::model::{ListType, Node, Schema, Type, TypeSet};
use crate::subsume::{Flat, Slot, lengths, number};
use crate::{Judge, Rules};

/// Alternatives of junctors tried for one node.
const ALTERNATIVES: usize = 12;
/// Nesting of values made up.
const MAX_DEPTH: usize = 60;
/// Nodes visited for one comparison.
const MAX_WORK: usize = 200_000;

/// Patterns, and the least and greatest length.
type TextKey = (Vec<Arc<str>>, u64, u64);

/// Makes up values.
#[derive(Default)]
pub(super) struct Sampler {
    judges: HashMap<usize, Judge>,
    texts: HashMap<TextKey, Option<String>>,
    work: usize,
}

impl Sampler {
    /// A value that follows `schema`, as far as is found.
    pub(super) fn one(&mut self, schema: &Schema) -> Option<Value> {
        self.node(schema, 0)
    }

    /// Up to `count` values, all different; `keys` are the fields in which objects differ.
    pub(super) fn several(&mut self, schema: &Schema, count: usize, keys: &[Arc<str>]) -> Vec<Value> {
        let flat = Flat::of(schema);
        if let Some(values) = flat.node.enumeration.as_deref() {
            return values.iter().take(count).cloned().collect();
        }
        let Some(first) = self.one(schema) else { return Vec::new() };
        let mut all = vec![first.clone()];
        match &first {
            Value::String(_) => self.texts(&flat, count, &mut all),
            Value::Number(start) => {
                let step = flat.node.bounds.multiple_of.unwrap_or(1.0);
                let start = start.as_f64().unwrap_or(0.0);
                all.extend((1..count).map(|times| number(start + step * times as f64)));
            }
            Value::Bool(flag) if count > 1 => all.push(json!(!flag)),
            Value::Object(map) => {
                let own: Vec<Arc<str>> = flat.node.properties.keys().cloned().collect();
                let keys = if keys.is_empty() { own } else { keys.to_vec() };
                for key in keys {
                    let Some(child) = flat.node.properties.get(&key) else { continue };
                    let values = self.several(child, count, &[]);
                    if values.len() < count.min(2)
                        || values.iter().any(|value| value.is_object() || value.is_array())
                    {
                        continue;
                    }
                    let with = |value: &Value| {
                        let mut map = map.clone();
                        map.insert(key.to_string(), value.clone());
                        Value::Object(map)
                    };
                    return values.iter().map(with).collect();
                }
            }
            Value::Array(_) if count > 1 => {
                if let Some(item) = flat.node.items.clone().and_then(|items| self.one(&items)) {
                    all.extend((1..count).map(|more| Value::Array(vec![item.clone(); more])));
                    all.dedup();
                }
            }
            _ => {}
        }
        all.truncate(count);
        all
    }

    /// Whether the value is accepted and kept by a part of a schema.
    pub(super) fn is_valid(&mut self, schema: &Schema, value: &Value) -> bool {
        let new = || Judge::new(schema, Rules { resource: false, ..Rules::default() });
        // The judge holds the schema, so that its address stays its own.
        let judge = self.judges.entry(schema.address()).or_insert_with(new);
        let outcome = judge.create(value);
        outcome.violations.is_empty() && outcome.dropped.is_empty()
    }

    fn node(&mut self, schema: &Schema, depth: usize) -> Option<Value> {
        self.work += 1;
        if depth > MAX_DEPTH || self.work > MAX_WORK {
            return None;
        }
        let flat = Flat::of(schema);
        if let Some(values) = flat.node.enumeration.as_deref() {
            return values.iter().take(100).find(|value| self.is_valid(schema, value)).cloned();
        }
        if flat.any_ofs.is_empty() && flat.one_ofs.is_empty() && flat.nots.is_empty() {
            return self.plain(&flat, depth);
        }
        let mut last = None;
        for choice in choices(&flat) {
            let Some(value) = self.plain(&choice, depth) else { continue };
            if self.is_valid(schema, &value) {
                return Some(value);
            }
            last = Some(value);
        }
        last
    }

    /// A value of the first type allowed; junctors are passed over.
    fn plain(&mut self, flat: &Flat<'_>, depth: usize) -> Option<Value> {
        const ORDER: [Type; 6] =
            [Type::String, Type::Integer, Type::Number, Type::Boolean, Type::Object, Type::Array];
        let node = &*flat.node;
        // What describes fields is meant to be an object, even if no type is given.
        if node.types.is_any() && !node.int_or_string && (!node.properties.is_empty() || node.embedded) {
            return self.object(flat, None, &[], depth);
        }
        let kind = ORDER.into_iter().find(|kind| flat.allows(*kind))?;
        match kind {
            Type::String => self.text(flat),
            Type::Integer | Type::Number => number_in(node, kind),
            Type::Boolean => Some(json!(true)),
            Type::Object => self.object(flat, None, &[], depth),
            Type::Array => self.list(flat, &[], depth),
        }
    }

    pub(super) fn text(&mut self, flat: &Flat<'_>) -> Option<Value> {
        if let Some(text) = flat.formats.iter().find_map(|format| formatted(format)) {
            return Some(json!(text));
        }
        let lengths = lengths(flat);
        // Something is more telling than nothing, where both will do.
        let nice = (*lengths.start()).max(1).min(*lengths.end());
        if flat.patterns.is_empty() {
            return (nice <= 1 << 20).then(|| json!("a".repeat(nice as usize)));
        }
        let key = (flat.patterns.clone(), nice, *lengths.end());
        if let Some(known) = self.texts.get(&key) {
            return known.clone().map(Value::String);
        }
        let patterns: Vec<&str> = flat.patterns.iter().map(|pattern| &**pattern).collect();
        let find = |from| language::find(&patterns, None, from..=*lengths.end()).ok().flatten();
        let found = find(nice).or_else(|| find(*lengths.start()));
        self.texts.insert(key, found.clone());
        found.map(Value::String)
    }

    fn texts(&mut self, flat: &Flat<'_>, count: usize, all: &mut Vec<Value>) {
        let patterns: Vec<&str> = flat.patterns.iter().map(|pattern| &**pattern).collect();
        let long = count > 8 || !flat.formats.is_empty();
        while all.len() < count {
            let next = if patterns.is_empty() && long {
                let least = lengths(flat).start().max(&1).to_owned() as usize;
                Some(format!("{:0>least$}", all.len()))
            } else {
                let known = language::literally(all.iter().filter_map(Value::as_str));
                language::find(&patterns, Some(&known), lengths(flat)).ok().flatten()
            };
            let Some(next) = next else { return };
            all.push(Value::String(next));
        }
    }

    /// A list of `first` and as many items as must be there.
    pub(super) fn list(&mut self, flat: &Flat<'_>, first: &[Value], depth: usize) -> Option<Value> {
        let node = &*flat.node;
        let mut items = first.to_vec();
        let least = usize::try_from(node.min_items.unwrap_or(0)).ok()?;
        if least > 1000 {
            return None;
        }
        if items.len() < least {
            let differ = node.list_type != ListType::Atomic || node.unique_items;
            let schema = node.items.clone().unwrap_or_default();
            if differ {
                let more = self.several(&schema, least + items.len(), &node.list_map_keys);
                let key = |item: &Value| match node.list_type {
                    ListType::Map => {
                        json!(node.list_map_keys.iter().map(|key| item.get(&**key)).collect::<Vec<_>>())
                    }
                    _ => item.clone(),
                };
                let taken: Vec<Value> = items.iter().map(key).collect();
                let room = least - items.len();
                items.extend(more.into_iter().filter(|item| !taken.contains(&key(item))).take(room));
            } else {
                let item = self.node(&schema, depth + 1)?;
                items.resize(least, item);
            }
        }
        Some(Value::Array(items))
    }

    /// An object with what is required, with `pinned` and without the fields `absent`.
    pub(super) fn object(
        &mut self,
        flat: &Flat<'_>,
        pinned: Option<(&str, &Value)>,
        absent: &[&str],
        depth: usize,
    ) -> Option<Value> {
        let node = &*flat.node;
        let mut map = Map::new();
        if node.embedded {
            map.insert("apiVersion".into(), json!("v1"));
            map.insert("kind".into(), json!("Example"));
            map.insert("metadata".into(), json!({"name": "example"}));
        }
        let is_pinned = |name: &str| pinned.is_some_and(|(own, _)| own == name);
        for name in &node.required {
            if is_pinned(name) || absent.contains(&&**name) || map.contains_key(&**name) {
                continue;
            }
            match Slot::of(node, name) {
                Slot::Schema(child)
                    if child.default.is_some() && flat.any_ofs.is_empty() && flat.one_ofs.is_empty() => {}
                Slot::Schema(child) => {
                    map.insert(name.to_string(), self.node(&child, depth + 1)?);
                }
                Slot::Open | Slot::Bare => {
                    map.insert(name.to_string(), json!("x"));
                }
                Slot::Dropped => return None,
            }
        }
        if let Some((name, value)) = pinned {
            map.insert(name.into(), value.clone());
        }
        let least = node.min_properties.unwrap_or(0);
        for (name, child) in &node.properties {
            if map.len() as u64 >= least {
                break;
            }
            if !map.contains_key(&**name) && !absent.contains(&&**name) {
                map.insert(name.to_string(), self.node(child, depth + 1)?);
            }
        }
        if let Some(value) = Slot::rest(node).schema()
            && least <= 1000
        {
            for more in 0.. {
                if map.len() as u64 >= least {
                    break;
                }
                map.insert(format!("key{more}"), self.node(&value, depth + 1)?);
            }
        }
        Some(Value::Object(map))
    }
}

/// The node with one alternative of each junctor taken, in every way up to a limit.
pub(super) fn choices<'s>(flat: &Flat<'s>) -> Vec<Flat<'s>> {
    let mut all = vec![flat.clone()];
    for entries in flat.any_ofs.iter().chain(&flat.one_ofs) {
        let mut next = Vec::new();
        'full: for flat in &all {
            for entry in entries {
                if next.len() >= ALTERNATIVES {
                    break 'full;
                }
                next.push(flat.clone().with(entry));
            }
        }
        all = next;
    }
    // Where alternatives only exclude each other, none of their fields may be there.
    if all.len() < ALTERNATIVES && (!flat.any_ofs.is_empty() || !flat.one_ofs.is_empty()) {
        all.push(flat.clone());
    }
    all
}

/// The schema limited to one type.
pub(super) fn of_type(schema: &Schema, kind: Type) -> Schema {
    let flat = Flat::of(schema);
    let mut node = flat.to_schema().to_node();
    node.types = TypeSet::one(kind);
    node.int_or_string = false;
    Schema::new(node)
}

fn number_in(node: &Node, kind: Type) -> Option<Value> {
    let bounds = &node.bounds;
    let step = bounds.multiple_of.unwrap_or(1.0);
    let low = bounds.minimum.map(|low| if bounds.exclusive_minimum { low + step } else { low });
    let high = bounds.maximum.map(|high| if bounds.exclusive_maximum { high - step } else { high });
    let start = match (low, high) {
        (Some(low), _) => low.max(1.0_f64.min(high.unwrap_or(1.0))),
        (None, Some(high)) => high.min(1.0),
        (None, None) => 1.0,
    };
    let start = if kind == Type::Integer { start.ceil() } else { start };
    let start = if bounds.multiple_of.is_some() { (start / step).ceil() * step } else { start };
    Some(number(start))
}

fn formatted(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" | "datetime" => "2000-01-01T00:00:00Z",
        "date" => "2000-01-01",
        "duration" => "1s",
        "byte" => "YQ==",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "cidr" => "192.0.2.0/24",
        "mac" => "00:00:5e:00:53:01",
        "uri" => "https://example.com",
        "email" => "a@example.com",
        "hostname" => "example.com",
        "uuid" | "uuid3" | "uuid4" | "uuid5" => "00000000-0000-4000-8000-000000000000",
        _ => return None,
    })
}

//! What to put into a gap, by its kind.

use serde_json::{Map, Value, json};

use super::place::Leaf;
use super::sample::{Sampler, of_type};
use crate::model::{ListType, Schema, Type};
use crate::subsume::{Flat, Gap, Kind, Slot};

/// The longest list and the largest mapping made up.
const MOST: usize = 1100;
/// Optional fields tried one by one.
const FIELDS: usize = 16;

/// Values for the place of the gap; the best first.
pub(super) fn leaves(sampler: &mut Sampler, gap: &Gap) -> Vec<Leaf> {
    let node = &gap.node;
    let flat = Flat::of(node);
    let mut values = gap.probes.clone();
    match &gap.kind {
        Kind::Required => return vec![Leaf::Absent],
        Kind::Default => {
            let mut all = vec![Leaf::Absent];
            all.extend(values.into_iter().map(Leaf::Value));
            return all;
        }
        Kind::Transition(_) | Kind::Unreadable => return Vec::new(),
        Kind::Field => values.extend(sampler.one(node)),
        Kind::Type => {
            let other = gap.other.as_ref().map(|other| Flat::of(other));
            for kind in Type::ALL {
                if flat.allows(kind) && other.as_ref().is_none_or(|other| !other.allows(kind)) {
                    values.extend(sampler.one(&of_type(node, kind)));
                    if kind == Type::Number {
                        values.insert(0, json!(flat.node.bounds.minimum.map_or(0.5, |low| low + 0.5)));
                    }
                }
            }
        }
        Kind::Open => values.extend(with_keys(sampler, node, "anything", json!({"of": "x"}))),
        Kind::Keys => {
            let value = flat.node.additional.schema().cloned().and_then(|schema| sampler.one(&schema));
            values.extend(with_keys(sampler, node, "anything", value.unwrap_or_else(|| json!("x"))));
        }
        Kind::BareValues => values.extend(rich(sampler, node)),
        Kind::ListType => values.extend(alike(sampler, gap)),
        Kind::Bound("maxItems") => {
            values.extend(items(sampler, gap, |other| other.max_items.map(|most| most + 1)))
        }
        Kind::Bound("minItems") => {
            let own = node.min_items.unwrap_or(0);
            values.extend(items(sampler, gap, |_| Some(own)));
        }
        Kind::Bound("maxProperties") => {
            values.extend(keys(sampler, gap, |other| other.max_properties.map(|most| most + 1)))
        }
        Kind::Bound("minProperties") => values.extend(sampler.one(node)),
        Kind::Embedded | Kind::Format => values.extend(sampler.one(node)),
        Kind::Junctor | Kind::Cel(_) => values.extend(variants(sampler, gap)),
        Kind::FieldUnderOpen | Kind::Nullable | Kind::Enum | Kind::Bound(_) | Kind::Pattern => {}
    }
    values.into_iter().map(Leaf::Value).collect()
}

fn with_keys(sampler: &mut Sampler, node: &Schema, key: &str, value: Value) -> Vec<Value> {
    let object = match sampler.one(node) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let with = |mut map: Map<String, Value>| {
        map.insert(key.into(), value.clone());
        Value::Object(map)
    };
    vec![with(object), with(Map::new())]
}

/// A value with something inside.
fn rich(sampler: &mut Sampler, node: &Schema) -> Option<Value> {
    let flat = Flat::of(node);
    if flat.allows(Type::Object) {
        let mut map = match sampler.one(node) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        if map.is_empty() {
            let first =
                flat.node.properties.iter().next().map(|(name, child)| (name.to_string(), child.clone()));
            let (name, child) = match first {
                Some(first) => first,
                None => ("example".to_owned(), Slot::rest(&flat.node).schema()?),
            };
            map.insert(name, sampler.one(&child)?);
        }
        return Some(Value::Object(map));
    }
    let item = rich(sampler, flat.node.items.as_ref()?)?;
    Some(json!([item]))
}

/// Lists with items that are alike for the second side.
fn alike(sampler: &mut Sampler, gap: &Gap) -> Vec<Value> {
    let flat = Flat::of(&gap.node);
    let Some(schema) = flat.node.items.clone() else { return vec![json!([1, 1]), json!([{}, {}])] };
    let mut lists = Vec::new();
    let other = gap.other.as_ref().map(|other| other.list_map_keys.clone()).unwrap_or_default();
    if flat.node.list_type == ListType::Map {
        // They differ for the first side only.
        let own: Vec<_> =
            flat.node.list_map_keys.iter().filter(|key| !other.contains(key)).cloned().collect();
        lists.push(Value::Array(sampler.several(&schema, 2, &own)));
    }
    let mut item = sampler.one(&schema);
    if let Some(Value::Object(map)) = &mut item {
        for key in other.iter().filter(|key| !map.contains_key(&***key)).cloned().collect::<Vec<_>>() {
            if let Some(value) = schema.properties.get(&key).and_then(|child| sampler.one(child)) {
                map.insert(key.to_string(), value);
            }
        }
    }
    lists.extend(item.map(|item| json!([item, item])));
    lists
}

fn items(sampler: &mut Sampler, gap: &Gap, count: impl Fn(&Schema) -> Option<u64>) -> Vec<Value> {
    let flat = Flat::of(&gap.node);
    let other = gap.other.as_ref().map(|other| Schema::new(Flat::of(other).node.into_owned()));
    let Some(count) = other.as_ref().and_then(count).map(|count| count as usize) else { return Vec::new() };
    if count > MOST {
        return Vec::new();
    }
    let schema = flat.node.items.clone().unwrap_or_default();
    let differ = flat.node.list_type != ListType::Atomic || flat.node.unique_items;
    let keyed = other.as_ref().is_some_and(|other| other.list_type != ListType::Atomic);
    let list = if differ || keyed && count <= 64 {
        let keys = match &other {
            Some(other) if !differ => other.list_map_keys.clone(),
            _ => flat.node.list_map_keys.clone(),
        };
        sampler.several(&schema, count, &keys)
    } else {
        sampler.one(&schema).map(|item| vec![item; count]).unwrap_or_default()
    };
    if list.len() < count {
        // Another list may still do: the server counts before it compares.
        return sampler.one(&schema).map(|item| Value::Array(vec![item; count])).into_iter().collect();
    }
    vec![Value::Array(list)]
}

fn keys(sampler: &mut Sampler, gap: &Gap, count: impl Fn(&Schema) -> Option<u64>) -> Option<Value> {
    let flat = Flat::of(&gap.node);
    let other = gap.other.as_ref().map(|other| Schema::new(Flat::of(other).node.into_owned()));
    let count = other.as_ref().and_then(count).filter(|count| *count as usize <= MOST)?;
    let mut map = match sampler.one(&gap.node) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    for (name, child) in &flat.node.properties {
        if map.len() as u64 >= count {
            break;
        }
        if !map.contains_key(&**name) {
            map.insert(name.to_string(), sampler.one(child)?);
        }
    }
    if let Some(value) = Slot::rest(&flat.node).schema().and_then(|schema| sampler.one(&schema)) {
        for more in 0..count {
            if map.len() as u64 >= count {
                break;
            }
            map.insert(format!("key{more}"), value.clone());
        }
    }
    Some(Value::Object(map))
}

/// Different values of the node: the smallest, and with each optional field.
fn variants(sampler: &mut Sampler, gap: &Gap) -> Vec<Value> {
    let flat = Flat::of(&gap.node);
    let mut all: Vec<Value> = sampler.several(&gap.node, 4, &[]);
    if let Some(Value::Object(map)) = all.first().cloned() {
        all.insert(1, json!({}));
        let empty = Map::new();
        for base in [map.clone(), empty] {
            for (name, child) in
                flat.node.properties.iter().filter(|(name, _)| !map.contains_key(&***name)).take(FIELDS)
            {
                if let Some(value) = sampler.one(child) {
                    let mut with = base.clone();
                    with.insert(name.to_string(), value);
                    all.push(Value::Object(with));
                }
            }
            if base.is_empty() {
                break;
            }
        }
    }
    if flat.allows(Type::Array) && !flat.allows(Type::Object) {
        all.push(json!([]));
        if let Some(item) = flat.node.items.clone().and_then(|items| sampler.one(&items)) {
            all.extend([json!([item]), json!([item, item])]);
        }
    }
    if flat.allows(Type::String) {
        all.extend([json!(""), json!("x"), json!("0")]);
    }
    let mut distinct: Vec<Value> = Vec::new();
    for value in all {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

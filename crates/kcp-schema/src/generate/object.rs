//! Values that mostly fit a schema, and changes that make them fit another.

use serde_json::{Map, Value, json};

use super::Seed;
use super::schema::NAMES;
use crate::{Additional, Judge, Rules, Schema, Type, Verdict, same_value};

/// A value for `schema`; often right, not always.
pub(crate) fn object(seed: &mut Seed, schema: &Schema) -> Value {
    of(seed, schema, 6)
}

/// Whether a value is right for a schema and wholly kept.
pub(super) fn right(schema: &Schema, value: &Value) -> bool {
    let judge = Judge::new(schema, Rules { resource: false, ..Rules::default() });
    let outcome = judge.create(value);
    // A default that is filled in further is fine for a server, but then its own check may not be.
    outcome.verdict() == Verdict::Yes && same_value(&outcome.object, value)
}

pub(super) fn of(seed: &mut Seed, schema: &Schema, depth: usize) -> Value {
    if schema.nullable && seed.chance(20) {
        return Value::Null;
    }
    if let Some(values) = &schema.enumeration {
        return values[seed.below(values.len())].clone();
    }
    if schema.int_or_string {
        return if seed.chance(50) { integer(seed, schema) } else { text(seed) };
    }
    match schema.types.iter().next() {
        Some(Type::Boolean) => seed.chance(50).into(),
        Some(Type::Integer) => integer(seed, schema),
        Some(Type::Number) if seed.chance(30) => json!(seed.below(12) as f64 / 2.0),
        Some(Type::Number) => integer(seed, schema),
        Some(Type::String) => text(seed),
        Some(Type::Array) => list(seed, schema, depth),
        Some(Type::Object) => mapping(seed, schema, depth),
        None => any(seed, 2),
    }
}

fn integer(seed: &mut Seed, schema: &Schema) -> Value {
    let low = schema.bounds.minimum.unwrap_or(0.0) as i64;
    (low + seed.below(6) as i64).into()
}

fn text(seed: &mut Seed) -> Value {
    seed.pick(&["", "a", "b", "ab", "aa", "abc", "aab", "b1", "zz"]).into()
}

fn list(seed: &mut Seed, schema: &Schema, depth: usize) -> Value {
    let least = schema.min_items.unwrap_or(0) as usize;
    let count = least + seed.below(3);
    let Some(items) = schema.items.as_ref().filter(|_| depth > 0) else { return json!([]) };
    (0..count).map(|_| of(seed, items, depth - 1)).collect()
}

fn mapping(seed: &mut Seed, schema: &Schema, depth: usize) -> Value {
    let mut out = Map::new();
    for (name, field) in &schema.properties {
        let wanted = schema.required.contains(name) || seed.chance(45);
        if wanted && depth > 0 {
            out.insert(name.to_string(), of(seed, field, depth - 1));
        }
    }
    match &schema.additional {
        Additional::Schema(values) if depth > 0 => {
            for name in NAMES {
                if seed.chance(35) {
                    out.insert(name.to_owned(), of(seed, values, depth - 1));
                }
            }
        }
        Additional::None if !schema.preserve_unknown => {}
        _ => {
            for name in NAMES {
                if !out.contains_key(name) && seed.chance(25) {
                    out.insert(name.to_owned(), any(seed, 1));
                }
            }
        }
    }
    Value::Object(out)
}

fn any(seed: &mut Seed, depth: usize) -> Value {
    match seed.below(if depth == 0 { 4 } else { 6 }) {
        0 => seed.below(6).into(),
        1 => text(seed),
        2 => true.into(),
        3 => json!(1.5),
        4 => (0..seed.below(3)).map(|_| any(seed, depth - 1)).collect(),
        _ => {
            let mut out = Map::new();
            for name in NAMES {
                if seed.chance(30) {
                    out.insert(name.to_owned(), any(seed, depth - 1));
                }
            }
            Value::Object(out)
        }
    }
}

/// `value` with a small change somewhere.
pub(crate) fn near(seed: &mut Seed, value: &Value) -> Value {
    match value {
        Value::Object(map) if !map.is_empty() && seed.chance(70) => {
            let mut out = map.clone();
            let at = seed.below(map.len());
            let Some((key, inner)) = map.iter().nth(at) else { return value.clone() };
            match seed.below(4) {
                0 => {
                    out.shift_remove(key);
                }
                1 => {
                    let name = NAMES[seed.below(NAMES.len())];
                    out.insert(name.to_owned(), any(seed, 1));
                }
                _ => {
                    out.insert(key.clone(), near(seed, inner));
                }
            }
            Value::Object(out)
        }
        Value::Array(items) if !items.is_empty() && seed.chance(70) => {
            let mut out = items.clone();
            let at = seed.below(items.len());
            match seed.below(3) {
                0 => {
                    out.remove(at);
                }
                1 => out.push(items[at].clone()),
                _ => out[at] = near(seed, &items[at]),
            }
            out.into()
        }
        _ => any(seed, 1),
    }
}

//! A value put where a gap is, inside the smallest object around it. Everything else in that object tries to please both
//! sides, so that only the gap tells them apart.

use serde_json::{Value, json};

use super::sample::{Sampler, choices};
use crate::model::{Schema, SchemaStep};
use crate::subsume::{Flat, Slot, and};

/// What stands at the place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leaf {
    /// This value.
    Value(Value),
    /// Nothing: the field is left out.
    Absent,
}

/// Objects kept for each level.
const KEPT: usize = 4;
/// The key of a free mapping.
const KEY: &str = "example";

/// Objects with `leaf` at the place that `steps` lead to.
pub(super) fn place(
    sampler: &mut Sampler,
    a: &Schema,
    b: Option<&Schema>,
    steps: &[SchemaStep],
    leaf: &Leaf,
) -> Vec<Value> {
    let Some((step, rest)) = steps.split_first() else {
        return match leaf {
            Leaf::Value(value) => vec![value.clone()],
            Leaf::Absent => Vec::new(),
        };
    };
    match step {
        SchemaStep::Property(name) => {
            if rest.is_empty() && *leaf == Leaf::Absent {
                return objects(sampler, a, b, name, None);
            }
            field(sampler, a, b, name, rest, leaf)
        }
        SchemaStep::Values => {
            let taken = a.properties.contains_key(KEY);
            field(sampler, a, b, if taken { "example-key" } else { KEY }, rest, leaf)
        }
        SchemaStep::Items => {
            let Some(items) = &a.items else {
                return inner(sampler, &Schema::default(), None, rest, leaf)
                    .into_iter()
                    .map(|it| json!([it]))
                    .collect();
            };
            let other = b.and_then(|b| b.items.as_ref());
            let flat = Flat::of(a);
            inner(sampler, items, other, rest, leaf)
                .into_iter()
                .filter_map(|item| sampler.list(&flat, &[item], 0))
                .collect()
        }
        SchemaStep::AllOf(_) | SchemaStep::AnyOf(_) | SchemaStep::OneOf(_) | SchemaStep::Not => Vec::new(),
    }
}

fn inner(
    sampler: &mut Sampler,
    a: &Schema,
    b: Option<&Schema>,
    steps: &[SchemaStep],
    leaf: &Leaf,
) -> Vec<Value> {
    place(sampler, a, b, steps, leaf)
}

fn field(
    sampler: &mut Sampler,
    a: &Schema,
    b: Option<&Schema>,
    name: &str,
    rest: &[SchemaStep],
    leaf: &Leaf,
) -> Vec<Value> {
    let Some(child) = Slot::of(a, name).schema() else { return Vec::new() };
    let other = b.and_then(|b| Slot::of(b, name).schema());
    let mut all = Vec::new();
    for value in inner(sampler, &child, other.as_ref(), rest, leaf) {
        all.extend(objects(sampler, a, b, name, Some(&value)));
        if all.len() >= KEPT {
            break;
        }
    }
    all
}

/// Objects of `a` with the field `name` as given, or without it.
fn objects(
    sampler: &mut Sampler,
    a: &Schema,
    b: Option<&Schema>,
    name: &str,
    value: Option<&Value>,
) -> Vec<Value> {
    let pinned = value.map(|value| (name, value));
    let gone = [name];
    let absent: &[&str] = if value.is_none() { &gone } else { &[] };
    let alone = Flat::of(a);
    let both = b.filter(|b| *b != a).map(|b| {
        let mut flat = alone.clone();
        let node = flat.node.to_mut();
        // Fields that only the second side wants cannot be there.
        node.required.extend(b.required.iter().filter(|name| a.field(name).is_some()).cloned());
        for (name, child) in &b.properties {
            if let Some(own) = node.properties.get_mut(name)
                && own != child
            {
                *own = and(own, child);
            }
        }
        flat.any_ofs.extend(b.any_of.first().map(|_| b.any_of.clone()));
        flat.one_ofs.extend(b.one_of.first().map(|_| b.one_of.clone()));
        flat
    });
    let mut found: Vec<Value> = Vec::new();
    for flat in both.iter().chain([&alone]) {
        for choice in choices(flat) {
            let Some(object) = sampler.object(&choice, pinned, absent, 0) else { continue };
            if found.contains(&object) {
                continue;
            }
            let plain = alone.any_ofs.is_empty() && alone.one_ofs.is_empty() && alone.nots.is_empty();
            if plain || sampler.is_valid(a, &object) {
                found.push(object);
            }
            if found.len() >= KEPT {
                return found;
            }
        }
    }
    found
}

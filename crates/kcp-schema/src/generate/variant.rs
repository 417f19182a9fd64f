//! Schemas that are nearly the same: what the next release of an API might look like.

use std::sync::Arc;

use super::Seed;
use super::schema::{NAMES, conditions, counts, list, numbers, text, value, with_default};
use crate::{Additional, ListType, Node, Schema, Type};

/// `schema` with some changes.
pub(crate) fn variant(seed: &mut Seed, schema: &Schema) -> Schema {
    node(seed, schema, true)
}

fn node(seed: &mut Seed, schema: &Schema, root: bool) -> Schema {
    let mut out = schema.to_node();
    let default = out.default.take();
    // Conditions name fields: they go, and others may come, when fields change.
    let mut changed = false;
    for name in NAMES {
        match seed.below(20) {
            0 if out.properties.contains_key(name) && !out.list_map_keys.iter().any(|key| **key == *name) => {
                out.properties.remove(name);
                out.required.remove(name);
                changed = true;
            }
            1 if out.types.names(Type::Object) && out.additional.is_none() => {
                let field = value(seed, 1);
                let field = with_default(seed, field);
                out.properties.insert(Arc::from(name), field);
                changed = true;
            }
            2 if out.properties.contains_key(name) => {
                out.required.insert(Arc::from(name));
            }
            3..=9 => {
                if let Some(field) = out.properties.get(name).cloned() {
                    let field = node(seed, &field, false);
                    out.properties.insert(Arc::from(name), with_default(seed, field));
                    changed = true;
                }
            }
            _ => {}
        }
    }
    if let (Some(items), true) = (&out.items, seed.chance(40)) {
        // Keys of a keyed list stay what they are.
        if out.list_type != ListType::Map {
            out.items = Some(node(seed, items, false));
            changed = true;
        }
    }
    if let (Additional::Schema(values), true) = (&out.additional, seed.chance(40)) {
        out.additional = Additional::Schema(node(seed, values, false));
    }
    if seed.chance(20) {
        scalars(seed, &mut out);
    }
    if !root && seed.chance(6) {
        out.nullable = !out.nullable;
    }
    if !root && seed.chance(5) {
        return value(seed, 1);
    }
    if changed || seed.chance(20) {
        let Node { all_of, any_of, one_of, not, cel, .. } = &mut out;
        if changed || seed.chance(50) {
            (*all_of, *any_of, *one_of, *not, *cel) = (Vec::new(), Vec::new(), Vec::new(), None, Vec::new());
            conditions(seed, &mut out);
        }
    }
    let legal = out.list_type != ListType::Set
        || out.items.as_ref().is_some_and(|items| {
            items.items.is_none()
                && items.properties.is_empty()
                && !items.preserve_unknown
                && items.additional.is_none()
                && !items.types.names(Type::Object)
        });
    if !legal {
        out.list_type = ListType::Atomic;
    }
    let out = Schema::new(out);
    match default {
        Some(value) if crate::generate::object::right(&out, &value) && seed.chance(80) => {
            Schema::new(Node { default: Some(value), ..out.to_node() })
        }
        _ => out,
    }
}

fn scalars(seed: &mut Seed, out: &mut Node) {
    if out.types.names(Type::String) {
        text(seed, out);
    } else if out.types.names(Type::Integer) || out.types.names(Type::Number) {
        numbers(seed, out);
        if seed.chance(20) {
            let other = if out.types.names(Type::Integer) { Type::Number } else { Type::Integer };
            out.types = crate::TypeSet::one(other);
            out.cel.clear();
        }
    } else if out.types.names(Type::Array) && out.list_type == ListType::Atomic {
        list(seed, out, 1);
    } else if out.types.names(Type::Object) {
        counts(seed, out);
        if out.additional.is_none() && seed.chance(15) {
            out.preserve_unknown = !out.preserve_unknown;
        }
    }
}

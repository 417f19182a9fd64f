//! Schemas.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Seed, object};
use crate::{Additional, Bounds, CelRule, ListType, Node, Schema, Type, TypeSet};

pub(super) const NAMES: [&str; 5] = ["a", "b", "c", "d", "e-f"];
pub(super) const PATTERNS: [&str; 4] = ["^[a-c]*$", "b", "^.{0,3}$", "^(aa|b)"];

/// A schema of a whole object.
pub(crate) fn schema(seed: &mut Seed) -> Schema {
    let mut node = Node { types: TypeSet::one(Type::Object), ..Node::default() };
    fields(seed, &mut node, 3);
    conditions(seed, &mut node);
    Schema::new(node)
}

/// A schema of a field's value.
pub(super) fn value(seed: &mut Seed, depth: usize) -> Schema {
    let mut node = Node::default();
    let kinds = if depth == 0 { 6 } else { 11 };
    match seed.below(kinds) {
        0 => {
            node.types = TypeSet::one(Type::Integer);
            numbers(seed, &mut node);
        }
        1 => {
            node.types = TypeSet::one(Type::Number);
            numbers(seed, &mut node);
        }
        2 => node.types = TypeSet::one(Type::Boolean),
        3 | 4 => {
            node.types = TypeSet::one(Type::String);
            text(seed, &mut node);
        }
        5 => {
            node.int_or_string = true;
            if seed.chance(30) {
                node.pattern = Some(Arc::from(seed.pick(&PATTERNS)));
            }
        }
        6 => {
            node.preserve_unknown = true;
            if seed.chance(40) {
                node.types = TypeSet::one(Type::Object);
                if seed.chance(60) {
                    fields(seed, &mut node, depth - 1);
                }
            }
        }
        7 => list(seed, &mut node, depth - 1),
        8 => {
            node.types = TypeSet::one(Type::Object);
            node.additional =
                if seed.chance(20) { Additional::Any } else { Additional::Schema(value(seed, depth - 1)) };
            counts(seed, &mut node);
        }
        _ => {
            node.types = TypeSet::one(Type::Object);
            fields(seed, &mut node, depth - 1);
        }
    }
    if seed.chance(15) {
        node.nullable = true;
    }
    conditions(seed, &mut node);
    Schema::new(node)
}

pub(super) fn fields(seed: &mut Seed, node: &mut Node, depth: usize) {
    for name in NAMES {
        if seed.chance(55) {
            let field = value(seed, depth);
            node.properties.insert(Arc::from(name), with_default(seed, field));
        }
        if node.properties.contains_key(name) && seed.chance(20) {
            node.required.insert(Arc::from(name));
        }
    }
    if seed.chance(10) {
        counts(seed, node);
    }
}

/// Sometimes with a default, which a server takes only if it is right for the schema.
pub(super) fn with_default(seed: &mut Seed, field: Schema) -> Schema {
    if !seed.chance(25) {
        return field;
    }
    for _ in 0..4 {
        let default = object::of(seed, &field, 3);
        if !default.is_null() && object::right(&field, &default) {
            return Schema::new(Node { default: Some(default), ..field.to_node() });
        }
    }
    field
}

pub(super) fn counts(seed: &mut Seed, node: &mut Node) {
    if seed.chance(30) {
        node.min_properties = Some(seed.below(3) as u64);
    }
    if seed.chance(30) {
        node.max_properties = Some(1 + seed.below(4) as u64);
    }
}

pub(super) fn numbers(seed: &mut Seed, node: &mut Node) {
    if seed.chance(40) {
        node.bounds = Bounds {
            minimum: seed.chance(50).then(|| seed.below(5) as f64),
            maximum: seed.chance(50).then(|| (2 + seed.below(6)) as f64),
            exclusive_minimum: false,
            exclusive_maximum: false,
            multiple_of: seed.chance(20).then(|| seed.pick(&[&2.0, &3.0]).to_owned()),
        };
        node.bounds.exclusive_minimum = node.bounds.minimum.is_some() && seed.chance(20);
        node.bounds.exclusive_maximum = node.bounds.maximum.is_some() && seed.chance(20);
    } else if seed.chance(20) {
        node.enumeration = Some((0..6).filter(|_| seed.chance(50)).map(Value::from).collect());
        if node.enumeration.as_ref().is_some_and(|values| values.is_empty()) {
            node.enumeration = None;
        }
    }
    if seed.chance(10) {
        node.format = Some(Arc::from("int32"));
    }
}

pub(super) fn text(seed: &mut Seed, node: &mut Node) {
    match seed.below(5) {
        0 => node.pattern = Some(Arc::from(seed.pick(&PATTERNS))),
        1 => {
            let values: Vec<Value> = ["a", "b", "ab", "aa", "abc"]
                .into_iter()
                .filter(|_| seed.chance(50))
                .map(Value::from)
                .collect();
            node.enumeration = (!values.is_empty()).then(|| values.into());
        }
        2 => node.max_length = Some(1 + seed.below(4) as u64),
        3 => node.min_length = Some(seed.below(3) as u64),
        _ => {}
    }
}

pub(super) fn list(seed: &mut Seed, node: &mut Node, depth: usize) {
    node.types = TypeSet::one(Type::Array);
    if seed.chance(30) {
        node.min_items = Some(seed.below(2) as u64);
    }
    if seed.chance(30) {
        node.max_items = Some(1 + seed.below(3) as u64);
    }
    if seed.chance(25) {
        // Told apart by one or two keys, scalars that are always there.
        let mut items = Node { types: TypeSet::one(Type::Object), ..Node::default() };
        if depth > 0 {
            fields(seed, &mut items, depth - 1);
        }
        for key in ["a", "b"] {
            if key == "a" || seed.chance(40) {
                let kind = seed.pick(&[&Type::Integer, &Type::String]).to_owned();
                let mut field = Node { types: TypeSet::one(kind), ..Node::default() };
                if seed.chance(30) {
                    field.default = Some(if kind == Type::String { json!("a") } else { json!(1) });
                } else {
                    items.required.insert(Arc::from(key));
                }
                items.properties.insert(Arc::from(key), Schema::new(field));
                node.list_map_keys.push(Arc::from(key));
            }
        }
        node.list_type = ListType::Map;
        node.items = Some(Schema::new(items));
        return;
    }
    let items = value(seed, depth);
    let scalar = items.types.names(Type::String) || items.types.names(Type::Integer) || items.int_or_string;
    if scalar && seed.chance(30) {
        node.list_type = ListType::Set;
    }
    node.items = Some(items);
}

/// Junctors and rules over what is there.
pub(super) fn conditions(seed: &mut Seed, node: &mut Node) {
    if seed.chance(12) {
        match seed.below(4) {
            0 => node.any_of = (0..2).map(|_| condition(seed, node, 2)).collect(),
            1 => node.one_of = (0..2).map(|_| condition(seed, node, 2)).collect(),
            2 => node.not = Some(condition(seed, node, 2)),
            _ => node.all_of = vec![condition(seed, node, 2)],
        }
    }
    if seed.chance(10)
        && let Some(rule) = rule(seed, node)
    {
        let (message, message_expression, reason, field_path) = (None, None, None, None);
        let rule = Arc::from(rule);
        node.cel =
            vec![CelRule { rule, message, message_expression, reason, field_path, optional_old_self: false }];
    }
}

/// What a junctor may say about a node: values only, of fields that are described.
fn condition(seed: &mut Seed, node: &Node, depth: usize) -> Schema {
    let mut out = Node::default();
    let names: Vec<&Arc<str>> = node.properties.keys().collect();
    if !names.is_empty() {
        if seed.chance(60) {
            out.required.insert(names[seed.below(names.len())].clone());
        }
        if depth > 0 && seed.chance(40) {
            let name = names[seed.below(names.len())];
            let inner = condition(seed, &node.properties[name], depth - 1);
            out.properties.insert(name.clone(), inner);
        }
    } else if node.types.names(Type::String) || node.int_or_string {
        out.pattern = Some(Arc::from(seed.pick(&PATTERNS)));
    } else if node.types.allows(Type::Integer) && !node.types.is_any() {
        out.bounds.maximum = Some(seed.below(5) as f64);
    } else if let (Some(items), true) = (&node.items, depth > 0) {
        out.items = Some(condition(seed, items, depth - 1));
    }
    if depth > 0 && seed.chance(15) {
        out.not = Some(condition(seed, node, depth - 1));
    }
    Schema::new(out)
}

fn rule(seed: &mut Seed, node: &Node) -> Option<String> {
    if node.types.names(Type::Object) && node.additional.is_none() {
        let names: Vec<&str> =
            node.properties.keys().map(|name| &**name).filter(|name| name.len() == 1).collect();
        if names.is_empty() {
            return None;
        }
        let (one, two) = (names[seed.below(names.len())], names[seed.below(names.len())]);
        return Some(match seed.below(3) {
            0 => format!("!has(self.{one}) || has(self.{two})"),
            1 => format!("has(self.{one}) || has(self.{two})"),
            _ => format!("!has(self.{one}) || !has(self.{two})"),
        });
    }
    if node.types.names(Type::String) {
        return Some("self.size() < 3".to_owned());
    }
    node.types.names(Type::Integer).then(|| "self > 1".to_owned())
}

//! One spelling of numbers. `2` and `2.0` are one value, so which of them a member wrote must not show in the result.

use serde_json::{Number, Value};

use crate::{Additional, Node, Schema};

/// `schema` with whole numbers written as such; itself if they are.
pub(super) fn one(schema: &Schema) -> Schema {
    changed(schema).unwrap_or_else(|| schema.clone())
}

/// None if nothing is to be changed, in this node and below.
fn changed(schema: &Schema) -> Option<Schema> {
    let own = schema.default.iter().chain(schema.enumeration.iter().flat_map(|all| all.iter())).any(is_other);
    let below: Vec<Option<Schema>> = schema.children().map(changed).collect();
    if !own && below.iter().all(Option::is_none) {
        return None;
    }
    let mut node = schema.to_node();
    if let Some(value) = &mut node.default {
        respell(value);
    }
    if let Some(values) = &node.enumeration {
        let mut values = values.to_vec();
        values.iter_mut().for_each(respell);
        node.enumeration = Some(values.into());
    }
    let Node { properties, items, additional, all_of, any_of, one_of, not, .. } = &mut node;
    let values = match additional {
        Additional::Schema(schema) => Some(schema),
        Additional::None | Additional::Any => None,
    };
    let children = properties.values_mut().chain(items).chain(values);
    children.chain(all_of).chain(any_of).chain(one_of).chain(not).for_each(|child| *child = one(child));
    Some(Schema::new(node))
}

fn is_other(value: &Value) -> bool {
    match value {
        Value::Number(number) => whole(number).is_some(),
        Value::Array(items) => items.iter().any(is_other),
        Value::Object(map) => map.values().any(is_other),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn respell(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = whole(number) {
                *number = whole;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(respell),
        Value::Object(map) => map.values_mut().for_each(respell),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// The integer that a float is.
fn whole(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return None;
    }
    let float = number.as_f64()?;
    // Below 2^53 every whole float is exactly that integer.
    (float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0).then(|| Number::from(float as i64))
}

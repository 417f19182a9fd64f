//! Nulls and defaults, in the server's order: a null that may not be one is dropped, or replaced by the default.

use serde_json::Value;

use crate::model::Schema;

/// `value` without the nulls that are not allowed and have no default.
#[must_use]
pub fn dropped_nulls(mut value: Value, schema: &Schema) -> Value {
    drop_nulls(&mut value, schema);
    value
}

/// `value` with all defaults that apply: a field that is absent, or null where null is not allowed.
#[must_use]
pub fn defaulted(mut value: Value, schema: &Schema) -> Value {
    apply(&mut value, schema);
    value
}

/// Drops the nulls that are neither values nor replaced by a default. Items of lists stay.
pub(super) fn drop_nulls(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(map) => map.retain(|key, inner| {
            let Some(schema) = schema.field(key) else { return true };
            if inner.is_null() {
                return schema.nullable || schema.default.is_some();
            }
            drop_nulls(inner, schema);
            true
        }),
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return };
            items.iter_mut().for_each(|item| drop_nulls(item, schema));
        }
        _ => {}
    }
}

/// Decoding into Go types: no null has a meaning.
pub(super) fn drop_every_null(value: &mut Value) {
    match value {
        Value::Object(map) => map.retain(|_, inner| {
            drop_every_null(inner);
            !inner.is_null()
        }),
        Value::Array(items) => items.iter_mut().for_each(drop_every_null),
        _ => {}
    }
}

/// Fills in defaults, also those inside defaults.
pub(super) fn apply(value: &mut Value, schema: &Schema) {
    if !schema.facts().defaults {
        return;
    }
    let replaces = |value: &Value, schema: &Schema| value.is_null() && !schema.nullable;
    match value {
        Value::Object(map) => {
            for (name, schema) in &schema.properties {
                let Some(default) = &schema.default else { continue };
                match map.get_mut(&**name) {
                    Some(inner) if replaces(inner, schema) => *inner = default.clone(),
                    Some(_) => {}
                    None => {
                        map.insert(name.to_string(), default.clone());
                    }
                }
            }
            for (key, inner) in map.iter_mut() {
                let Some(schema) = schema.field(key) else { continue };
                if replaces(inner, schema) {
                    *inner = schema.default.clone().unwrap_or(Value::Null);
                }
                apply(inner, schema);
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return };
            for item in items {
                if replaces(item, schema) {
                    *item = schema.default.clone().unwrap_or(Value::Null);
                }
                apply(item, schema);
            }
        }
        _ => {}
    }
}

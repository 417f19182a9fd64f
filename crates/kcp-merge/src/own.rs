//! The part of a live object that one manager applied: what comes back of what we sent.
//!
//! If the server kept an object as it was sent, this part equals what was sent. Where it stores another spelling or
//! fills in defaults inside an atomic list, it does not; the caller then compares with what came back the first time.

use serde_json::{Map, Value};

use crate::canonical;
use crate::fields::{FieldSet, FieldsError, PathElement};

/// The fields that `manager` owns by server-side apply (not those of subresources), from managedFields.
///
/// `None` if it never applied the object.
///
/// # Errors
/// [`FieldsError`] if the object's managedFields cannot be read.
pub fn applied_fields(live: &Value, manager: &str) -> Result<Option<FieldSet>, FieldsError> {
    let entries =
        live.get("metadata").and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    let mut found: Option<FieldSet> = None;
    for entry in entries.into_iter().flatten() {
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
        if text("manager") != manager || text("operation") != "Apply" || !text("subresource").is_empty() {
            continue;
        }
        if let Some(fields) = entry.get("fieldsV1") {
            found.get_or_insert_default().extend(FieldSet::parse(fields)?);
        }
    }
    Ok(found)
}

/// The live object reduced to the fields that `manager` applied, with apiVersion, kind, name and namespace, and
/// without the named annotations. `None` if the manager never applied it.
///
/// # Errors
/// [`FieldsError`] if the object's managedFields cannot be read.
pub fn own_fields(live: &Value, manager: &str, drop: &[&str]) -> Result<Option<Value>, FieldsError> {
    let Some(set) = applied_fields(live, manager)? else { return Ok(None) };
    let Some(Value::Object(mut own)) = project(live, &set) else {
        return Ok(Some(identity(live, Map::new())));
    };
    remove_annotations(&mut own, drop);
    Ok(Some(identity(live, own)))
}

/// A copy of an object without some annotations, and without an annotations map that is empty then.
#[must_use]
pub fn without_annotations(object: &Value, drop: &[&str]) -> Value {
    let mut copy = object.clone();
    if let Value::Object(map) = &mut copy {
        remove_annotations(map, drop);
    }
    copy
}

fn remove_annotations(object: &mut Map<String, Value>, drop: &[&str]) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else { return };
    annotations.retain(|key, _| !drop.contains(&key.as_str()));
    if annotations.is_empty() {
        metadata.shift_remove("annotations");
    }
}

/// Puts in what names an object: it belongs to whoever applies it, and is in nobody's fieldsV1.
fn identity(live: &Value, mut own: Map<String, Value>) -> Value {
    for field in ["apiVersion", "kind"] {
        if let Some(value) = live.get(field) {
            own.insert(field.to_owned(), value.clone());
        }
    }
    let metadata = own.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(metadata) = metadata {
        for field in ["name", "namespace"] {
            if let Some(value) = live.get("metadata").and_then(|live| live.get(field)) {
                metadata.insert(field.to_owned(), value.clone());
            }
        }
    }
    Value::Object(own)
}

/// What of `live` is in `set`; `None` if nothing of it is there.
fn project(live: &Value, set: &FieldSet) -> Option<Value> {
    // A leaf: a scalar, an atomic list or map, or a map that was sent empty.
    if set.children.is_empty() {
        return set.member.then(|| live.clone());
    }
    match live {
        Value::Object(map) => {
            let mut own = Map::new();
            for (element, below) in &set.children {
                if let PathElement::Field(name) = element
                    && let Some(value) = map.get(name)
                    && let Some(value) = project(value, below)
                {
                    own.insert(name.clone(), value);
                }
            }
            // A map of which no child is left is there only if it was written as such.
            (set.member || !own.is_empty()).then_some(Value::Object(own))
        }
        Value::Array(items) => {
            let own: Vec<_> = items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| {
                    let below = set.children.iter().find(|(element, _)| fits(element, index, item))?;
                    project(item, &below.1)
                })
                .collect();
            (set.member || !own.is_empty()).then_some(Value::Array(own))
        }
        // The field became something else since: it is not what was applied, whatever it is.
        other => Some(other.clone()),
    }
}

fn fits(element: &PathElement, index: usize, item: &Value) -> bool {
    match element {
        PathElement::Field(_) => false,
        PathElement::Index(wanted) => *wanted == index,
        PathElement::Value(wanted) => canonical::equal(None, None, wanted, item),
        PathElement::Key(keys) => keys.iter().all(|(key, wanted)| {
            item.get(key).is_some_and(|value| canonical::equal(None, None, wanted, value))
        }),
    }
}

#[cfg(test)]
mod tests;

//! `$patch`: what a patch says about the mapping or list it stands in.

use serde_json::{Map, Value};

pub(super) const DIRECTIVE: &str = "$patch";

/// Directives of the API server that kustomize does not know: they stay in the object as fields.
const UNKNOWN: [&str; 3] = ["$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"];

/// The first directive in a patch that will stay in the object.
pub(super) fn left_over(patch: &Value) -> Option<&str> {
    match patch {
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let unknown = UNKNOWN.iter().any(|it| key == it || it.ends_with('/') && key.starts_with(it));
            if unknown { Some(key.as_str()) } else { left_over(value) }
        }),
        Value::Array(items) => items.iter().find_map(left_over),
        _ => None,
    }
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Merge,
    Replace,
    Delete,
}

fn read(value: &Value) -> Result<Directive, String> {
    match value.as_str() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        _ => Err(format!("{DIRECTIVE} must be delete, replace or merge")),
    }
}

/// The directive of a mapping.
///
/// # Errors
/// One that is none.
pub(super) fn of_mapping(patch: &Map<String, Value>) -> Result<Directive, String> {
    patch.get(DIRECTIVE).map_or(Ok(Directive::Merge), read)
}

/// The directive of a list: an item that is nothing else. Such items are taken out.
///
/// # Errors
/// One that is none.
pub(super) fn of_list(patch: &mut Vec<Value>) -> Result<Directive, String> {
    let found = patch.iter().filter_map(Value::as_object).find(|item| item.contains_key(DIRECTIVE));
    let Some(value) = found.filter(|item| item.len() == 1).and_then(|item| item.get(DIRECTIVE)) else {
        return Ok(Directive::Merge);
    };
    let (directive, value) = (read(value)?, value.clone());
    // All items with this directive go, also those that say more, and with them those that say nothing.
    patch.retain(|item| match item {
        Value::Null => false,
        Value::Object(map) => !map.is_empty() && map.get(DIRECTIVE) != Some(&value),
        _ => true,
    });
    Ok(directive)
}

/// A mapping without its directive.
pub(super) fn without(patch: &Map<String, Value>) -> Map<String, Value> {
    patch
        .iter()
        .filter(|(key, _)| *key != DIRECTIVE)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

//! Strategic merge in the dialect of kustomize: mappings are merged, null deletes, `$patch` deletes or replaces, lists are
//! merged where [`super::merge_keys`] knows how, and what the patch adds to a list comes first.

use serde_json::{Map, Value};

use super::merge_keys::{Field, Shape};
use crate::value::Step;

const DIRECTIVE: &str = "$patch";
/// Comparisons that merging one list may take.
const COMPARISONS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// The merged object; `None` when the patch deletes it.
pub(super) fn merge(
    base: Value,
    patch: &Value,
    shape: Option<&'static Shape>,
) -> Result<Option<Value>, String> {
    match patch {
        Value::Object(patch) => map(Some(base), patch, shape),
        _ => Err("the patch is not a mapping".into()),
    }
}

/// Drops a key that has no value, unless it is inside a list that is not merged: such lists are left alone.
pub(super) fn drop_blank(object: &mut Value, path: &[Step], shape: Option<&'static Shape>) {
    let (mut value, mut shape) = (object, shape);
    let mut list = None;
    let Some((Step::Key(last), path)) = path.split_last() else { return };
    for step in path {
        let next = match (step, value) {
            (Step::Key(key), Value::Object(map)) => {
                list = None;
                match shape.and_then(|shape| shape.field(key)) {
                    Some(Field::Map(inner)) => shape = Some(inner),
                    Some(Field::List { item, .. }) => list = Some(*item),
                    _ => shape = None,
                }
                map.get_mut(key)
            }
            (Step::Index(index), Value::Array(items)) => {
                let Some(item) = list.take() else { return };
                shape = Some(item);
                items.get_mut(*index)
            }
            _ => None,
        };
        let Some(next) = next else { return };
        value = next;
    }
    if let Value::Object(map) = value
        && map.get(last).is_some_and(Value::is_null)
    {
        map.shift_remove(last);
    }
}

fn directive(patch: &Map<String, Value>) -> Result<Directive, String> {
    match patch.get(DIRECTIVE) {
        None => Ok(Directive::Merge),
        Some(Value::String(text)) => match text.as_str() {
            "merge" => Ok(Directive::Merge),
            "replace" => Ok(Directive::Replace),
            "delete" => Ok(Directive::Delete),
            _ => Err(format!("{DIRECTIVE} is {text:?}, it must be delete, replace or merge")),
        },
        Some(_) => Err(format!("{DIRECTIVE} must be delete, replace or merge")),
    }
}

/// `None` deletes the field.
fn map(
    base: Option<Value>,
    patch: &Map<String, Value>,
    shape: Option<&'static Shape>,
) -> Result<Option<Value>, String> {
    let mut merged = match (directive(patch)?, base) {
        (Directive::Delete, _) => return Ok(None),
        (Directive::Merge, Some(Value::Object(base))) => base,
        (Directive::Replace, _) | (_, None | Some(Value::Null)) => Map::new(),
        (_, Some(_)) => return Err("the patch has a mapping where the object has none".into()),
    };
    for (key, change) in patch.iter().filter(|(key, _)| *key != DIRECTIVE) {
        let field = shape.and_then(|shape| shape.field(key));
        let base = merged.get_mut(key).map(Value::take);
        match value(base, change, field).map_err(|why| with_path(key, &why))? {
            Some(value) => {
                merged.insert(key.clone(), value);
            }
            None => {
                merged.shift_remove(key);
            }
        }
    }
    Ok(Some(Value::Object(merged)))
}

/// `spec.template: why`, from `template: why`.
fn with_path(key: &str, why: &str) -> String {
    match why.split_once(": ") {
        Some((path, why)) if !path.contains(' ') => format!("{key}.{path}: {why}"),
        _ => format!("{key}: {why}"),
    }
}

fn value(base: Option<Value>, patch: &Value, field: Option<&'static Field>) -> Result<Option<Value>, String> {
    let base = base.filter(|base| !base.is_null());
    match patch {
        Value::Null => Ok(None),
        Value::Object(patch) => {
            let shape = match field {
                Some(Field::Map(shape)) => Some(*shape),
                _ => None,
            };
            map(base, patch, shape)
        }
        Value::Array(patch) => {
            let base = match base {
                None => Vec::new(),
                Some(Value::Array(base)) => base,
                Some(_) => return Err("the patch has a list where the object has none".into()),
            };
            if patch.len().saturating_mul(base.len() + patch.len()) > COMPARISONS {
                return Err("the list is too long to be merged".into());
            }
            match field {
                Some(Field::List { keys, item }) => list(base, patch, keys, item),
                Some(Field::Set) => Ok(Some(set(base, patch))),
                _ => Ok(Some(Value::Array(patch.clone()))),
            }
        }
        scalar => match base {
            Some(Value::Object(_) | Value::Array(_)) => {
                Err("the patch has a single value where the object has a mapping or a list".into())
            }
            _ => Ok(Some(scalar.clone())),
        },
    }
}

/// What the patch has, in its order, then what only the object has.
fn set(base: Vec<Value>, patch: &[Value]) -> Value {
    let mut merged: Vec<Value> = Vec::with_capacity(base.len() + patch.len());
    for item in patch.iter().cloned().chain(base) {
        if !item.is_null() && !merged.contains(&item) {
            merged.push(item);
        }
    }
    Value::Array(merged)
}

fn list(
    base: Vec<Value>,
    patch: &[Value],
    keys: &[&str],
    shape: &'static Shape,
) -> Result<Option<Value>, String> {
    // An item that is nothing but a directive speaks for the whole list.
    let directed = patch.iter().filter_map(Value::as_object).find(|item| item.contains_key(DIRECTIVE));
    let for_list = directed.filter(|item| item.len() == 1).map(directive).transpose()?;
    let mut base: Vec<Option<Value>> = match for_list {
        Some(Directive::Delete) => return Ok(None),
        Some(Directive::Replace) => Vec::new(),
        _ => base.into_iter().map(Some).collect(),
    };
    // Where one key tells items apart, the order of the patch counts. Where some item needs several, what is there keeps
    // its place and new items come first.
    let several = |item: &Value| keys.iter().filter(|key| item.get(**key).is_some()).count() > 1;
    let in_place = base.iter().flatten().chain(patch).any(several);
    let mut first = Vec::with_capacity(base.len() + patch.len());
    let mut seen: Vec<&Value> = Vec::new();
    for item in patch {
        let Value::Object(change) = item else {
            return Err("the patch has an item that is not a mapping".into());
        };
        if for_list.is_some() && change.len() == 1 && change.contains_key(DIRECTIVE) {
            continue;
        }
        if !keys.iter().any(|key| change.contains_key(*key)) {
            return Err(format!(
                "an item of the patch has no {}, by which items are told apart",
                keys.join(" or ")
            ));
        }
        // Of two with the same keys the reference takes the first.
        if seen.iter().any(|other| fit(other, item, keys) == Fit::All) {
            continue;
        }
        seen.push(item);
        let fits = |base: &Option<Value>| base.as_ref().map_or(Fit::Not, |base| fit(base, item, keys));
        let found = base.iter().position(|base| fits(base) == Fit::All);
        if found.is_none() && base.iter().any(|base| fits(base) == Fit::Present) {
            // A port with its protocol against one without: the reference leaves what is there as it is.
            continue;
        }
        // The reference does not replace single items, and deletes from a list of several keys only what is named in full.
        let named_in_full = keys.iter().all(|key| change.contains_key(*key));
        let ignored = match directive(change)? {
            Directive::Replace => found.is_some(),
            Directive::Delete => in_place && !named_in_full,
            Directive::Merge => false,
        };
        let old = found.and_then(|index| base[index].take());
        let merged = if ignored { old } else { map(old, change, Some(shape))? };
        let merged = merged.filter(|merged| merged != &Value::Object(Map::new()));
        match found {
            Some(index) if in_place => base[index] = merged,
            _ => first.extend(merged),
        }
    }
    first.extend(base.into_iter().flatten());
    Ok(Some(Value::Array(first)))
}

/// How well two items agree in the keys.
#[derive(PartialEq)]
enum Fit {
    Not,
    /// In those keys that both have, which is one at least.
    Present,
    /// In all; what one does not have the other has not either.
    All,
}

fn fit(left: &Value, right: &Value, keys: &[&str]) -> Fit {
    let (mut all, mut any) = (true, false);
    for key in keys {
        match (left.get(key), right.get(key)) {
            (Some(left), Some(right)) if text(left) == text(right) => any = true,
            (Some(_), Some(_)) => return Fit::Not,
            (None, None) => {}
            _ => all = false,
        }
    }
    match (any, all) {
        (false, _) => Fit::Not,
        (true, false) => Fit::Present,
        (true, true) => Fit::All,
    }
}

/// Keys are compared as text: 80 is "80".
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

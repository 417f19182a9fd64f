//! JSON 6902 operations, with the leniencies of the reference: `replace` sets a key that is not there, a copy of nothing
//! is null, an index may count from the end, and `metadata.annotations` are there where nobody wrote any.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::too_large;

/// Operations of one patch.
const OPERATIONS: usize = 10_000;
/// Operations of one patch that copy.
const COPIES: usize = 1_000;
/// Names in one path.
const PATH: usize = 128;

/// One operation.
#[derive(Debug)]
pub(super) struct Operation {
    verb: Verb,
    path: Pointer,
}

#[derive(Debug)]
enum Verb {
    Add(Value),
    Replace(Value),
    Test(Value),
    Remove,
    Copy(Pointer),
    Move(Pointer),
}

/// A path, as written and in names.
#[derive(Debug)]
struct Pointer {
    written: String,
    names: Vec<String>,
}

/// Reads the list of operations.
pub(super) fn read(patch: &Value) -> Result<Vec<Operation>, String> {
    let Value::Array(operations) = patch else {
        return Err("JSON 6902 operations are a list".into());
    };
    if operations.len() > OPERATIONS {
        return Err(format!("more than {OPERATIONS} operations"));
    }
    let read =
        |(index, operation)| operation_of(operation).map_err(|why| format!("operation {}: {why}", index + 1));
    operations.iter().enumerate().map(read).collect()
}

fn operation_of(operation: &Value) -> Result<Operation, String> {
    let pointer = |field: &str| match operation.get(field) {
        Some(Value::String(path)) => Pointer::new(path),
        _ => Err(format!("{field} is missing, or not a string")),
    };
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    let verb = match operation.get("op").and_then(Value::as_str) {
        Some("add") => Verb::Add(value()),
        Some("replace") => Verb::Replace(value()),
        Some("test") => Verb::Test(value()),
        Some("remove") => Verb::Remove,
        Some("copy") => Verb::Copy(pointer("from")?),
        Some("move") => Verb::Move(pointer("from")?),
        Some(other) => {
            return Err(format!("op is {other:?}, it must be add, remove, replace, move, copy or test"));
        }
        None => return Err("op is missing: add, remove, replace, move, copy or test".into()),
    };
    Ok(Operation { verb, path: pointer("path")? })
}

impl Pointer {
    /// The text before the first slash does not count, as in the reference.
    fn new(written: &str) -> Result<Self, String> {
        let (_, path) =
            written.split_once('/').ok_or_else(|| format!("path {written:?} does not begin with a slash"))?;
        let names: Vec<String> = path.split('/').map(unescape).collect();
        if names.len() > PATH {
            return Err(format!("a path of more than {PATH} names"));
        }
        Ok(Self { written: written.into(), names })
    }

    /// The value that holds the last name, and the last name.
    fn parent<'v>(&self, root: &'v mut Value) -> Option<(&'v mut Value, &str)> {
        let (last, parents) = self.names.split_last()?;
        let mut value = root;
        for name in parents {
            value = child(value, name)?;
        }
        matches!(value, Value::Object(_) | Value::Array(_)).then_some((value, last.as_str()))
    }

    /// The value; a key that is not there is null, an item that is not there is an error.
    fn found(&self, root: &mut Value) -> Result<Value, String> {
        let (parent, name) = self.parent(root).ok_or_else(|| self.missing())?;
        let list = parent.is_array();
        match child(parent, name) {
            Some(found) => Ok(found.clone()),
            None if list => Err(self.missing()),
            None => Ok(Value::Null),
        }
    }

    fn missing(&self) -> String {
        format!("there is no {}", self.written)
    }
}

fn unescape(name: &str) -> String {
    let name: Cow<'_, str> =
        if name.contains('~') { name.replace("~1", "/").replace("~0", "~").into() } else { name.into() };
    name.into_owned()
}

fn child<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(map) => map.get_mut(name),
        Value::Array(items) => {
            let index = index(name, items.len())?;
            items.get_mut(index)
        }
        _ => None,
    }
}

/// A position in a list of `length`; -1 is the last. It may be `length`, for adding.
fn index(name: &str, length: usize) -> Option<usize> {
    let index = match name.strip_prefix('-') {
        Some(from_end) => length.checked_sub(from_end.parse().ok()?)?,
        None => name.parse().ok()?,
    };
    (index <= length).then_some(index)
}

/// Applies the operations in order; the first that does not apply ends it.
///
/// `annotated`: annotations are there in any case, as they are in the reference where it keeps its books in them.
pub(super) fn apply(object: &mut Value, operations: &[Operation], annotated: bool) -> Result<(), String> {
    if annotated
        && let Some(Value::Object(metadata)) = object.get_mut("metadata")
        && metadata.get("annotations").is_none_or(Value::is_null)
    {
        metadata.insert("annotations".into(), Value::Object(Map::new()));
    }
    // Only copies can make more of an object than the patch itself is.
    let mut copies = 0;
    for (number, operation) in operations.iter().enumerate() {
        operation.apply(object).map_err(|why| format!("operation {}: {why}", number + 1))?;
        if matches!(operation.verb, Verb::Copy(_)) {
            copies += 1;
            if copies > COPIES || too_large(object) {
                return Err(format!("operation {}: makes the object too deep or too large", number + 1));
            }
        }
    }
    if too_large(object) {
        return Err("makes the object too deep or too large".into());
    }
    as_floats(object);
    Ok(())
}

/// Whole numbers that a float cannot tell from their neighbours: the reference reads the result back as floats.
const EXACT: u64 = 1 << 53;

fn as_floats(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let exact =
                number.as_i64().map(i64::unsigned_abs).or(number.as_u64()).is_none_or(|it| it <= EXACT);
            if !exact && let Some(float) = number.as_f64().and_then(serde_json::Number::from_f64) {
                *number = float;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(as_floats),
        Value::Object(map) => map.values_mut().for_each(as_floats),
        _ => {}
    }
}

impl Operation {
    fn apply(&self, object: &mut Value) -> Result<(), String> {
        let path = &self.path;
        match &self.verb {
            Verb::Add(value) => add(object, path, value.clone()),
            Verb::Replace(value) => {
                let (parent, name) = path.parent(object).ok_or_else(|| path.missing())?;
                match parent {
                    Value::Object(map) => {
                        map.insert(name.into(), value.clone());
                        Ok(())
                    }
                    list => {
                        let old = child(list, name).ok_or_else(|| path.missing())?;
                        *old = value.clone();
                        Ok(())
                    }
                }
            }
            Verb::Test(expected) => {
                let found = path.found(object)?;
                if found == *expected { Ok(()) } else { Err(format!("test of {} failed", path.written)) }
            }
            Verb::Remove => remove(object, path).map(|_| ()),
            Verb::Copy(from) => {
                let value = from.found(object)?;
                add(object, path, value)
            }
            Verb::Move(from) => {
                let value = remove(object, from)?;
                add(object, path, value)
            }
        }
    }
}

fn add(object: &mut Value, path: &Pointer, value: Value) -> Result<(), String> {
    let missing = || format!("there is nothing that {} could be added to", path.written);
    let (parent, name) = path.parent(object).ok_or_else(missing)?;
    match parent {
        Value::Object(map) => {
            map.insert(name.into(), value);
        }
        Value::Array(items) if name == "-" => items.push(value),
        Value::Array(items) => {
            // Counted from the end, the last place is behind the last item.
            let length = items.len() + usize::from(name.starts_with('-'));
            let index = index(name, length).filter(|index| *index <= items.len());
            let index = index.ok_or_else(|| format!("{} is not a place in the list", path.written))?;
            items.insert(index, value);
        }
        _ => return Err(missing()),
    }
    Ok(())
}

fn remove(object: &mut Value, path: &Pointer) -> Result<Value, String> {
    let (parent, name) = path.parent(object).ok_or_else(|| path.missing())?;
    match parent {
        Value::Object(map) => map.shift_remove(name).ok_or_else(|| path.missing()),
        Value::Array(items) => {
            let index = index(name, items.len()).filter(|index| *index < items.len());
            Ok(items.remove(index.ok_or_else(|| path.missing())?))
        }
        _ => Err(path.missing()),
    }
}

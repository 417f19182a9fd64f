//! Labels and annotations are text: what a file writes as a number or boolean becomes text, and none at all is no field.

use serde_json::Value;

use crate::marks::{Marks, Place};

/// How much the reference makes of what is no mapping of texts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Single values become text; null stays, since a merge may still drop or delete it.
    Values,
    /// All values become text; an empty mapping is taken out, and a single value in its place.
    Mapping,
    /// And so is whatever else is no mapping.
    Field,
}

/// Makes the annotations of an object what the reference makes of them when it prints.
pub(crate) fn normalise(object: &mut Value, marks: &Marks) {
    as_text(object, "annotations", marks, Care::Mapping);
}

/// Makes text of annotations that have a value.
pub(crate) fn write_out(object: &mut Value, marks: &Marks) {
    as_text(object, "annotations", marks, Care::Values);
}

/// Makes of annotations what the reference makes of them after JSON 6902.
///
/// # Errors
/// Where they are a list.
pub(crate) fn after_operations(object: &mut Value, marks: &Marks) -> Result<(), String> {
    if object.get("metadata").and_then(|it| it.get("annotations")).is_some_and(Value::is_array) {
        return Err("makes metadata.annotations a list".into());
    }
    as_text(object, "annotations", marks, Care::Field);
    Ok(())
}

/// Makes text of the labels and annotations of a patch with a target. There, null does not delete: it becomes text as well,
/// as it does in the reference.
pub(crate) fn normalise_patch(patch: &mut Value, marks: &Marks) {
    as_text(patch, "annotations", marks, Care::Field);
    as_text(patch, "labels", marks, Care::Field);
}

fn as_text(object: &mut Value, field: &str, marks: &Marks, care: Care) {
    let place = Place::ROOT.key("metadata").key(field);
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    match metadata.get_mut(field) {
        Some(Value::Object(pairs)) if !pairs.is_empty() => {
            let all = care != Care::Values;
            for (key, value) in pairs.iter_mut().filter(|(_, value)| all || !value.is_null()) {
                match value {
                    Value::Object(_) | Value::Array(_) if all => *value = Value::String(String::new()),
                    Value::Object(_) | Value::Array(_) => {}
                    Value::String(_) if marks.written.is_empty() => {}
                    single => *single = Value::String(marks.text(place.key(key), single)),
                }
            }
        }
        Some(Value::Object(_) | Value::Null) if care != Care::Values => {
            metadata.shift_remove(field);
        }
        Some(other) if care == Care::Field || (care == Care::Mapping && !other.is_array()) => {
            metadata.shift_remove(field);
        }
        _ => {}
    }
}

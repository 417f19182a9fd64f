//! Labels and annotations are text: what a file writes as a number or boolean becomes text, and none at all is no field.

use serde_json::Value;

/// Makes the annotations of an object what the reference makes of them. It does so when it reads and when it prints.
pub(crate) fn normalise(object: &mut Value) {
    as_text(object, "annotations");
}

/// The same for the labels and annotations of a patch with a target. There, null does not delete: it becomes text as well,
/// as it does in the reference.
pub(crate) fn normalise_patch(patch: &mut Value) {
    as_text(patch, "annotations");
    as_text(patch, "labels");
}

fn as_text(object: &mut Value, field: &str) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    match metadata.get_mut(field) {
        Some(Value::Object(pairs)) if !pairs.is_empty() => {
            for value in pairs.values_mut() {
                if !value.is_string() && !value.is_object() && !value.is_array() {
                    *value = Value::String(value.to_string());
                }
            }
        }
        Some(Value::Object(_) | Value::Null) => {
            metadata.shift_remove(field);
        }
        _ => {}
    }
}

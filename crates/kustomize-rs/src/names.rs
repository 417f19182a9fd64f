//! `namePrefix` and `nameSuffix`: names of objects, and whatever other fields hold such names.

use std::sync::Arc;

use serde_json::Value;

use crate::field_path::Field;
use crate::item::Item;

/// On which side of the name the text is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

const NAME: &str = "metadata/name";

/// Kinds whose names mean something by themselves. They are judged by the kind an object had at first.
fn keeps_its_name(group: &str, kind: &str) -> bool {
    matches!(kind, "CustomResourceDefinition" | "Namespace")
        || (group == "apiregistration.k8s.io" && kind == "APIService")
}

/// Puts `text` before or after the names in an object.
pub(crate) fn affix(item: &mut Item, text: &Arc<str>, side: Side, fields: &[Field]) -> Result<(), String> {
    let group = item.resource.group().to_owned();
    let version = item.resource.version().to_owned();
    let kind = item.original_kind().to_owned();
    if keeps_its_name(&group, &kind) {
        return Ok(());
    }
    for field in fields.iter().filter(|field| field.applies_to(&group, &version, &kind)) {
        if field.path == NAME && !text.is_empty() {
            match side {
                Side::Before => item.prefixes.push(text.clone()),
                Side::After => item.suffixes.push(text.clone()),
            }
            item.remember();
        }
        if !field.is_of(&item.resource) {
            continue;
        }
        let empty = Value::String(String::new());
        let changed = field.visit(item.resource.value_mut(), Some(&empty), &mut |found| {
            let old = scalar_text(found).ok_or("not a single value")?;
            *found = Value::String(match side {
                Side::Before => format!("{text}{old}"),
                Side::After => format!("{old}{text}"),
            });
            Ok(())
        });
        changed.map_err(|why| format!("{}: {why}", field.path.replace('/', ".")))?;
    }
    Ok(())
}

/// The text of a single value, as it is written.
pub(crate) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null => Some(String::new()),
        _ => None,
    }
}

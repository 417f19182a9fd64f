//! Embedded resources: whole objects inside an object, with apiVersion, kind and metadata of their own.

use std::sync::Arc;

use serde_json::Value;

use super::findings::{Findings, Violation};
use super::metadata;
use crate::model::{ObjectPath, Schema, Step};

/// Decodes the metadata of every embedded resource below `value`, and checks their apiVersion and kind.
pub(super) fn check(
    value: &mut Value,
    schema: &Schema,
    dropped: &mut Vec<ObjectPath>,
    findings: &mut Findings,
) {
    walk(value, schema, &mut Vec::new(), dropped, findings);
}

fn walk(
    value: &mut Value,
    schema: &Schema,
    path: &mut Vec<Step>,
    dropped: &mut Vec<ObjectPath>,
    findings: &mut Findings,
) {
    if !schema.facts().embedded {
        return;
    }
    if schema.embedded && value.is_object() {
        let here = ObjectPath(path.clone());
        metadata::coerce_at(&here, value, dropped, findings);
        identity(&here, value, findings);
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                let Some(schema) = schema.field(key) else { continue };
                path.push(Step::Field(Arc::from(key.as_str())));
                walk(inner, schema, path, dropped, findings);
                path.pop();
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return };
            for (index, item) in items.iter_mut().enumerate() {
                path.push(Step::Index(index));
                walk(item, schema, path, dropped, findings);
                path.pop();
            }
        }
        _ => {}
    }
}

fn identity(path: &ObjectPath, object: &Value, findings: &mut Findings) {
    for (field, is_right) in [("apiVersion", is_api_version as fn(&str) -> bool), ("kind", is_kind)] {
        let here = || path.child(Step::Field(field.into()));
        match object.get(field) {
            None => findings.violation(here(), Violation::Required),
            Some(Value::String(text)) if is_right(text) => {}
            Some(_) if field == "kind" => {
                findings.violation(
                    here(),
                    Violation::Resource("must be a kind: letters, digits and dashes, first a letter"),
                );
            }
            Some(_) => findings
                .violation(here(), Violation::Resource("must be an apiVersion: VERSION or GROUP/VERSION")),
        }
    }
}

fn is_api_version(text: &str) -> bool {
    !text.is_empty() && text.matches('/').count() <= 1
}

fn is_kind(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    matches!(bytes, [first, ..] if first.is_ascii_alphabetic())
        && bytes.len() <= 63
        && bytes.iter().all(inner)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
}

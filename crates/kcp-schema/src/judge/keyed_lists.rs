//! Lists of type set and map: no item twice.

use std::collections::HashSet;

use serde_json::Value;

use super::findings::{Findings, Violation};
use super::trail::{At, Trail};
use crate::model::{ListType, Node, Schema};
use crate::value::canonical;

/// Checks every list of type set or map below `value`.
pub(super) fn check<'a>(
    value: &'a Value,
    schema: &'a Schema,
    trail: &mut Trail<'a>,
    findings: &mut Findings,
) {
    if !schema.facts().keyed_lists {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let (at, inner_schema) = match schema.properties.get(key.as_str()) {
                    Some(field) => (At::Field(key), Some(field)),
                    None => (At::Key(key), schema.additional.schema()),
                };
                let Some(inner_schema) = inner_schema else { continue };
                trail.push(at);
                check(inner, inner_schema, trail, findings);
                trail.pop();
            }
        }
        Value::Array(items) => {
            uniqueness(items, schema, trail, findings);
            let Some(schema) = &schema.items else { return };
            for (index, item) in items.iter().enumerate() {
                trail.push(At::Index(index));
                check(item, schema, trail, findings);
                trail.pop();
            }
        }
        _ => {}
    }
}

fn uniqueness(items: &[Value], node: &Node, trail: &Trail<'_>, findings: &mut Findings) {
    let mut seen = HashSet::new();
    match node.list_type {
        ListType::Atomic => {}
        ListType::Set => {
            for (index, item) in items.iter().enumerate() {
                if !seen.insert(exact(item)) {
                    findings.violation(trail.path_of(At::Index(index)), Violation::Duplicate);
                }
            }
        }
        ListType::Map => {
            if let Some(index) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
                findings.violation(trail.path_of(At::Index(index)), Violation::ListMapItem);
                return;
            }
            for (index, item) in items.iter().enumerate() {
                let key: Vec<_> = node.list_map_keys.iter().map(|key| item.get(&**key).map(exact)).collect();
                if !seen.insert(format!("{key:?}")) {
                    findings.violation(trail.path_of(At::Index(index)), Violation::Duplicate);
                }
            }
        }
    }
}

/// Text that is the same for items a server takes as the same: `1` and `1.0` are two there.
fn exact(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        other => canonical(other),
    }
}

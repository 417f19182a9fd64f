//! From an object as it was read to the little that is kept of it.

use kcp_api::{ANNOTATION_COMMIT, ANNOTATION_WORKSPACE, ANNOTATIONS_OUTSIDE_CONTENT, FIELD_MANAGER};
use kcp_core::applyset::PART_OF_LABEL;
use kcp_core::health;
use kcp_core::object::{ContentHash, ObjectKey};
use kcp_core::world::ObservedObject;
use serde_json::Value;

fn metadata(object: &Value) -> Option<&Value> {
    object.get("metadata")
}

fn text<'a>(object: &'a Value, group: &str, key: &str) -> Option<&'a str> {
    metadata(object)?.get(group)?.get(key)?.as_str()
}

fn field(object: &Value, name: &str) -> String {
    metadata(object)
        .and_then(|metadata| metadata.get(name))
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// The id of the set whose member it is by its label.
pub(crate) fn part_of(object: &Value) -> Option<&str> {
    text(object, "labels", PART_OF_LABEL)
}

/// The value of our workspace annotation.
pub(crate) fn workspace(object: &Value) -> Option<&str> {
    text(object, "annotations", ANNOTATION_WORKSPACE)
}

pub(crate) fn uid(object: &Value) -> String {
    field(object, "uid")
}

pub(crate) fn resource_version(object: &Value) -> String {
    field(object, "resourceVersion")
}

pub(crate) fn is_terminating(object: &Value) -> bool {
    metadata(object)
        .and_then(|metadata| metadata.get("deletionTimestamp"))
        .is_some_and(|time| !time.is_null())
}

/// The key of an object of a known group and kind.
pub(crate) fn key(group: &str, kind: &str, object: &Value) -> ObjectKey {
    ObjectKey {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: field(object, "namespace"),
        name: field(object, "name"),
    }
}

/// The apiVersion in which we last applied it: only read in that version do its managedFields fit its fields.
pub(crate) fn applied_version(object: &Value) -> Option<&str> {
    let entries = metadata(object)?.get("managedFields")?.as_array()?;
    let text =
        |entry: &Value, field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let ours = entries.iter().find(|entry| {
        text(entry, "manager") == FIELD_MANAGER
            && text(entry, "operation") == "Apply"
            && text(entry, "subresource").is_empty()
    })?;
    ours.get("apiVersion")?.as_str()
}

/// Whether we applied it.
pub(crate) fn is_managed(object: &Value) -> bool {
    applied_version(object).is_some()
}

/// All field managers, once each.
pub(crate) fn managers(object: &Value) -> Vec<String> {
    let entries =
        metadata(object).and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    let mut managers: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.get("manager")?.as_str())
        .map(str::to_owned)
        .collect();
    managers.sort();
    managers.dedup();
    managers
}

/// What is kept of a whole object.
pub(crate) fn reduce(object: &Value) -> ObservedObject {
    let own = kcp_merge::own_fields(object, FIELD_MANAGER, &ANNOTATIONS_OUTSIDE_CONTENT);
    // Unreadable ownership is no ownership: such an object is neither as it should be nor ours to delete.
    let own = own.ok().flatten();
    let owners =
        metadata(object).and_then(|metadata| metadata.get("ownerReferences")).and_then(Value::as_array);
    ObservedObject {
        uid: uid(object),
        resource_version: resource_version(object),
        managed: own.is_some(),
        own: ContentHash::of_value(own.as_ref().unwrap_or(&Value::Null)),
        applied: None,
        workspace: workspace(object).map(str::to_owned),
        controlled: owners
            .into_iter()
            .flatten()
            .any(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true)),
        terminating: is_terminating(object),
        commit: text(object, "annotations", ANNOTATION_COMMIT).map(str::to_owned),
        health: health::of(object),
    }
}

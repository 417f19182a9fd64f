//! The ApplySet of one workspace on one cluster (KEP-3659): its name, its id, and its parent object as JSON.
//!
//! kubectl recognises the parent and leaves it to us by its tooling annotation. What is read here was written by
//! anybody who can write Secrets in that namespace: every field may be hostile, and a wrong one is an error.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use kcp_api::GROUP;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::object::{ContentHash, GroupKind};
use crate::world::{Decision, ParentFacts};

/// Namespace of all parents.
pub const PARENT_NAMESPACE: &str = "kcp-system";
/// Label on a parent: the id of its set.
pub const ID_LABEL: &str = "applyset.kubernetes.io/id";
/// Label on each member: the id of its set.
pub const PART_OF_LABEL: &str = "applyset.kubernetes.io/part-of";
/// Annotation on a parent: which tool it belongs to.
pub const TOOLING_ANNOTATION: &str = "applyset.kubernetes.io/tooling";
/// Annotation on a parent: kinds of its members.
pub const GROUP_KINDS_ANNOTATION: &str = "applyset.kubernetes.io/contains-group-kinds";
/// Annotation on a parent: namespaces of its members besides its own.
pub const NAMESPACES_ANNOTATION: &str = "applyset.kubernetes.io/additional-namespaces";
/// Who we are to kubectl: name, slash, version of the form of our parents.
pub const TOOLING: &str = "kcp/v1.0.0";
/// The parents that this version can read.
const READABLE: &str = "kcp/v1.";

/// Bytes of the record of applied content; a Secret holds at most 1 MiB, in base64.
const MAX_RECORD: usize = 600 << 10;
/// Bytes of one annotation that is read.
const MAX_ANNOTATION: usize = 256 << 10;
/// Kinds or namespaces of one set.
const MAX_LIST: usize = 5_000;

/// Label on a parent: the id of its fleet.
#[must_use]
pub fn fleet_label() -> String {
    format!("{GROUP}/fleet")
}

fn own(name: &str) -> String {
    format!("{GROUP}/{name}")
}

/// Name of the parent of a workspace. Readable where no other pair of fleet and workspace could have the same name,
/// else a hash of both.
#[must_use]
pub fn parent_name(fleet_id: &str, workspace: &str) -> String {
    let plain = |text: &str, more: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(c))
    };
    let name = format!("kcp-{fleet_id}-{workspace}");
    // A fleet id with a dash could be read in two ways: `a-b` and `c`, or `a` and `b-c`.
    if name.len() <= 253 && plain(fleet_id, "") && plain(workspace, "-") && !workspace.ends_with('-') {
        return name;
    }
    let digest = Sha256::digest(json!([fleet_id, workspace]).to_string());
    format!("kcp-{}", ContentHash::of_bytes(&digest))
}

/// The id of the set of a workspace: the value of the labels on parent and members.
#[must_use]
pub fn set_id(fleet_id: &str, workspace: &str) -> String {
    id(&parent_name(fleet_id, workspace), PARENT_NAMESPACE, &GroupKind::new("", "Secret"))
}

/// The id of the set whose parent has this name, namespace and kind, as KEP-3659 computes it.
#[must_use]
pub fn id(name: &str, namespace: &str, kind: &GroupKind) -> String {
    let digest = Sha256::digest(format!("{name}.{namespace}.{}.{}", kind.kind, kind.group));
    format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(digest))
}

/// The parent as we apply it. The same facts give the same bytes.
///
/// `applied` is content by object, keyed by the text of [`ObjectKey`](crate::object::ObjectKey); of a record that is
/// too large for a Secret, the end is left out, which later costs a read but never a wrong answer.
#[must_use]
pub fn parent_body(
    fleet_id: &str,
    workspace: &str,
    decision: Option<&Decision>,
    group_kinds: &BTreeSet<GroupKind>,
    namespaces: &BTreeSet<String>,
    applied: &BTreeMap<String, ContentHash>,
) -> Value {
    let kinds: BTreeSet<String> = group_kinds.iter().map(ToString::to_string).collect();
    let others: Vec<&str> =
        namespaces.iter().map(String::as_str).filter(|it| *it != PARENT_NAMESPACE).collect();
    let mut annotations = Map::new();
    annotations.insert(TOOLING_ANNOTATION.to_owned(), json!(TOOLING));
    annotations.insert(GROUP_KINDS_ANNOTATION.to_owned(), json!(Vec::from_iter(kinds).join(",")));
    annotations.insert(NAMESPACES_ANNOTATION.to_owned(), json!(others.join(",")));
    annotations.insert(own("workspace"), json!(workspace));
    if namespaces.contains(PARENT_NAMESPACE) {
        // The convention never lists the parent's own namespace; we want to know whether members are in it.
        annotations.insert(own("members-beside-parent"), json!("true"));
    }
    if let Some(decision) = decision {
        let text = serde_json::to_string(decision).unwrap_or_default();
        annotations.insert(own("decision"), Value::String(text));
    }
    let mut labels = Map::new();
    labels.insert(ID_LABEL.to_owned(), json!(set_id(fleet_id, workspace)));
    labels.insert(fleet_label(), json!(fleet_id));
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": parent_name(fleet_id, workspace),
            "namespace": PARENT_NAMESPACE,
            "labels": labels,
            "annotations": annotations,
        },
        "type": format!("{GROUP}/applyset"),
        "data": {"applied": STANDARD.encode(record(applied))},
    })
}

/// A JSON map of as many entries as fit.
fn record(applied: &BTreeMap<String, ContentHash>) -> String {
    let mut size = 2;
    let fits = applied.iter().take_while(|(key, _)| {
        // Quotes, colon, comma, 32 digits; a key has nothing to escape unless it is hostile.
        size +=
            key.len() + 38 + key.chars().filter(|c| *c == '"' || *c == '\\' || c.is_control()).count() * 6;
        size <= MAX_RECORD
    });
    let entries: Map<String, Value> =
        fits.map(|(key, hash)| (key.clone(), json!(hash.to_string()))).collect();
    Value::Object(entries).to_string()
}

/// Reads a parent: the name of its workspace and what it says.
///
/// # Errors
/// In words, what is wrong with it: not ours, a field missing, a value that we would not write. Such a parent is left
/// alone and nothing of its set is deleted.
pub fn parse_parent(parent: &Value) -> Result<(String, ParentFacts), String> {
    let metadata = parent.get("metadata").ok_or("it has no metadata")?;
    let text = |group: &str, key: &str| -> Option<&str> { metadata.get(group)?.get(key)?.as_str() };
    let annotation = |key: &str| match text("annotations", key) {
        Some(value) if value.len() > MAX_ANNOTATION => Err(format!("its annotation `{key}` is too long")),
        value => Ok(value),
    };
    let required = |key: &str| annotation(key)?.ok_or_else(|| format!("it has no annotation `{key}`"));

    let tooling = required(TOOLING_ANNOTATION)?;
    if !tooling.starts_with(READABLE) {
        let ours =
            tooling.rsplit_once('/').is_some_and(|(tool, _)| READABLE.starts_with(&format!("{tool}/")));
        let whose = if ours { "another version of us, which this one cannot read" } else { "another tool" };
        return Err(format!("it belongs to {whose}: {}", brief(tooling)));
    }
    let workspace = required(&own("workspace"))?.to_owned();
    let fleet =
        text("labels", &fleet_label()).ok_or_else(|| format!("it has no label `{}`", fleet_label()))?;
    let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default();
    if name != parent_name(fleet, &workspace) || text("labels", ID_LABEL) != Some(&set_id(fleet, &workspace))
    {
        return Err("its name or id is not that of its fleet and workspace".to_owned());
    }
    let mut facts = ParentFacts {
        uid: metadata.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned(),
        resource_version: metadata
            .get("resourceVersion")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        group_kinds: list(required(GROUP_KINDS_ANNOTATION)?, group_kind)?,
        namespaces: list(annotation(NAMESPACES_ANNOTATION)?.unwrap_or_default(), namespace)?,
        decision: None,
        applied: BTreeMap::new(),
    };
    if annotation(&own("members-beside-parent"))? == Some("true") {
        facts.namespaces.insert(PARENT_NAMESPACE.to_owned());
    }
    if let Some(decision) = annotation(&own("decision"))? {
        let read = serde_json::from_str(decision)
            .map_err(|error| format!("its decision cannot be read: {error}"))?;
        facts.decision = Some(read);
    }
    if let Some(record) = parent.pointer("/data/applied") {
        facts.applied = read_record(record)?;
    }
    Ok((workspace, facts))
}

fn read_record(record: &Value) -> Result<BTreeMap<String, ContentHash>, String> {
    let wrong = |what: &str| format!("its record of applied content {what}");
    let text = record.as_str().ok_or_else(|| wrong("is not a text"))?;
    let bytes = STANDARD.decode(text).map_err(|_| wrong("is not base64"))?;
    serde_json::from_slice(&bytes).map_err(|_| wrong("is not a map of content hashes"))
}

/// A comma-separated list without doubles.
fn list<T: Ord>(text: &str, item: fn(&str) -> Result<T, String>) -> Result<BTreeSet<T>, String> {
    let items: BTreeSet<T> =
        text.split(',').filter(|it| !it.is_empty()).take(MAX_LIST + 1).map(item).collect::<Result<_, _>>()?;
    if items.len() > MAX_LIST {
        return Err(format!("it lists more than {MAX_LIST} kinds or namespaces"));
    }
    Ok(items)
}

fn group_kind(text: &str) -> Result<GroupKind, String> {
    let (kind, group) = text.split_once('.').unwrap_or((text, ""));
    let word = |text: &str, more: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    if kind.is_empty() || !word(kind, "") || !word(group, ".-") || text.len() > 320 || text.ends_with('.') {
        return Err(format!("{} is not a kind and group", brief(text)));
    }
    Ok(GroupKind::new(group, kind))
}

fn namespace(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.len() > 63 || !text.chars().all(allowed) {
        return Err(format!("{} is not a namespace", brief(text)));
    }
    Ok(text.to_owned())
}

/// A few words of what somebody wrote, quoted.
fn brief(text: &str) -> String {
    format!("{:?}", text.chars().take(40).collect::<String>())
}

#[cfg(test)]
mod tests;

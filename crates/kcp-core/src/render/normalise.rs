//! One rendered object in the form that we mean to own: nothing that a server writes, nothing that it would refuse.
//!
//! Messages never hold values of the object beyond names: it may be a Secret.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kcp_api::GROUP;
use serde_json::{Map, Value};
use yaml_span::{Diagnostic, did_you_mean};

use super::{RenderedObject, whole_file};
use crate::object::{GroupKind, Origin};

/// Bytes of one object as JSON: what every API server's store takes.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Written by servers, never by us.
const SERVER_FIELDS: [&str; 7] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];

/// Checks and cleans one object.
///
/// # Errors
/// All that is wrong with it, at its origin.
pub(super) fn normalise(mut body: Value, origin: Origin) -> Result<RenderedObject, Vec<Diagnostic>> {
    let mut found = Vec::new();
    drop_nulls(&mut body);
    let identity = identity(&body, &origin, &mut found);
    if let Value::Object(object) = &mut body {
        object.remove("status");
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            SERVER_FIELDS.iter().for_each(|field| drop(metadata.remove(*field)));
            if metadata.get("namespace").is_some_and(|it| it.as_str() == Some("")) {
                metadata.remove("namespace");
            }
            marks(metadata, &origin, &mut found);
        }
    }
    if identity.as_ref().is_some_and(|it| it.group.is_empty() && it.kind == "Secret") {
        encode_secret(&mut body, &origin, &mut found);
    }
    let size = serde_json::to_vec(&body).map_or(0, |text| text.len());
    if size > MAX_BYTES {
        found.push(
            at(
                &origin,
                format!("the object has {size} bytes, and clusters store at most {MAX_BYTES} (etcd's limit)"),
            )
            .with_help("split it, or keep the bulk of the data elsewhere"),
        );
    }
    match identity {
        Some(identity) if found.is_empty() => Ok(RenderedObject {
            group: identity.group,
            version: identity.version,
            kind: identity.kind,
            namespace: text(&body, "namespace"),
            name: identity.name,
            body: Arc::new(body),
            origin,
        }),
        _ => Err(found),
    }
}

struct Identity {
    group: String,
    version: String,
    kind: String,
    name: String,
}

/// apiVersion, kind and name; a finding for each that is missing or not allowed.
fn identity(body: &Value, origin: &Origin, found: &mut Vec<Diagnostic>) -> Option<Identity> {
    let before = found.len();
    let field = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (field("apiVersion"), field("kind"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    if version.is_empty() || version.contains('/') {
        found.push(at(origin, "apiVersion is missing or not of the form `group/version`"));
    }
    if kind.is_empty() {
        found.push(at(origin, "kind is missing"));
    }
    if group == GROUP {
        let message = format!("a {kind} of {GROUP} steers the fleet and must not come out of a workspace");
        found
            .push(at(origin, message).with_help("move it to the fleet's own folders, such as `placements/`"));
    }
    let generated = body.get("metadata").is_some_and(|it| it.get("generateName").is_some());
    if generated {
        let help =
            "give it a fixed name; a hash suffix, as kustomize makes for ConfigMaps, does for one-shot Jobs";
        found.push(at(origin, "generateName makes a new object at each apply").with_help(help));
    }
    let name = text(body, "name").unwrap_or_default();
    if name.is_empty() && !generated {
        found.push(at(origin, format!("the {kind} has no metadata.name")));
    }
    // Both become part of a URL.
    for (field, value) in [("name", &name), ("namespace", &text(body, "namespace").unwrap_or_default())] {
        let odd = |c: char| matches!(c, '/' | '%' | '?' | '#' | '\\') || c.is_whitespace() || c.is_control();
        if matches!(value.as_str(), "." | "..") || value.len() > 253 || value.contains(odd) {
            let message =
                format!("metadata.{field} is too long, or holds a character that no {field} may have");
            found.push(at(origin, message));
        }
    }
    let (group, version) = (group.to_owned(), version.to_owned());
    (found.len() == before).then_some(Identity { group, version, kind, name })
}

/// Labels and annotations: strings only, and nothing that is ours to write.
fn marks(metadata: &Map<String, Value>, origin: &Origin, found: &mut Vec<Diagnostic>) {
    for (field, singular) in [("labels", "label"), ("annotations", "annotation")] {
        let entries = match metadata.get(field) {
            None => continue,
            Some(Value::Object(entries)) => entries,
            Some(_) => {
                found.push(at(origin, format!("metadata.{field} must be a mapping")));
                continue;
            }
        };
        for (key, value) in entries {
            if !value.is_string() {
                let message = format!("the {singular} `{key}` is not a string");
                found.push(at(origin, message).with_help("put quotes around its value"));
            }
            if key.starts_with("applyset.kubernetes.io/") {
                let message =
                    format!("the {singular} `{key}` says who owns the object and is written by us alone");
                found.push(at(origin, message).with_help("remove it"));
            }
            if let Some(name) = key.strip_prefix(GROUP).and_then(|rest| rest.strip_prefix('/')) {
                found.extend(
                    own_mark(name, value, singular)
                        .map(|(message, help)| at(origin, message).with_help(help)),
                );
            }
        }
    }
}

/// What is wrong with a mark in our own group, and what to do.
fn own_mark(name: &str, value: &Value, singular: &str) -> Option<(String, String)> {
    const WRITTEN: [&str; 4] = ["workspace", "placement", "commit", "source"];
    const LATER: [&str; 4] = ["prune", "optional", "singleton", "replace"];
    const FLAGS: [&str; 2] = ["ignore", "create-only"];
    if singular == "label" {
        return Some((format!("there is no label `{GROUP}/{name}`"), "write it as an annotation".to_owned()));
    }
    if WRITTEN.contains(&name) {
        return Some((
            format!("the annotation `{GROUP}/{name}` is written by us alone"),
            "remove it".to_owned(),
        ));
    }
    if LATER.contains(&name) {
        return Some((
            format!("the annotation `{GROUP}/{name}` is not supported yet"),
            "leave it out".to_owned(),
        ));
    }
    if !FLAGS.contains(&name) {
        let known = [&FLAGS[..], &LATER[..]].concat();
        let help = match did_you_mean(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{GROUP}/{near}`?"),
            None => format!("known are {}", FLAGS.map(|it| format!("`{GROUP}/{it}`")).join(" and ")),
        };
        return Some((format!("there is no annotation `{GROUP}/{name}`"), help));
    }
    (!matches!(value.as_str(), Some("true" | "false") | None)).then(|| {
        (format!("the annotation `{GROUP}/{name}` is neither \"true\" nor \"false\""), "say which".to_owned())
    })
}

/// `stringData` into `data`, as the server would do, so that what is compared is what is stored.
fn encode_secret(body: &mut Value, origin: &Origin, found: &mut Vec<Diagnostic>) {
    let Value::Object(object) = body else { return };
    let Some(plain) = object.remove("stringData") else { return };
    let Value::Object(plain) = plain else {
        found.push(at(origin, "stringData must be a mapping"));
        return;
    };
    let data = object.entry("data").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(data) = data else {
        found.push(at(origin, "data must be a mapping"));
        return;
    };
    for (key, value) in plain {
        match value {
            Value::String(text) => drop(data.insert(key, Value::String(STANDARD.encode(text)))),
            _ => found.push(
                at(origin, format!("stringData `{key}` is not a string")).with_help("put quotes around it"),
            ),
        }
    }
}

/// A null says the same as an absent field, except to server-side apply.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|_, entry| !entry.is_null());
            entries.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The kind that a CustomResourceDefinition defines, and whether it is namespaced.
pub(super) fn defined_kind(object: &RenderedObject) -> Option<(GroupKind, bool)> {
    if object.group != "apiextensions.k8s.io" || object.kind != "CustomResourceDefinition" {
        return None;
    }
    let spec = object.body.get("spec")?;
    let group = spec.get("group")?.as_str()?;
    let kind = spec.get("names")?.get("kind")?.as_str()?;
    let namespaced = match spec.get("scope")?.as_str()? {
        "Namespaced" => true,
        "Cluster" => false,
        _ => return None,
    };
    Some((GroupKind::new(group, kind), namespaced))
}

/// A text field of the metadata, if it is there and not empty.
fn text(body: &Value, field: &str) -> Option<String> {
    let text = body.get("metadata")?.get(field)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// A finding about one object.
fn at(origin: &Origin, message: impl Into<String>) -> Diagnostic {
    Diagnostic { line: origin.line.max(1) as usize, ..whole_file(&origin.file, message) }
}

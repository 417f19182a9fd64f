//! The metadata of an object: decoded into a fixed type by every server, which drops unknown fields and refuses wrong types.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::defaults::drop_every_null;
use super::findings::{Findings, Violation};
use super::prune::prune;
use super::validate::Validation;
use crate::judge::trail::Trail;
use crate::model::{ObjectPath, Pool, Schema, Step};
use crate::parse::Options;

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let text = json!({"type": "string"});
        let texts = json!({"type": "object", "additionalProperties": text});
        let flag = json!({"type": "boolean"});
        let anything = json!({"x-kubernetes-preserve-unknown-fields": true});
        let owner = json!({"type": "object", "properties": {
            "apiVersion": text, "kind": text, "name": text, "uid": text, "controller": flag, "blockOwnerDeletion": flag}});
        let entry = json!({"type": "object", "properties": {
            "manager": text, "operation": text, "apiVersion": text, "time": text, "fieldsType": text,
            "fieldsV1": anything, "subresource": text}});
        let metadata = json!({"type": "object", "properties": {
            "name": text, "generateName": text, "namespace": text, "selfLink": text, "uid": text, "resourceVersion": text,
            "generation": {"type": "integer"}, "creationTimestamp": text, "deletionTimestamp": text,
            "deletionGracePeriodSeconds": {"type": "integer"}, "labels": texts, "annotations": texts,
            "ownerReferences": {"type": "array", "items": owner}, "finalizers": {"type": "array", "items": text},
            "managedFields": {"type": "array", "items": entry}}});
        Schema::parse(&metadata, &Options::default(), &mut Pool::new()).expect("the schema above is structural")
    })
}

/// Decodes the metadata of a whole object.
pub(super) fn coerce(object: &mut Value, dropped: &mut Vec<ObjectPath>, findings: &mut Findings) {
    coerce_at(&ObjectPath::default(), object, dropped, findings);
}

/// Decodes the metadata of the object at `path`.
pub(super) fn coerce_at(
    path: &ObjectPath,
    object: &mut Value,
    dropped: &mut Vec<ObjectPath>,
    findings: &mut Findings,
) {
    let here = path.child(Step::Field("metadata".into()));
    let Some(metadata) = object.get_mut("metadata").filter(|metadata| !metadata.is_null()) else { return };
    drop_every_null(metadata);
    let lost = prune(metadata, schema(), false);
    dropped.extend(lost.into_iter().map(|inner| join(&here, inner)));
    let mut inner = Findings::quiet();
    Validation::plain().value(metadata, schema(), &mut Trail::default(), &mut inner);
    for finding in inner.violations {
        findings.violation(join(&here, finding.path), Violation::Metadata);
    }
}

fn join(start: &ObjectPath, end: ObjectPath) -> ObjectPath {
    ObjectPath(start.0.iter().cloned().chain(end.0).collect())
}

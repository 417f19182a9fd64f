//! What an object uses of a schema, who takes it, and what keeps it out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use crate::judge::{Judge, Verdict};
use crate::model::{Node, ObjectPath, SchemaPath, SchemaStep, Step};

/// The paths of `schema` that `object` uses, mappings and lists included; a field that the schema does not name is used
/// as a property. Nulls use nothing. apiVersion, kind and metadata are left out where `resource` says that the object is a
/// whole one.
#[must_use]
pub fn fields_used(object: &Value, schema: &Node, resource: bool) -> BTreeSet<SchemaPath> {
    let mut used = BTreeSet::new();
    walk(object, Some(schema), resource, &SchemaPath::default(), &mut used);
    used
}

fn walk(
    value: &Value,
    node: Option<&Node>,
    resource: bool,
    path: &SchemaPath,
    used: &mut BTreeSet<SchemaPath>,
) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter().filter(|(_, inner)| !inner.is_null()) {
                if resource && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                    continue;
                }
                let property = node.and_then(|node| node.properties.get(key.as_str()));
                let values = node.filter(|_| property.is_none()).map(|node| &node.additional);
                let step = match values {
                    Some(additional) if !additional.is_none() => SchemaStep::Values,
                    _ => SchemaStep::Property(key.as_str().into()),
                };
                let schema = property.or_else(|| values.and_then(|additional| additional.schema()));
                let path = path.child(step);
                walk(
                    inner,
                    schema.map(|schema| &**schema),
                    schema.is_some_and(|schema| schema.embedded),
                    &path,
                    used,
                );
                used.insert(path);
            }
        }
        Value::Array(items) => {
            let schema = node.and_then(|node| node.items.as_ref());
            let path = path.child(SchemaStep::Items);
            for item in items {
                walk(
                    item,
                    schema.map(|schema| &**schema),
                    schema.is_some_and(|schema| schema.embedded),
                    &path,
                    used,
                );
            }
            if !items.is_empty() {
                used.insert(path);
            }
        }
        _ => {}
    }
}

/// What each cluster would do with `object`. Clusters that share a judge share the work.
#[must_use]
pub fn accepted_by<'n, 'j>(
    object: &Value,
    clusters: impl IntoIterator<Item = (&'n str, &'j Judge)>,
) -> BTreeMap<&'n str, Verdict> {
    let mut known: HashMap<usize, Verdict> = HashMap::new();
    let judged = clusters.into_iter().map(|(name, judge)| {
        let key = std::ptr::from_ref(judge).addr();
        (name, known.entry(key).or_insert_with(|| judge.accepts_and_keeps(object)).clone())
    });
    judged.collect()
}

/// Why a cluster does not take an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shut {
    /// The fields of the object that are in the way; each of them is needed for the "no" to go away. Sorted.
    pub fields: Vec<ObjectPath>,
    /// Without them the object is accepted and kept. Else something is missing from it, or in doubt.
    pub enough: bool,
}

/// The smallest set of fields that keeps `object` out: without all of them it is accepted, with any one of them it is not.
/// `None` if it is accepted.
#[must_use]
pub fn shut_out_by(object: &Value, judge: &Judge) -> Option<Shut> {
    /// Rounds of taking out what is wrong: one shows the next.
    const ROUNDS: usize = 8;
    /// Beyond this many, what was found is not made smaller.
    const FEW: usize = 32;
    let is_no = |object: &Value| matches!(judge.accepts_and_keeps(object), Verdict::No { .. });
    if !is_no(object) {
        return None;
    }
    let mut rest = object.clone();
    let mut fields: BTreeSet<ObjectPath> = BTreeSet::new();
    for _ in 0..ROUNDS {
        let outcome = judge.create(&rest);
        let wrong = outcome.violations.into_iter().map(|finding| finding.path);
        // From the end, so that the indices of list items stay right.
        let wrong: BTreeSet<ObjectPath> = wrong.chain(outcome.dropped).collect();
        let taken: Vec<ObjectPath> = wrong.into_iter().rev().filter(|path| take(&mut rest, path)).collect();
        if taken.is_empty() {
            break;
        }
        fields.extend(taken);
    }
    let enough = !is_no(&rest);
    let mut fields: Vec<ObjectPath> = fields.into_iter().collect();
    if enough && fields.len() <= FEW {
        let mut index = 0;
        while index < fields.len() {
            let mut trial = object.clone();
            let others = fields.iter().enumerate().rev().filter(|(other, _)| *other != index);
            others.for_each(|(_, path)| {
                take(&mut trial, path);
            });
            if is_no(&trial) { index += 1 } else { drop(fields.remove(index)) }
        }
    }
    Some(Shut { fields, enough })
}

/// Takes out the value at `path`, if there is one below the root. Later items of a list move up: take from the end.
fn take(object: &mut Value, path: &ObjectPath) -> bool {
    let Some((last, parents)) = path.0.split_last() else { return false };
    let parent = parents.iter().try_fold(object, |value, step| match step {
        Step::Field(name) | Step::Key(name) => value.get_mut(&**name),
        Step::Index(index) => value.get_mut(*index),
    });
    match (parent, last) {
        (Some(Value::Object(map)), Step::Field(name) | Step::Key(name)) => {
            map.shift_remove(&**name).is_some()
        }
        (Some(Value::Array(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}

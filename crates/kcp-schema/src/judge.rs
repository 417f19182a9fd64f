//! What an API server does with an object on CREATE, step by step: prune, drop nulls, default, validate. And the one
//! question behind it: is this object accepted, and is all of it kept?
//!
//! Known differences from a real server, all on the side of "yes" or of "unknown", never of a wrong "no":
//! - The checks that are the same on every server are not made: names, labels and annotations of metadata at the root.
//! - Built-in types are checked by code there: only fields, types and enums are known here.
//! - The formats email, uri, creditcard and isbn answer "unknown" for text that is not obviously wrong.
//! - An update is judged like a creation, plus transition rules; a server may forgive errors in what did not change.
//! - For CEL see [`cel`].

mod cel;
mod defaults;
mod embedded;
mod findings;
mod formats;
mod keyed_lists;
mod metadata;
mod numbers;
mod prune;
mod trail;
mod validate;

pub use defaults::{defaulted, dropped_nulls};
pub use findings::{Doubt, Finding, Violation};
pub use formats::Release;
pub use prune::prune;

use std::collections::HashMap;
use std::sync::Arc;

use regex_automata::meta::Regex;
use serde_json::Value;

use crate::model::{Conversion, Crd, ObjectPath, Scale, Schema, Step};
use crate::pattern::Pattern;

use self::findings::Findings;
use self::trail::Trail;

/// The circumstances of a judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The version of the API server.
    pub release: Release,
    /// Nothing is pruned: a v1beta1 CRD that preserves unknown fields.
    pub preserve: bool,
    /// The schema is that of a whole object, with apiVersion, kind and metadata. Else it is of any value.
    pub resource: bool,
    /// A built-in type: every null counts as absent.
    pub built_in: bool,
    /// Status is a subresource: a plain write ignores it.
    pub status_subresource: bool,
    /// The paths of the scale subresource are checked.
    pub scale: Option<Scale>,
    /// The schema of the version that objects are stored in, if it is another one and no webhook converts: what it does
    /// not describe is lost on the way.
    pub storage: Option<Schema>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            release: Release::default(),
            preserve: false,
            resource: true,
            built_in: false,
            status_subresource: false,
            scale: None,
            storage: None,
        }
    }
}

/// A schema made ready to judge objects: patterns and rules are compiled once. Shareable between threads.
#[derive(Debug)]
pub struct Judge {
    schema: Schema,
    rules: Rules,
    patterns: HashMap<Arc<str>, Option<Regex>>,
    programs: cel::Programs,
}

/// What a server would do with one object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The object as it would be stored: pruned and defaulted. Null if it is nested too deep to judge.
    pub object: Value,
    /// What pruning would drop, in the order of the object; nulls are not counted.
    pub dropped: Vec<ObjectPath>,
    /// Why it would be refused. At most 100 are listed.
    pub violations: Vec<Finding>,
    /// What could not be decided.
    pub doubts: Vec<Doubt>,
}

/// Is the object accepted and kept?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted, and every field is kept.
    Yes,
    /// Refused, or a field is dropped: the first place, and why.
    No {
        /// The place in the object.
        path: ObjectPath,
        /// The reason.
        why: Why,
    },
    /// Nothing is known to be wrong, but something could not be decided.
    Unknown(Doubt),
}

/// Why an object is not accepted and kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The field is not in the schema: it would be dropped without a word.
    #[error("the field is not known there and would be dropped")]
    Dropped,
    /// The server would refuse the object.
    #[error("{0}")]
    Refused(Violation),
}

/// Nesting of values; text formats allow more, but no API does.
const MAX_DEPTH: usize = 200;

impl Judge {
    /// Makes `schema` ready.
    #[must_use]
    pub fn new(schema: &Schema, rules: Rules) -> Self {
        let mut patterns = HashMap::new();
        let mut programs = cel::Programs::default();
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            if !seen.insert(schema.address()) {
                continue;
            }
            if let Some(text) = &schema.pattern {
                patterns.entry(text.clone()).or_insert_with(|| Pattern::parse(text).ok()?.compile().ok());
            }
            schema.cel.iter().for_each(|rule| programs.add(rule));
            open.extend(schema.children());
        }
        Self { schema: schema.clone(), rules, patterns, programs }
    }

    /// Makes one version of a CRD ready, with all that the CRD says about it. `None` if there is no such version, or it has
    /// no schema: nothing is checked then.
    #[must_use]
    pub fn of_crd(crd: &Crd, version: &str, release: Release) -> Option<Self> {
        let version = crd.version(version)?;
        let schema = version.schema.as_ref()?;
        let stored = crd.storage_version().and_then(|stored| stored.schema.as_ref());
        let is_lossy = crd.conversion == Conversion::None && !crd.preserve_unknown_fields;
        let rules = Rules {
            release,
            preserve: crd.preserve_unknown_fields,
            status_subresource: version.status_subresource,
            scale: version.scale.clone(),
            storage: stored.filter(|stored| is_lossy && *stored != schema).cloned(),
            ..Rules::default()
        };
        Some(Self::new(schema, rules))
    }

    /// The schema.
    #[must_use]
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What a server would do with `object` on CREATE.
    #[must_use]
    pub fn create(&self, object: &Value) -> Outcome {
        self.judge(object, None)
    }

    /// What a server would do with `object` on UPDATE of `old`, without forgiving what was wrong before.
    #[must_use]
    pub fn update(&self, object: &Value, old: &Value) -> Outcome {
        self.judge(object, Some(old))
    }

    /// Whether a server would accept the object on CREATE and keep all of it.
    #[must_use]
    pub fn accepts_and_keeps(&self, object: &Value) -> Verdict {
        self.create(object).verdict()
    }

    /// Every rule, and why it is not run if it is not.
    #[cfg(test)]
    pub(crate) fn compiled_rules(&self) -> impl Iterator<Item = (&str, Option<&'static str>)> {
        self.programs.compiled()
    }

    fn judge(&self, object: &Value, old: Option<&Value>) -> Outcome {
        if depth_of(object) > MAX_DEPTH || old.is_some_and(|old| depth_of(old) > MAX_DEPTH) {
            let doubt = Doubt::new(
                ObjectPath::default(),
                format!("values nested deeper than {MAX_DEPTH} are not judged"),
            );
            // Copying it could use up the stack.
            return Outcome { doubts: vec![doubt], ..Outcome::default() };
        }
        let mut object = object.clone();
        let mut dropped = Vec::new();
        let mut findings = Findings::default();
        if self.rules.built_in {
            defaults::drop_every_null(&mut object);
        } else if !self.rules.preserve {
            dropped = prune(&mut object, &self.schema, self.rules.resource);
            defaults::drop_nulls(&mut object, &self.schema);
        }
        if self.rules.built_in {
            dropped = prune(&mut object, &self.schema, self.rules.resource);
        }
        if self.rules.resource {
            metadata::coerce(&mut object, &mut dropped, &mut findings);
        }
        if self.schema.facts().embedded {
            embedded::check(&mut object, &self.schema, &mut dropped, &mut findings);
        }
        defaults::apply(&mut object, &self.schema);
        if self.rules.resource && self.rules.status_subresource {
            if let Some(map) = object.as_object_mut() {
                map.shift_remove("status");
            }
            dropped.retain(|path| !matches!(path.0.first(), Some(Step::Field(name)) if **name == *"status"));
        }
        let mut validation = validate::Validation::new(&self.patterns, self.rules.release);
        validation.value(&object, &self.schema, &mut Trail::default(), &mut findings);
        if self.schema.facts().keyed_lists {
            keyed_lists::check(&object, &self.schema, &mut Trail::default(), &mut findings);
        }
        if let Some(scale) = &self.rules.scale {
            numbers::check_scale(&object, scale, &mut findings);
        }
        // Like the server: rules run over objects that are otherwise right.
        if self.schema.facts().cel && findings.violations.is_empty() {
            let mut run = cel::Run::new(&self.programs, self.rules.resource);
            run.value(&object, old, &self.schema, &mut Trail::default(), &mut findings);
        }
        if self.rules.status_subresource {
            // What the server sends back has been read from its storage: defaulted once more, after status was taken out.
            defaults::apply(&mut object, &self.schema);
        }
        if let Some(storage) = &self.rules.storage {
            self.store(&mut object, storage, &mut dropped);
        }
        Outcome { object, dropped, violations: findings.violations, doubts: findings.doubts }
    }

    /// The way to the storage and back, through the schemas of both versions.
    fn store(&self, object: &mut Value, storage: &Schema, dropped: &mut Vec<ObjectPath>) {
        for schema in [storage, &self.schema] {
            dropped.extend(prune(object, schema, self.rules.resource));
            defaults::drop_nulls(object, schema);
            defaults::apply(object, schema);
        }
    }
}

impl Outcome {
    /// The answer: a loss or a refusal is a "no" even when something else is in doubt.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if let Some(path) = self.dropped.first() {
            return Verdict::No { path: path.clone(), why: Why::Dropped };
        }
        if let Some(finding) = self.violations.first() {
            return Verdict::No { path: finding.path.clone(), why: Why::Refused(finding.violation.clone()) };
        }
        self.doubts.first().map_or(Verdict::Yes, |doubt| Verdict::Unknown(doubt.clone()))
    }
}

/// How deep a value is nested, found without recursion.
fn depth_of(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|inner| (inner, depth + 1))),
            _ => {}
        }
    }
    deepest
}

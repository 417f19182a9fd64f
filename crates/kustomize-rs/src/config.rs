//! Which fields of which kinds each transformer changes: the defaults of the reference, and what `configurations` and
//! `crds` add to them. Never changed once made: builds share it.

mod crds;
mod defaults;
mod read;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use crate::field_path::Field;
use crate::order;
pub(crate) use crds::{CrdError, read as read_crds};
pub(crate) use read::{list_of, read};

/// Fields by what is done to them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    pub(crate) name_prefix: Vec<Field>,
    pub(crate) name_suffix: Vec<Field>,
    pub(crate) namespace: Vec<Field>,
    pub(crate) common_labels: Vec<Field>,
    pub(crate) labels: Vec<Field>,
    pub(crate) template_labels: Vec<Field>,
    pub(crate) common_annotations: Vec<Field>,
    pub(crate) name_reference: Vec<NameReference>,
    pub(crate) var_reference: Vec<Field>,
    pub(crate) images: Vec<Field>,
    pub(crate) replicas: Vec<Field>,
    /// Whether the defaults are among them.
    complete: bool,
}

/// Fields that hold names of objects of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameReference {
    pub(crate) group: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) kind: Cow<'static, str>,
    pub(crate) fields: Vec<Field>,
}

/// One field is described twice, once to be made where it is missing and once not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) path: String,
}

impl Config {
    /// The defaults.
    pub(crate) fn standard() -> Arc<Self> {
        static STANDARD: LazyLock<Arc<Config>> = LazyLock::new(|| Arc::new(defaults::config()));
        STANDARD.clone()
    }

    /// What both say; fields of `self` come first.
    ///
    /// # Errors
    /// Where they contradict each other.
    pub(crate) fn merge(self: &Arc<Self>, other: &Arc<Self>) -> Result<Arc<Self>, Conflict> {
        let standard = Self::standard();
        // All but the empty one hold the defaults: the usual case needs no merging.
        if Arc::ptr_eq(self, other) || Arc::ptr_eq(other, &standard) && self.complete {
            return Ok(self.clone());
        }
        if Arc::ptr_eq(self, &standard) && other.complete {
            return Ok(other.clone());
        }
        let mut merged = Self {
            name_prefix: merge(&self.name_prefix, &other.name_prefix)?,
            name_suffix: merge(&self.name_suffix, &other.name_suffix)?,
            namespace: merge(&self.namespace, &other.namespace)?,
            common_labels: merge(&self.common_labels, &other.common_labels)?,
            labels: merge(&self.labels, &other.labels)?,
            template_labels: merge(&self.template_labels, &other.template_labels)?,
            common_annotations: merge(&self.common_annotations, &other.common_annotations)?,
            name_reference: self.name_reference.clone(),
            var_reference: merge(&self.var_reference, &other.var_reference)?,
            images: merge(&self.images, &other.images)?,
            replicas: merge(&self.replicas, &other.replicas)?,
            complete: self.complete || other.complete,
        };
        for reference in &other.name_reference {
            merged.add_reference(reference)?;
        }
        merged.sort();
        Ok(Arc::new(merged))
    }

    fn add_reference(&mut self, added: &NameReference) -> Result<(), Conflict> {
        let same = |it: &&mut NameReference| {
            it.kind == added.kind && it.version == added.version && it.group == added.group
        };
        match self.name_reference.iter_mut().find(same) {
            Some(found) => found.fields = merge(&found.fields, &added.fields)?,
            None => self.name_reference.push(added.clone()),
        }
        Ok(())
    }

    /// By kind, as objects are sorted.
    fn sort(&mut self) {
        for fields in [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.common_annotations,
            &mut self.var_reference,
            &mut self.images,
            &mut self.replicas,
        ] {
            fields.sort_by(|a, b| {
                order::kinds((&a.group, &a.version, &a.kind), (&b.group, &b.version, &b.kind))
            });
        }
        self.name_reference
            .sort_by(|a, b| order::kinds((&a.group, &a.version, &a.kind), (&b.group, &b.version, &b.kind)));
    }
}

/// `fields`, and those of `added` that are not among them.
///
/// # Errors
/// A field that is in both, with another `create`.
pub(crate) fn merge(fields: &[Field], added: &[Field]) -> Result<Vec<Field>, Conflict> {
    let mut merged = fields.to_vec();
    for field in added {
        add(&mut merged, field)?;
    }
    Ok(merged)
}

fn add(fields: &mut Vec<Field>, added: &Field) -> Result<(), Conflict> {
    // A field that is there for a kind stands also for the same path written for all kinds.
    let covers = |it: &&Field| it.path == added.path && added.applies_to(&it.group, &it.version, &it.kind);
    match fields.iter().find(covers) {
        Some(found) if found.create != added.create => Err(Conflict { path: added.path.to_string() }),
        Some(_) => Ok(()),
        None => {
            fields.push(added.clone());
            Ok(())
        }
    }
}

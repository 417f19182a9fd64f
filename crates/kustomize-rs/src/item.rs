//! An object while it is being built: with the identities it had before, by which patches may still call it.

use crate::value::Blanks;
use crate::{Resource, path};

/// An object and its earlier identities.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) resource: Resource,
    /// Oldest first; without the present one.
    pub(crate) previous: Vec<Id>,
    /// Keys without a value, see [`crate::value::blanks`]; forgotten at the first patch.
    pub(crate) blanks: Blanks,
}

/// The identity of the reference: with the version, and the namespace that is meant when none is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Id {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Id {
    pub(crate) fn of(resource: &Resource) -> Self {
        let namespace =
            if resource.is_cluster_scoped() { "" } else { resource.namespace().unwrap_or("default") };
        Self {
            api_version: resource.api_version().into(),
            kind: resource.kind().into(),
            namespace: namespace.into(),
            name: resource.name().into(),
        }
    }
}

impl Item {
    pub(crate) fn new(resource: Resource, blanks: Blanks) -> Self {
        Self { resource, previous: Vec::new(), blanks }
    }

    pub(crate) fn id(&self) -> Id {
        Id::of(&self.resource)
    }

    /// To be called before a change of kind, name or namespace.
    pub(crate) fn remember(&mut self) {
        let id = self.id();
        if self.previous.last() != Some(&id) {
            self.previous.push(id);
        }
    }

    /// Whether this is or was `id`.
    pub(crate) fn is_or_was(&self, id: &Id) -> bool {
        self.id() == *id || self.previous.contains(id)
    }

    /// Where the object was written, for a message: the file without its directory when that is `dir`.
    pub(crate) fn place(&self, dir: &str) -> String {
        let place = self.resource.origin.to_string();
        let inside = !dir.is_empty() && path::is_within(&place, dir);
        if inside { place[dir.len() + 1..].into() } else { place }
    }
}

//! An object while it is being built: with the identities it had before, by which patches and references still call it.
//! What the build must remember about an object stands here, never in its annotations.

use std::sync::Arc;

use crate::history::History;
use crate::kustomization::Behavior;
use crate::marks::Marks;
use crate::{Resource, path};

/// An object and what was done to it.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) resource: Resource,
    /// Identities it had, oldest first; without the present one.
    pub(crate) previous: Vec<Id>,
    /// What the text of the object said beside its values; forgotten when it goes through JSON.
    pub(crate) marks: Marks,
    /// What was put before and after its name, innermost first.
    pub(crate) prefixes: Vec<Arc<str>>,
    pub(crate) suffixes: Vec<Arc<str>>,
    /// Whether its name ends with a hash of its content.
    pub(crate) hashed: bool,
    /// What a generated object does to one that is there already.
    pub(crate) behavior: Behavior,
    /// Names of the `vars` that take their value from it.
    pub(crate) vars: Vec<Arc<str>>,
    /// What `buildMetadata` asks for; empty where nothing is asked for.
    pub(crate) history: History,
}

/// The identity of the reference: with the version, and the namespace that is meant when none is written (`""` for what
/// lives outside namespaces).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Id {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Id {
    pub(crate) fn of(resource: &Resource) -> Self {
        Self {
            api_version: resource.api_version().into(),
            kind: resource.kind().into(),
            namespace: effective_namespace(resource).into(),
            name: resource.name().into(),
        }
    }
}

/// The namespace an object is in, also where none is written; `""` for what lives outside namespaces.
pub(crate) fn effective_namespace(resource: &Resource) -> &str {
    if resource.is_cluster_scoped() { "" } else { resource.namespace().unwrap_or("default") }
}

impl Item {
    pub(crate) fn new(resource: Resource, marks: Marks) -> Self {
        Self {
            resource,
            previous: Vec::new(),
            marks,
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            hashed: false,
            behavior: Behavior::Create,
            vars: Vec::new(),
            history: History::default(),
        }
    }

    pub(crate) fn id(&self) -> Id {
        Id::of(&self.resource)
    }

    /// The kind it had at first.
    pub(crate) fn original_kind(&self) -> &str {
        self.previous.first().map_or_else(|| self.resource.kind(), |first| &first.kind)
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
        self.resource.api_version() == id.api_version
            && (self
                .previous
                .iter()
                .any(|it| it.kind == id.kind && it.name == id.name && it.namespace == id.namespace)
                || self.id() == *id)
    }

    /// All identities, the present one last, each with the present `api_version`.
    pub(crate) fn all_ids(&self) -> impl Iterator<Item = Id> {
        let api_version = self.resource.api_version();
        let previous = self.previous.iter().map(|it| Id { api_version: api_version.into(), ..it.clone() });
        previous.chain(std::iter::once(self.id()))
    }

    /// Sets `metadata.name`.
    pub(crate) fn set_name(&mut self, name: String) {
        if let Some(serde_json::Value::Object(metadata)) = self.resource.value_mut().get_mut("metadata") {
            metadata.insert("name".into(), name.into());
        }
    }

    /// Where the object was written, for a message: the file without its directory when that is `dir`.
    pub(crate) fn place(&self, dir: &str) -> String {
        let place = self.resource.origin.to_string();
        let inside = !dir.is_empty() && path::is_within(&place, dir);
        if inside { place[dir.len() + 1..].into() } else { place }
    }
}

//! One rendered object, its identity, and where it came from.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::schema::Schema;

/// An object and where it was written.
#[derive(Clone, PartialEq)]
pub struct Resource {
    /// The object: always a map with `kind` and `metadata.name`, and with `apiVersion` where it was written: kustomize, unlike
    /// a cluster, does without. Keys keep the order of the file. Shared
    /// between builds that did not change it.
    pub value: Arc<Value>,
    /// Where its text begins.
    pub origin: Origin,
}

/// The place of an object in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The path of the file, from the root of the tree.
    pub file: String,
    /// The line of its first field, from 1.
    pub line: u32,
    /// Which document of the file, from 0. Items of a List share the document of the list.
    pub document: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What names an object in a cluster. The version is not part of it: one object is served in several.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId {
    /// The API group; `""` is the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace as written; `None` when the object has none.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, " {namespace}/{}", self.name),
            None => write!(f, " {}", self.name),
        }
    }
}

impl fmt::Debug for Resource {
    /// The identity and the origin only: the body may be a Secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource({}, {})", self.id(), self.origin)
    }
}

impl Resource {
    /// The API group; `""` is the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }

    /// The version, without the group.
    #[must_use]
    pub fn version(&self) -> &str {
        self.api_version().rsplit_once('/').map_or(self.api_version(), |(_, version)| version)
    }

    /// `apiVersion` as written.
    #[must_use]
    pub fn api_version(&self) -> &str {
        text(&self.value, "apiVersion")
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        text(&self.value, "kind")
    }

    /// `metadata.name`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.value.get("metadata").map_or("", |metadata| text(metadata, "name"))
    }

    /// `metadata.namespace`; `None` where it is absent or empty.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        let namespace = self.value.get("metadata").map_or("", |metadata| text(metadata, "namespace"));
        (!namespace.is_empty()).then_some(namespace)
    }

    /// The object, to be changed: its own copy from then on.
    pub(crate) fn value_mut(&mut self) -> &mut Value {
        Arc::make_mut(&mut self.value)
    }

    /// The identity.
    #[must_use]
    pub fn id(&self) -> ResourceId {
        ResourceId {
            group: self.group().into(),
            kind: self.kind().into(),
            namespace: self.namespace().map(Into::into),
            name: self.name().into(),
        }
    }

    /// Whether the kind is one of Kubernetes 1.21 that live outside namespaces. All others count as namespaced, as they do in
    /// the reference.
    #[must_use]
    pub fn is_cluster_scoped(&self) -> bool {
        Schema::Builtin.cluster_scoped(self.api_version(), self.kind())
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

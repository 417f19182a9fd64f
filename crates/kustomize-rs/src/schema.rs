//! What is known about kinds: which lists are merged and by which keys, and which kinds have a namespace. Kubernetes 1.21.2
//! as in the reference, or the OpenAPI document that a kustomization names. Tables are compiled in; nothing is parsed at
//! start, and a document of one build is never seen by another.

mod builtin;
mod custom;
mod table;

use std::ops::Deref;
use std::sync::Arc;

pub(crate) use custom::Custom;

/// The kinds of one build.
#[derive(Debug, Clone, Default)]
pub(crate) enum Schema {
    /// Kubernetes 1.21.2.
    #[default]
    Builtin,
    /// What `openapi.path` names.
    Custom {
        document: Arc<Custom>,
        /// Whether the built-in kinds are known beside it: the reference forgets only what it has not yet looked at.
        with_builtin: bool,
    },
}

/// The type of a mapping.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape<'a> {
    /// A row of the table.
    Builtin(&'static builtin::Type),
    /// A schema of the document.
    Custom(custom::Node<'a>),
}

/// What a field holds, as far as a merge cares.
#[derive(Debug, Clone)]
pub(crate) enum Field<'a> {
    /// A value of which the type is known. A list of this kind is replaced as a whole.
    Value(Shape<'a>),
    /// A list that is merged.
    List {
        /// The fields by which items are told apart; none: the items themselves.
        keys: Keys<'a>,
        /// The type of an item.
        item: Option<Shape<'a>>,
    },
}

/// The fields by which items are told apart.
#[derive(Debug, Clone)]
pub(crate) enum Keys<'a> {
    Builtin(&'static [&'static str]),
    Custom(Vec<&'a str>),
}

impl<'a> Deref for Keys<'a> {
    type Target = [&'a str];

    fn deref(&self) -> &[&'a str] {
        match self {
            Self::Builtin(keys) => keys,
            Self::Custom(keys) => keys,
        }
    }
}

impl Schema {
    /// The type of a kind.
    pub(crate) fn kind(&self, api_version: &str, kind: &str) -> Option<Shape<'_>> {
        let (custom, builtin) = match self {
            Self::Builtin => (None, true),
            Self::Custom { document, with_builtin } => (document.kind(api_version, kind), *with_builtin),
        };
        match custom {
            Some(node) => Some(Shape::Custom(node)),
            None if builtin => builtin::kind(api_version, kind).map(Shape::Builtin),
            None => None,
        }
    }

    /// Whether objects of the kind have a namespace; `None` where the kind is not known.
    pub(crate) fn namespaced(&self, api_version: &str, kind: &str) -> Option<bool> {
        let custom = match self {
            Self::Builtin => None,
            Self::Custom { document, .. } => document.namespaced(api_version, kind),
        };
        builtin::namespaced(api_version, kind).or(custom)
    }

    /// Whether the kind is known to have no namespace.
    pub(crate) fn cluster_scoped(&self, api_version: &str, kind: &str) -> bool {
        self.namespaced(api_version, kind) == Some(false)
    }
}

impl<'a> Shape<'a> {
    /// What is known about a field.
    pub(crate) fn field(self, name: &str) -> Option<Field<'a>> {
        match self {
            Self::Builtin(fields) => builtin::field(fields, name),
            Self::Custom(node) => node.field(name),
        }
    }
}

#[cfg(test)]
mod tests;

//! The ordered result of a build.

use crate::Problem;
use crate::emit;
use crate::resource::{Resource, ResourceId};

/// Objects in the order in which they are printed; no two have the same identity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResMap {
    resources: Vec<Resource>,
    warnings: Vec<Problem>,
}

impl ResMap {
    /// The caller has made sure that identities are unique.
    pub(crate) fn new(resources: Vec<Resource>) -> Self {
        Self { resources, warnings: Vec::new() }
    }

    pub(crate) fn with_warnings(self, warnings: Vec<Problem>) -> Self {
        Self { warnings, ..self }
    }

    /// What is no error and should still be told, each with its place: fields of the past.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The objects, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Resource> {
        self.resources.iter()
    }

    /// The objects, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Resource] {
        &self.resources
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.resources.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The object with this identity, if it is there. `namespace` is compared as written: `None` finds only an
    /// object that names no namespace.
    #[must_use]
    pub fn get(&self, group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| {
            resource.name() == name
                && resource.kind() == kind
                && resource.group() == group
                && resource.namespace() == namespace
        })
    }

    /// As [`ResMap::get`], by identity.
    #[must_use]
    pub fn get_id(&self, id: &ResourceId) -> Option<&Resource> {
        self.get(&id.group, &id.kind, id.namespace.as_deref(), &id.name)
    }
}

impl IntoIterator for ResMap {
    type Item = Resource;
    type IntoIter = std::vec::IntoIter<Resource>;

    fn into_iter(self) -> Self::IntoIter {
        self.resources.into_iter()
    }
}

impl<'a> IntoIterator for &'a ResMap {
    type Item = &'a Resource;
    type IntoIter = std::slice::Iter<'a, Resource>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The text that `kubectl kustomize` prints for these objects: documents joined by `---`, keys sorted, comments and
/// styles of the input gone. Nothing for no objects.
#[must_use]
pub fn to_yaml(resources: &ResMap) -> String {
    let mut out = String::new();
    for (index, resource) in resources.iter().enumerate() {
        if index > 0 {
            out.push_str("---\n");
        }
        emit::document(&resource.value, &mut out);
    }
    out
}

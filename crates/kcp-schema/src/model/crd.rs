//! A CustomResourceDefinition: the names, the versions, and what each version serves.

use std::sync::Arc;

use super::node::Schema;

/// Where objects of a kind live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// Once per cluster.
    Cluster,
}

/// The names of a kind. Those that a CRD leaves out are filled in as the API server does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// Lower case, as in URLs.
    pub plural: Arc<str>,
    /// Lower case; the kind in lower case if not given.
    pub singular: Arc<str>,
    /// As in objects.
    pub kind: Arc<str>,
    /// The kind and `List` if not given.
    pub list_kind: Arc<str>,
    /// In the CRD's order.
    pub short_names: Vec<Arc<str>>,
    /// In the CRD's order.
    pub categories: Vec<Arc<str>>,
}

/// The scale subresource: JSON paths into the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// Where the wanted number is.
    pub spec_replicas_path: Arc<str>,
    /// Where the real number is.
    pub status_replicas_path: Arc<str>,
    /// Where the selector is, in text form.
    pub label_selector_path: Option<Arc<str>>,
}

/// A column that kubectl prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub name: Arc<str>,
    /// integer, number, string, boolean or date.
    pub kind: Arc<str>,
    /// Where the value is.
    pub json_path: Arc<str>,
    /// Above 0: only in wide output.
    pub priority: i64,
}

/// How objects change between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conversion {
    /// Only apiVersion changes: a field that one version lacks is lost there.
    #[default]
    None,
    /// A webhook converts. Where it is, is of no concern here.
    Webhook,
}

/// One version of a CRD.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// `v1beta1`, for example.
    pub name: Arc<str>,
    /// Clients can use it.
    pub served: bool,
    /// Objects are stored in it; true for exactly one version.
    pub storage: bool,
    /// Clients are warned.
    pub deprecated: bool,
    /// The warning, if it is not the usual one.
    pub deprecation_warning: Option<Arc<str>>,
    /// The schema of whole objects. Absent in a v1beta1 CRD without one: nothing is checked or pruned then.
    pub schema: Option<Schema>,
    /// Writes to status go through a subresource, and plain writes ignore it.
    pub status_subresource: bool,
    /// The scale subresource.
    pub scale: Option<Scale>,
    /// What kubectl prints.
    pub columns: Vec<Column>,
    /// JSON paths that field selectors may use.
    pub selectable_fields: Vec<Arc<str>>,
}

/// A CRD, of apiextensions v1, or v1beta1 read as what it means in v1.
#[derive(Debug, Clone, PartialEq)]
pub struct Crd {
    /// The API group; never empty.
    pub group: Arc<str>,
    /// The names of the kind.
    pub names: Names,
    /// Where objects live.
    pub scope: Scope,
    /// In the CRD's order; never empty, names are distinct.
    pub versions: Vec<Version>,
    /// How objects change between versions.
    pub conversion: Conversion,
    /// v1beta1 only: nothing is pruned, in any version.
    pub preserve_unknown_fields: bool,
    /// `status.storedVersions`: versions that objects in storage may have. Empty in a CRD read from a file.
    pub stored_versions: Vec<Arc<str>>,
}

impl Crd {
    /// The version called `name`.
    #[must_use]
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| *version.name == *name)
    }

    /// `plural.group`, the name of the CRD object.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.names.plural, self.group)
    }

    /// The version that objects are stored in.
    #[must_use]
    pub fn storage_version(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.storage)
    }
}

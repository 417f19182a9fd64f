//! What one cluster serves: every kind with its scope, subresources and the hash of its schema. Small and serialisable:
//! this is what is recorded about a cluster. Schemas themselves are kept by hash, once for all clusters.

mod diff;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::judge::Release;
use crate::model::{Crd, Hash, ListType, Schema, SchemaPath, SchemaStep, Scope, Type};
use crate::parse::OpenApi;

pub use diff::{SurfaceChange, SurfaceChanged};

/// Which version of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gvk {
    /// Empty for the core group.
    pub group: Arc<str>,
    /// `v1`, for example.
    pub version: Arc<str>,
    /// As in objects.
    pub kind: Arc<str>,
}

impl std::fmt::Display for Gvk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let slash = if self.group.is_empty() { "" } else { "/" };
        write!(f, "{} ({}{slash}{})", self.kind, self.group, self.version)
    }
}

/// Where the schema of a kind comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// A CRD: the schema is the whole truth.
    Crd,
    /// The OpenAPI document of a kind that is not built in: a CRD that could not be read, or an aggregated API.
    Published,
    /// The OpenAPI document of a built-in kind: the server checks more than the schema says.
    BuiltIn,
}

/// One version of a kind on one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServedKind {
    /// Which.
    pub gvk: Gvk,
    /// As in URLs.
    pub plural: Arc<str>,
    /// Where objects live.
    pub scope: Scope,
    /// Where the schema comes from.
    pub origin: Origin,
    /// Clients can use it.
    pub served: bool,
    /// Objects are stored in it; unknown for what is no CRD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<bool>,
    /// Clients are warned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// Nothing is pruned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preserve_unknown_fields: bool,
    /// `status`, `scale` and others.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub subresources: BTreeSet<Arc<str>>,
    /// The hash of the schema; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Hash>,
    /// JSON paths that field selectors may use, sorted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub selectable_fields: BTreeSet<Arc<str>>,
    /// The lists of type map by path, with their keys, and those of type set, without.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, Vec<Arc<str>>>,
}

/// Everything that one cluster serves, in the order of group, version and kind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Surface {
    /// The version of the API server.
    pub release: Release,
    /// The kinds, each once.
    pub kinds: Vec<ServedKind>,
}

impl Surface {
    /// A cluster that serves nothing yet.
    #[must_use]
    pub const fn new(release: Release) -> Self {
        Self { release, kinds: Vec::new() }
    }

    /// What is served under this name.
    #[must_use]
    pub fn get(&self, gvk: &Gvk) -> Option<&ServedKind> {
        let place = self.kinds.binary_search_by(|kind| kind.gvk.cmp(gvk)).ok()?;
        self.kinds.get(place)
    }

    /// Adds the versions of a CRD. What a CRD says counts for more than an OpenAPI document about the same kind.
    pub fn add_crd(&mut self, crd: &Crd) {
        for version in &crd.versions {
            let mut subresources = BTreeSet::new();
            if version.status_subresource {
                subresources.insert(Arc::from("status"));
            }
            if version.scale.is_some() {
                subresources.insert(Arc::from("scale"));
            }
            let (group, kind) = (crd.group.clone(), crd.names.kind.clone());
            self.put(ServedKind {
                gvk: Gvk { group, version: version.name.clone(), kind },
                plural: crd.names.plural.clone(),
                scope: crd.scope,
                origin: Origin::Crd,
                served: version.served,
                storage: Some(version.storage),
                deprecated: version.deprecated,
                preserve_unknown_fields: crd.preserve_unknown_fields,
                subresources,
                schema: version.schema.as_ref().map(Schema::hash),
                selectable_fields: version.selectable_fields.iter().cloned().collect(),
                lists: version.schema.as_ref().map(keyed_lists).unwrap_or_default(),
            });
        }
    }

    /// Adds the kinds of an OpenAPI document.
    pub fn add_open_api(&mut self, document: &OpenApi) {
        for kind in &document.kinds {
            let (group, version, name) = (kind.group.clone(), kind.version.clone(), kind.kind.clone());
            let gvk = Gvk { group, version, kind: name };
            if self.get(&gvk).is_some_and(|known| known.origin == Origin::Crd) {
                continue;
            }
            self.put(ServedKind {
                gvk,
                plural: kind.plural.clone(),
                scope: kind.scope,
                origin: if kind.built_in { Origin::BuiltIn } else { Origin::Published },
                served: true,
                storage: None,
                deprecated: false,
                preserve_unknown_fields: false,
                subresources: kind.subresources.clone(),
                schema: Some(kind.schema.hash()),
                selectable_fields: BTreeSet::new(),
                lists: keyed_lists(&kind.schema),
            });
        }
    }

    fn put(&mut self, kind: ServedKind) {
        match self.kinds.binary_search_by(|known| known.gvk.cmp(&kind.gvk)) {
            Ok(place) => self.kinds[place] = kind,
            Err(place) => self.kinds.insert(place, kind),
        }
    }
}

/// The lists of type set and map, by schema path.
fn keyed_lists(schema: &Schema) -> BTreeMap<String, Vec<Arc<str>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![(schema.clone(), SchemaPath::default())];
    while let Some((schema, path)) = open.pop() {
        if !schema.facts().keyed_lists {
            continue;
        }
        if schema.list_type != ListType::Atomic && schema.types.allows(Type::Array) {
            found.insert(path.to_string(), schema.list_map_keys.clone());
        }
        let properties = schema.properties.iter();
        open.extend(
            properties.map(|(name, inner)| (inner.clone(), path.child(SchemaStep::Property(name.clone())))),
        );
        open.extend(schema.items.iter().map(|inner| (inner.clone(), path.child(SchemaStep::Items))));
        open.extend(schema.additional.schema().map(|inner| (inner.clone(), path.child(SchemaStep::Values))));
    }
    found
}

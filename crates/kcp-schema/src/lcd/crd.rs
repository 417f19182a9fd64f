//! The common denominator of whole CRDs: the versions that all serve, each with its schema, and what else all offer.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::report::{Denominator, Lcd};
use super::skeleton::{free, is_forbidden};
use crate::{Additional, Conversion, Crd, Names, Node, Schema, Type, TypeSet, Version};

/// What several clusters with a CRD of one name have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct CrdLcd {
    /// The versions that all serve, by name.
    pub versions: BTreeMap<Arc<str>, Lcd>,
    /// A CRD with those versions that have a common schema: an API server takes it, and whoever writes objects that it
    /// accepts and keeps can send them to every member. None if no version has one.
    pub crd: Option<Crd>,
    /// What some members offer beside the schema and others do not.
    pub lost: Vec<LostOffer>,
}

/// Something beside the schema that is not common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostOffer {
    /// The version.
    pub version: Arc<str>,
    /// What it is.
    pub what: Offer,
    /// The members that have it, by position.
    pub to: Vec<usize>,
}

/// What a version offers beside its schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Offer {
    /// Itself.
    Served,
    /// Status as a subresource: without it, a plain write sets status.
    Status,
    /// The scale subresource, with the same paths.
    Scale,
    /// A field for field selectors, by its JSON path.
    SelectableField(Arc<str>),
}

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Served => f.write_str("the version"),
            Self::Status => f.write_str("the status subresource"),
            Self::Scale => f.write_str("the scale subresource"),
            Self::SelectableField(path) => write!(f, "selecting by {path}"),
        }
    }
}

/// Why CRDs cannot be compared at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotOneApi {
    /// Nothing was given.
    #[error("no CRD was given")]
    NoMember,
    /// They are about different things.
    #[error("{first} and {other} are different APIs: group, kind and plural must be the same")]
    Identity {
        /// `plural.group (kind)` of the first.
        first: String,
        /// The same of one that differs.
        other: String,
    },
    /// Namespaced here, cluster-wide there.
    #[error("the kind is namespaced in some clusters and cluster-wide in others: no object fits both")]
    Scope,
}

impl CrdLcd {
    /// The common denominator of CRDs with one name. A version takes part where it is served.
    ///
    /// # Errors
    /// [`NotOneApi`].
    pub fn of(members: &[&Crd]) -> Result<Self, NotOneApi> {
        let [first, ..] = members else { return Err(NotOneApi::NoMember) };
        let identity = |crd: &Crd| format!("{} ({})", crd.name(), crd.names.kind);
        if let Some(other) = members.iter().find(|other| identity(other) != identity(first)) {
            return Err(NotOneApi::Identity { first: identity(first), other: identity(other) });
        }
        if members.iter().any(|other| other.scope != first.scope) {
            return Err(NotOneApi::Scope);
        }
        let mut names: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        for (index, member) in members.iter().enumerate() {
            for version in member.versions.iter().filter(|version| version.served) {
                names.entry(version.name.clone()).or_default().push(index);
            }
        }
        let mut out = Self { versions: BTreeMap::new(), crd: None, lost: Vec::new() };
        let mut versions = Vec::new();
        for (name, to) in names {
            if to.len() < members.len() {
                out.lost.push(LostOffer { version: name, what: Offer::Served, to });
                continue;
            }
            let all: Vec<&Version> = members.iter().filter_map(|member| member.version(&name)).collect();
            let schemas: Vec<Schema> =
                members.iter().zip(&all).map(|(crd, version)| enforced(crd, version)).collect();
            let lcd = Lcd::of(&schemas);
            if let Denominator::Common(common) = &lcd.outcome {
                versions.push(out.version(&name, &all, common.schema.clone()));
            }
            out.versions.insert(name, lcd);
        }
        out.lost.sort();
        out.crd = finished(members, versions);
        Ok(out)
    }

    /// What all versions of that name offer, and what not.
    fn version(&mut self, name: &Arc<str>, all: &[&Version], schema: Schema) -> Version {
        let mut common = |what: Offer, has: &dyn Fn(&Version) -> bool| {
            let to: Vec<usize> = (0..all.len()).filter(|index| has(all[*index])).collect();
            let everywhere = to.len() == all.len();
            if !to.is_empty() && !everywhere {
                self.lost.push(LostOffer { version: name.clone(), what, to });
            }
            everywhere
        };
        let status_subresource = common(Offer::Status, &|version| version.status_subresource);
        let first = all.iter().min_by_key(|version| format!("{:?}", version.scale)).copied();
        let scale = first.and_then(|first| first.scale.clone());
        let same = all.iter().all(|version| version.scale == scale);
        if !same {
            common(Offer::Scale, &|version| version.scale.is_some());
        }
        // A path of the CRD must lead somewhere: what is not common cannot be scaled or selected by.
        let scale = scale.filter(|scale| same && has_path(&schema, &scale.spec_replicas_path));
        let mut selectable_fields: Vec<Arc<str>> =
            all.iter().flat_map(|version| version.selectable_fields.iter().cloned()).collect();
        selectable_fields.sort();
        selectable_fields.dedup();
        selectable_fields.retain(|path| {
            let everywhere = common(Offer::SelectableField(path.clone()), &|version| {
                version.selectable_fields.contains(path)
            });
            everywhere && has_path(&schema, path)
        });
        let mut columns = all.first().map(|version| version.columns.clone()).unwrap_or_default();
        columns.retain(|column| all.iter().all(|version| version.columns.contains(column)));
        columns.sort_by(|left, right| (&left.name, &left.json_path).cmp(&(&right.name, &right.json_path)));
        Version {
            name: name.clone(),
            served: true,
            storage: false,
            deprecated: all.iter().any(|version| version.deprecated),
            deprecation_warning: all.iter().filter_map(|version| version.deprecation_warning.clone()).min(),
            schema: Some(schema),
            status_subresource,
            scale,
            columns,
            selectable_fields,
        }
    }
}

fn finished(members: &[&Crd], mut versions: Vec<Version>) -> Option<Crd> {
    let first = members.first()?;
    versions.sort_by_key(|version| Reverse(priority(&version.name)));
    // The most stable one is stored: the members' own choice may not be common.
    versions.first_mut()?.storage = true;
    let texts = |list: &dyn Fn(&Crd) -> &Vec<Arc<str>>| -> Vec<Arc<str>> {
        let mut all: Vec<Arc<str>> = list(first)
            .iter()
            .filter(|text| members.iter().all(|member| list(member).contains(text)))
            .cloned()
            .collect();
        all.sort();
        all
    };
    let least = |name: &dyn Fn(&Crd) -> &Arc<str>| members.iter().map(|member| name(member).clone()).min();
    Some(Crd {
        group: first.group.clone(),
        names: Names {
            plural: first.names.plural.clone(),
            singular: least(&|crd| &crd.names.singular)?,
            kind: first.names.kind.clone(),
            list_kind: least(&|crd| &crd.names.list_kind)?,
            short_names: texts(&|crd| &crd.names.short_names),
            categories: texts(&|crd| &crd.names.categories),
        },
        scope: first.scope,
        versions,
        conversion: Conversion::None,
        preserve_unknown_fields: false,
        stored_versions: Vec::new(),
    })
}

/// The order in which Kubernetes prefers versions: v2, v1, v2beta1, v1alpha1, then all other names.
fn priority(name: &str) -> (u8, u64, u64, Reverse<String>) {
    let parse = || -> Option<(u8, u64, u64)> {
        let rest = name.strip_prefix('v')?;
        for (rank, word) in [(2, "beta"), (1, "alpha")] {
            if let Some((major, minor)) = rest.split_once(word) {
                return Some((rank, major.parse().ok()?, minor.parse().ok()?));
            }
        }
        Some((3, rest.parse().ok()?, 0))
    };
    let (rank, major, minor) = parse().unwrap_or((0, 0, 0));
    (rank, major, minor, Reverse(name.to_owned()))
}

/// The schema as the cluster enforces it. A v1beta1 CRD that does not prune keeps unknown fields everywhere.
fn enforced(crd: &Crd, version: &Version) -> Schema {
    let root = match &version.schema {
        None => free(),
        Some(schema) if crd.preserve_unknown_fields => opened(schema),
        Some(schema) => schema.clone(),
    };
    if root.types.is_any() {
        return Schema::new(Node { types: TypeSet::one(Type::Object), ..root.to_node() });
    }
    root
}

fn opened(schema: &Schema) -> Schema {
    let mut node = schema.to_node();
    let Node { items, properties, additional, .. } = &mut node;
    items.iter_mut().chain(properties.values_mut()).for_each(|child| *child = opened(child));
    if let Additional::Schema(child) = additional {
        *child = opened(child);
    }
    let types = node.types;
    let Node { all_of, any_of, one_of, not, .. } = &mut node;
    all_of.iter_mut().chain(any_of).chain(one_of).chain(not).for_each(|entry| {
        // There, a condition may repeat the type: saying it once is enough. What else it may say no other schema can.
        if entry.types == types && !types.is_any() {
            *entry = Schema::new(Node { types: TypeSet::ANY, ..entry.to_node() });
        }
    });
    let described = [&node.all_of, &node.any_of, &node.one_of].into_iter().flatten().chain(&node.not);
    if described.into_iter().any(|entry| !entry.types.is_any() || !entry.additional.is_none()) {
        node.opaque = Some(Arc::from("a condition describes a type"));
    }
    node.preserve_unknown |= !node.int_or_string && (types.is_any() || types.names(Type::Object));
    node.default = None;
    Schema::new(node)
}

/// Whether a simple JSON path (`.spec.replicas`) leads to a field.
fn has_path(schema: &Schema, path: &str) -> bool {
    let mut at = schema;
    for name in path.trim_start_matches('.').split('.') {
        match at.properties.get(name) {
            Some(field) if !is_forbidden(field) => at = field,
            _ => return false,
        }
    }
    true
}

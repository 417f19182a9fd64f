//! What changed between two surfaces, without judging it: whether a changed schema breaks anything is for comparison.

use std::fmt;

use super::{Gvk, ServedKind, Surface};
use crate::model::Hash;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceChanged {
    /// The kind concerned.
    pub gvk: Gvk,
    /// What changed.
    pub change: SurfaceChange,
}

/// What changed about a kind. `from` and `to` are words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SurfaceChange {
    /// It was not there before, or was not served.
    Added,
    /// It is gone, or no longer served.
    Removed,
    /// Another schema.
    Schema {
        /// Before.
        from: Option<Hash>,
        /// After.
        to: Option<Hash>,
    },
    /// Anything else, by the name of the property.
    Property {
        /// `scope`, `subresources` and so on.
        name: &'static str,
        /// Before.
        from: String,
        /// After.
        to: String,
    },
}

impl fmt::Display for SurfaceChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gvk = &self.gvk;
        match &self.change {
            SurfaceChange::Added => write!(f, "{gvk}: is served now"),
            SurfaceChange::Removed => write!(f, "{gvk}: is no longer served"),
            SurfaceChange::Schema { .. } => write!(f, "{gvk}: has another schema"),
            SurfaceChange::Property { name, from, to } => write!(f, "{gvk}: {name} was {from}, is {to}"),
        }
    }
}

impl Surface {
    /// What is different in `new`, in the order of kinds. Kinds that neither serves are left out.
    #[must_use]
    pub fn diff(&self, new: &Self) -> Vec<SurfaceChanged> {
        let mut changes = Vec::new();
        let mut names: Vec<&Gvk> = self.kinds.iter().chain(&new.kinds).map(|kind| &kind.gvk).collect();
        names.sort();
        names.dedup();
        for gvk in names {
            let served = |surface: &'_ Self| surface.get(gvk).filter(|kind| kind.served).cloned();
            let mut put = |change| changes.push(SurfaceChanged { gvk: gvk.clone(), change });
            match (served(self), served(new)) {
                (None, None) => {}
                (None, Some(_)) => put(SurfaceChange::Added),
                (Some(_), None) => put(SurfaceChange::Removed),
                (Some(from), Some(to)) => properties(&from, &to, &mut put),
            }
        }
        changes
    }
}

fn properties(from: &ServedKind, to: &ServedKind, put: &mut impl FnMut(SurfaceChange)) {
    if from.schema != to.schema {
        put(SurfaceChange::Schema { from: from.schema, to: to.schema });
    }
    let list = |names: &std::collections::BTreeSet<std::sync::Arc<str>>| {
        if names.is_empty() {
            return "none".to_owned();
        }
        names.iter().map(|name| &**name).collect::<Vec<_>>().join(", ")
    };
    let flag = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let storage = |kind: &ServedKind| kind.storage.map_or_else(|| "unknown".to_owned(), flag);
    let keys = |kind: &ServedKind| {
        let all = kind.lists.iter().map(|(path, keys)| format!("{path} by {}", keys.join("+")));
        all.collect::<Vec<_>>().join(", ")
    };
    for (name, from, to) in [
        ("plural", from.plural.to_string(), to.plural.to_string()),
        ("scope", format!("{:?}", from.scope), format!("{:?}", to.scope)),
        ("storage", storage(from), storage(to)),
        ("deprecated", flag(from.deprecated), flag(to.deprecated)),
        ("preserveUnknownFields", flag(from.preserve_unknown_fields), flag(to.preserve_unknown_fields)),
        ("subresources", list(&from.subresources), list(&to.subresources)),
        ("selectableFields", list(&from.selectable_fields), list(&to.selectable_fields)),
        ("lists", keys(from), keys(to)),
    ] {
        if from != to {
            put(SurfaceChange::Property { name, from, to });
        }
    }
}

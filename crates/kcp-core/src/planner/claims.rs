//! Who wants and who has each object of one cluster: one owner for each, and never a delete of what another wants.

use std::collections::BTreeMap;

use crate::object::ObjectKey;

/// The claims on one cluster.
#[derive(Debug, Default)]
pub(crate) struct Claims<'a> {
    wanted: BTreeMap<&'a ObjectKey, Vec<&'a str>>,
    present: BTreeMap<&'a ObjectKey, &'a str>,
}

/// What the claims say to one workspace about one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim<'a> {
    /// Nobody else has or wants it.
    Sole,
    /// It has it, and others want it too.
    Contested(Vec<&'a str>),
    /// Another one has it and no longer wants it.
    Released(&'a str),
    /// Another one has it and wants it too.
    Taken(&'a str),
    /// Nobody has it and others want it too.
    Disputed(Vec<&'a str>),
}

impl<'a> Claims<'a> {
    /// A workspace wants an object here.
    pub(crate) fn want(&mut self, workspace: &'a str, key: &'a ObjectKey) {
        let wanted = self.wanted.entry(key).or_default();
        if !wanted.contains(&workspace) {
            wanted.push(workspace);
        }
    }

    /// A workspace has an object here.
    pub(crate) fn has(&mut self, workspace: &'a str, key: &'a ObjectKey) {
        self.present.entry(key).or_insert(workspace);
    }

    /// Whether another workspace wants it: then it is handed over or contested, but never deleted.
    pub(crate) fn wanted_by_others(&self, workspace: &str, key: &ObjectKey) -> bool {
        self.wanted.get(key).is_some_and(|wanted| wanted.iter().any(|name| *name != workspace))
    }

    /// How it stands with an object that a workspace wants.
    pub(crate) fn of(&self, workspace: &str, key: &ObjectKey) -> Claim<'a> {
        let wanted = self.wanted.get(key).map_or([].as_slice(), Vec::as_slice);
        let mut others: Vec<&str> = wanted.iter().copied().filter(|name| *name != workspace).collect();
        others.sort_unstable();
        match self.present.get(key) {
            Some(owner) if *owner != workspace => {
                if others.contains(owner) {
                    Claim::Taken(owner)
                } else {
                    Claim::Released(owner)
                }
            }
            _ if others.is_empty() => Claim::Sole,
            Some(_) => Claim::Contested(others),
            None => Claim::Disputed(others),
        }
    }
}

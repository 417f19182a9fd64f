//! Who wants and who has each object of one cluster: one owner for each, and never a delete of what another wants.

use std::collections::HashMap;

use crate::object::ObjectKey;

/// The claims on one cluster.
#[derive(Debug, Default)]
pub(crate) struct Claims<'a> {
    /// Places in which more than one workspace has a part; there are few, and only there can two meet over an object.
    shared: HashMap<Place<'a>, Part<'a>>,
    // Asked by key and never gone through: their order cannot show.
    wanted: HashMap<&'a ObjectKey, Wanted<'a>>,
    present: HashMap<&'a ObjectKey, &'a str>,
}

/// Group, kind and namespace.
type Place<'a> = (&'a str, &'a str, &'a str);

fn place(key: &ObjectKey) -> Place<'_> {
    (&key.group, &key.kind, &key.namespace)
}

/// Who has a part in a place.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    One(&'a str),
    Several,
}

/// Who wants an object: seldom more than one.
#[derive(Debug)]
struct Wanted<'a> {
    first: &'a str,
    more: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    fn others(&self, workspace: &str) -> impl Iterator<Item = &'a str> {
        std::iter::once(self.first).chain(self.more.iter().copied()).filter(move |name| *name != workspace)
    }
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
    /// A workspace has to do with these objects here. All of this comes before the first claim.
    pub(crate) fn meet(&mut self, workspace: &'a str, keys: impl Iterator<Item = &'a ObjectKey>) {
        let mut last = None;
        for key in keys {
            let place = place(key);
            // They come in order, most in the place of the one before.
            if last != Some(place) {
                last = Some(place);
                let part = self.shared.entry(place).or_insert(Part::One(workspace));
                if *part != Part::One(workspace) {
                    *part = Part::Several;
                }
            }
        }
    }

    /// Whether any two workspaces can claim one object.
    pub(crate) fn can_meet(&mut self) -> bool {
        self.shared.retain(|_, part| *part == Part::Several);
        !self.shared.is_empty()
    }

    fn is_alone(&self, key: &ObjectKey) -> bool {
        !self.shared.contains_key(&place(key))
    }

    /// A workspace wants an object here.
    pub(crate) fn want(&mut self, workspace: &'a str, key: &'a ObjectKey) {
        if self.is_alone(key) {
            return;
        }
        let wanted = self.wanted.entry(key).or_insert(Wanted { first: workspace, more: Vec::new() });
        if wanted.first != workspace && !wanted.more.contains(&workspace) {
            wanted.more.push(workspace);
        }
    }

    /// A workspace has an object here.
    pub(crate) fn has(&mut self, workspace: &'a str, key: &'a ObjectKey) {
        if self.is_alone(key) {
            return;
        }
        self.present.entry(key).or_insert(workspace);
    }

    /// Whether another workspace wants it: then it is handed over or contested, but never deleted.
    pub(crate) fn wanted_by_others(&self, workspace: &str, key: &ObjectKey) -> bool {
        self.wanted.get(key).is_some_and(|wanted| wanted.others(workspace).next().is_some())
    }

    /// How it stands with an object that a workspace wants.
    pub(crate) fn of(&self, workspace: &str, key: &ObjectKey) -> Claim<'a> {
        let wanted = self.wanted.get(key);
        let mut others: Vec<&str> = wanted.into_iter().flat_map(|it| it.others(workspace)).collect();
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

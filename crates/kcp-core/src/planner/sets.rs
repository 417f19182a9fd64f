//! One set, put together: what is written for one unit on one cluster, and what its parent has to say then.

use std::collections::{BTreeMap, BTreeSet};

use super::bundles::Content;
use super::decide::Decided;
use super::fleet::Member;
use super::handover::HandOver;
use super::joined::Joined;
use super::objects::Work;
use super::prune::{self, Fate, Survey};
use super::unit::{Desire, Unit, is_ours};
use crate::object::{GroupKind, ObjectKey};
use crate::plan::{DeleteAction, SetPlan};
use crate::safety::budget::{Cause, Ruling};
use crate::world::ObservedSet;

/// What a cluster is to a unit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    /// It has it or gets it.
    Target(&'a Content<'a>),
    /// It has it or gets it, and what cannot be said now.
    Unclear,
    /// It leaves, once it may.
    Leaving {
        /// The new copies are healthy.
        ready: bool,
        /// It is wanted nowhere.
        last: bool,
    },
    /// Git wants it nowhere.
    Nowhere(Cause),
    /// Decided to be elsewhere, and nothing here could move.
    Elsewhere,
}

impl<'a> Part<'a> {
    /// The part of one cluster.
    pub(crate) fn of(
        unit: &Unit<'_>,
        member: &Member<'_>,
        decided: &Decided,
        content: Option<&'a Content<'a>>,
        state: &HandOver,
    ) -> Self {
        let Some(placed) = unit.placed() else {
            let is_gone = matches!(unit.desire, Desire::Gone);
            return Self::Nowhere(if is_gone { Cause::WorkspaceGone } else { Cause::PlacementGone });
        };
        if decided.targets(member.uid.as_ref()) {
            return content.map_or(Self::Unclear, Self::Target);
        }
        if member.uid.as_ref().is_some_and(|uid| decided.leaving.contains_key(uid)) {
            let last = decided.decision.as_ref().is_some_and(|decision| decision.targets.is_empty());
            return Self::Leaving { ready: placed.is_whole && *state == HandOver::Ready, last };
        }
        if placed.is_whole && decided.decision.is_some() { Self::Elsewhere } else { Self::Unclear }
    }

    /// What becomes of its objects that are not wanted there.
    pub(crate) fn fate(self, unit: &Unit<'_>) -> Fate<'a> {
        let is_whole = unit.placed().is_none_or(|placed| placed.is_whole);
        match self {
            Self::Target(content) if is_whole => Fate::Stays(content),
            Self::Leaving { ready: true, last: false } => Fate::Goes(Cause::HandedOver),
            Self::Leaving { ready: true, last: true } => Fate::Goes(Cause::LastCopy),
            Self::Nowhere(cause) => Fate::Goes(cause),
            Self::Elsewhere => Fate::Rests,
            Self::Target(_) | Self::Unclear | Self::Leaving { ready: false, .. } => Fate::Keeps,
        }
    }
}

/// All that a set plan is put together from.
pub(crate) struct Parts<'a> {
    pub(crate) unit: &'a Unit<'a>,
    pub(crate) member: &'a Member<'a>,
    pub(crate) decided: &'a Decided,
    pub(crate) set: Option<&'a ObservedSet>,
    pub(crate) joined: &'a Joined<'a>,
    pub(crate) part: Part<'a>,
    pub(crate) work: Work<'a>,
    pub(crate) survey: Survey,
    pub(crate) ruling: &'a Ruling,
    /// Nothing may be written for this unit there.
    pub(crate) is_stopped: bool,
}

/// Puts one set together.
pub(crate) fn assemble(mut parts: Parts<'_>) -> SetPlan {
    let applied = std::mem::take(&mut parts.work.applied);
    let mut plan = put_together(parts);
    // It is for whoever writes the parent, and large.
    if !plan.is_quiet() {
        plan.applied = applied.into_iter().map(|(key, hash)| (key.to_string(), hash)).collect();
    }
    plan
}

fn put_together(parts: Parts<'_>) -> SetPlan {
    let Parts { unit, member, decided, set, joined, part, work, survey, ruling, is_stopped } = parts;
    let content = if let Part::Target(content) = part { Some(content) } else { None };
    let (group_kinds, namespaces) = lists(unit, member, set, joined, content);
    let recorded = set.and_then(|set| set.parent.decision.clone());
    let mut plan = SetPlan {
        decision: if unit.placed().is_some() { decided.decision.clone().or(recorded) } else { recorded },
        group_kinds,
        namespaces,
        unchanged: work.unchanged,
        retained: survey.retained,
        ..SetPlan::default()
    };
    if is_stopped {
        return plan;
    }
    plan.apply = work.apply;
    for doomed in survey.doomed {
        let key = doomed.action.object;
        let version = prune::version(member, content, &key.group_kind());
        if let (true, Some(uid), Some(version)) =
            (ruling.allowed.contains(&(member.name.to_owned(), key.clone())), doomed.action.uid, version)
        {
            let (propagation, moved) = (unit.policy.delete.propagation, doomed.cause == Cause::HandedOver);
            plan.delete.push(DeleteAction {
                key,
                version,
                uid,
                propagation,
                moved,
                why: doomed.cause.text().to_owned(),
            });
        }
    }
    let is_empty = set.is_some_and(|set| {
        set.unlisted.is_empty() && !set.objects.values().any(|object| is_ours(object, unit.name))
    });
    let lists_differ = |set: &ObservedSet| {
        set.parent.group_kinds != plan.group_kinds || set.parent.namespaces != plan.namespaces
    };
    match part {
        Part::Target(content) => {
            plan.write_parent = set.map_or(!content.keys.is_empty(), |set| {
                set.parent.decision != decided.decision || lists_differ(set)
            });
        }
        // A copy that waits for its successors is not touched at all.
        Part::Unclear | Part::Leaving { ready: false, .. } => {}
        Part::Leaving { ready: true, .. } | Part::Nowhere(_) | Part::Elsewhere if member.is_whole() => {
            plan.remove_parent = is_empty;
            plan.write_parent = !is_empty && set.is_some_and(lists_differ);
        }
        Part::Leaving { ready: true, .. } | Part::Nowhere(_) | Part::Elsewhere => {}
    }
    plan
}

/// Kinds and namespaces of all that is or will be in the set. They get fewer only when the cluster was seen to be
/// without them.
fn lists(
    unit: &Unit<'_>,
    member: &Member<'_>,
    set: Option<&ObservedSet>,
    joined: &Joined<'_>,
    content: Option<&Content<'_>>,
) -> (BTreeSet<GroupKind>, BTreeSet<String>) {
    let mut kinds: BTreeMap<GroupKind, bool> = BTreeMap::new();
    let mut namespaces = BTreeSet::new();
    // Objects come sorted: most are of the same kind and namespace as the one before.
    let mut last: Option<(ObjectKey, bool)> = None;
    let mut add = |key: &ObjectKey, wanted: bool| {
        let is_like = |(last, as_wanted): &(ObjectKey, bool)| {
            *as_wanted == wanted
                && last.kind == key.kind
                && last.namespace == key.namespace
                && last.group == key.group
        };
        if last.as_ref().is_some_and(is_like) {
            return;
        }
        last = Some((key.clone(), wanted));
        // Asked once for each kind, not for each object.
        let lacks = |kind: &GroupKind| wanted && content.is_some_and(|it| it.lacks(&member.view.api, kind));
        let kind = key.group_kind();
        let is_served = match kinds.get(&kind) {
            Some(is_served) => *is_served,
            None => !lacks(&kind),
        };
        kinds.insert(kind, is_served);
        if is_served && !key.namespace.is_empty() && !namespaces.contains(&key.namespace) {
            namespaces.insert(key.namespace.clone());
        }
    };
    joined.extra.iter().filter(|(_, seen)| is_ours(seen, unit.name)).for_each(|(key, _)| add(key, false));
    let is_there =
        |index: usize| joined.seen.get(index).copied().flatten().is_some_and(|seen| is_ours(seen, unit.name));
    let objects = content.map_or([].as_slice(), |it| it.bundle.objects.as_slice());
    let keys = || objects.iter().enumerate().map(|(index, object)| (is_there(index), &object.key));
    // What is there first: its kind is served, or was.
    keys().filter(|(is_there, _)| *is_there).for_each(|(_, key)| add(key, false));
    keys().filter(|(is_there, _)| !is_there).for_each(|(_, key)| add(key, true));
    let mut kinds: BTreeSet<GroupKind> =
        kinds.into_iter().filter_map(|(kind, served)| served.then_some(kind)).collect();
    if let Some(set) = set {
        let unknown = |kind: &&GroupKind| !member.is_whole() || set.unlisted.contains_key(&kind.to_string());
        let before = kinds.len();
        kinds.extend(set.parent.group_kinds.iter().filter(unknown).cloned());
        // Where a kind could not be listed, it is not known which namespaces it has.
        if kinds.len() > before || !member.is_whole() || !set.unlisted.is_empty() {
            namespaces.extend(set.parent.namespaces.iter().cloned());
        }
    }
    (kinds, namespaces)
}

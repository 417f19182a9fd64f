//! What may be deleted of one unit on one cluster. Everything that is not certain stays.
//!
//! The guards here are the last ones: each one alone keeps an object.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use kcp_api::Reason;

use super::bundles::Content;
use super::claims::Claims;
use super::fleet::Member;
use super::joined::Joined;
use super::unit::{Unit, is_ours};
use crate::object::{GroupKind, ObjectKey};
use crate::plan::{HeldAction, Problem};
use crate::render::phase;
use crate::safety::budget::{Cause, Doomed};
use crate::world::{ObservedSet, UnixSeconds};

/// What of a set is to go and what stays.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// What would be deleted, in the order to do it.
    pub(crate) doomed: Vec<Doomed>,
    /// What git no longer has and stays by rule.
    pub(crate) retained: BTreeSet<ObjectKey>,
    /// Deletes that failed and wait.
    pub(crate) problems: Vec<Problem>,
}

/// Why the objects of a set that are not wanted may go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate<'a> {
    /// The unit stays: what the bundle has not is pruned.
    Stays(&'a Content<'a>),
    /// All of it goes.
    Goes(Cause),
    /// Nothing goes; what is there stays by rule.
    Rests,
    /// Nothing may go.
    Keeps,
}

/// Looks through a set.
pub(crate) fn survey(
    unit: &Unit<'_>,
    member: &Member<'_>,
    (set, joined): (&ObservedSet, &Joined<'_>),
    fate: Fate<'_>,
    claims: &Claims<'_>,
    now: UnixSeconds,
) -> Survey {
    let mut survey = Survey::default();
    let cause = match fate {
        Fate::Keeps => return survey,
        Fate::Rests => None,
        Fate::Goes(cause) => Some(cause),
        Fate::Stays(content) if content.bundle.objects.is_empty() => Some(Cause::Emptied),
        Fate::Stays(_) => Some(Cause::Pruned),
    };
    for (key, seen) in &joined.extra {
        let (key, seen) = (*key, *seen);
        let withheld = matches!(fate, Fate::Stays(content) if content.bundle.withholds(key));
        if withheld || !is_ours(seen, unit.name) || claims.wanted_by_others(unit.name, key) {
            continue;
        }
        if !unit.policy.delete.prune || unit.policy.delete.keeps(&key.group, &key.kind) {
            survey.retained.insert(key.clone());
            continue;
        }
        let Some(cause) = cause else { continue };
        let listed = !set.unlisted.contains_key(&key.group_kind().to_string());
        let certain = member.is_whole() && member.is_writable() && listed && !seen.uid.is_empty();
        let Some(cluster_uid) = member.uid.clone().filter(|_| certain && !seen.terminating) else { continue };
        let problem = |reason, message| Problem {
            reason,
            workspace: Some(unit.name.to_owned()),
            cluster: Some(member.name.to_owned()),
            object: Some(key.clone()),
            origin: None,
            message,
        };
        if let Some(failure) = member.view.failures.get(key)
            && failure.workspace == unit.name
            && failure.hash.is_none()
        {
            survey.problems.push(problem(failure.reason, failure.message.clone()));
            if failure.waits(now) {
                continue;
            }
        }
        let content = if let Fate::Stays(content) = fate { Some(content) } else { None };
        if version(member, content, &key.group_kind()).is_none() {
            let message =
                format!("it is to go, but the cluster does not say that it serves {}", key.group_kind());
            survey.problems.push(problem(Reason::DiscoveryIncomplete, message));
            continue;
        }
        let action = HeldAction {
            verb: "delete".to_owned(),
            cluster_uid,
            cluster: member.name.to_owned(),
            object: key.clone(),
            uid: Some(seen.uid.clone()),
        };
        survey.doomed.push(Doomed { action, cause });
    }
    // The other way round than they were applied.
    survey
        .doomed
        .sort_by_cached_key(|it| (Reverse(phase(&it.action.object.group_kind())), it.action.object.clone()));
    survey
}

/// The API version to delete an object by: what the cluster serves, or else what git has. `None` if neither knows.
pub(crate) fn version(
    member: &Member<'_>,
    content: Option<&Content<'_>>,
    kind: &GroupKind,
) -> Option<String> {
    let api = &member.view.api;
    if let Some(served) = api.kind(kind).and_then(|facts| facts.versions.first()) {
        return Some(served.clone());
    }
    let objects = content.map_or([].as_slice(), |content| content.variant.objects.as_slice());
    let same = objects.iter().find(|it| it.group == kind.group && it.kind == kind.kind);
    // The core group has one version, and is never absent.
    same.map(|it| it.version.clone()).or_else(|| kind.group.is_empty().then(|| "v1".to_owned()))
}

//! The best set of clusters among those that fit: what is there stays, the rest is drawn.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use kcp_api::{Reason, Wanted};
use sha2::{Digest, Sha256};

use super::filter::Judgement;
use super::{Choice, Leave, Question, text};
use crate::plan::{Role, Verdict};
use crate::planner::fleet::Member;
use crate::world::ClusterUid;

/// What a unit has on a cluster, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    /// Nothing.
    Absent,
    /// A copy, which was not decided or is on its way out.
    Copy,
    /// It was decided to be there.
    Target,
}

/// One cluster with all that its choice depends on.
pub(crate) struct Candidate<'a> {
    pub(crate) member: &'a Member<'a>,
    pub(crate) presence: Presence,
    pub(crate) judgement: Judgement,
    pub(crate) rank: u64,
    pub(crate) reachable: bool,
}

/// The place of a cluster in the draw for a unit: highest first.
pub(crate) fn draw(unit: &str, cluster: &ClusterUid) -> u64 {
    let mut hash = Sha256::new();
    hash.update(unit.as_bytes());
    hash.update([0]);
    hash.update(cluster.0.as_bytes());
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// At least and at most so many; no upper bound is `usize::MAX`.
fn bounds(wanted: Option<Wanted>) -> (usize, usize) {
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    match wanted {
        Some(Wanted::Exactly(count)) => (size(count), size(count)),
        Some(Wanted::Between { min, max }) => (size(min), max.map_or(usize::MAX, size)),
        // Nothing sensible is asked for only if a document was not validated: then nothing may be lost.
        Some(Wanted::All) | None => (1, usize::MAX),
    }
}

/// Chooses, and gives each cluster its verdict.
pub(crate) fn choose(question: &Question<'_>, mut candidates: Vec<Candidate<'_>>) -> Choice {
    let wanted = question.placement.spec.clusters.wanted();
    let (at_least, at_most) = bounds(wanted);
    candidates.sort_by(|a, b| order(a).cmp(&order(b)));
    let pinned = |it: &Candidate<'_>| it.member.uid.as_ref().is_some_and(|uid| question.pinned.contains(uid));

    let mut targets: BTreeSet<ClusterUid> = candidates
        .iter()
        .filter(|it| pinned(it) && !matches!(it.judgement, Judgement::MustLeave { voluntary: false, .. }))
        .filter_map(|it| it.member.uid.clone())
        .collect();
    for it in candidates.iter().filter(|it| matches!(it.judgement, Judgement::Fits { .. })) {
        if let Some(uid) = &it.member.uid
            && targets.len() < at_most
        {
            targets.insert(uid.clone());
        }
    }
    let fitting = targets.len();
    // Who has to leave and has nowhere to go stays.
    let mut staying = BTreeSet::new();
    for it in candidates.iter().filter(|it| matches!(it.judgement, Judgement::MustLeave { .. })) {
        if let Some(uid) = &it.member.uid
            && targets.len() < at_least
            && targets.insert(uid.clone())
        {
            staying.insert(uid.clone());
        }
    }

    let mut choice = Choice { unwanted: at_most == 0, ..Choice::default() };
    for it in &candidates {
        let chosen = it.member.uid.as_ref().is_some_and(|uid| targets.contains(uid));
        let stays = it.member.uid.as_ref().is_some_and(|uid| staying.contains(uid));
        let (verdict, leave) = verdict(it, chosen, stays, pinned(it));
        choice.verdicts.insert(it.member.name.to_owned(), verdict);
        if let (Some(leave), Some(uid)) = (leave, &it.member.uid) {
            choice.leaving.insert(uid.clone(), leave);
        }
        if it.judgement == Judgement::Unseen {
            choice.unseen.push(it.member.name.to_owned());
        }
    }
    choice.unseen.sort();
    choice.unplaced =
        (fitting < at_least).then(|| text::unplaced(wanted, fitting, &candidates, &targets, &staying));
    choice.targets = targets;
    choice
}

/// Staying put first, then reachable, unmarked, by the draw, and last by UID.
fn order<'a>(
    it: &'a Candidate<'_>,
) -> (Reverse<Presence>, bool, usize, Reverse<u64>, Option<&'a ClusterUid>) {
    let penalty = if let Judgement::Fits { penalty, .. } = it.judgement { penalty } else { 0 };
    // A taint that only discourages does not move what is there.
    let penalty = if it.presence == Presence::Absent { penalty } else { 0 };
    (Reverse(it.presence), !it.reachable, penalty, Reverse(it.rank), it.member.uid.as_ref())
}

fn verdict(it: &Candidate<'_>, chosen: bool, stays: bool, pinned: bool) -> (Verdict, Option<Leave>) {
    let say = |role, reason, message: String| Verdict { role, reason, message };
    let is_there = it.presence != Presence::Absent;
    match &it.judgement {
        Judgement::Excluded(why) => (say(Role::Excluded, why.reason, why.message()), None),
        Judgement::Unseen => (say(Role::Excluded, Reason::Pending, "had not been seen yet".to_owned()), None),
        Judgement::MustLeave { why, .. } if stays => {
            let message = format!("{}, but no other cluster fits: it stays", why.message());
            (say(Role::Chosen, Reason::NoClusterFits, message), None)
        }
        Judgement::MustLeave { why, .. } if chosen && pinned => {
            let message = format!("{}, but the move is held: it stays", why.message());
            (say(Role::Chosen, Reason::BudgetExceeded, message), None)
        }
        Judgement::MustLeave { why, voluntary } => {
            let leave = Leave { reason: why.reason, message: why.message(), voluntary: *voluntary };
            (say(Role::Leaving, why.reason, why.message()), Some(leave))
        }
        Judgement::Fits { note, .. } if chosen => {
            let (reason, message) = match note {
                Some(why) if is_there => (why.reason, format!("{}; it keeps counting", why.message())),
                Some(why) => (why.reason, why.message()),
                None if is_there => (Reason::StaysPut, "it is there and stays".to_owned()),
                None => (Reason::Chosen, "it fits and was drawn".to_owned()),
            };
            (say(Role::Chosen, reason, message), None)
        }
        Judgement::Fits { .. } if is_there => {
            let message = "more clusters have it than are asked for".to_owned();
            let leave = Leave { reason: Reason::NotNeeded, message: message.clone(), voluntary: true };
            (say(Role::Leaving, Reason::NotNeeded, message), Some(leave))
        }
        Judgement::Fits { .. } => (
            say(Role::NotNeeded, Reason::NotNeeded, "it fits, and enough others were preferred".to_owned()),
            None,
        ),
    }
}

//! Where one workspace goes: which clusters may have it, which of these do, and a reason for every one.
//!
//! Staying put beats everything but a hard reason; new clusters are drawn by a hash of (unit, cluster UID), so that
//! names of documents do not matter and adding or losing a cluster moves as little as possible.

mod choose;
mod filter;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::{Placement, Reason};

use crate::plan::Verdict;
use crate::planner::fleet::{Access, Fleet, Member};
use crate::world::{ClusterUid, Decision, UnixSeconds};
use choose::{Candidate, Presence};

/// All that the choice for one unit depends on.
pub(crate) struct Question<'a> {
    /// Name of the unit.
    pub(crate) unit: &'a str,
    /// Its placement.
    pub(crate) placement: &'a Placement,
    /// The clusters.
    pub(crate) fleet: &'a Fleet<'a>,
    /// What was decided before.
    pub(crate) previous: Option<&'a Decision>,
    /// Clusters where a copy was seen.
    pub(crate) copies: &'a BTreeSet<ClusterUid>,
    /// Clusters that must not be left for a voluntary reason.
    pub(crate) pinned: &'a BTreeSet<ClusterUid>,
    /// The present.
    pub(crate) now: UnixSeconds,
}

/// Why a cluster is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leave {
    /// The rule.
    pub(crate) reason: Reason,
    /// In words.
    pub(crate) message: String,
    /// Nothing forces it but a change in git: it counts against the budget of moves.
    pub(crate) voluntary: bool,
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    /// The clusters that shall have it.
    pub(crate) targets: BTreeSet<ClusterUid>,
    /// The clusters that have a copy and are not targets.
    pub(crate) leaving: BTreeMap<ClusterUid, Leave>,
    /// A verdict for each cluster, by the name of its document.
    pub(crate) verdicts: BTreeMap<String, Verdict>,
    /// One line, if fewer clusters were found than asked for.
    pub(crate) unplaced: Option<String>,
    /// Clusters that could have it, or could have had it before, and were not seen yet.
    pub(crate) unseen: Vec<String>,
    /// It is wanted nowhere (`exactly: 0`).
    pub(crate) unwanted: bool,
}

/// Chooses the clusters of one unit.
pub(crate) fn schedule(question: &Question<'_>) -> Choice {
    let candidates: Vec<Candidate<'_>> =
        question.fleet.members.values().map(|it| candidate(question, it)).collect();
    choose::choose(question, candidates)
}

fn candidate<'a>(question: &Question<'a>, member: &'a Member<'a>) -> Candidate<'a> {
    let presence = presence(question, member);
    Candidate {
        member,
        presence,
        judgement: filter::judge(question, member, presence),
        rank: member.uid.as_ref().map_or(0, |uid| choose::draw(question.unit, uid)),
        reachable: matches!(member.access, Access::Open | Access::Partial),
    }
}

fn presence(question: &Question<'_>, member: &Member<'_>) -> Presence {
    let Some(uid) = &member.uid else { return Presence::Absent };
    if question.previous.is_some_and(|it| it.targets.contains(uid)) {
        return Presence::Target;
    }
    // Where absence cannot be seen, a cluster that was being left still has its copy.
    let maybe = !member.is_whole() && question.previous.is_some_and(|it| it.leaving.contains(uid));
    if maybe || question.copies.contains(uid) { Presence::Copy } else { Presence::Absent }
}

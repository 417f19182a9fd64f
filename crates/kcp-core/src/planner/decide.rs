//! Where each unit shall be from now on: the schedule, what it changes about the last decision, and what of that may
//! begin now.
//!
//! Never decides anew from a state that could not be read, and never lets more voluntary moves begin than the budget
//! allows.

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::{Reason, Wanted};

use super::fleet::{Access, Fleet, Member};
use super::unit::{Desire, Placed, Unit};
use crate::plan::{HeldAction, Plan, Problem, Role, Verdict};
use crate::safety::approval::Approvals;
use crate::safety::budget::{self, Mover};
use crate::safety::stops;
use crate::schedule::{Choice, Leave, Question, schedule};
use crate::world::{ClusterUid, Decision, World};

/// What was decided for one unit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decided {
    /// Where it shall be; `None` if that cannot be said.
    pub(crate) decision: Option<Decision>,
    /// Clusters that it leaves, and why.
    pub(crate) leaving: BTreeMap<ClusterUid, Leave>,
    /// A verdict for each cluster.
    pub(crate) verdicts: BTreeMap<String, Verdict>,
    /// Why fewer clusters were found than asked for.
    pub(crate) unplaced: Option<String>,
}

impl Decided {
    /// Whether it shall be on a cluster.
    pub(crate) fn targets(&self, cluster: Option<&ClusterUid>) -> bool {
        let targets = self.decision.as_ref().map(|decision| &decision.targets);
        cluster.zip(targets).is_some_and(|(uid, targets)| targets.contains(uid))
    }
}

/// Decides for all units; holds, problems and moves that begin are added to the plan.
pub(crate) fn decide<'w>(
    world: &World,
    fleet: &Fleet<'_>,
    approvals: &Approvals<'_>,
    units: &BTreeMap<&'w str, Unit<'_>>,
    plan: &mut Plan,
) -> BTreeMap<&'w str, Decided> {
    let mut decided = BTreeMap::new();
    let mut choices: BTreeMap<&str, Choice> = BTreeMap::new();
    let mut movers = Vec::new();
    let unpinned = BTreeSet::new();
    for (name, unit) in units {
        let Some(placed) = unit.placed() else {
            decided.insert(*name, nowhere(fleet, unit, plan));
            continue;
        };
        let choice = schedule(&question(world, fleet, unit, placed, &unpinned));
        if let Some(why) = standstill(world, fleet, unit, placed) {
            decided.insert(*name, as_before(fleet, unit, placed, &choice, why, plan));
        } else if let Some(waiting) = wait(world, fleet, approvals, unit, &choice, plan) {
            decided.insert(*name, waiting);
        } else {
            movers.extend(mover(fleet, unit, &choice));
            choices.insert(*name, choice);
        }
    }
    let (held, ruling) = budget::moves(world, approvals, units.len(), movers.clone());
    plan.holds.extend(ruling.holds);
    plan.acts.extend(ruling.acts);
    for (name, mut choice) in choices {
        let Some(unit) = units.get(name) else { continue };
        let mover = movers.iter().find(|mover| mover.workspace == name && held.contains(name));
        if let (Some(mover), Some(placed)) = (mover, unit.placed()) {
            let pinned = mover.actions.iter().map(|action| action.cluster_uid.clone()).collect();
            choice = schedule(&question(world, fleet, unit, placed, &pinned));
        }
        decided.insert(unit.name, conclude(world, unit, choice, plan));
    }
    decided
        .into_iter()
        .filter_map(|(name, it)| units.get_key_value(name).map(|(name, _)| (*name, it)))
        .collect()
}

fn question<'a>(
    world: &'a World,
    fleet: &'a Fleet<'a>,
    unit: &'a Unit<'a>,
    placed: &Placed<'a>,
    pinned: &'a BTreeSet<ClusterUid>,
) -> Question<'a> {
    Question {
        unit: unit.name,
        placement: placed.placement,
        fleet,
        previous: unit.previous.as_ref(),
        copies: &unit.copies,
        pinned,
        now: world.now,
    }
}

/// A unit that git wants nowhere: what is there stays until its deletes are approved.
fn nowhere(fleet: &Fleet<'_>, unit: &Unit<'_>, plan: &mut Plan) -> Decided {
    let is_gone = matches!(unit.desire, Desire::Gone);
    if !is_gone {
        let message = format!(
            "no placement is about workspace {0}, so it goes nowhere; place it with `kubectl kcp place {0}`",
            unit.name
        );
        plan.problems.push(problem(Reason::NotPlaced, unit, message));
    }
    let mut decided = Decided::default();
    for member in fleet.members.values() {
        let is_there = member.uid.as_ref().is_some_and(|uid| unit.copies.contains(uid));
        let (role, reason, message) = match (is_there, is_gone) {
            (true, true) => {
                (Role::Leaving, Reason::WorkspaceRemoved, "has a copy; its deletes wait for approval")
            }
            (true, false) => {
                (Role::Leaving, Reason::PlacementRemoved, "has a copy; its deletes wait for approval")
            }
            (false, true) => (Role::Excluded, Reason::WorkspaceRemoved, "the workspace is gone from git"),
            (false, false) => (Role::Excluded, Reason::NotPlaced, "no placement is about the workspace"),
        };
        decided
            .verdicts
            .insert(member.name.to_owned(), Verdict { role, reason, message: message.to_owned() });
    }
    decided
}

/// Why the last decision stands, whatever else changed.
fn standstill(
    world: &World,
    fleet: &Fleet<'_>,
    unit: &Unit<'_>,
    placed: &Placed<'_>,
) -> Option<(Reason, &'static str)> {
    if !placed.is_whole {
        return Some((Reason::WorkspaceFailedToRender, "stands still: the workspace could not be rendered"));
    }
    if stops::freezes(world, placed.placement) {
        let reason = if stops::is_halted(world) { Reason::Halted } else { Reason::Suspended };
        return Some((reason, "stands still while work is stopped on purpose"));
    }
    // A cluster whose UID is neither recorded nor seen may be one that the unit is on.
    let astray = || {
        let targets = unit.previous.as_ref().map(|previous| &previous.targets);
        targets.is_some_and(|targets| targets.iter().any(|uid| fleet.by_uid(uid).is_none()))
    };
    (fleet.members.values().any(|member| member.uid.is_none()) && astray()).then_some((
        Reason::ClusterIdentityUnknown,
        "stands still: a cluster whose UID is not known may be one that it is on",
    ))
}

/// The last decision stands.
fn as_before(
    fleet: &Fleet<'_>,
    unit: &Unit<'_>,
    placed: &Placed<'_>,
    choice: &Choice,
    (reason, why): (Reason, &str),
    plan: &mut Plan,
) -> Decided {
    if !placed.is_whole {
        let kept = if placed.rendered.is_some() {
            "its last good state is kept up"
        } else {
            "nothing of it is touched"
        };
        let errors = if placed.errors.is_empty() {
            "it was not rendered".to_owned()
        } else {
            placed.errors.join("; ")
        };
        let message = format!("could not be rendered: {kept}, nothing is deleted. {errors}");
        plan.problems.push(problem(Reason::WorkspaceFailedToRender, unit, message));
    }
    let decision = unit.previous.clone();
    let mut decided = Decided { decision, ..Decided::default() };
    for member in fleet.members.values() {
        let Some(verdict) = choice.verdicts.get(member.name) else { continue };
        let role = if decided.targets(member.uid.as_ref()) {
            Role::Chosen
        } else if member.uid.as_ref().is_some_and(|uid| unit.copies.contains(uid)) {
            Role::Leaving
        } else if verdict.role == Role::Excluded {
            Role::Excluded
        } else {
            Role::NotNeeded
        };
        let verdict = match role {
            Role::Excluded => verdict.clone(),
            _ => Verdict { role, reason, message: why.to_owned() },
        };
        decided.verdicts.insert(member.name.to_owned(), verdict);
    }
    if let Some(previous) = &unit.previous {
        let leave = Leave { reason, message: why.to_owned(), voluntary: false };
        decided.leaving = previous.leaving.iter().map(|uid| (uid.clone(), leave.clone())).collect();
    }
    decided
}

/// A unit that was never placed as far as is known, while it may be where nobody could look yet.
fn wait(
    world: &World,
    fleet: &Fleet<'_>,
    approvals: &Approvals<'_>,
    unit: &Unit<'_>,
    choice: &Choice,
    plan: &mut Plan,
) -> Option<Decided> {
    if unit.previous.is_some() {
        return None;
    }
    let why = if !choice.unseen.is_empty() && !is_certain(fleet, unit, choice) {
        let names = choice.unseen.join(", ");
        let message = if nobody_looks(fleet, choice) {
            format!(
                "waits: {names} was never seen, and this run does not look there, so a copy may be there already; start \
                 the reconciler, which looks at all clusters, or `kubectl kcp sync` them first"
            )
        } else {
            format!("waits until {names} was seen: a copy may be there already")
        };
        plan.problems.push(problem(Reason::Pending, unit, message.clone()));
        message
    } else if let Some(cluster) = unreadable(world, fleet, unit) {
        let message =
            format!("waits until its inventory on {cluster} can be read: a copy may be there already");
        plan.problems.push(problem(Reason::InventoryIncomplete, unit, message.clone()));
        message
    } else if !world.memory_known && unit.copies.is_empty() && !goes_everywhere(unit) {
        let is_unknown = |it: &&Member<'_>| {
            // A cluster of mode None is nobody's to look at.
            let out_of_sight = match &it.access {
                Access::Lost(_) => true,
                Access::Closed(reason, _) => *reason != Reason::ManualCluster,
                Access::Open | Access::Partial | Access::Unseen => false,
            };
            out_of_sight && !it.view.complete
        };
        let unknown = fleet.members.values().filter(is_unknown);
        let actions = unknown.map(|member| held(fleet, "create", unit.name, member.uid.clone(), member.name));
        let actions: Vec<HeldAction> = actions.collect();
        if actions.iter().all(|action| approvals.cover(action)) {
            return None;
        }
        let names: Vec<&str> = actions.iter().map(|action| action.cluster.as_str()).collect();
        let message = format!(
            "whether it is on {} is unknown: neither the cluster nor the status branch can be read, so it is not \
             placed a second time",
            names.join(", ")
        );
        let hold =
            budget::hold(Reason::ClusterUnreachable, format!("workspace {}", unit.name), &message, actions);
        plan.holds.push(hold);
        message
    } else {
        return None;
    };
    let mut verdicts = choice.verdicts.clone();
    for verdict in verdicts.values_mut().filter(|verdict| verdict.role != Role::Excluded) {
        *verdict = Verdict { role: Role::NotNeeded, reason: Reason::Pending, message: why.clone() };
    }
    Some(Decided { verdicts, unplaced: choice.unplaced.clone(), ..Decided::default() })
}

/// Whether this run is about one cluster, and none that it does not look at can change what is decided there: all that
/// fit, or may fit, get the unit.
fn is_certain(fleet: &Fleet<'_>, unit: &Unit<'_>, choice: &Choice) -> bool {
    let fitting = choice.verdicts.values().filter(|verdict| verdict.role != Role::Excluded).count();
    let most = u32::try_from(fitting + choice.unseen.len()).unwrap_or(u32::MAX);
    let all = match unit.placed().and_then(|placed| placed.placement.spec.clusters.wanted()) {
        Some(Wanted::All) => true,
        Some(Wanted::Exactly(count) | Wanted::Between { min: count, .. }) => count >= most,
        None => false,
    };
    all && nobody_looks(fleet, choice)
}

/// Whether this run will never see what was not seen yet.
fn nobody_looks(fleet: &Fleet<'_>, choice: &Choice) -> bool {
    choice.unseen.iter().all(|name| fleet.members.get(name.as_str()).is_some_and(|member| !member.fresh))
}

/// Whether it is wanted on every cluster that fits: another copy is never one too many.
fn goes_everywhere(unit: &Unit<'_>) -> bool {
    unit.placed().is_some_and(|placed| placed.placement.spec.clusters.wanted() == Some(Wanted::All))
}

/// A cluster with an inventory that cannot be read and may be of this unit: it bears its name, or tells no name.
fn unreadable<'w>(world: &World, fleet: &Fleet<'w>, unit: &Unit<'_>) -> Option<&'w str> {
    let mut members = fleet.members.values().filter(|member| member.has_own_view());
    let found = members.find(|member| {
        let mut parents = member.view.parent_errors.keys();
        parents.any(|parent| parent == unit.name || !world.desired.config.workspaces.contains_key(parent))
    });
    found.map(|member| member.name)
}

/// The voluntary move that would begin with a choice, if there is one.
fn mover(fleet: &Fleet<'_>, unit: &Unit<'_>, choice: &Choice) -> Option<Mover> {
    // Wanted nowhere is not a move: its deletes are always held.
    if choice.unwanted {
        return None;
    }
    let was = unit.previous.as_ref().map_or(&unit.copies, |previous| &previous.targets);
    let left = choice.leaving.iter().filter(|(uid, leave)| leave.voluntary && was.contains(uid));
    // The epoch that is left takes the place of a UID: an approval is good for one move, not for the way back.
    let left_epoch = unit.previous.as_ref().map(|previous| format!("epoch {}", previous.epoch));
    let actions = left.map(|(uid, _)| HeldAction {
        uid: left_epoch.clone(),
        ..held(fleet, "move", unit.name, Some(uid.clone()), &fleet.name_of(uid))
    });
    let actions: Vec<HeldAction> = actions.collect();
    if actions.is_empty() {
        return None;
    }
    let id = format!("{} epoch {}", unit.name, next_epoch(unit));
    Some(Mover { workspace: unit.name.to_owned(), id, actions })
}

fn held(fleet: &Fleet<'_>, verb: &str, unit: &str, uid: Option<ClusterUid>, cluster: &str) -> HeldAction {
    let cluster_uid = uid.unwrap_or_else(|| ClusterUid(cluster.to_owned()));
    let cluster = fleet.by_uid(&cluster_uid).map_or(cluster, |member| member.name).to_owned();
    HeldAction { verb: verb.to_owned(), cluster_uid, cluster, object: budget::unit_object(unit), uid: None }
}

/// The decision that a choice makes.
fn conclude(world: &World, unit: &Unit<'_>, choice: Choice, plan: &mut Plan) -> Decided {
    if let Some(text) = &choice.unplaced {
        plan.problems.push(problem(Reason::NoClusterFits, unit, text.clone()));
    }
    // With pruning off a copy that is left stays for ever: nobody waits for it.
    let leaving = if unit.policy.delete.prune { choice.leaving } else { BTreeMap::new() };
    let names: BTreeSet<ClusterUid> = leaving.keys().cloned().collect();
    let decision = match &unit.previous {
        Some(previous) if previous.targets == choice.targets => {
            Some(Decision { leaving: names, ..previous.clone() })
        }
        None if choice.targets.is_empty() && names.is_empty() => None,
        _ => {
            let (epoch, since) = (next_epoch(unit), world.now);
            Some(Decision { epoch, targets: choice.targets, leaving: names, since })
        }
    };
    Decided { decision, leaving, verdicts: choice.verdicts, unplaced: choice.unplaced }
}

fn next_epoch(unit: &Unit<'_>) -> u64 {
    unit.previous.as_ref().map_or(1, |previous| previous.epoch.saturating_add(1))
}

fn problem(reason: Reason, unit: &Unit<'_>, message: String) -> Problem {
    let (workspace, cluster, object) = (Some(unit.name.to_owned()), None, None);
    let origin = unit.placed().map(|placed| placed.workspace.origin());
    Problem { reason, workspace, cluster, object, origin, message }
}

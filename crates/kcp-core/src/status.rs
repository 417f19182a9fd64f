//! Status: from a world and its plan to what is recorded and shown, for each workspace, each cluster and the fleet.
//!
//! The worst wins; copies that leave do not count; where nothing is known it says `Unknown`, never `True`. A time
//! changes only when a status flips, so that an unchanged world gives the same bytes and nothing is written.

mod cluster;
mod copy;
mod workspace;

use std::collections::BTreeMap;

use kcp_api::{
    ClusterStatus, Condition, ConditionStatus, ConditionType, FleetStatus, Hold, Reason, Timestamp,
    WorkspaceStatus,
};

use crate::plan::{self, Plan};
use crate::world::World;

/// Status of everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statuses {
    /// By workspace: those of the commit, and those that are gone and still have objects somewhere.
    pub workspaces: BTreeMap<String, WorkspaceStatus>,
    /// By the name of the Cluster document.
    pub clusters: BTreeMap<String, ClusterStatus>,
    /// The fleet as a whole; its `writer` is for the caller to fill in.
    pub fleet: FleetStatus,
}

/// Merges what was seen and what is planned. `before` is the last result (or what the record has of it): it gives the
/// times of all that did not change since.
#[must_use]
pub fn statuses(world: &World, plan: &Plan, before: &Statuses) -> Statuses {
    let now = Timestamp::from_epoch_seconds(world.now);
    let mut names: Vec<&String> = world.desired.workspaces.keys().collect();
    names.extend(plan.units.keys().map(|unit| &unit.workspace));
    names.extend(world.clusters.values().flat_map(|view| view.sets.keys()));
    names.sort_unstable();
    names.dedup();
    let none = WorkspaceStatus::default();
    let workspaces: BTreeMap<String, WorkspaceStatus> = names
        .into_iter()
        .map(|name| {
            let before = before.workspaces.get(name).unwrap_or(&none);
            (name.clone(), workspace::status(world, plan, name, before, &now))
        })
        .collect();
    let none = ClusterStatus::default();
    let clusters: BTreeMap<String, ClusterStatus> = world
        .desired
        .config
        .clusters
        .keys()
        .map(|name| {
            let before = before.clusters.get(name).unwrap_or(&none);
            (name.clone(), cluster::status(world, plan, name, before, &now))
        })
        .collect();
    let fleet = cluster::fleet(world, plan, &workspaces, &clusters, &before.fleet, &now);
    Statuses { workspaces, clusters, fleet }
}

/// What is said about one thing, with the times of what was said before.
struct Said<'a> {
    before: &'a [Condition],
    now: &'a Timestamp,
    conditions: Vec<Condition>,
}

impl<'a> Said<'a> {
    fn new(before: &'a [Condition], now: &'a Timestamp) -> Self {
        Self { before, now, conditions: Vec::new() }
    }

    fn say(&mut self, condition_type: ConditionType, finding: Finding) {
        let Finding { status, reason, message } = finding;
        let same = self.before.iter().find(|it| it.condition_type == condition_type && it.status == status);
        let last_transition_time = same.map_or(self.now, |it| &it.last_transition_time).clone();
        let condition = Condition {
            condition_type,
            status,
            reason,
            message,
            last_transition_time,
            observed_generation: 0,
        };
        condition.put_into(&mut self.conditions);
    }
}

/// What a condition will say.
#[derive(Debug, Clone, PartialEq)]
struct Finding {
    status: ConditionStatus,
    reason: Reason,
    message: String,
}

impl Finding {
    fn new(status: ConditionStatus, reason: Reason, message: impl Into<String>) -> Self {
        Self { status, reason, message: message.into() }
    }

    fn yes(reason: Reason, message: impl Into<String>) -> Self {
        Self::new(ConditionStatus::True, reason, message)
    }

    fn no(reason: Reason, message: impl Into<String>) -> Self {
        Self::new(ConditionStatus::False, reason, message)
    }

    fn unknown(reason: Reason, message: impl Into<String>) -> Self {
        Self::new(ConditionStatus::Unknown, reason, message)
    }

    /// How bad it is where `True` is good.
    fn badness(&self) -> u8 {
        match self.status {
            ConditionStatus::True => 0,
            ConditionStatus::Unknown => 1,
            ConditionStatus::False => 2,
        }
    }
}

/// A condition of a list, as a finding.
fn finding(conditions: &[Condition], condition_type: ConditionType) -> Option<Finding> {
    let found = conditions.iter().find(|it| it.condition_type == condition_type)?;
    Some(Finding::new(found.status, found.reason, found.message.clone()))
}

/// The worst of findings that each have a name; of equals the first. `None` for none at all.
fn worst<'a>(findings: impl IntoIterator<Item = (&'a str, Finding)>) -> Option<Finding> {
    let findings: Vec<(&str, Finding)> = findings.into_iter().collect();
    let worst = findings.iter().map(|(_, it)| it.badness()).max()?;
    let (name, found) = findings.into_iter().find(|(_, it)| it.badness() == worst)?;
    Some(Finding { message: format!("{name}: {}", found.message), ..found })
}

/// Whether a problem of this kind ends only when somebody does something.
fn stalls(reason: Reason) -> bool {
    !matches!(
        reason,
        Reason::Succeeded
            | Reason::Progressing
            | Reason::Pending
            | Reason::Moving
            | Reason::Leaving
            | Reason::Evicting
            | Reason::NotReady
            | Reason::Retained
            | Reason::Drifted
            | Reason::ClusterUnreachable
            | Reason::StaleWatches
            | Reason::Suspended
            | Reason::Halted
    )
}

/// Holds in the form of the record, with the time since which each is there.
fn holds<'a>(held: impl Iterator<Item = &'a plan::Hold>, before: &[Hold], now: &Timestamp) -> Vec<Hold> {
    held.map(|hold| {
        let same = |old: &&Hold| {
            old.id == hold.id
                && old.reason == hold.reason
                && (!old.id.is_empty() || old.message == hold.message)
        };
        Hold {
            id: hold.id.clone(),
            reason: hold.reason,
            message: format!("{}: {}", hold.subject, hold.message),
            since: before.iter().find(same).map_or(now, |old| &old.since).clone(),
            actions: hold.actions.iter().filter_map(plan::HeldAction::action).collect(),
        }
    })
    .collect()
}

/// The condition `Held` for a list of holds.
fn held(holds: &[Hold]) -> Finding {
    match holds {
        [] => Finding::no(Reason::Succeeded, "nothing waits"),
        [one] => Finding::yes(one.reason, one.message.clone()),
        [first, rest @ ..] => {
            Finding::yes(first.reason, format!("{}; and {} more", first.message, rest.len()))
        }
    }
}

/// The beginning of a commit id, as git shows it.
fn short(commit: &str) -> &str {
    let hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hash { &commit[..8] } else { commit }
}

#[cfg(test)]
mod tests;

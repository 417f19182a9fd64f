//! One workspace, all its clusters together.

use std::collections::BTreeMap;

use kcp_api::{
    ClusterReason, ConditionStatus, ConditionType, Decision, GROUP, Reason, Timestamp,
    WorkspaceClusterStatus, WorkspaceStatus,
};

use super::{Finding, Said, copy, finding, held, holds, short, stalls, worst};
use crate::plan::{Hold, Plan, Role, UnitPlan};
use crate::world::{ClusterUid, UnitId, WorkspaceState, World};

/// The status of a workspace.
pub(super) fn status(
    world: &World,
    plan: &Plan,
    name: &str,
    before: &WorkspaceStatus,
    now: &Timestamp,
) -> WorkspaceStatus {
    let unit = plan.units.get(&UnitId::workspace(name));
    let roles = roles(world, name, unit);
    let copies: Vec<WorkspaceClusterStatus> = roles
        .iter()
        .map(|(cluster, role)| {
            let old = before.clusters.iter().find(|it| it.name == *cluster);
            copy::status(world, plan, (name, cluster, *role), old, now)
        })
        .collect();
    let targets: Vec<&WorkspaceClusterStatus> =
        copies.iter().filter(|it| roles.get(it.name.as_str()) == Some(&Role::Chosen)).collect();
    let placement = unit.and_then(|it| it.placement.clone());
    let concerns = |hold: &&Hold| concerns(hold, name, placement.as_deref());
    let holds = holds(plan.holds.iter().filter(concerns), &before.holds, now);
    let merge = Merge { world, plan, name, unit, targets: &targets };

    let mut said = Said::new(&before.conditions, now);
    let (placed, stalled) = (merge.placed(), merge.stalled());
    said.say(ConditionType::Ready, merge.ready(&placed, &stalled));
    said.say(ConditionType::Reconciling, merge.reconciling());
    said.say(ConditionType::Stalled, stalled);
    said.say(ConditionType::SpreadSatisfied, merge.spread());
    said.say(ConditionType::Placed, placed);
    said.say(ConditionType::Synced, merge.synced());
    said.say(ConditionType::ApisCompatible, merge.apis());
    said.say(ConditionType::Held, held(&holds));
    WorkspaceStatus {
        name: name.to_owned(),
        placement,
        commit: match world.desired.workspaces.get(name) {
            Some(WorkspaceState::Rendered(_)) => Some(world.desired.commit.clone()),
            _ => before.commit.clone(),
        },
        conditions: said.conditions,
        decision: unit.and_then(|unit| decision(world, unit, before.decision.as_ref())),
        clusters: copies,
        holds,
    }
}

/// What each cluster is to the workspace: what the plan says, and whatever else still has objects of it.
fn roles<'a>(world: &'a World, name: &str, unit: Option<&'a UnitPlan>) -> BTreeMap<&'a str, Role> {
    let verdicts = unit.into_iter().flat_map(|it| &it.verdicts);
    let mut roles: BTreeMap<&str, Role> = verdicts
        .filter(|(_, verdict)| matches!(verdict.role, Role::Chosen | Role::Leaving))
        .map(|(cluster, verdict)| (cluster.as_str(), verdict.role))
        .collect();
    for (cluster, view) in &world.clusters {
        if view.sets.contains_key(name) {
            roles.entry(cluster).or_insert(Role::Leaving);
        }
    }
    roles
}

/// Whether a hold stops something of this workspace.
fn concerns(hold: &Hold, name: &str, placement: Option<&str>) -> bool {
    let moves = |it: &crate::plan::HeldAction| {
        it.object.group == GROUP && it.object.kind == "Workspace" && it.object.name == name
    };
    hold.subject == format!("workspace {name}")
        || placement.is_some_and(|placement| hold.subject == format!("placement {placement}"))
        || (hold.subject == "fleet" && hold.actions.is_empty())
        || hold.actions.iter().any(moves)
}

struct Merge<'a> {
    world: &'a World,
    plan: &'a Plan,
    name: &'a str,
    unit: Option<&'a UnitPlan>,
    targets: &'a [&'a WorkspaceClusterStatus],
}

impl Merge<'_> {
    /// The worst of a condition over the copies that count.
    fn worst(&self, condition_type: ConditionType) -> Option<Finding> {
        let of = |copy: &&WorkspaceClusterStatus| finding(&copy.conditions, condition_type);
        worst(self.targets.iter().filter_map(|copy| Some((copy.name.as_str(), of(copy)?))))
    }

    /// The first copy of which a condition is true.
    fn any(&self, condition_type: ConditionType) -> Option<Finding> {
        self.targets.iter().find_map(|copy| {
            let found = finding(&copy.conditions, condition_type)?;
            let message = format!("{}: {}", copy.name, found.message);
            (found.status == ConditionStatus::True).then_some(Finding { message, ..found })
        })
    }

    fn ready(&self, placed: &Finding, stalled: &Finding) -> Finding {
        let Some(worst) = self.worst(ConditionType::Ready) else {
            return Finding::unknown(placed.reason, placed.message.clone());
        };
        if worst.status == ConditionStatus::False {
            return worst;
        }
        if stalled.status == ConditionStatus::True {
            return Finding::no(stalled.reason, stalled.message.clone());
        }
        if placed.status == ConditionStatus::False {
            return Finding::no(placed.reason, placed.message.clone());
        }
        if worst.status == ConditionStatus::Unknown {
            return worst;
        }
        let (clusters, objects) = (self.targets.len(), self.targets.iter().map(|it| it.objects).sum::<u64>());
        Finding::yes(Reason::Succeeded, format!("all {objects} objects on {clusters} clusters are ready"))
    }

    fn reconciling(&self) -> Finding {
        if let Some(movement) = self.unit.and_then(|it| it.movement.as_ref()) {
            let (from, to) = (movement.from.join(", "), movement.to.join(", "));
            return Finding::yes(Reason::Moving, format!("from {from} to {to}: {}", movement.message));
        }
        match self.any(ConditionType::Reconciling) {
            Some(found) => found,
            None if self.targets.is_empty() => Finding::no(Reason::Pending, "it is on no cluster"),
            None => Finding::no(Reason::Succeeded, "nothing to do"),
        }
    }

    fn stalled(&self) -> Finding {
        if let Some(WorkspaceState::Failed { errors, .. }) = self.world.desired.workspaces.get(self.name) {
            let message = match errors.as_slice() {
                [] => "it could not be rendered".to_owned(),
                [one] => one.clone(),
                [first, rest @ ..] => format!("{first}; and {} more", rest.len()),
            };
            return Finding::yes(Reason::WorkspaceFailedToRender, message);
        }
        if let Some(found) = self.any(ConditionType::Stalled) {
            return found;
        }
        // A problem of one object on one cluster is told by the copy there.
        let own = self.plan.problems.iter().find(|it| {
            it.workspace.as_deref() == Some(self.name)
                && (it.object.is_none() || it.cluster.is_none())
                && stalls(it.reason)
        });
        match own {
            Some(problem) => Finding::yes(problem.reason, problem.message.clone()),
            None => Finding::no(Reason::Succeeded, "nothing is stuck"),
        }
    }

    fn placed(&self) -> Finding {
        let gone = !self.world.desired.workspaces.contains_key(self.name);
        let Some(unit) = self.unit else {
            let (reason, message) = if gone {
                (Reason::WorkspaceRemoved, "the workspace is gone from the repo")
            } else {
                (Reason::NotPlaced, "no placement is about this workspace")
            };
            return Finding::no(reason, message);
        };
        if gone {
            return Finding::no(Reason::WorkspaceRemoved, "the workspace is gone from the repo");
        }
        if unit.placement.is_none() {
            return Finding::no(Reason::NotPlaced, "no placement is about this workspace");
        }
        if let Some(text) = &unit.unplaced {
            return Finding::no(Reason::NoClusterFits, text.clone());
        }
        match &unit.decision {
            Some(decision) if !decision.targets.is_empty() => {
                let clusters: Vec<&str> = self.targets.iter().map(|it| it.name.as_str()).collect();
                Finding::yes(Reason::Chosen, format!("on {}", clusters.join(", ")))
            }
            Some(_) => Finding::no(Reason::NoClusterFits, "it is on no cluster"),
            None => Finding::unknown(Reason::Pending, "nothing is decided yet"),
        }
    }

    fn synced(&self) -> Finding {
        let Some(worst) = self.worst(ConditionType::Synced) else {
            return Finding::unknown(Reason::Pending, "it is on no cluster");
        };
        if worst.status != ConditionStatus::True {
            return worst;
        }
        let commit = short(&self.world.desired.commit);
        Finding::yes(Reason::Succeeded, format!("commit {commit} is on {} clusters", self.targets.len()))
    }

    /// What can be said without comparing schemas: whether each kind is served.
    fn apis(&self) -> Finding {
        let missing = self
            .plan
            .problems
            .iter()
            .find(|it| it.workspace.as_deref() == Some(self.name) && it.reason == Reason::KindMissing);
        if let Some(problem) = missing {
            let cluster = problem.cluster.as_deref().unwrap_or("a cluster");
            return Finding::no(Reason::KindMissing, format!("{cluster}: {}", problem.message));
        }
        if self.targets.is_empty() {
            return Finding::unknown(Reason::Pending, "it is on no cluster");
        }
        for target in self.targets {
            let Some(view) = self.world.clusters.get(&target.name) else { continue };
            if view.api.kinds.is_empty() {
                return Finding::unknown(
                    Reason::Pending,
                    format!("{}: its APIs were not seen yet", target.name),
                );
            }
            if let Some(group) = view.api.failed_groups.keys().next() {
                let message = format!("{}: the API group {group} could not be discovered", target.name);
                return Finding::unknown(Reason::DiscoveryIncomplete, message);
            }
        }
        Finding::yes(Reason::Succeeded, "every kind in use is served")
    }

    fn spread(&self) -> Finding {
        if self.targets.is_empty() {
            return Finding::unknown(Reason::Pending, "it is on no cluster");
        }
        Finding::yes(Reason::Succeeded, "no spread is asked for")
    }
}

/// The decision for people: names instead of UIDs, and the commit that it was first seen with.
fn decision(world: &World, unit: &UnitPlan, before: Option<&Decision>) -> Option<Decision> {
    let made = unit.decision.as_ref()?;
    let mut clusters: Vec<String> = made.targets.iter().map(|uid| name_of(world, uid)).collect();
    clusters.sort();
    let same = before.filter(|old| old.epoch == made.epoch);
    let reasons = unit.verdicts.iter().map(|(name, verdict)| ClusterReason {
        name: name.clone(),
        chosen: verdict.role == Role::Chosen,
        reason: verdict.reason,
        message: verdict.message.clone(),
    });
    Some(Decision {
        epoch: made.epoch,
        commit: same.map_or_else(|| Some(world.desired.commit.clone()), |old| old.commit.clone()),
        clusters,
        reasons: reasons.collect(),
    })
}

/// The document of a cluster, or its UID where none has it.
fn name_of(world: &World, uid: &ClusterUid) -> String {
    let recorded = |name: &&String| {
        let document = &world.desired.config.clusters[*name].value;
        document.spec.uid.as_deref().or_else(|| Some(world.clusters.get(*name)?.uid.as_ref()?.0.as_str()))
            == Some(uid.0.as_str())
    };
    world.desired.config.clusters.keys().find(recorded).unwrap_or(&uid.0).clone()
}

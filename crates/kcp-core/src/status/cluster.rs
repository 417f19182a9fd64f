//! One cluster, and the fleet as a whole.

use std::collections::BTreeMap;

use kcp_api::{
    ClusterStatus, ConditionStatus, ConditionType, FleetStatus, Reason, Timestamp, WorkspaceStatus,
};

use super::copy::unseen;
use super::{Finding, Said, finding, held, holds, worst};
use crate::plan::{Plan, SetPlan};
use crate::world::{Contact, World};

/// The status of a cluster.
pub(super) fn status(
    world: &World,
    plan: &Plan,
    name: &str,
    before: &ClusterStatus,
    now: &Timestamp,
) -> ClusterStatus {
    let view = world.clusters.get(name);
    if before.name == name && unseen(view) {
        // A restart is no news of the cluster.
        return before.clone();
    }
    let contact = view.map_or(&Contact::Pending, |it| &it.contact);
    let cluster_plan = plan.clusters.get(name);
    let sets = || cluster_plan.into_iter().flat_map(|it| it.sets.values());
    let subject = format!("cluster {name}");
    let holds = holds(plan.holds.iter().filter(|it| it.subject == subject), &before.holds, now);

    let (ready, since) = match contact {
        Contact::Pending => (Finding::unknown(Reason::Pending, "not seen yet"), None),
        Contact::Live { since } => (Finding::yes(Reason::Connected, "it answers"), Some(*since)),
        Contact::Lost { since, message } => {
            (Finding::no(Reason::ClusterUnreachable, message.clone()), Some(*since))
        }
        Contact::Refused { since, reason, message } => (Finding::no(*reason, message.clone()), Some(*since)),
    };
    let reachable = matches!(contact, Contact::Live { .. });
    let fresh = reachable && view.is_some_and(|it| it.complete);
    let failed = view.map(|it| &it.api.failed_groups);
    let mut said = Said::new(&before.conditions, now);
    said.say(ConditionType::Ready, ready);
    said.say(
        ConditionType::Synced,
        synced(reachable, cluster_plan.and_then(|it| it.stopped.clone()), sets()),
    );
    said.say(
        ConditionType::ApisCompatible,
        match failed.and_then(|it| it.iter().next()) {
            Some((group, error)) => {
                Finding::unknown(Reason::DiscoveryIncomplete, format!("API group {group}: {error}"))
            }
            None if view.is_none_or(|it| it.api.kinds.is_empty()) => {
                Finding::unknown(Reason::Pending, "its APIs were not seen yet")
            }
            None => Finding::yes(Reason::Succeeded, "its APIs were discovered"),
        },
    );
    said.say(ConditionType::Held, held(&holds));
    ClusterStatus {
        name: name.to_owned(),
        uid: view.and_then(|it| it.uid.as_ref()).map(|uid| uid.0.clone()),
        version: view.and_then(|it| it.version.clone()),
        reachable,
        reachable_since: since.map(Timestamp::from_epoch_seconds),
        fresh,
        fresh_since: match &before.fresh_since {
            Some(since) if before.fresh == fresh => Some(since.clone()),
            _ => Some(now.clone()),
        },
        conditions: said.conditions,
        objects: view.map_or(0, |it| it.sets.values().map(|set| set.objects.len() as u64).sum()),
        retained: sets().map(|set| set.retained.len() as u64).sum(),
        failed_api_groups: failed.map_or_else(Vec::new, |it| it.keys().cloned().collect()),
        holds,
    }
}

fn synced<'a>(
    reachable: bool,
    stopped: Option<(Reason, String)>,
    sets: impl Iterator<Item = &'a SetPlan>,
) -> Finding {
    let waiting: usize = sets.filter(|it| !it.is_quiet()).count();
    match stopped {
        Some((reason, message)) if reachable && waiting > 0 => Finding::no(reason, message),
        Some((reason, message)) => Finding::unknown(reason, message),
        None if !reachable => Finding::unknown(Reason::ClusterUnreachable, "it is not in contact"),
        None if waiting > 0 => {
            Finding::no(Reason::Progressing, format!("{waiting} workspaces have changes to write"))
        }
        None => Finding::yes(Reason::Succeeded, "it is what the commit says"),
    }
}

/// The status of the fleet: the worst of its workspaces and clusters.
pub(super) fn fleet(
    world: &World,
    plan: &Plan,
    workspaces: &BTreeMap<String, WorkspaceStatus>,
    clusters: &BTreeMap<String, ClusterStatus>,
    before: &FleetStatus,
    now: &Timestamp,
) -> FleetStatus {
    let holds = holds(plan.holds.iter(), &before.holds, now);
    let mut said = Said::new(&before.conditions, now);
    for condition_type in [ConditionType::Ready, ConditionType::Synced] {
        let of_workspaces = workspaces.iter().filter_map(|(name, it)| {
            Some((format!("workspace {name}"), finding(&it.conditions, condition_type)?))
        });
        let of_clusters = clusters.iter().filter_map(|(name, it)| {
            Some((format!("cluster {name}"), finding(&it.conditions, condition_type)?))
        });
        let all: Vec<(String, Finding)> = of_workspaces.chain(of_clusters).collect();
        let found = match worst(all.iter().map(|(name, it)| (name.as_str(), it.clone()))) {
            None => Finding::unknown(Reason::Pending, "there are no clusters and no workspaces"),
            Some(worst) if worst.status == ConditionStatus::True => {
                let counts = format!("{} workspaces on {} clusters", workspaces.len(), clusters.len());
                Finding::yes(Reason::Succeeded, counts)
            }
            Some(worst) => worst,
        };
        said.say(condition_type, found);
    }
    let busy = workspaces.iter().find_map(|(name, it)| {
        let found = finding(&it.conditions, ConditionType::Reconciling)?;
        (found.status == ConditionStatus::True).then_some((name, found))
    });
    said.say(
        ConditionType::Reconciling,
        match busy {
            Some((name, found)) => Finding::yes(found.reason, format!("workspace {name}: {}", found.message)),
            None => Finding::no(Reason::Succeeded, "nothing to do"),
        },
    );
    said.say(ConditionType::Held, held(&holds));
    FleetStatus {
        commit: Some(world.desired.commit.clone()),
        writer: None,
        conditions: said.conditions,
        holds,
    }
}

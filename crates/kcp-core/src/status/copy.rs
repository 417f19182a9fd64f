//! One workspace on one cluster.

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::{ConditionType, Kstatus, ObjectStatus, Reason, Timestamp, WorkspaceClusterStatus};

use super::{Finding, Said, stalls};
use crate::object::ObjectKey;
use crate::plan::{ApplyVerb, Plan, Role, SetPlan};
use crate::world::{ClusterView, Contact, HealthStatus, ObservedSet, WorkspaceState, World};

/// How many objects are listed; the counts tell of the others.
const MAX_LISTED: usize = 200;

/// One object that is not as it should be.
struct Bad {
    status: Kstatus,
    reason: Reason,
    message: String,
}

/// The status of the copy of a workspace on a cluster.
pub(super) fn status(
    world: &World,
    plan: &Plan,
    (workspace, cluster, role): (&str, &str, Role),
    before: Option<&WorkspaceClusterStatus>,
    now: &Timestamp,
) -> WorkspaceClusterStatus {
    let view = world.clusters.get(cluster);
    if let Some(before) = before.filter(|_| unseen(view)) {
        // A restart is no news of the cluster.
        return before.clone();
    }
    let set = view.and_then(|view| view.sets.get(workspace));
    let cluster_plan = plan.clusters.get(cluster);
    let set_plan = cluster_plan.and_then(|it| it.sets.get(workspace));
    let stopped = cluster_plan.and_then(|it| it.stopped.clone());
    let members = members(set, set_plan, workspace);
    let bad = bad(plan, view, set_plan, &members, (workspace, cluster));

    let is_member = |key: &ObjectKey| members.binary_search_by(|(member, _)| (*member).cmp(key)).is_ok();
    let extra = bad.keys().filter(|key| !is_member(key)).count();
    let objects = members.len() + extra;
    let ready = ready(blind(view, set), &bad, objects);
    let synced = synced(world, workspace, blind(view, set), set_plan, role, stopped, &bad);
    let waiting = set_plan.map_or(0, |it| it.apply.len() + it.delete.len());
    let moving =
        bad.values().filter(|it| matches!(it.status, Kstatus::InProgress | Kstatus::Terminating)).count();
    let stuck = bad.iter().find(|(_, it)| it.status == Kstatus::Failed && stalls(it.reason));

    let mut said = Said::new(before.map_or(&[], |it| &it.conditions), now);
    let in_sync = synced.status == kcp_api::ConditionStatus::True;
    said.say(ConditionType::Ready, ready);
    said.say(ConditionType::Synced, synced);
    said.say(
        ConditionType::Reconciling,
        match (role, view.map(|it| &it.contact)) {
            (_, None | Some(Contact::Pending | Contact::Lost { .. } | Contact::Refused { .. })) => {
                Finding::unknown(Reason::ClusterUnreachable, "the cluster is not in contact")
            }
            (Role::Leaving, _) => Finding::yes(Reason::Leaving, "it leaves once the new copies are healthy"),
            _ if waiting > 0 => Finding::yes(Reason::Progressing, format!("{waiting} objects to write")),
            _ if moving > 0 => Finding::yes(Reason::Progressing, format!("{moving} objects on their way")),
            _ => Finding::no(Reason::Succeeded, "nothing to do"),
        },
    );
    said.say(
        ConditionType::Stalled,
        match stuck {
            Some((key, it)) => Finding::yes(it.reason, format!("{key}: {}", it.message)),
            None => Finding::no(Reason::Succeeded, "nothing is stuck"),
        },
    );
    WorkspaceClusterStatus {
        name: cluster.to_owned(),
        uid: view.and_then(|it| it.uid.as_ref()).map(|uid| uid.0.clone()),
        commit: if in_sync && role != Role::Leaving {
            Some(world.desired.commit.clone())
        } else {
            before.and_then(|it| it.commit.clone())
        },
        conditions: said.conditions,
        objects: objects as u64,
        current: (objects - bad.len()) as u64,
        not_current: list(bad, before, now),
    }
}

/// In order.
type Members<'a> = Vec<(&'a ObjectKey, &'a crate::world::ObservedObject)>;

/// What is there of ours and shall stay: without what git no longer has, and without objects that copied our label.
fn members<'a>(set: Option<&'a ObservedSet>, plan: Option<&SetPlan>, workspace: &str) -> Members<'a> {
    let deleted: BTreeSet<&ObjectKey> =
        plan.into_iter().flat_map(|it| &it.delete).map(|it| &it.key).collect();
    let goes = |key: &ObjectKey| deleted.contains(key) || plan.is_some_and(|it| it.retained.contains(key));
    set.into_iter()
        .flat_map(|set| &set.objects)
        .filter(|(key, it)| {
            it.managed && !it.controlled && it.workspace.as_deref() == Some(workspace) && !goes(key)
        })
        .collect()
}

fn bad(
    plan: &Plan,
    view: Option<&ClusterView>,
    set_plan: Option<&SetPlan>,
    members: &[(&ObjectKey, &crate::world::ObservedObject)],
    (workspace, cluster): (&str, &str),
) -> BTreeMap<ObjectKey, Bad> {
    let mut bad = BTreeMap::new();
    for (key, member) in members {
        let (status, reason) = match member.health.status {
            HealthStatus::Current => continue,
            HealthStatus::InProgress => (Kstatus::InProgress, Reason::NotReady),
            HealthStatus::Terminating => (Kstatus::Terminating, Reason::Progressing),
            HealthStatus::Unknown => (Kstatus::Unknown, Reason::NotReady),
            HealthStatus::Failed => (Kstatus::Failed, Reason::ObjectFailed),
        };
        bad.insert((*key).clone(), Bad { status, reason, message: member.health.message.clone() });
    }
    for action in set_plan.into_iter().flat_map(|it| &it.apply) {
        let status = if action.verb == ApplyVerb::Create { Kstatus::NotFound } else { Kstatus::InProgress };
        let message =
            if action.verb == ApplyVerb::Create { "not there yet".to_owned() } else { action.why.clone() };
        let waiting = Bad { status, reason: Reason::Progressing, message };
        bad.entry(action.object.key.clone()).or_insert(waiting);
        // A write that is tried again is not cured yet: without this, the status would flip at each attempt.
        let failed = view.and_then(|it| it.failures.get(&action.object.key));
        if let Some(failure) =
            failed.filter(|it| it.workspace == workspace && it.hash == Some(action.object.hash))
        {
            let failure =
                Bad { status: Kstatus::Failed, reason: failure.reason, message: failure.message.clone() };
            bad.insert(action.object.key.clone(), failure);
        }
    }
    let here = |it: &&crate::plan::Problem| {
        it.workspace.as_deref() == Some(workspace) && it.cluster.as_deref().is_none_or(|it| it == cluster)
    };
    for problem in plan.problems.iter().filter(here).filter(|it| it.reason != Reason::Retained) {
        let Some(key) = &problem.object else { continue };
        let status = if stalls(problem.reason) { Kstatus::Failed } else { Kstatus::InProgress };
        bad.insert(key.clone(), Bad { status, reason: problem.reason, message: problem.message.clone() });
    }
    bad
}

/// Whether a cluster was not read whole since the start, and nothing says that it could not be.
pub(super) fn unseen(view: Option<&ClusterView>) -> bool {
    let Some(view) = view else { return true };
    match view.contact {
        Contact::Pending => true,
        Contact::Live { .. } => !view.complete && view.sets.values().all(|set| set.unlisted.is_empty()),
        Contact::Lost { .. } | Contact::Refused { .. } => false,
    }
}

/// Why nothing is known of a copy now; `None` if something is.
fn blind(view: Option<&ClusterView>, set: Option<&ObservedSet>) -> Option<Finding> {
    match view.map(|it| &it.contact) {
        Some(Contact::Lost { message, .. }) => {
            Some(Finding::unknown(Reason::ClusterUnreachable, message.clone()))
        }
        Some(Contact::Refused { reason, message, .. }) => Some(Finding::unknown(*reason, message.clone())),
        _ if unseen(view) => Some(Finding::unknown(Reason::Pending, "the cluster was not read yet")),
        _ => set.and_then(|set| set.unlisted.first_key_value()).map(|(kind, error)| {
            Finding::unknown(Reason::InventoryIncomplete, format!("{kind} could not be listed: {error}"))
        }),
    }
}

fn ready(blind: Option<Finding>, bad: &BTreeMap<ObjectKey, Bad>, objects: usize) -> Finding {
    // What was seen to be wrong is wrong, also where some kinds could not be seen.
    let partly = |it: &Finding| it.reason == Reason::InventoryIncomplete && !bad.is_empty();
    if let Some(blind) = blind.filter(|it| !partly(it)) {
        return blind;
    }
    let failed = bad.iter().find(|(_, it)| it.status == Kstatus::Failed);
    if let Some((key, it)) = failed.or_else(|| bad.first_key_value()) {
        let count = bad.len();
        return Finding::no(
            it.reason,
            format!("{count} of {objects} objects are not ready: {key}: {}", it.message),
        );
    }
    if objects == 0 {
        return Finding::unknown(Reason::EmptyWorkspace, "there are no objects");
    }
    Finding::yes(Reason::Succeeded, format!("all {objects} objects are ready"))
}

fn synced(
    world: &World,
    workspace: &str,
    blind: Option<Finding>,
    set_plan: Option<&SetPlan>,
    role: Role,
    stopped: Option<(Reason, String)>,
    bad: &BTreeMap<ObjectKey, Bad>,
) -> Finding {
    if let Some(blind) = blind {
        return blind;
    }
    if role == Role::Leaving {
        return Finding::unknown(Reason::Leaving, "it leaves; it is kept as it is until then");
    }
    if let Some(WorkspaceState::Failed { .. }) = world.desired.workspaces.get(workspace) {
        return Finding::no(Reason::WorkspaceFailedToRender, "the workspace could not be rendered");
    }
    let not_applied = |it: &&Bad| stalls(it.reason) && it.reason != Reason::ObjectFailed;
    if let Some(it) = bad.values().find(not_applied) {
        return Finding::no(it.reason, it.message.clone());
    }
    if let Some(it) = bad.values().find(|it| it.reason == Reason::Drifted) {
        return Finding::no(it.reason, it.message.clone());
    }
    let Some(set_plan) = set_plan else {
        return match stopped {
            Some((reason, message)) => Finding::unknown(reason, message),
            None => Finding::unknown(Reason::Pending, "nothing is planned for it yet"),
        };
    };
    if set_plan.is_quiet() {
        return Finding::yes(Reason::Succeeded, "it is what the commit says");
    }
    let (apply, delete) = (set_plan.apply.len(), set_plan.delete.len());
    match stopped {
        Some((reason, message)) => {
            Finding::no(reason, format!("{apply} to apply, {delete} to delete: {message}"))
        }
        None => Finding::no(Reason::Progressing, format!("{apply} to apply, {delete} to delete")),
    }
}

/// The list for the record, each with the time since which it is so.
fn list(
    bad: BTreeMap<ObjectKey, Bad>,
    before: Option<&WorkspaceClusterStatus>,
    now: &Timestamp,
) -> Vec<ObjectStatus> {
    let old: BTreeMap<_, _> = before
        .iter()
        .flat_map(|it| &it.not_current)
        .map(|it| ((&*it.group, &*it.kind, &*it.namespace, &*it.name), it))
        .collect();
    let listed = bad.into_iter().take(MAX_LISTED);
    listed
        .map(|(key, it)| {
            let before = old.get(&(&*key.group, &*key.kind, &*key.namespace, &*key.name));
            let since = before.filter(|old| old.status == it.status).and_then(|old| old.since.clone());
            ObjectStatus {
                group: key.group,
                kind: key.kind,
                namespace: key.namespace,
                name: key.name,
                status: it.status,
                reason: Some(it.reason),
                message: it.message,
                since: Some(since.unwrap_or_else(|| now.clone())),
            }
        })
        .collect()
}

//! Why an object or a workspace is, or is not, on each cluster: the words of the plan, gathered for one question.
//!
//! Decides nothing itself: every sentence comes from the plan that the daemon executes.

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::Reason;
use serde::{Deserialize, Serialize};

use crate::object::{GroupKind, ObjectKey, Origin};
use crate::plan::{ApplyVerb, Hold, Plan, Role, SetPlan, Verdict};
use crate::scopes;
use crate::world::{HealthStatus, ObservedObject, UnitId, WorkspaceState, World};

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A whole workspace, by name.
    Workspace(String),
    /// One object.
    Object(ObjectKey),
}

/// The answer for one workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The workspace.
    pub workspace: String,
    /// The placement that claims it.
    pub placement: Option<String>,
    /// The object, if one was asked about.
    pub object: Option<ObjectKey>,
    /// Where the object was written, if git has it.
    pub origin: Option<Origin>,
    /// One line, when fewer clusters were found than asked for.
    pub unplaced: Option<String>,
    /// The move in progress, in words.
    pub movement: Option<String>,
    /// One for each cluster of the fleet, losers too.
    pub rows: Vec<Row>,
    /// What waits for a person or a time.
    pub holds: Vec<Hold>,
    /// What is wrong with the workspace as a whole.
    pub problems: Vec<String>,
}

/// One cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Name of its document.
    pub cluster: String,
    /// What it is to the workspace.
    pub role: Role,
    /// The deciding rule.
    pub reason: Reason,
    /// The rule in words.
    pub message: String,
    /// The state of the object, or the sum of all objects of the workspace.
    pub state: State,
    /// More about the state; empty where there is nothing to say.
    pub detail: String,
}

/// How it stands on one cluster, worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum State {
    /// Not there, and not to be.
    Absent,
    /// As git says, and healthy.
    InSync,
    /// Stays there, though git no longer has it.
    Retained,
    /// As git says, and not (yet) healthy.
    NotReady,
    /// To be created.
    ToCreate,
    /// To be changed.
    ToUpdate,
    /// To be deleted.
    ToDelete,
    /// Waits: a hold, or a stop of the cluster.
    Held,
    /// What is there cannot be told now.
    Unknown,
    /// Something is wrong; the detail says what.
    Failed,
}

/// Answers for each workspace that the subject belongs to; empty if there is none.
#[must_use]
pub fn why(world: &World, plan: &Plan, subject: &Subject) -> Vec<Explanation> {
    let names: Vec<&str> = match subject {
        Subject::Workspace(name) => vec![name.as_str()],
        Subject::Object(key) => plan
            .units
            .keys()
            .map(|unit| unit.workspace.as_str())
            .filter(|name| has(world, plan, name, key))
            .collect(),
    };
    let object = if let Subject::Object(key) = subject { Some(key) } else { None };
    names.into_iter().filter_map(|name| explain(world, plan, name, object)).collect()
}

/// The objects of a kind and name, in git or on clusters. The kind is written as for kubectl: `Deployment`,
/// `deployments`, `deployment.apps`; a namespace narrows the search.
#[must_use]
pub fn find(world: &World, plan: &Plan, kind: &str, namespace: Option<&str>, name: &str) -> Vec<ObjectKey> {
    let mut keys: BTreeSet<ObjectKey> = BTreeSet::new();
    let fits = |key: &ObjectKey| {
        key.name == name
            && is_kind(&key.group_kind(), kind)
            && namespace.is_none_or(|namespace| key.namespace == namespace)
    };
    for unit in plan.units.keys() {
        keys.extend(written(world, &unit.workspace).into_keys().filter(fits));
    }
    for (cluster, set_plan) in
        plan.clusters.iter().flat_map(|(name, it)| it.sets.iter().map(move |set| (name, set)))
    {
        let (workspace, set_plan) = set_plan;
        keys.extend(set_plan.apply.iter().map(|action| action.object.key.clone()).filter(fits));
        if let Some(set) = world.clusters.get(cluster).and_then(|view| view.sets.get(workspace)) {
            keys.extend(set.objects.keys().filter(|key| fits(key)).cloned());
        }
    }
    keys.into_iter().collect()
}

fn is_kind(kind: &GroupKind, asked: &str) -> bool {
    let asked = asked.to_ascii_lowercase();
    let (word, group) =
        asked.split_once('.').map_or((asked.as_str(), None), |(word, group)| (word, Some(group)));
    let kind_word = kind.kind.to_ascii_lowercase();
    let plural = kind_word.strip_suffix('y').map_or_else(
        || if kind_word.ends_with('s') { format!("{kind_word}es") } else { format!("{kind_word}s") },
        |stem| format!("{stem}ies"),
    );
    (word == kind_word || word == plural) && group.is_none_or(|group| group == kind.group)
}

fn explain(world: &World, plan: &Plan, workspace: &str, object: Option<&ObjectKey>) -> Option<Explanation> {
    let unit = plan.units.get(&UnitId::workspace(workspace))?;
    let concerns = |hold: &&Hold| {
        let held = hold
            .actions
            .iter()
            .any(|it| object.is_none_or(|key| it.object == *key) || it.object.kind == "Workspace");
        (hold.subject == format!("workspace {workspace}") && (hold.actions.is_empty() || held))
            || hold.actions.iter().any(|it| it.object.kind == "Workspace" && it.object.name == workspace)
            || (hold.actions.is_empty() && hold.subject == "fleet")
    };
    let rows =
        unit.verdicts.iter().map(|(cluster, verdict)| row(world, plan, workspace, object, cluster, verdict));
    let whole =
        plan.problems.iter().filter(|it| it.workspace.as_deref() == Some(workspace) && it.cluster.is_none());
    Some(Explanation {
        workspace: workspace.to_owned(),
        placement: unit.placement.clone(),
        object: object.cloned(),
        origin: object.and_then(|key| written(world, workspace).remove(key)),
        unplaced: unit.unplaced.clone(),
        movement: unit.movement.as_ref().map(|movement| movement.message.clone()),
        rows: rows.collect(),
        holds: plan.holds.iter().filter(concerns).cloned().collect(),
        problems: whole.map(|it| it.message.clone()).collect(),
    })
}

fn row(
    world: &World,
    plan: &Plan,
    workspace: &str,
    object: Option<&ObjectKey>,
    cluster: &str,
    verdict: &Verdict,
) -> Row {
    let (state, detail) = state(world, plan, workspace, object, cluster);
    Row {
        cluster: cluster.to_owned(),
        role: verdict.role,
        reason: verdict.reason,
        message: verdict.message.clone(),
        state,
        detail,
    }
}

fn state(
    world: &World,
    plan: &Plan,
    workspace: &str,
    object: Option<&ObjectKey>,
    cluster: &str,
) -> (State, String) {
    let problem = plan.problems.iter().find(|it| {
        it.workspace.as_deref() == Some(workspace)
            && it.cluster.as_deref() == Some(cluster)
            && object.is_none_or(|key| it.object.as_ref() == Some(key))
    });
    if let Some(problem) = problem {
        let of = problem
            .object
            .as_ref()
            .filter(|_| object.is_none())
            .map_or(String::new(), |key| format!("{key}: "));
        return (State::Failed, format!("{of}{}: {}", problem.reason, problem.message));
    }
    let Some(cluster_plan) = plan.clusters.get(cluster) else { return (State::Unknown, String::new()) };
    let set_plan = cluster_plan.sets.get(workspace);
    if let (Some((reason, message)), true) = (&cluster_plan.stopped, set_plan.is_some()) {
        let state =
            if matches!(reason, Reason::Suspended | Reason::Halted) { State::Held } else { State::Unknown };
        return (state, format!("{reason}: {message}"));
    }
    let held = plan.holds.iter().flat_map(|hold| hold.actions.iter().map(move |action| (hold, action))).find(
        |(_, it)| {
            it.cluster == cluster
                && it.verb == "delete"
                && seen(world, cluster, workspace, &it.object).is_some()
                && object.is_none_or(|key| it.object == *key)
        },
    );
    if let Some((hold, action)) = held {
        return (State::Held, format!("{} {}: {}", action.verb, action.object, hold.message));
    }
    let Some(set_plan) = set_plan else { return (State::Absent, String::new()) };
    match object {
        Some(key) => object_state(world, set_plan, cluster, workspace, key),
        None => sum(world, set_plan, cluster, workspace),
    }
}

fn object_state(
    world: &World,
    set_plan: &SetPlan,
    cluster: &str,
    workspace: &str,
    key: &ObjectKey,
) -> (State, String) {
    if let Some(action) = set_plan.apply.iter().find(|action| action.object.key == *key) {
        let state = match action.verb {
            ApplyVerb::Create => State::ToCreate,
            _ => State::ToUpdate,
        };
        return (state, action.why.clone());
    }
    if let Some(action) = set_plan.delete.iter().find(|action| action.key == *key) {
        return (State::ToDelete, action.why.clone());
    }
    if set_plan.retained.contains(key) {
        return (State::Retained, "gone from git; the sync policy keeps it".to_owned());
    }
    match seen(world, cluster, workspace, key) {
        None => (State::Absent, String::new()),
        Some(seen) if seen.health.status == HealthStatus::Current => (State::InSync, String::new()),
        Some(seen) => (State::NotReady, seen.health.message.clone()),
    }
}

fn sum(world: &World, set_plan: &SetPlan, cluster: &str, workspace: &str) -> (State, String) {
    let (writes, deletes) = (set_plan.apply.len(), set_plan.delete.len());
    let counted = [(writes, "to write"), (deletes, "to delete"), (set_plan.retained.len(), "retained")];
    let counted =
        counted.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let mut words: Vec<String> = counted.collect();
    words.insert(0, format!("{} in sync", set_plan.unchanged));
    let set = world.clusters.get(cluster).and_then(|view| view.sets.get(workspace));
    let objects = set.map(|set| set.objects.iter()).into_iter().flatten();
    let waiting = objects.filter(|(key, seen)| {
        seen.health.status != HealthStatus::Current && !set_plan.retained.contains(*key)
    });
    let waiting = waiting.count();
    let state = match (writes, deletes) {
        (0, 0) if waiting > 0 => State::NotReady,
        (0, 0) => State::InSync,
        (0, _) => State::ToDelete,
        _ if set_plan.apply.iter().all(|action| action.verb == ApplyVerb::Create) => State::ToCreate,
        _ => State::ToUpdate,
    };
    if waiting > 0 {
        words.push(format!("{waiting} not ready"));
    }
    (state, words.join(", "))
}

fn seen<'w>(world: &'w World, cluster: &str, workspace: &str, key: &ObjectKey) -> Option<&'w ObservedObject> {
    world.clusters.get(cluster)?.sets.get(workspace)?.objects.get(key)
}

fn has(world: &World, plan: &Plan, workspace: &str, key: &ObjectKey) -> bool {
    let planned = plan.clusters.values().filter_map(|cluster| cluster.sets.get(workspace));
    let mut applied = planned.flat_map(|set| &set.apply).map(|action| &action.object.key);
    plan.clusters.keys().any(|cluster| seen(world, cluster, workspace, key).is_some())
        || applied.any(|it| it == key)
        || written(world, workspace).contains_key(key)
}

/// The objects of a workspace in git, with their namespace as far as it can be told without a cluster.
fn written(world: &World, workspace: &str) -> BTreeMap<ObjectKey, Origin> {
    let rendered = match world.desired.workspaces.get(workspace) {
        Some(WorkspaceState::Rendered(rendered)) => Some(rendered),
        Some(WorkspaceState::Failed { last_good, .. }) => last_good.as_ref(),
        None => None,
    };
    let config = world.desired.config.workspaces.get(workspace);
    let default = config.and_then(|config| config.default_namespace()).unwrap_or_default();
    let variants = rendered.map(|rendered| rendered.variants.values()).into_iter().flatten();
    let objects = variants.flat_map(|variant| variant.objects.iter().map(move |object| (variant, object)));
    let mut found = BTreeMap::new();
    for (variant, object) in objects {
        let kind = GroupKind::new(&object.group, &object.kind);
        let is_namespaced =
            variant.crds.get(&kind).copied().or_else(|| scopes::built_in(&kind)).unwrap_or(true);
        let namespace = object.namespace.clone().unwrap_or_else(|| default.to_owned());
        let key = ObjectKey {
            group: object.group.clone(),
            kind: object.kind.clone(),
            namespace: if is_namespaced { namespace } else { String::new() },
            name: object.name.clone(),
        };
        found.entry(key).or_insert_with(|| object.origin.clone());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::is_kind;
    use crate::object::GroupKind;

    #[test]
    fn kinds_are_found_as_people_write_them() {
        let policy = GroupKind::new("networking.k8s.io", "NetworkPolicy");
        for asked in ["NetworkPolicy", "networkpolicies", "networkpolicy.networking.k8s.io"] {
            assert!(is_kind(&policy, asked), "{asked}");
        }
        assert!(!is_kind(&policy, "networkpolicy.apps") && !is_kind(&policy, "policy"));
        assert!(is_kind(&GroupKind::new("", "ConfigMap"), "configmaps"));
        assert!(is_kind(&GroupKind::new("networking.k8s.io", "Ingress"), "ingresses"));
    }
}

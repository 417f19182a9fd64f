//! Small worlds, and a simulator that does on a world what a plan says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kcp_api::{
    Cluster, ClusterCount, ClusterSpec, Effect, Fleet, FleetSpec, LabelSelector, Placement, PlacementSpec,
    SyncPolicy, SyncPolicySpec, Taint, WorkspaceRefs,
};
use serde_json::json;

use crate::config::{Config, Located, WorkspaceConfig};
use crate::object::{ContentHash, ObjectKey, Origin};
use crate::plan::{ApplyVerb, Hold, Plan, SetPlan};
use crate::planner::plan;
use crate::render::{Choice, Rendered, RenderedObject, RenderedVariant};
use crate::world::{
    ClusterUid, ClusterView, Contact, Decision, Desired, Health, HealthStatus, ObservedObject, ObservedSet,
    UnitId, WorkspaceState, World,
};

pub(super) const NOW: i64 = 1_000_000;

pub(super) fn located<T>(value: T, file: &str) -> Located<T> {
    Located { value, file: file.to_owned(), line: 1 }
}

/// A fleet with nothing in it.
pub(super) fn empty() -> World {
    let config = Config {
        fleet: located(Fleet::new("acme", FleetSpec::with_id("f1")), "kcp.yaml"),
        clusters: BTreeMap::new(),
        workspaces: BTreeMap::new(),
        placements: BTreeMap::new(),
        policies: BTreeMap::new(),
        approvals: BTreeMap::new(),
        tenants: BTreeMap::new(),
    };
    let desired = Desired { commit: "c0".to_owned(), config: Arc::new(config), workspaces: BTreeMap::new() };
    World::new(NOW, desired)
}

/// Clusters, live and empty, and workspaces with some objects, each on exactly so many clusters.
pub(super) fn world(clusters: &[&str], workspaces: &[(&str, &[&str], u32)]) -> World {
    let mut world = empty();
    for name in clusters {
        add_cluster(&mut world, name);
    }
    for (name, objects, count) in workspaces {
        write(&mut world, name, objects);
        place(&mut world, name, exactly(*count));
    }
    world
}

pub(super) fn config(world: &mut World) -> &mut Config {
    Arc::make_mut(&mut world.desired.config)
}

pub(super) fn uid(cluster: &str) -> ClusterUid {
    ClusterUid(format!("uid-{cluster}"))
}

pub(super) fn add_cluster(world: &mut World, name: &str) {
    let mut document = Cluster::new(name, ClusterSpec::default());
    document.spec.uid = Some(uid(name).0);
    document.metadata.labels.insert("name".to_owned(), name.to_owned());
    config(world).clusters.insert(name.to_owned(), located(document, &format!("clusters/{name}.yaml")));
    let view = ClusterView {
        contact: Contact::Live { since: NOW },
        uid: Some(uid(name)),
        complete: true,
        ..ClusterView::default()
    };
    world.clusters.insert(name.to_owned(), view);
}

pub(super) fn cluster<'w>(world: &'w mut World, name: &str) -> &'w mut Cluster {
    &mut config(world).clusters.get_mut(name).expect("the test's own cluster").value
}

pub(super) fn view<'w>(world: &'w mut World, name: &str) -> &'w mut ClusterView {
    world.clusters.get_mut(name).expect("the test's own cluster")
}

pub(super) fn placement<'w>(world: &'w mut World, name: &str) -> &'w mut PlacementSpec {
    &mut config(world).placements.get_mut(name).expect("the test's own placement").value.spec
}

pub(super) fn lose(world: &mut World, name: &str) {
    view(world, name).contact =
        Contact::Lost { since: world_now(), message: "connection refused".to_owned() };
}

pub(super) fn find_again(world: &mut World, name: &str) {
    view(world, name).contact = Contact::Live { since: world_now() };
}

fn world_now() -> i64 {
    NOW
}

pub(super) fn taint(world: &mut World, name: &str, effect: Effect) {
    let taint = Taint { key: "maintenance".to_owned(), value: String::new(), effect, time_added: None };
    cluster(world, name).spec.taints.push(taint);
}

pub(super) fn exactly(count: u32) -> ClusterCount {
    ClusterCount { exactly: Some(count), ..ClusterCount::default() }
}

/// Selects one cluster by its label.
pub(super) fn select(world: &mut World, name: &str, cluster: &str) {
    let labels = BTreeMap::from([("name".to_owned(), cluster.to_owned())]);
    placement(world, name).cluster_selector =
        Some(LabelSelector { match_labels: labels, ..LabelSelector::default() });
}

/// A workspace with objects: `name` is a ConfigMap, `Kind/name` any core kind, `name=text` has that content.
pub(super) fn write(world: &mut World, workspace: &str, objects: &[&str]) {
    let folder = WorkspaceConfig {
        name: workspace.to_owned(),
        dir: format!("workspaces/{workspace}"),
        document: None,
    };
    config(world).workspaces.insert(workspace.to_owned(), folder);
    let state = WorkspaceState::Rendered(rendered(workspace, objects));
    world.desired.workspaces.insert(workspace.to_owned(), state);
}

pub(super) fn rendered(workspace: &str, objects: &[&str]) -> Arc<Rendered> {
    let objects = objects.iter().map(|text| object(workspace, text)).collect();
    let variant = RenderedVariant { objects, ..RenderedVariant::default() };
    Arc::new(Rendered {
        workspace: workspace.to_owned(),
        variants: BTreeMap::from([(String::new(), Arc::new(variant))]),
        choices: vec![Choice { selector: None, variant: String::new() }],
    })
}

fn object(workspace: &str, text: &str) -> RenderedObject {
    let (name, content) = text.split_once('=').unwrap_or((text, "0"));
    let (kind, name) = name.split_once('/').unwrap_or(("ConfigMap", name));
    let (group, kind) = kind.split_once(':').unwrap_or(("", kind));
    let namespace = (kind != "Namespace").then(|| "shared".to_owned());
    let version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
    let mut body =
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "data": {"text": content}});
    if let (Some(namespace), Some(metadata)) = (&namespace, body["metadata"].as_object_mut()) {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    if content == "create-only" {
        body["metadata"]["annotations"] = json!({"kcp.dev/create-only": "true"});
    }
    RenderedObject {
        group: group.to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace,
        name: name.to_owned(),
        body: Arc::new(body),
        origin: Origin { file: format!("workspaces/{workspace}/{name}.yaml"), line: 1 },
    }
}

pub(super) fn place(world: &mut World, workspace: &str, clusters: ClusterCount) {
    let workspaces = WorkspaceRefs { names: vec![workspace.to_owned()], selector: None };
    let spec =
        PlacementSpec { workspaces, clusters, policy_name: "default".to_owned(), ..PlacementSpec::default() };
    let document = located(Placement::new(workspace, spec), &format!("placements/{workspace}.yaml"));
    config(world).placements.insert(workspace.to_owned(), document);
}

pub(super) fn set_policy(world: &mut World, spec: SyncPolicySpec) {
    let document = located(SyncPolicy::new("default", spec), "policies/default.yaml");
    config(world).policies.insert("default".to_owned(), document);
}

pub(super) fn fail(world: &mut World, workspace: &str, last_good: Option<Arc<Rendered>>) {
    let state = WorkspaceState::Failed { errors: vec!["web.yaml:3:1: not YAML".to_owned()], last_good };
    world.desired.workspaces.insert(workspace.to_owned(), state);
}

/// The key of an object as [`write`] makes it.
pub(super) fn key(name: &str) -> ObjectKey {
    let (kind, name) = name.split_once('/').unwrap_or(("ConfigMap", name));
    let (group, kind) = kind.split_once(':').unwrap_or(("", kind));
    let namespace = if kind == "Namespace" { "" } else { "shared" };
    ObjectKey { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() }
}

pub(super) fn current() -> Health {
    Health { status: HealthStatus::Current, message: String::new() }
}

pub(super) fn sick() -> Health {
    Health { status: HealthStatus::InProgress, message: "0 of 1 replicas".to_owned() }
}

/// Does what the plan says, as clusters would. New objects get this health.
pub(super) fn execute(world: &mut World, plan: &Plan, health: &Health) {
    world.recent.extend(plan.acts(world.now));
    for (unit, it) in &plan.units {
        if let Some(decision) = &it.decision {
            world.memory.insert(unit.clone(), decision.clone());
        }
    }
    for (cluster, cluster_plan) in &plan.clusters {
        for (workspace, set) in &cluster_plan.sets {
            execute_set(world, cluster, workspace, set, health);
        }
    }
}

fn execute_set(world: &mut World, cluster: &str, workspace: &str, plan: &SetPlan, health: &Health) {
    if plan.is_quiet() {
        return;
    }
    let view = view(world, cluster);
    for action in &plan.apply {
        let key = &action.object.key;
        if let ApplyVerb::HandOver { from } = &action.verb {
            let moved = view.sets.get_mut(from).and_then(|set| set.objects.remove(key));
            assert!(moved.is_some(), "{key} is handed over by {from}, who does not have it");
        }
        view.foreign.remove(key);
        let serial = format!("{cluster} {key} {}", action.object.hash);
        let seen = ObservedObject {
            uid: ContentHash::of_bytes(serial.as_bytes()).to_string(),
            resource_version: String::new(),
            own: action.object.hash,
            applied: Some(action.object.hash),
            managed: true,
            workspace: Some(workspace.to_owned()),
            controlled: false,
            terminating: false,
            commit: None,
            health: health.clone(),
        };
        let set = view.sets.entry(workspace.to_owned()).or_default();
        let seen = match set.objects.get(key) {
            Some(old) => ObservedObject { uid: old.uid.clone(), health: old.health.clone(), ..seen },
            None => seen,
        };
        set.objects.insert(key.clone(), seen);
    }
    let set = view.sets.entry(workspace.to_owned()).or_default();
    for action in &plan.delete {
        let seen = set.objects.remove(&action.key).expect("only what is there is deleted");
        assert_eq!(seen.uid, action.uid, "{}: the UID is the precondition", action.key);
    }
    set.parent.decision.clone_from(&plan.decision);
    set.parent.group_kinds.clone_from(&plan.group_kinds);
    set.parent.namespaces.clone_from(&plan.namespaces);
    set.parent.applied.clone_from(&plan.applied);
    if plan.remove_parent {
        view.sets.remove(workspace);
    }
}

/// Plans and executes until nothing is left to do; returns the last plan.
pub(super) fn settle(world: &mut World) -> Plan {
    for _ in 0..8 {
        let it = plan(world);
        if it.is_quiet() {
            return it;
        }
        execute(world, &it, &current());
    }
    panic!("not quiet after 8 rounds: {:#?}", plan(world).clusters);
}

/// One round: plan, execute with new objects not healthy.
pub(super) fn step_sick(world: &mut World) -> Plan {
    let it = plan(world);
    execute(world, &it, &sick());
    it
}

pub(super) fn heal(world: &mut World) {
    for set in world.clusters.values_mut().flat_map(|view| view.sets.values_mut()) {
        set.objects.values_mut().for_each(|object| object.health = current());
    }
}

/// The clusters that have at least one object of a workspace.
pub(super) fn homes(world: &World, workspace: &str) -> BTreeSet<String> {
    let has = |view: &ClusterView| {
        view.sets.get(workspace).is_some_and(|set: &ObservedSet| !set.objects.is_empty())
    };
    world.clusters.iter().filter(|(_, view)| has(view)).map(|(name, _)| name.clone()).collect()
}

pub(super) fn only_home(world: &World, workspace: &str) -> String {
    let homes = homes(world, workspace);
    assert_eq!(homes.len(), 1, "{homes:?}");
    homes.into_iter().next().expect("there is one")
}

pub(super) fn seen<'w>(
    world: &'w mut World,
    cluster: &str,
    workspace: &str,
    object: &str,
) -> &'w mut ObservedObject {
    let set = view(world, cluster).sets.get_mut(workspace).expect("the set is there");
    set.objects.get_mut(&key(object)).expect("the object is there")
}

pub(super) fn decision(plan: &Plan, workspace: &str) -> Option<Decision> {
    plan.units[&UnitId::workspace(workspace)].decision.clone()
}

/// All deletes of a plan, as `cluster object`.
pub(super) fn deletes(plan: &Plan) -> Vec<String> {
    let sets = plan.clusters.iter().flat_map(|(name, it)| it.sets.values().map(move |set| (name, set)));
    sets.flat_map(|(name, set)| set.delete.iter().map(move |it| format!("{name} {}", it.key.name))).collect()
}

/// All writes of a plan, as `cluster verb object`.
pub(super) fn writes(plan: &Plan) -> Vec<String> {
    let sets = plan.clusters.iter().flat_map(|(name, it)| it.sets.values().map(move |set| (name, set)));
    let word = |verb: &ApplyVerb| match verb {
        ApplyVerb::Create => "create",
        ApplyVerb::Update => "update",
        ApplyVerb::Correct => "correct",
        ApplyVerb::HandOver { .. } => "hand over",
        ApplyVerb::TakeOver { .. } => "take over",
    };
    sets.flat_map(|(name, set)| {
        set.apply.iter().map(move |it| format!("{name} {} {}", word(&it.verb), it.object.key.name))
    })
    .collect()
}

pub(super) fn problems(plan: &Plan) -> Vec<String> {
    let text = |it: &crate::plan::Problem| {
        let object = it.object.as_ref().map_or("", |key| key.name.as_str());
        format!("{} {} {object}", it.reason, it.workspace.as_deref().unwrap_or_default()).trim().to_owned()
    };
    plan.problems.iter().map(text).collect()
}

pub(super) fn hold(plan: &Plan) -> &Hold {
    assert_eq!(plan.holds.len(), 1, "{:#?}", plan.holds);
    &plan.holds[0]
}

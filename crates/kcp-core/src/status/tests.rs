use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kcp_api::ConditionStatus::{False, True, Unknown};
use kcp_api::{Condition, ConditionStatus, ConditionType, Kstatus, Reason};
use kustomize_rs::MemoryFiles;

use super::{Statuses, statuses};
use crate::config::load;
use crate::object::{ContentHash, GroupKind, Object, ObjectKey, Origin};
use crate::plan::{
    ApplyAction, ApplyRules, ApplyVerb, ClusterPlan, Hold, Plan, Problem, Role, SetPlan, UnitPlan, Verdict,
};
use crate::world::{
    ApiFacts, ClusterUid, ClusterView, Contact, Decision, Desired, Failure, Health, HealthStatus, KindFacts,
    ObservedObject, ObservedSet, UnitId, WorkspaceState, World,
};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The workspace `shop` on the clusters `a` and `b`, both live, each with the objects `one` and `two`, all done.
fn fleet() -> (World, Plan) {
    let mut files = MemoryFiles::new();
    let head = "apiVersion: kcp.dev/v1alpha1\n";
    files.insert("kcp.yaml", format!("{head}kind: Fleet\nmetadata: {{name: acme}}\nspec: {{id: f1}}\n"));
    for name in ["a", "b"] {
        let document = format!(
            "{head}kind: Cluster\nmetadata: {{name: {name}}}\nspec: {{connection: {{context: x}}, uid: u-{name}}}\n"
        );
        files.insert(format!("clusters/{name}.yaml"), document);
    }
    files.insert("workspaces/shop/x.yaml", "");
    let config = load(&files).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let world = World {
        now: 1_000,
        desired: Desired {
            commit: COMMIT.into(),
            config: Arc::new(config),
            workspaces: BTreeMap::from([("shop".into(), WorkspaceState::Rendered(Arc::default()))]),
        },
        clusters: ["a", "b"].map(|name| (name.to_owned(), view(name))).into(),
        memory: BTreeMap::new(),
        recent: Vec::new(),
        halted: None,
        memory_known: true,
        before: None,
        baseline: BTreeMap::new(),
    };
    let verdict = |role| Verdict { role, reason: Reason::Chosen, message: "chosen".into() };
    let unit = UnitPlan {
        placement: Some("shop".into()),
        decision: Some(Decision {
            epoch: 1,
            targets: BTreeSet::from([ClusterUid("u-a".into()), ClusterUid("u-b".into())]),
            leaving: BTreeSet::new(),
            since: 900,
        }),
        verdicts: ["a", "b"].map(|name| (name.to_owned(), verdict(Role::Chosen))).into(),
        unplaced: None,
        movement: None,
    };
    let quiet = || ClusterPlan { sets: BTreeMap::from([("shop".into(), SetPlan::default())]), stopped: None };
    let plan = Plan {
        commit: COMMIT.into(),
        units: BTreeMap::from([(UnitId::workspace("shop"), unit)]),
        clusters: ["a", "b"].map(|name| (name.to_owned(), quiet())).into(),
        ..Plan::default()
    };
    (world, plan)
}

fn view(name: &str) -> ClusterView {
    let kind = KindFacts {
        kind: "ConfigMap".into(),
        plural: "configmaps".into(),
        namespaced: true,
        versions: vec!["v1".into()],
    };
    ClusterView {
        contact: Contact::Live { since: 500 },
        uid: Some(ClusterUid(format!("u-{name}"))),
        api: ApiFacts { kinds: BTreeMap::from([(String::new(), vec![kind])]), ..ApiFacts::default() },
        sets: BTreeMap::from([(
            "shop".to_owned(),
            ObservedSet {
                objects: ["one", "two"].map(|name| (key(name), observed())).into(),
                ..ObservedSet::default()
            },
        )]),
        complete: true,
        ..ClusterView::default()
    }
}

fn key(name: &str) -> ObjectKey {
    ObjectKey { group: String::new(), kind: "ConfigMap".into(), namespace: "shop".into(), name: name.into() }
}

fn observed() -> ObservedObject {
    ObservedObject {
        uid: "x".into(),
        resource_version: String::new(),
        own: ContentHash::of_bytes(b"x"),
        applied: None,
        managed: true,
        workspace: Some("shop".into()),
        controlled: false,
        terminating: false,
        commit: None,
        health: Health { status: HealthStatus::Current, message: String::new() },
    }
}

fn member<'a>(world: &'a mut World, cluster: &str, name: &str) -> &'a mut ObservedObject {
    let view = world.clusters.get_mut(cluster).expect("a cluster");
    view.sets.get_mut("shop").expect("a set").objects.get_mut(&key(name)).expect("an object")
}

fn create(name: &str) -> ApplyAction {
    let object = Object {
        key: key(name),
        version: "v1".into(),
        body: Arc::default(),
        hash: ContentHash::of_bytes(b"new"),
        origin: Origin { file: "x".into(), line: 1 },
    };
    let rules = ApplyRules { conflicts: kcp_api::Conflicts::Owned, ignore: Vec::new(), create_only: false };
    ApplyAction {
        verb: ApplyVerb::Create,
        object,
        before: None,
        earlier: None,
        rules,
        changes: Vec::new(),
        why: "new".into(),
    }
}

fn set_plan<'a>(plan: &'a mut Plan, cluster: &str) -> &'a mut SetPlan {
    plan.clusters.get_mut(cluster).expect("a cluster").sets.get_mut("shop").expect("a set")
}

fn unit(plan: &mut Plan) -> &mut UnitPlan {
    plan.units.get_mut(&UnitId::workspace("shop")).expect("a unit")
}

fn of(conditions: &[Condition], kind: ConditionType) -> (ConditionStatus, Reason) {
    let found = conditions.iter().find(|it| it.condition_type == kind).expect("the condition");
    (found.status, found.reason)
}

#[track_caller]
fn check(world: &World, plan: &Plan, expected: &[(ConditionType, ConditionStatus, Reason)]) -> Statuses {
    let found = statuses(world, plan, &Statuses::default());
    for (kind, status, reason) in expected {
        let conditions = &found.workspaces["shop"].conditions;
        assert_eq!(of(conditions, *kind), (*status, *reason), "{kind}\n{conditions:#?}");
    }
    found
}

#[test]
fn all_done_is_ready_and_says_the_commit() {
    let (world, plan) = fleet();
    let found = check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, True, Reason::Succeeded),
            (ConditionType::Reconciling, False, Reason::Succeeded),
            (ConditionType::Stalled, False, Reason::Succeeded),
            (ConditionType::Placed, True, Reason::Chosen),
            (ConditionType::Synced, True, Reason::Succeeded),
            (ConditionType::ApisCompatible, True, Reason::Succeeded),
            (ConditionType::SpreadSatisfied, True, Reason::Succeeded),
            (ConditionType::Held, False, Reason::Succeeded),
        ],
    );
    let shop = &found.workspaces["shop"];
    assert!(shop.conditions.iter().any(|it| it.message == "commit 01234567 is on 2 clusters"), "{shop:#?}");
    assert_eq!(shop.clusters[0].commit.as_deref(), Some(COMMIT));
    assert_eq!((shop.clusters[0].objects, shop.clusters[0].current), (2, 2));
    assert_eq!(shop.decision.as_ref().map(|it| it.clusters.clone()), Some(vec!["a".into(), "b".into()]));
    assert_eq!(of(&found.fleet.conditions, ConditionType::Ready).0, True);
    assert_eq!((found.clusters["a"].objects, found.clusters["a"].reachable), (2, true));
}

#[test]
fn the_worst_copy_wins() {
    let (mut world, mut plan) = fleet();
    member(&mut world, "b", "two").health =
        Health { status: HealthStatus::Failed, message: "crashed".into() };
    set_plan(&mut plan, "a").apply.push(create("three"));
    let found = check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, False, Reason::Progressing),
            (ConditionType::Reconciling, True, Reason::Progressing),
            (ConditionType::Stalled, True, Reason::ObjectFailed),
            (ConditionType::Synced, False, Reason::Progressing),
        ],
    );
    let copies = &found.workspaces["shop"].clusters;
    assert_eq!(
        (copies[0].objects, copies[0].current, copies[0].not_current[0].status),
        (3, 2, Kstatus::NotFound)
    );
    assert_eq!(of(&copies[1].conditions, ConditionType::Ready), (False, Reason::ObjectFailed));
    assert_eq!(of(&copies[1].conditions, ConditionType::Synced), (True, Reason::Succeeded));
    assert_eq!(copies[1].not_current[0].message, "crashed");
}

#[test]
fn a_lost_cluster_makes_it_unknown_and_a_failed_copy_is_worse() {
    let (mut world, plan) = fleet();
    world.clusters.get_mut("a").expect("a").contact = Contact::Lost { since: 800, message: "timeout".into() };
    let found = check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, Unknown, Reason::ClusterUnreachable),
            (ConditionType::Synced, Unknown, Reason::ClusterUnreachable),
            (ConditionType::Stalled, False, Reason::Succeeded),
        ],
    );
    let cluster = &found.clusters["a"];
    assert_eq!(of(&cluster.conditions, ConditionType::Ready), (False, Reason::ClusterUnreachable));
    assert_eq!(cluster.reachable_since.as_ref().map(|it| it.epoch_seconds()), Some(800));
    member(&mut world, "b", "one").health.status = HealthStatus::InProgress;
    check(&world, &plan, &[(ConditionType::Ready, False, Reason::NotReady)]);
}

#[test]
fn copies_that_leave_do_not_count() {
    let (mut world, mut plan) = fleet();
    member(&mut world, "b", "one").health.status = HealthStatus::Failed;
    unit(&mut plan).verdicts.get_mut("b").expect("b").role = Role::Leaving;
    let found = check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, True, Reason::Succeeded),
            (ConditionType::Synced, True, Reason::Succeeded),
            (ConditionType::Stalled, False, Reason::Succeeded),
        ],
    );
    assert_eq!(found.workspaces["shop"].clusters.len(), 2, "it is still shown");
}

#[test]
fn no_cluster_at_all_is_unknown() {
    let (mut world, mut plan) = fleet();
    world.clusters.values_mut().for_each(|view| view.sets.clear());
    plan.clusters.clear();
    let unit = unit(&mut plan);
    unit.verdicts.values_mut().for_each(|it| it.role = Role::Excluded);
    unit.decision = None;
    unit.unplaced = Some("0/2 clusters are available".into());
    check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, Unknown, Reason::NoClusterFits),
            (ConditionType::Placed, False, Reason::NoClusterFits),
            (ConditionType::SpreadSatisfied, Unknown, Reason::Pending),
            (ConditionType::ApisCompatible, Unknown, Reason::Pending),
        ],
    );
    plan.units.clear();
    check(&world, &plan, &[(ConditionType::Placed, False, Reason::NotPlaced)]);
}

#[test]
fn fewer_clusters_than_wanted_is_not_ready() {
    let (world, mut plan) = fleet();
    unit(&mut plan).unplaced = Some("2/3 clusters".into());
    check(&world, &plan, &[(ConditionType::Ready, False, Reason::NoClusterFits)]);
}

#[test]
fn a_failed_render_is_told_and_what_runs_is_still_shown() {
    let (mut world, plan) = fleet();
    let failed =
        WorkspaceState::Failed { errors: vec!["a.yaml:1:1: wrong".into(), "more".into()], last_good: None };
    world.desired.workspaces.insert("shop".into(), failed);
    let found = check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, False, Reason::WorkspaceFailedToRender),
            (ConditionType::Stalled, True, Reason::WorkspaceFailedToRender),
            (ConditionType::Synced, False, Reason::WorkspaceFailedToRender),
        ],
    );
    let copy = &found.workspaces["shop"].clusters[0];
    assert_eq!(of(&copy.conditions, ConditionType::Ready), (True, Reason::Succeeded));
    assert_eq!((copy.commit.clone(), found.workspaces["shop"].commit.clone()), (None, None));
}

#[test]
fn problems_and_failures_are_on_their_object() {
    let (mut world, mut plan) = fleet();
    let problem = |reason, name: &str| Problem {
        reason,
        workspace: Some("shop".into()),
        cluster: Some("a".into()),
        object: Some(key(name)),
        origin: None,
        message: format!("{name} is wrong"),
    };
    plan.problems = vec![problem(Reason::KindMissing, "three"), problem(Reason::Retained, "two")];
    let found = check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, False, Reason::KindMissing),
            (ConditionType::ApisCompatible, False, Reason::KindMissing),
            (ConditionType::Stalled, True, Reason::KindMissing),
        ],
    );
    let copies = &found.workspaces["shop"].clusters;
    assert_eq!(copies[0].not_current.len(), 1);
    assert_eq!(of(&copies[1].conditions, ConditionType::Synced), (True, Reason::Succeeded));

    plan.problems.clear();
    set_plan(&mut plan, "a").apply.push(create("three"));
    let failure = |hash| Failure {
        workspace: "shop".into(),
        hash: Some(hash),
        reason: Reason::InvalidObject,
        message: "the server says no".into(),
        since: 900,
        retry_at: 1_000,
        attempts: 1,
    };
    let mut fail = |hash| {
        world.clusters.get_mut("a").expect("a").failures.insert(key("three"), failure(hash));
        let found = statuses(&world, &plan, &Statuses::default());
        found.workspaces["shop"].clusters[0].not_current[0].status
    };
    assert_eq!(fail(ContentHash::of_bytes(b"new")), Kstatus::Failed);
    assert_eq!(fail(ContentHash::of_bytes(b"other content")), Kstatus::NotFound);
}

#[test]
fn copies_of_our_label_do_not_count() {
    let (mut world, mut plan) = fleet();
    let slice = member(&mut world, "a", "one");
    slice.controlled = true;
    slice.health.status = HealthStatus::Failed;
    set_plan(&mut plan, "a").retained.insert(key("two"));
    member(&mut world, "a", "two").health.status = HealthStatus::Failed;
    let found = statuses(&world, &plan, &Statuses::default());
    assert_eq!(found.workspaces["shop"].clusters[0].objects, 0);
    assert_eq!(found.clusters["a"].retained, 1);
}

#[test]
fn holds_are_where_they_belong() {
    let (world, mut plan) = fleet();
    let hold = |id: &str, subject: &str, reason| Hold {
        id: id.into(),
        reason,
        subject: subject.into(),
        message: "words".into(),
        actions: Vec::new(),
    };
    plan.holds = vec![
        hold("1", "workspace shop", Reason::BudgetExceeded),
        hold("2", "workspace other", Reason::BudgetExceeded),
        hold("", "cluster a", Reason::Suspended),
    ];
    let found = check(&world, &plan, &[(ConditionType::Held, True, Reason::BudgetExceeded)]);
    assert_eq!(found.workspaces["shop"].holds.len(), 1);
    assert_eq!(of(&found.clusters["a"].conditions, ConditionType::Held), (True, Reason::Suspended));
    assert_eq!(of(&found.clusters["b"].conditions, ConditionType::Held).0, False);
    assert_eq!(found.fleet.holds.len(), 3);
    plan.holds = vec![hold("", "fleet", Reason::Halted)];
    check(&world, &plan, &[(ConditionType::Held, True, Reason::Halted)]);
}

#[test]
fn an_unchanged_world_gives_the_same_bytes_and_a_flip_a_new_time() {
    let (mut world, mut plan) = fleet();
    plan.holds = vec![Hold {
        id: "1".into(),
        reason: Reason::LastCopy,
        subject: "workspace shop".into(),
        message: String::new(),
        actions: Vec::new(),
    }];
    member(&mut world, "a", "one").health =
        Health { status: HealthStatus::InProgress, message: "1/2".into() };
    let first = statuses(&world, &plan, &Statuses::default());
    world.now = 2_000;
    let second = statuses(&world, &plan, &first);
    assert_eq!(format!("{first:?}"), format!("{second:?}"));

    // Another message is not another status.
    member(&mut world, "a", "one").health.message = "2/2".into();
    let third = statuses(&world, &plan, &second);
    assert_ne!(second, third);
    let time = |found: &Statuses, kind| {
        let conditions = &found.workspaces["shop"].conditions;
        conditions
            .iter()
            .find(|it| it.condition_type == kind)
            .map(|it| it.last_transition_time.epoch_seconds())
    };
    assert_eq!(time(&third, ConditionType::Ready), Some(1_000));
    world.now = 3_000;
    member(&mut world, "a", "one").health = Health { status: HealthStatus::Current, message: String::new() };
    let fourth = statuses(&world, &plan, &third);
    assert_eq!(time(&fourth, ConditionType::Ready), Some(3_000));
    assert_eq!(time(&fourth, ConditionType::Placed), Some(1_000));
}

#[test]
fn a_restart_is_no_news_and_a_cluster_never_seen_is_unknown() {
    let (mut world, plan) = fleet();
    let before = statuses(&world, &plan, &Statuses::default());
    world.now = 2_000;
    let a = world.clusters.get_mut("a").expect("a");
    *a = ClusterView { contact: Contact::Live { since: 1_999 }, ..ClusterView::default() };
    assert_eq!(
        statuses(&world, &plan, &before).workspaces["shop"].clusters,
        before.workspaces["shop"].clusters
    );
    assert_eq!(statuses(&world, &plan, &before).clusters, before.clusters);
    check(&world, &plan, &[(ConditionType::Ready, Unknown, Reason::Pending)]);
}

#[test]
fn kinds_that_could_not_be_listed_leave_it_unknown_for_their_workspace_only() {
    let (mut world, plan) = fleet();
    let a = world.clusters.get_mut("a").expect("a");
    a.complete = false;
    let set = a.sets.get_mut("shop").expect("a set");
    set.unlisted.insert("Widget.shop.example".into(), "503".into());
    check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, Unknown, Reason::InventoryIncomplete),
            (ConditionType::Synced, Unknown, Reason::InventoryIncomplete),
        ],
    );
    member(&mut world, "a", "one").health.status = HealthStatus::Failed;
    check(&world, &plan, &[(ConditionType::Ready, False, Reason::ObjectFailed)]);
    *member(&mut world, "a", "one") = observed();
    let sets = &mut world.clusters.get_mut("a").expect("a").sets;
    let unlisted = std::mem::take(&mut sets.get_mut("shop").expect("a set").unlisted);
    sets.insert("other".into(), ObservedSet { unlisted, ..ObservedSet::default() });
    check(&world, &plan, &[(ConditionType::Ready, True, Reason::Succeeded)]);
}

#[test]
fn a_workspace_that_is_gone_is_shown_while_it_has_objects() {
    let (mut world, mut plan) = fleet();
    world.desired.workspaces.clear();
    plan.units.clear();
    check(&world, &plan, &[(ConditionType::Placed, False, Reason::WorkspaceRemoved)]);
    world.clusters.values_mut().for_each(|view| view.sets.clear());
    assert!(statuses(&world, &plan, &Statuses::default()).workspaces.is_empty());
}

#[test]
fn a_failing_api_group_is_unknown_not_gone() {
    let (mut world, plan) = fleet();
    let api = &mut world.clusters.get_mut("b").expect("b").api;
    api.failed_groups.insert("metrics.k8s.io".into(), "503".into());
    let found =
        check(&world, &plan, &[(ConditionType::ApisCompatible, Unknown, Reason::DiscoveryIncomplete)]);
    assert_eq!(found.clusters["b"].failed_api_groups, ["metrics.k8s.io"]);
    let kind = GroupKind::new("metrics.k8s.io", "NodeMetrics");
    assert!(!world.clusters["b"].api.lacks(&kind), "not known to be missing");
}

#[test]
fn a_real_plan_of_a_new_workspace_is_on_its_way() {
    let mut files = MemoryFiles::new();
    let head = "apiVersion: kcp.dev/v1alpha1\n";
    files.insert("kcp.yaml", format!("{head}kind: Fleet\nmetadata: {{name: acme}}\nspec: {{id: f1}}\n"));
    for name in ["a", "b"] {
        let spec = format!("{{connection: {{context: x}}, uid: u-{name}}}");
        files.insert(
            format!("clusters/{name}.yaml"),
            format!("{head}kind: Cluster\nmetadata: {{name: {name}}}\nspec: {spec}\n"),
        );
    }
    let spec = "{workspaces: {names: [shop]}, clusters: {exactly: 1}}";
    files
        .insert("placements/p.yaml", format!("{head}kind: Placement\nmetadata: {{name: p}}\nspec: {spec}\n"));
    files.insert(
        "workspaces/shop/x.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: shop}\n",
    );
    let config = load(&files).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let rendered =
        crate::render::render(&files, &config, "shop").unwrap_or_else(|errors| panic!("{errors:#?}"));
    let (mut world, _) = fleet();
    world.clusters.values_mut().for_each(|view| view.sets.clear());
    world.desired.config = Arc::new(config);
    world.desired.workspaces =
        BTreeMap::from([("shop".into(), WorkspaceState::Rendered(Arc::new(rendered)))]);
    let plan = crate::planner::plan(&world);
    let found = check(
        &world,
        &plan,
        &[
            (ConditionType::Ready, False, Reason::Progressing),
            (ConditionType::Placed, True, Reason::Chosen),
            (ConditionType::Reconciling, True, Reason::Progressing),
            (ConditionType::Stalled, False, Reason::Succeeded),
            (ConditionType::Synced, False, Reason::Progressing),
        ],
    );
    let shop = &found.workspaces["shop"];
    assert_eq!((shop.clusters.len(), shop.clusters[0].not_current[0].status), (1, Kstatus::NotFound));
}

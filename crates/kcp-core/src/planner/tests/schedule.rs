//! Where a workspace goes, and what is said of every cluster.

use kcp_api::{ClusterCount, ClusterMode, Effect, Reason, Timestamp, Toleration, TolerationOperator};

use super::fixture::*;
use crate::plan::Role;
use crate::planner::{Scope, plan, plan_for};
use crate::world::{ClusterView, UnitId};

fn unplaced(it: &crate::plan::Plan, workspace: &str) -> String {
    it.units[&UnitId::workspace(workspace)].unplaced.clone().unwrap_or_default()
}

fn role(it: &crate::plan::Plan, workspace: &str, cluster: &str) -> (Role, Reason) {
    let verdict = &it.units[&UnitId::workspace(workspace)].verdicts[cluster];
    (verdict.role, verdict.reason)
}

#[test]
fn as_many_as_asked_for_and_a_verdict_for_each() {
    let it = plan(&world(&["a", "b", "c"], &[("shop", &["web"], 2)]));
    let decision = decision(&it, "shop").expect("it is placed");
    assert_eq!((decision.epoch, decision.targets.len(), decision.since), (1, 2, NOW));
    let roles: Vec<Role> = it.units[&UnitId::workspace("shop")].verdicts.values().map(|it| it.role).collect();
    assert_eq!(roles.iter().filter(|role| **role == Role::Chosen).count(), 2);
    assert_eq!(roles.iter().filter(|role| **role == Role::NotNeeded).count(), 1);
    assert_eq!(writes(&it).len(), 2);
}

#[test]
fn workspaces_spread_by_the_draw() {
    let names: Vec<String> = (0..20).map(|it| format!("w{it}")).collect();
    let workspaces: Vec<(&str, &[&str], u32)> =
        names.iter().map(|it| (it.as_str(), ["x"].as_slice(), 1)).collect();
    let it = plan(&world(&["a", "b"], &workspaces));
    let on_a = names.iter().filter(|name| role(&it, name, "a").0 == Role::Chosen).count();
    assert!((4..=16).contains(&on_a), "{on_a} of 20 on a");
}

#[test]
fn too_few_are_used_and_the_line_says_why() {
    let mut world = world(&["a", "b", "c", "d"], &[("shop", &["web"], 2)]);
    select(&mut world, "shop", "a");
    taint(&mut world, "b", Effect::NoSchedule);
    let it = plan(&world);
    assert_eq!(unplaced(&it, "shop"), "1/2 clusters: 0/3 more are available: 3 didn't match the selector.");
    assert_eq!(problems(&it), ["NoClusterFits shop"]);
    assert_eq!(writes(&it), ["a create web"]);
    placement(&mut world, "shop").cluster_selector = None;
    cluster(&mut world, "c").spec.unschedulable = true;
    cluster(&mut world, "d").spec.unschedulable = true;
    assert_eq!(
        unplaced(&plan(&world), "shop"),
        "1/2 clusters: 0/3 more are available: 2 took nothing new (unschedulable), 1 had untolerated taint {maintenance: NoSchedule}."
    );
}

#[test]
fn rules_for_newcomers_leave_alone_what_is_there() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    let home = only_home(&world, "shop");
    cluster(&mut world, &home).spec.unschedulable = true;
    taint(&mut world, &home, Effect::NoSchedule);
    assert!(plan(&world).is_quiet());
    lose(&mut world, &home);
    let it = plan(&world);
    assert!(it.is_quiet(), "a lost cluster moves nothing");
    assert_eq!(role(&it, "shop", &home), (Role::Chosen, Reason::ClusterUnreachable));
}

#[test]
fn a_new_cluster_moves_nothing_and_a_grown_count_keeps_the_old_ones() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    let home = only_home(&world, "shop");
    for name in ["c", "d", "e"] {
        add_cluster(&mut world, name);
    }
    assert!(plan(&world).is_quiet());
    placement(&mut world, "shop").clusters = exactly(3);
    assert_eq!(decision(&settle(&mut world), "shop").map(|it| it.epoch), Some(2));
    assert!(homes(&world, "shop").contains(&home));
    assert_eq!(homes(&world, "shop").len(), 3);
}

#[test]
fn min_max_and_all() {
    let mut world = world(&["a", "b", "c"], &[("shop", &["web"], 1)]);
    placement(&mut world, "shop").clusters = ClusterCount { all: Some(true), ..ClusterCount::default() };
    assert_eq!(writes(&plan(&world)).len(), 3);
    placement(&mut world, "shop").clusters =
        ClusterCount { min: Some(1), max: Some(2), ..ClusterCount::default() };
    assert_eq!(writes(&plan(&world)).len(), 2);
    lose(&mut world, "a");
    lose(&mut world, "b");
    view(&mut world, "a").sets.clear();
    let it = plan(&world);
    assert_eq!((writes(&it), unplaced(&it, "shop")), (vec!["c create web".to_owned()], String::new()));
}

#[test]
fn no_execute_counts_its_seconds_from_time_added() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    let home = only_home(&world, "shop");
    taint(&mut world, &home, Effect::NoExecute);
    placement(&mut world, "shop").tolerations = vec![Toleration {
        key: "maintenance".to_owned(),
        operator: TolerationOperator::Exists,
        toleration_seconds: Some(300),
        ..Toleration::default()
    }];
    let it = plan(&world);
    assert!(it.is_quiet());
    assert!(it.units[&UnitId::workspace("shop")].verdicts[&home].message.contains("no timeAdded"));
    cluster(&mut world, &home).spec.taints[0].time_added = Some(Timestamp::from_epoch_seconds(NOW));
    world.now = NOW + 299;
    assert!(plan(&world).is_quiet());
    // Nothing new comes for the time that is left.
    placement(&mut world, "shop").cluster_selector = None;
    let other = if home == "a" { "b" } else { "a" };
    config(&mut world).clusters.remove(other);
    write(&mut world, "blog", &["page"]);
    place(&mut world, "blog", exactly(1));
    placement(&mut world, "blog").tolerations = placement(&mut world, "shop").tolerations.clone();
    assert_eq!(writes(&plan(&world)), Vec::<String>::new());
    add_cluster(&mut world, other);
    world.now = NOW + 300;
    assert_eq!(role(&plan(&world), "shop", &home), (Role::Leaving, Reason::TaintNotTolerated));
}

#[test]
fn what_was_not_seen_yet_is_waited_for_before_a_first_placement_only() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    let b = std::mem::take(view(&mut world, "b"));
    let it = plan(&world);
    assert_eq!((decision(&it, "shop"), problems(&it)), (None, vec!["Pending shop".to_owned()]));
    assert!(it.is_quiet());
    // Lost for good, with nothing known of it: the others go on.
    lose(&mut world, "b");
    assert_eq!(writes(&plan(&world)), ["a create web"]);
    // Unless what was decided before cannot be known.
    world.memory_known = false;
    let it = plan(&world);
    assert!(it.is_quiet() && hold(&it).message.contains("unknown"), "{:?}", it.holds);
    place(&mut world, "shop", ClusterCount { all: Some(true), ..ClusterCount::default() });
    assert_eq!(writes(&plan(&world)), ["a create web"], "everywhere is never one too many");
    place(&mut world, "shop", exactly(1));
    world.memory_known = true;
    *view(&mut world, "b") = b;
    settle(&mut world);
    let other = if only_home(&world, "shop") == "a" { "b" } else { "a" };
    *view(&mut world, other) = ClusterView::default();
    assert!(plan(&world).is_quiet(), "what is decided does not wait");
}

#[test]
fn copies_without_a_decision_are_adopted() {
    let mut world = world(&["a", "b", "c"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    let home = only_home(&world, "shop");
    world.memory.clear();
    view(&mut world, &home).sets.get_mut("shop").expect("its set").parent.decision = None;
    let it = settle(&mut world);
    assert_eq!(only_home(&world, "shop"), home);
    assert_eq!(decision(&it, "shop").map(|it| it.targets.len()), Some(1));
}

#[test]
fn mode_none_only_within_a_run_for_that_cluster() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    cluster(&mut world, "a").spec.mode = ClusterMode::None;
    let it = plan(&world);
    assert!(it.is_quiet());
    assert!(
        it.units[&UnitId::workspace("shop")].verdicts["a"].message.contains("kubectl kcp sync --cluster a")
    );
    add_cluster(&mut world, "b");
    placement(&mut world, "shop").clusters = exactly(2);
    let it = plan_for(&world, &Scope::Cluster("a".to_owned()));
    assert_eq!(writes(&it), ["a create web"]);
    execute(&mut world, &it, &current());
    // The daemon counts what is there and leaves it alone.
    write(&mut world, "shop", &["web=1"]);
    assert_eq!(writes(&plan(&world)), ["b create web"]);
    assert_eq!(decision(&plan(&world), "shop").map(|it| it.targets.len()), Some(2));
}

#[test]
fn another_cluster_behind_the_connection_is_not_touched() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    view(&mut world, "a").uid = Some(uid("stranger"));
    write(&mut world, "shop", &["web=1"]);
    let it = plan(&world);
    assert!(it.is_quiet());
    let stopped = it.clusters["a"].stopped.as_ref().map(|it| it.0);
    assert_eq!(stopped, Some(Reason::ClusterIdentityChanged));
    // Two documents for one cluster: neither is worked with.
    add_cluster(&mut world, "b");
    add_cluster(&mut world, "c");
    cluster(&mut world, "c").spec.uid = None;
    view(&mut world, "c").uid = Some(uid("b"));
    placement(&mut world, "shop").clusters = exactly(3);
    assert!(plan(&world).is_quiet());
    view(&mut world, "a").uid = Some(uid("a"));
    assert_eq!(writes(&plan(&world)), ["a update web"], "and no other cluster pays for it");
}

#[test]
fn what_another_cluster_behind_the_connection_has_is_not_of_this_fleet() {
    let mut world = world(&["a"], &[("shop", &["web"], 1), ("old", &["old"], 1)]);
    settle(&mut world);
    config(&mut world).workspaces.remove("old");
    config(&mut world).placements.remove("old");
    world.desired.workspaces.remove("old");
    world.memory.clear();
    assert!(plan(&world).units.contains_key(&UnitId::workspace("old")), "it is there and git has it no more");
    view(&mut world, "a").uid = Some(uid("stranger"));
    let it = plan(&world);
    assert!(!it.units.contains_key(&UnitId::workspace("old")), "who knows where that is");
    assert_eq!(decision(&it, "shop").map(|it| it.targets.len()), None, "nor is shop known to be anywhere");
}

#[test]
fn nothing_is_written_to_a_cluster_that_is_not_known_or_not_read_yet() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    view(&mut world, "a").uid = None;
    let it = plan(&world);
    assert!(it.is_quiet(), "{:?}", writes(&it));
    assert_eq!(role(&it, "shop", "a"), (Role::Excluded, Reason::ClusterIdentityUnknown));
    view(&mut world, "a").uid = Some(uid("a"));
    settle(&mut world);
    // It is read again, and what it lacks it does not say yet.
    view(&mut world, "a").complete = false;
    write(&mut world, "shop", &["web=1"]);
    assert!(plan(&world).is_quiet());
    view(&mut world, "a").complete = true;
    assert_eq!(writes(&plan(&world)), ["a update web"]);
}

#[test]
fn a_cluster_of_unknown_identity_may_be_the_one_it_is_on() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    let home = only_home(&world, "shop");
    // After a restart: not recorded in its document, and not reachable.
    cluster(&mut world, &home).spec.uid = None;
    *view(&mut world, &home) = ClusterView::default();
    lose(&mut world, &home);
    let it = plan(&world);
    assert!(it.is_quiet(), "{:?}", writes(&it));
    assert_eq!(decision(&it, "shop").map(|it| it.targets), Some([uid(&home)].into()));
    config(&mut world).clusters.remove(&home);
    assert_eq!(writes(&plan(&world)).len(), 1, "with the document gone it is detached");
}

#[test]
fn what_no_placement_claims_goes_nowhere() {
    let mut world = world(&["a"], &[]);
    write(&mut world, "shop", &["web"]);
    let it = plan(&world);
    assert!(it.is_quiet());
    assert_eq!(problems(&it), ["NotPlaced shop"]);
    assert_eq!(role(&it, "shop", "a"), (Role::Excluded, Reason::NotPlaced));
}

#[test]
fn names_of_documents_do_not_matter() {
    let mut world = world(&["a", "b", "c"], &[("shop", &["web"], 2), ("blog", &["page"], 1)]);
    settle(&mut world);
    for (old, new) in [("a", "z"), ("b", "a2")] {
        let document = config(&mut world).clusters.remove(old).expect("it is there");
        config(&mut world).clusters.insert(new.to_owned(), document);
        let seen = world.clusters.remove(old).expect("it is there");
        world.clusters.insert(new.to_owned(), seen);
    }
    assert!(plan(&world).is_quiet(), "a renamed Cluster document changes nothing");
    let mut renamed = config(&mut world).placements.remove("shop").expect("it is there");
    renamed.value.metadata.name = "other".to_owned();
    config(&mut world).placements.insert("other".to_owned(), renamed);
    let before = homes(&world, "shop");
    let it = plan(&world);
    assert!(deletes(&it).is_empty() && it.acts.is_empty());
    settle(&mut world);
    assert_eq!(homes(&world, "shop"), before, "a renamed placement moves nothing");
}

#[test]
fn a_parent_that_cannot_be_read_stops_its_cluster_and_its_workspace_and_says_so() {
    let mut world = world(&["a", "b"], &[("blog", &["page"], 1), ("shop", &["web"], 1)]);
    let broken = view(&mut world, "a");
    broken.complete = false;
    broken.parent_errors.insert("shop".to_owned(), "its lists are damaged".to_owned());
    let it = plan(&world);
    assert_eq!(writes(&it), ["b create page"], "it may be on a already, the other one is not");
    let (reason, message) = it.clusters["a"].stopped.clone().expect("nothing is written there");
    assert_eq!(reason, Reason::InventoryIncomplete);
    assert!(message.contains("shop: its lists are damaged"), "{message}");
    assert!(problems(&it).contains(&"InventoryIncomplete shop".to_owned()), "{:?}", problems(&it));
}

#[test]
fn what_is_said_of_a_tolerated_taint_does_not_change_with_the_clock() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    taint(&mut world, "a", Effect::NoExecute);
    cluster(&mut world, "a").spec.taints[0].time_added = Some(Timestamp::from_epoch_seconds(NOW));
    placement(&mut world, "shop").tolerations = vec![Toleration {
        key: "maintenance".to_owned(),
        operator: TolerationOperator::Exists,
        toleration_seconds: Some(300),
        ..Toleration::default()
    }];
    let said = |world: &crate::world::World| {
        plan(world).units[&UnitId::workspace("shop")].verdicts["a"].message.clone()
    };
    let before = said(&world);
    world.now += 1;
    assert_eq!(said(&world), before);
}

/// One run on one cluster never sees the others: it does what they cannot change.
#[test]
fn a_run_on_one_cluster_does_there_what_clusters_that_were_never_seen_cannot_change() {
    let mut world = world(
        &["a", "b", "c"],
        &[
            ("all", &["x1"], 1),
            ("both", &["x2"], 2),
            ("here", &["x3"], 1),
            ("one", &["x4"], 1),
            ("three", &["x5"], 3),
        ],
    );
    placement(&mut world, "all").clusters = ClusterCount { all: Some(true), ..ClusterCount::default() };
    select(&mut world, "here", "a");
    taint(&mut world, "c", Effect::NoSchedule);
    for name in ["b", "c"] {
        world.clusters.remove(name);
    }
    let scope = Scope::Cluster("a".to_owned());
    let it = plan_for(&world, &scope);
    assert_eq!(writes(&it), ["a create x1", "a create x2", "a create x3", "a create x5"]);
    assert!(it.holds.is_empty());
    let waits = it.problems.iter().find(|it| it.reason == Reason::Pending).expect("it says what waits");
    assert_eq!(waits.workspace.as_deref(), Some("one"));
    assert!(
        waits.message.starts_with("waits: b was never seen, and this run does not look there"),
        "{waits:?}"
    );
    assert_eq!(writes(&plan(&world)), ["a create x3"], "the daemon will see them, and waits");
    // What was recorded of them is known.
    for name in ["b", "c"] {
        let seen = ClusterView { uid: Some(uid(name)), ..world.clusters["a"].clone() };
        world.clusters.insert(name.to_owned(), seen);
    }
    let it = plan_for(&world, &scope);
    assert!(it.problems.iter().all(|it| it.reason != Reason::Pending), "{:?}", it.problems);
}

//! Moves: make before break, within the budget.

use std::collections::BTreeSet;

use kcp_api::{Approval, ApprovalSpec, Budget, Effect, Reason, SyncPolicySpec, Timestamp, Verb};

use super::fixture::*;
use crate::planner::{Scope, plan, plan_for};
use crate::world::{Act, ActKind, UnitId};

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_old_copy_goes_when_the_new_one_is_healthy_and_not_before() {
    let mut world = world(&["a", "b"], &[("shop", &["web", "db"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    let first = step_sick(&mut world);
    assert_eq!(writes(&first), ["b create db", "b create web"]);
    assert_eq!(
        first.units[&UnitId::workspace("shop")].movement.clone().map(|it| it.to),
        Some(vec!["b".to_owned()])
    );
    let decided = decision(&first, "shop").expect("it is decided");
    assert_eq!(
        (decided.epoch, decided.targets.clone(), decided.leaving),
        (2, [uid("b")].into(), [uid("a")].into())
    );
    // A change in git meanwhile reaches the new copy only; the old one is not touched.
    write(&mut world, "shop", &["web=1", "db"]);
    let second = step_sick(&mut world);
    assert_eq!((writes(&second), deletes(&second)), (vec!["b update web".to_owned()], vec![]));
    let movement = second.units[&UnitId::workspace("shop")].movement.clone().expect("it moves");
    assert_eq!((movement.from, movement.reason), (vec!["a".to_owned()], Reason::SelectorMismatch));
    assert!(movement.message.contains("waits for ConfigMap shared/db on b"), "{}", movement.message);
    seen(&mut world, "b", "shop", "web").health = current();
    assert!(deletes(&plan(&world)).is_empty(), "one of two is healthy");
    heal(&mut world);
    let third = plan(&world);
    assert_eq!(deletes(&third), ["a db", "a web"]);
    assert!(third.clusters["a"].sets["shop"].delete.iter().all(|it| it.moved));
    assert!(third.acts.is_empty(), "removal after a hand-over is part of the move");
    settle(&mut world);
    assert_eq!(homes(&world, "shop"), set(&["b"]));
    assert!(!world.clusters["a"].sets.contains_key("shop"), "the parent goes last");
}

#[test]
fn of_what_a_move_waits_for_the_first_five_are_named() {
    let waits_for = |objects: &[&str]| {
        let mut world = world(&["a", "b"], &[("shop", objects, 1)]);
        select(&mut world, "shop", "a");
        settle(&mut world);
        select(&mut world, "shop", "b");
        step_sick(&mut world);
        plan(&world).units[&UnitId::workspace("shop")].movement.clone().expect("it moves").message
    };
    assert!(waits_for(&["a", "b", "c", "d", "e"]).ends_with("ConfigMap shared/e on b"));
    assert!(waits_for(&["a", "b", "c", "d", "e", "f"]).ends_with("ConfigMap shared/e on b and 1 more"));
}

#[test]
fn too_late_is_held_and_still_completes() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    step_sick(&mut world);
    world.now = NOW + 299;
    assert!(plan(&world).holds.is_empty());
    world.now = NOW + 300;
    let it = plan(&world);
    assert_eq!((hold(&it).reason, hold(&it).id.as_str()), (Reason::HandOverTimeout, ""));
    assert!(hold(&it).message.contains("ConfigMap shared/web on b"), "{}", hold(&it).message);
    assert!(it.is_quiet());
    heal(&mut world);
    settle(&mut world);
    assert_eq!(homes(&world, "shop"), set(&["b"]));
}

#[test]
fn an_empty_or_broken_new_copy_never_replaces_an_old_one() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    write(&mut world, "shop", &[]);
    settle(&mut world);
    assert_eq!(homes(&world, "shop"), set(&["a"]), "no objects is never healthy");
    write(&mut world, "shop", &["web"]);
    step_sick(&mut world);
    heal(&mut world);
    fail(&mut world, "shop", None);
    assert!(plan(&world).is_quiet(), "what could not be rendered moves nothing");
}

#[test]
fn nowhere_to_go_is_no_reason_to_go() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    taint(&mut world, "a", Effect::NoExecute);
    let it = plan(&world);
    assert!(it.is_quiet());
    assert_eq!(it.units[&UnitId::workspace("shop")].verdicts["a"].reason, Reason::NoClusterFits);
    assert_eq!(problems(&it), ["NoClusterFits shop"]);
    write(&mut world, "shop", &["web=1"]);
    assert_eq!(writes(&plan(&world)), ["a update web"], "what stays is kept up");
}

#[test]
fn of_two_that_must_leave_only_as_many_go_as_are_replaced() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 2)]);
    settle(&mut world);
    add_cluster(&mut world, "c");
    taint(&mut world, "a", Effect::NoExecute);
    taint(&mut world, "b", Effect::NoExecute);
    settle(&mut world);
    assert_eq!(homes(&world, "shop").len(), 2);
    assert!(homes(&world, "shop").contains("c"));
}

#[test]
fn fewer_copies_are_a_move_too() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 2)]);
    settle(&mut world);
    placement(&mut world, "shop").clusters = exactly(1);
    let it = plan(&world);
    assert_eq!(it.acts.len(), 1);
    assert_eq!(it.acts[0].kind, ActKind::Move);
    assert_eq!(deletes(&it).len(), 1, "the one that remains is healthy already");
    settle(&mut world);
    assert_eq!(homes(&world, "shop").len(), 1);
}

#[test]
fn the_last_copy_goes_only_with_approval() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    placement(&mut world, "shop").clusters = exactly(0);
    assert!(plan(&world).acts.is_empty(), "what is held is not counted as a move either");
    let it = settle(&mut world);
    assert_eq!((hold(&it).reason, homes(&world, "shop")), (Reason::LastCopy, set(&["a"])));
}

#[test]
fn moves_above_the_budget_are_held_as_one_and_approval_lets_them_go() {
    let names: Vec<String> = (0..4).map(|it| format!("w{it}")).collect();
    let mut world = each_with_one_object(&["a", "b"], &names);
    for name in &names {
        select(&mut world, name, "a");
    }
    settle(&mut world);
    // Budget: 25% of 4, at least 2. Two moves are within, three are not.
    for name in &names[..3] {
        select(&mut world, name, "b");
    }
    let it = plan(&world);
    assert!(it.is_quiet(), "{:?}", writes(&it));
    let held = hold(&it).clone();
    assert_eq!((held.reason, held.actions.len()), (Reason::BudgetExceeded, 3));
    assert!(held.message.ends_with(&format!("`kubectl kcp approve {}`", held.id)), "{}", held.message);
    assert_eq!(decision(&it, "w0").map(|it| it.epoch), Some(1), "the old decision stays");
    // One approved: the other two are within the budget.
    approve(&mut world, &held, 1);
    let it = plan(&world);
    assert_eq!((it.holds.len(), writes(&it).len(), it.acts.len()), (0, 3, 2));
    settle(&mut world);
    assert_eq!(homes(&world, "w0"), set(&["b"]));
    // Within the same hour one more is too many; an hour later it is not.
    select(&mut world, "w3", "b");
    assert_eq!(hold(&plan(&world)).actions.len(), 1);
    world.now += 3600;
    assert_eq!(plan(&world).holds, []);
}

#[test]
fn evacuations_are_not_counted() {
    let names: Vec<String> = (0..6).map(|it| format!("w{it}")).collect();
    let mut world = each_with_one_object(&["a"], &names);
    settle(&mut world);
    add_cluster(&mut world, "b");
    taint(&mut world, "a", Effect::NoExecute);
    let it = plan(&world);
    assert_eq!((writes(&it).len(), it.holds.len(), it.acts.len()), (6, 0, 0));
}

#[test]
fn a_move_is_counted_once_however_often_it_was_recorded() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    for at in [NOW - 1, NOW - 2, NOW - 3, NOW - 4] {
        let (workspace, id) = ("shop".to_owned(), "shop epoch 1".to_owned());
        world.recent.push(Act { at, workspace, kind: ActKind::Move, id });
    }
    let home = only_home(&world, "shop");
    select(&mut world, "shop", if home == "a" { "b" } else { "a" });
    assert!(plan(&world).holds.is_empty());
}

#[test]
fn a_copy_on_a_lost_cluster_waits_there_until_it_is_back() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    lose(&mut world, "a");
    select(&mut world, "shop", "b");
    let it = settle(&mut world);
    assert_eq!(decision(&it, "shop").map(|it| it.leaving), Some([uid("a")].into()));
    assert_eq!(homes(&world, "shop"), set(&["a", "b"]));
    find_again(&mut world, "a");
    settle(&mut world);
    assert_eq!(homes(&world, "shop"), set(&["b"]));
}

#[test]
fn a_new_copy_that_cannot_be_seen_is_not_healthy() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    step_sick(&mut world);
    heal(&mut world);
    assert_eq!(deletes(&plan(&world)).len(), 1);
    lose(&mut world, "b");
    assert_eq!(deletes(&plan(&world)).len(), 0);
}

#[test]
fn a_lost_cluster_keeps_no_copy_elsewhere_from_leaving_if_its_own_was_healthy() {
    for healthy in [true, false] {
        let mut world = world(&["a", "b"], &[("shop", &["web"], 2)]);
        settle(&mut world);
        if !healthy {
            seen(&mut world, "a", "shop", "web").health = sick();
        }
        lose(&mut world, "a");
        add_cluster(&mut world, "c");
        taint(&mut world, "b", Effect::NoExecute);
        settle(&mut world);
        let expected = if healthy { set(&["a", "c"]) } else { set(&["a", "b", "c"]) };
        assert_eq!(homes(&world, "shop"), expected, "healthy: {healthy}");
    }
}

#[test]
fn no_copy_leaves_for_one_on_a_cluster_that_nobody_knows() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    step_sick(&mut world);
    heal(&mut world);
    // The document of the new cluster is replaced by one that does not say which cluster it is.
    config(&mut world).clusters.remove("b");
    world.clusters.remove("b");
    add_cluster(&mut world, "renamed");
    cluster(&mut world, "renamed").spec.uid = None;
    *view(&mut world, "renamed") = crate::world::ClusterView::default();
    assert_eq!(deletes(&plan(&world)).len(), 0);
}

#[test]
fn a_run_on_one_cluster_lets_no_copy_leave_for_what_another_run_saw() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    step_sick(&mut world);
    heal(&mut world);
    assert_eq!(deletes(&plan(&world)), ["a web"]);
    assert_eq!(deletes(&plan_for(&world, &Scope::Cluster("a".to_owned()))).len(), 0);
}

#[test]
fn an_approval_is_good_for_one_move_and_not_for_the_next_of_the_same_kind() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    config(&mut world).fleet.value.spec.safety.max_move = Budget { percent: 0, floor: 0 };
    select(&mut world, "shop", "b");
    let held = hold(&plan(&world)).clone();
    approve(&mut world, &held, 1);
    settle(&mut world);
    assert_eq!(homes(&world, "shop"), set(&["b"]));
    config(&mut world).fleet.value.spec.safety.max_move = Budget { percent: 0, floor: 1 };
    select(&mut world, "shop", "a");
    settle(&mut world);
    config(&mut world).fleet.value.spec.safety.max_move = Budget { percent: 0, floor: 0 };
    world.recent.clear();
    select(&mut world, "shop", "b");
    assert_eq!((homes(&world, "shop"), hold(&plan(&world)).id.as_str()), (set(&["a"]), held.id.as_str()));
}

#[test]
fn a_copy_that_waits_to_leave_gives_nothing_away() {
    let mut world = world(&["a", "b"], &[("blog", &["page"], 1), ("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    select(&mut world, "blog", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    write(&mut world, "blog", &["page", "web"]);
    let it = step_sick(&mut world);
    assert_eq!(
        (writes(&it), problems(&it)),
        (vec!["b create web".to_owned()], vec!["TwoClaims blog web".to_owned()])
    );
    heal(&mut world);
    let it = plan(&world);
    assert_eq!((writes(&it), deletes(&it)), (vec!["a hand over web".to_owned()], vec![]));
}

#[test]
fn after_a_restart_a_copy_on_its_way_out_is_not_forgotten() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    step_sick(&mut world);
    *view(&mut world, "a") = crate::world::ClusterView::default();
    let it = plan(&world);
    assert_eq!(decision(&it, "shop").map(|it| (it.epoch, it.leaving)), Some((2, [uid("a")].into())));
}

#[test]
fn without_pruning_nothing_goes_and_nobody_waits() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    let mut policy = SyncPolicySpec::default();
    policy.delete.prune = false;
    set_policy(&mut world, policy);
    select(&mut world, "shop", "a");
    settle(&mut world);
    select(&mut world, "shop", "b");
    let it = settle(&mut world);
    assert_eq!(homes(&world, "shop"), set(&["a", "b"]));
    assert_eq!(it.clusters["a"].sets["shop"].retained.len(), 1);
    assert_eq!(it.units[&UnitId::workspace("shop")].movement, None);
}

/// A world of workspaces with one object each, named like them.
fn each_with_one_object(clusters: &[&str], names: &[String]) -> crate::world::World {
    let mut world = world(clusters, &[]);
    for name in names {
        write(&mut world, name, &[name.as_str()]);
        place(&mut world, name, exactly(1));
    }
    world
}

/// Approves the first so many actions of a hold.
fn approve(world: &mut crate::world::World, held: &crate::plan::Hold, count: usize) {
    let actions = held.actions.iter().take(count).map(|it| kcp_api::Action {
        verb: Verb::Move,
        cluster_uid: it.cluster_uid.0.clone(),
        group: it.object.group.clone(),
        kind: it.object.kind.clone(),
        namespace: it.object.namespace.clone(),
        name: it.object.name.clone(),
        uid: it.uid.clone(),
    });
    let at = Timestamp::from_epoch_seconds(world.now);
    let spec = ApprovalSpec { hold: held.id.clone(), actions: actions.collect(), reason: None, at, by: None };
    config(world)
        .approvals
        .insert("one".to_owned(), located(Approval::new("one", spec), "approvals/one.yaml"));
}

//! Deletes: each guard alone keeps an object, and budgets hold what is too much.

use kcp_api::{Action, Approval, ApprovalSpec, Budget, Reason, Timestamp, Verb};

use super::fixture::*;
use crate::object::{ContentHash, ObjectKey};
use crate::plan::{Hold, Plan};
use crate::planner::plan;
use crate::world::{Contact, Failure, KindFacts, ObservedObject, World};

/// A settled world from whose workspace one object was taken.
fn one_gone() -> World {
    let mut world = world(&["a"], &[("shop", &["web", "old"], 1)]);
    settle(&mut world);
    write(&mut world, "shop", &["web"]);
    world
}

#[test]
fn what_git_no_longer_has_is_deleted_and_counted() {
    let mut world = one_gone();
    let it = plan(&world);
    assert_eq!(deletes(&it), ["a old"]);
    let action = &it.clusters["a"].sets["shop"].delete[0];
    assert!(!action.moved && !action.uid.is_empty() && action.version == "v1");
    assert_eq!(it.acts.len(), 1);
    settle(&mut world);
    assert!(!world.clusters["a"].sets["shop"].objects.contains_key(&key("old")));
}

#[test]
fn a_failed_delete_waits_for_its_time() {
    let mut world = one_gone();
    let failure = Failure {
        workspace: "shop".to_owned(),
        hash: None,
        reason: Reason::Forbidden,
        message: "not allowed".to_owned(),
        since: NOW,
        retry_at: NOW + 10,
        attempts: 1,
    };
    view(&mut world, "a").failures.insert(key("old"), failure);
    let it = plan(&world);
    assert_eq!((deletes(&it), problems(&it)), (vec![], vec!["Forbidden shop old".to_owned()]));
    world.now = NOW + 10;
    assert_eq!(deletes(&plan(&world)), ["a old"]);
    world.now = NOW - 86_400;
    assert_eq!(
        deletes(&plan(&world)),
        ["a old"],
        "a clock that was a day ahead keeps nothing waiting for a day"
    );
}

/// A change of the world that must keep the object.
type Guard = (&'static str, fn(&mut World));

#[test]
fn each_guard_alone_keeps_it() {
    let guards: [Guard; 14] = [
        ("the view is not complete", |world| view(world, "a").complete = false),
        ("another kind could not be listed", |world| {
            view(world, "a").complete = false;
            let set = view(world, "a").sets.get_mut("shop").expect("its set");
            set.unlisted.insert("Job.batch".to_owned(), "timeout".to_owned());
        }),
        ("the cluster is lost", |world| lose(world, "a")),
        ("the cluster was not seen yet", |world| view(world, "a").contact = Contact::Pending),
        ("another cluster answers", |world| view(world, "a").uid = Some(uid("b"))),
        ("the workspace failed", |world| fail(world, "shop", None)),
        ("the workspace failed and has a last state", |world| {
            fail(world, "shop", Some(rendered("shop", &["web"])))
        }),
        ("manager kcp did not write it", |world| seen(world, "a", "shop", "old").managed = false),
        ("it is of another workspace", |world| {
            seen(world, "a", "shop", "old").workspace = Some("blog".to_owned())
        }),
        ("it is of no workspace", |world| seen(world, "a", "shop", "old").workspace = None),
        ("a controller made it", |world| seen(world, "a", "shop", "old").controlled = true),
        ("it is being deleted already", |world| seen(world, "a", "shop", "old").terminating = true),
        ("its UID is not known", |world| seen(world, "a", "shop", "old").uid.clear()),
        ("its kind could not be listed", |world| {
            let set = view(world, "a").sets.get_mut("shop").expect("its set");
            set.unlisted.insert("ConfigMap".to_owned(), "timeout".to_owned());
        }),
    ];
    assert_eq!(deletes(&plan(&one_gone())), ["a old"], "without a guard it goes");
    for (what, set_up) in guards {
        let mut world = one_gone();
        set_up(&mut world);
        assert_eq!(deletes(&plan(&world)), Vec::<String>::new(), "{what}");
    }
}

#[test]
fn kept_kinds_are_retained_and_the_parent_remembers_them() {
    let mut world = world(&["a"], &[("shop", &["web", "PersistentVolumeClaim/data"], 1)]);
    settle(&mut world);
    write(&mut world, "shop", &["web"]);
    let it = settle(&mut world);
    let set = &it.clusters["a"].sets["shop"];
    assert_eq!((deletes(&it).len(), set.retained.clone()), (0, [key("PersistentVolumeClaim/data")].into()));
    assert!(set.group_kinds.iter().any(|kind| kind.kind == "PersistentVolumeClaim"));
}

#[test]
fn a_manifest_with_a_problem_keeps_its_object() {
    let mut world = world(&["a"], &[("shop", &["web", "old"], 1)]);
    settle(&mut world);
    // Twice in git: which is meant cannot be told, so neither is applied nor deleted.
    write(&mut world, "shop", &["web", "old=1", "old=2"]);
    let it = plan(&world);
    assert!(it.is_quiet());
    assert_eq!(problems(&it), ["InvalidObject shop old"]);
}

#[test]
fn deletes_go_the_other_way_round() {
    let objects =
        ["ServiceAccount/bot", "apps:Deployment/web", "ConfigMap/conf", "stay", "apps:StatefulSet/db"];
    let mut world = world(&["a"], &[("shop", &objects, 1)]);
    settle(&mut world);
    // What stays is of the same group, and says nothing about the version of another kind.
    write(&mut world, "shop", &["stay", "apps:StatefulSet/db"]);
    assert_eq!(problems(&plan(&world)), ["DiscoveryIncomplete shop web"], "by which version is not known");
    let facts = |kind: &str, plural: &str| KindFacts {
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: true,
        versions: vec!["v1".to_owned()],
    };
    let kinds = &mut view(&mut world, "a").api.kinds;
    kinds.insert("apps".to_owned(), vec![facts("Deployment", "deployments")]);
    kinds.insert(
        String::new(),
        vec![facts("ConfigMap", "configmaps"), facts("ServiceAccount", "serviceaccounts")],
    );
    assert_eq!(deletes(&plan(&world)), ["a web", "a conf", "a bot"]);
}

#[test]
fn the_version_that_git_has_of_a_kind_is_enough_to_delete_it() {
    let mut world = world(&["a"], &[("shop", &["apps:Deployment/web", "apps:Deployment/old"], 1)]);
    settle(&mut world);
    write(&mut world, "shop", &["apps:Deployment/web"]);
    assert_eq!(deletes(&plan(&world)), ["a old"]);
}

fn many(count: usize) -> Vec<String> {
    (0..count).map(|it| format!("x{it:02}")).collect()
}

fn write_many(world: &mut World, count: usize) {
    let names = many(count);
    write(world, "shop", &names.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Twenty objects on each of two clusters: 10% of 40 are 4, the floor is 5.
fn big() -> World {
    let mut world = world(&["a", "b"], &[("shop", &["x00"], 2)]);
    write_many(&mut world, 20);
    settle(&mut world);
    world
}

#[test]
fn above_the_budget_all_deletes_of_the_workspace_are_held_as_one() {
    let mut world = big();
    write_many(&mut world, 18);
    assert_eq!(deletes(&plan(&world)).len(), 4, "two objects on two clusters");
    write_many(&mut world, 17);
    let it = plan(&world);
    assert_eq!(deletes(&it).len(), 0);
    let held = hold(&it);
    assert_eq!((held.reason, held.actions.len(), held.id.len()), (Reason::BudgetExceeded, 6, 12));
    assert!(held.message.ends_with(&format!("`kubectl kcp approve {}`", held.id)));
    assert!(held.message.contains("more than safety.maxDelete allows"), "{}", held.message);
    assert!(it.acts.is_empty());
    world.desired.commit = "c9".to_owned();
    world.now += 5;
    assert_eq!(hold(&plan(&world)).id, held.id, "the same actions have the same id");
    // Other work goes on.
    write_many(&mut world, 17);
    seen(&mut world, "a", "shop", "x01").own = ContentHash::of_bytes(b"edited");
    seen(&mut world, "a", "shop", "x01").applied = None;
    assert_eq!(writes(&plan(&world)), ["a correct x01"]);
}

#[test]
fn the_budget_counts_over_an_hour() {
    let mut world = big();
    write_many(&mut world, 18);
    settle(&mut world);
    write_many(&mut world, 17);
    world.now += 3599;
    assert_eq!(deletes(&plan(&world)).len(), 0, "4 and 2 are more than 5");
    world.now += 1;
    assert_eq!(deletes(&plan(&world)).len(), 2);
    config(&mut world).fleet.value.spec.safety.max_delete = Budget { percent: 0, floor: 0 };
    assert_eq!(hold(&plan(&world)).actions.len(), 2);
}

fn approval(hold: &Hold, actions: Vec<Action>, at: i64) -> Approval {
    let at = Timestamp::from_epoch_seconds(at);
    Approval::new("one", ApprovalSpec { hold: hold.id.clone(), actions, reason: None, at, by: None })
}

fn approve(world: &mut World, approval: Approval) {
    config(world).approvals.insert("one".to_owned(), located(approval, "approvals/one.yaml"));
}

fn actions(hold: &Hold) -> Vec<Action> {
    let action = |it: &crate::plan::HeldAction| Action {
        verb: Verb::Delete,
        cluster_uid: it.cluster_uid.0.clone(),
        group: it.object.group.clone(),
        kind: it.object.kind.clone(),
        namespace: it.object.namespace.clone(),
        name: it.object.name.clone(),
        uid: it.uid.clone(),
    };
    hold.actions.iter().map(action).collect()
}

#[test]
fn an_approval_lets_exactly_its_actions_through() {
    let mut world = big();
    write_many(&mut world, 12);
    let held = hold(&plan(&world)).clone();
    assert_eq!(held.actions.len(), 16);
    let all = actions(&held);
    approve(&mut world, approval(&held, all[..3].to_vec(), NOW));
    let it = plan(&world);
    assert_eq!((deletes(&it).len(), hold(&it).actions.len(), it.acts.len()), (3, 13, 0));
    for (at, expected) in [(NOW - 86_400, 0), (NOW - 86_399, 16), (NOW + 300, 16), (NOW + 301, 0)] {
        approve(&mut world, approval(&held, all.clone(), at));
        assert_eq!(deletes(&plan(&world)).len(), expected, "given at {at}, now is {NOW}");
    }
    let mut other = all.clone();
    other[0].uid = Some("another object of that name".to_owned());
    approve(&mut world, approval(&held, other, NOW));
    assert_eq!(deletes(&plan(&world)).len(), 16, "one more is within the budget");
    assert_eq!(plan(&world).acts.len(), 1, "and is counted");
}

#[test]
fn emptied_removed_and_unplaced_always_wait_for_approval() {
    type Change = fn(&mut World);
    let changes: [(Reason, &str, Change); 3] = [
        (Reason::EmptyWorkspace, "the workspace has no objects", |world| write(world, "shop", &[])),
        (Reason::WorkspaceRemoved, "the workspace is gone from git", |world| {
            config(world).workspaces.remove("shop");
            config(world).placements.remove("shop");
            world.desired.workspaces.remove("shop");
        }),
        (Reason::PlacementRemoved, "no placement is about the workspace", |world| {
            config(world).placements.remove("shop");
        }),
    ];
    for (reason, why, change) in changes {
        let mut world = world(&["a"], &[("shop", &["web", "Namespace/shared"], 1)]);
        settle(&mut world);
        change(&mut world);
        let it: Plan = settle(&mut world);
        let held = hold(&it).clone();
        assert_eq!((held.reason, held.actions.len()), (reason, 1), "the namespace is kept by its kind");
        assert!(held.message.contains(why), "{}", held.message);
        assert_eq!(world.clusters["a"].sets["shop"].objects.len(), 2);
        approve(&mut world, approval(&held, actions(&held), NOW));
        let it = settle(&mut world);
        assert_eq!((it.holds.len(), world.recent.len()), (0, 0), "{reason}");
        let left: Vec<&ObjectKey> = world.clusters["a"].sets["shop"].objects.keys().collect();
        assert_eq!(left, [&key("Namespace/shared")], "{reason}");
    }
}

#[test]
fn a_removed_cluster_document_detaches() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 2)]);
    settle(&mut world);
    config(&mut world).clusters.remove("a");
    let it = settle(&mut world);
    assert!(!it.clusters.contains_key("a") && it.holds.is_empty());
    assert_eq!(homes(&world, "shop").len(), 2);
    assert_eq!(
        decision(&it, "shop").map(|it| (it.targets, it.leaving)),
        Some(([uid("b")].into(), [].into()))
    );
}

#[test]
fn what_others_labelled_does_not_keep_the_parent() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    let copied = ObservedObject { controlled: true, ..seen(&mut world, "a", "shop", "web").clone() };
    let set = view(&mut world, "a").sets.get_mut("shop").expect("its set");
    set.objects = [(key("discovery.k8s.io:EndpointSlice/web-1"), copied)].into();
    config(&mut world).workspaces.remove("shop");
    config(&mut world).placements.remove("shop");
    let it = plan(&world);
    assert!(it.holds.is_empty() && deletes(&it).is_empty());
    assert!(it.clusters["a"].sets["shop"].remove_parent);
}

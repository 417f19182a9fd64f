//! What the commit before says: its budgets judge what loosens them, and what it had applied was ours.

use std::sync::Arc;

use kcp_api::{Budget, Reason};

use super::fixture::*;
use crate::object::ContentHash;
use crate::planner::{plan, recall_secrets};
use crate::world::World;

const LOOSE: Budget = Budget { percent: 100, floor: 1000 };

/// Ten objects on one cluster, and the next commit, which keeps so many of them.
fn next(keeps: usize) -> World {
    let names: Vec<String> = (0..10).map(|it| format!("x{it}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = world(&["a", "b"], &[("shop", &names, 1)]);
    settle(&mut world);
    commit(&mut world, "c1");
    write(&mut world, "shop", &names[..keeps]);
    world
}

/// What is desired was in force, and is desired by another commit now.
fn commit(world: &mut World, name: &str) {
    world.before = Some(Arc::new(world.desired.clone()));
    world.desired.commit = name.to_owned();
}

#[test]
fn a_commit_that_loosens_a_budget_is_judged_by_the_one_before() {
    let mut world = next(2);
    config(&mut world).fleet.value.spec.safety.max_delete = LOOSE;
    let it = plan(&world);
    assert!(deletes(&it).is_empty());
    assert_eq!((hold(&it).reason, hold(&it).actions.len()), (Reason::BudgetExceeded, 8));
    assert!(hold(&it).message.contains("safety.maxDelete allows (10% or 5) by commit c0"), "{it:?}");
    let text = it.judged_by.map(|it| it.to_string()).unwrap_or_default();
    assert!(text.starts_with("judged by the safety of commit c0: c1 loosens it"), "{text}");
    // Within the earlier budget nothing is held.
    write(&mut world, "shop", &["x0", "x1", "x2", "x3", "x4"]);
    assert_eq!(deletes(&plan(&world)).len(), 5);
    write(&mut world, "shop", &["x0", "x1"]);
    commit(&mut world, "c2");
    let it = plan(&world);
    assert_eq!((deletes(&it).len(), it.holds.len(), it.judged_by), (8, 0, None), "any later commit");
}

#[test]
fn a_commit_that_tightens_a_budget_is_judged_by_its_own() {
    let mut world = next(6);
    config(&mut world).fleet.value.spec.safety.max_delete = Budget { percent: 0, floor: 3 };
    let it = plan(&world);
    assert_eq!((hold(&it).actions.len(), &it.judged_by), (4, &None));
    assert!(hold(&it).message.contains("allows (0% or 3);"), "{}", hold(&it).message);
}

#[test]
fn moves_too_are_judged_by_the_commit_before() {
    let mut world = next(10);
    let home = only_home(&world, "shop");
    config(&mut world).fleet.value.spec.safety.max_move = Budget { percent: 0, floor: 0 };
    commit(&mut world, "c2");
    config(&mut world).fleet.value.spec.safety.max_move = LOOSE;
    select(&mut world, "shop", if home == "a" { "b" } else { "a" });
    let it = plan(&world);
    assert_eq!(hold(&it).actions.len(), 1);
    assert!(hold(&it).message.contains("safety.maxMove allows (0% or 0) by commit c1"));
    assert!(writes(&it).is_empty());
    commit(&mut world, "c3");
    assert_eq!(writes(&plan(&world)).len(), 10);
}

#[test]
fn an_update_comes_with_the_content_that_was_applied_only_if_its_hash_proves_it() {
    let mut world = world(&["a"], &[("shop", &["web", "key"], 1)]);
    settle(&mut world);
    commit(&mut world, "c1");
    write(&mut world, "shop", &["web=1", "key"]);
    let edited = seen(&mut world, "a", "shop", "key");
    (edited.own, edited.applied) = (ContentHash::of_bytes(b"edited"), None);
    let earlier = |world: &World| {
        let it = plan(world);
        assert_eq!(writes(&it), ["a correct key", "a update web"]);
        let mut actions = it.clusters["a"].sets["shop"].apply.clone();
        assert!(actions.remove(0).earlier.is_none(), "what is corrected is sent as it was");
        actions.remove(0).earlier.map(|it| it.body["data"]["text"].clone())
    };
    assert_eq!(earlier(&world), Some("0".into()));
    seen(&mut world, "a", "shop", "web").applied = Some(ContentHash::of_bytes(b"older"));
    assert_eq!(earlier(&world), None);
}

#[test]
fn no_hash_of_a_secret_is_published_and_plans_go_on_without() {
    let mut world = world(&["a"], &[("shop", &["web", "Secret/key=hunter2"], 1)]);
    settle(&mut world);
    let secret = seen(&mut world, "a", "shop", "Secret/key").own.to_string();
    let web = seen(&mut world, "a", "shop", "web").own.to_string();
    let set = view(&mut world, "a").sets.get_mut("shop").expect("its set");
    let stored = ContentHash::of_bytes(b"stored");
    set.parent.applied.insert(crate::observe::stored_key(&key("Secret/key")), stored);
    let published = world.clusters["a"].clone().withholding_secrets();
    let text = serde_json::to_string(&published).unwrap();
    assert!(!text.contains(&secret) && !text.contains(&stored.to_string()) && text.contains(&web));
    world.clusters.insert("a".to_owned(), published);
    let it = plan(&world);
    assert_eq!(writes(&it), ["a update key"]);
    assert!(it.clusters["a"].sets["shop"].apply[0].why.starts_with("may have changed"));
    let recorded = world.desired.clone();
    recall_secrets(&mut world.clusters, &recorded);
    assert!(writes(&plan(&world)).is_empty(), "as the commit in force has it");
    write(&mut world, "shop", &["web", "Secret/key=hunter3"]);
    let it = plan(&world);
    assert_eq!(
        (writes(&it), &*it.clusters["a"].sets["shop"].apply[0].why),
        (vec!["a update key".to_owned()], "changed in git")
    );
}

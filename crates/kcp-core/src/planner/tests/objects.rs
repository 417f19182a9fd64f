//! What is created and changed, object by object.

use kcp_api::{Drift, Reason, SyncPolicySpec, TakeOverPolicy};

use super::fixture::*;
use crate::object::{ContentHash, GroupKind};
use crate::planner::plan;
use crate::world::{Failure, Foreign, KindFacts, World};

fn settled(objects: &[&str]) -> World {
    let mut world = world(&["a"], &[("shop", objects, 1)]);
    settle(&mut world);
    world
}

fn foreign(owner: &str, managers: &[&str]) -> Foreign {
    Foreign {
        uid: "u".to_owned(),
        owner: owner.to_owned(),
        managers: managers.iter().map(|it| (*it).into()).collect(),
    }
}

fn drift(world: &mut World, name: &str) {
    let object = seen(world, "a", "shop", name);
    object.own = ContentHash::of_bytes(b"edited by hand");
    object.applied = None;
}

#[test]
fn only_what_differs_is_written_and_the_reason_is_told_apart() {
    let mut world = settled(&["web", "db", "cache"]);
    assert!(plan(&world).is_quiet());
    write(&mut world, "shop", &["web=1", "db", "cache", "new"]);
    drift(&mut world, "db");
    let it = plan(&world);
    assert_eq!(writes(&it), ["a correct db", "a create new", "a update web"]);
    assert_eq!(it.clusters["a"].sets["shop"].unchanged, 1);
    assert!(!it.clusters["a"].sets["shop"].write_parent, "its lists and its decision stay the same");
}

#[test]
fn a_server_that_stores_other_bytes_is_in_sync_by_what_was_applied() {
    let mut world = settled(&["web"]);
    seen(&mut world, "a", "shop", "web").own = ContentHash::of_bytes(b"normalised");
    assert!(plan(&world).is_quiet());
}

#[test]
fn drift_is_reported_or_ignored_as_the_policy_says() {
    for (rule, expected) in [(Drift::Report, vec!["Drifted shop web"]), (Drift::Ignore, vec![])] {
        let mut world = settled(&["web"]);
        let mut policy = SyncPolicySpec::default();
        policy.apply.drift = rule;
        set_policy(&mut world, policy);
        drift(&mut world, "web");
        let it = plan(&world);
        assert!(it.is_quiet());
        assert_eq!(problems(&it), expected);
        write(&mut world, "shop", &["web=1"]);
        assert_eq!(writes(&plan(&world)), ["a update web"], "a change in git is no drift");
    }
}

#[test]
fn create_only_is_created_and_then_left_alone() {
    let mut world = world(&["a"], &[("shop", &["web=create-only"], 1)]);
    assert_eq!(writes(&plan(&world)), ["a create web"]);
    settle(&mut world);
    drift(&mut world, "web");
    assert!(plan(&world).is_quiet());
}

#[test]
fn a_failure_waits_for_its_time_and_never_holds_back_the_others() {
    let mut world = world(&["a"], &[("shop", &["web", "db"], 1)]);
    let bad = plan(&world).clusters["a"].sets["shop"].apply[1].object.clone();
    let failure = Failure {
        workspace: "shop".to_owned(),
        hash: Some(bad.hash),
        reason: Reason::InvalidObject,
        message: "spec.x: unknown".to_owned(),
        since: NOW,
        retry_at: NOW + 10,
        attempts: 1,
    };
    view(&mut world, "a").failures.insert(bad.key, failure);
    let it = plan(&world);
    assert_eq!(
        (writes(&it), problems(&it)),
        (vec!["a create db".to_owned()], vec!["InvalidObject shop web".to_owned()])
    );
    world.now = NOW + 10;
    assert_eq!(writes(&plan(&world)).len(), 2, "its time has come");
    world.now = NOW;
    write(&mut world, "shop", &["web=1", "db"]);
    let it = plan(&world);
    assert_eq!((writes(&it).len(), problems(&it).len()), (2, 0), "other content is tried at once");
}

#[test]
fn a_kind_that_the_cluster_lacks_is_a_problem_of_that_object() {
    let mut world = world(&["a"], &[("shop", &["web", "batch:Job/job"], 1)]);
    let served = |kind: &str, plural: &str| KindFacts {
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: true,
        versions: vec!["v1".to_owned()],
    };
    view(&mut world, "a").api.kinds.insert(String::new(), vec![served("ConfigMap", "configmaps")]);
    let it = plan(&world);
    assert_eq!(
        (writes(&it), problems(&it)),
        (vec!["a create web".to_owned()], vec!["KindMissing shop job".to_owned()])
    );
    assert_eq!(it.clusters["a"].sets["shop"].group_kinds, [GroupKind::new("", "ConfigMap")].into());
    // Unknown is not gone.
    view(&mut world, "a").api.failed_groups.insert("batch".to_owned(), "503".to_owned());
    assert_eq!(writes(&plan(&world)).len(), 2);
}

#[test]
fn a_foreign_object_is_left_alone_unless_the_policy_says_so() {
    let mut world = world(&["a"], &[("shop", &["web", "db"], 1)]);
    view(&mut world, "a")
        .foreign
        .insert(key("web"), foreign("Argo CD application web", &["argocd-controller"]));
    let it = plan(&world);
    assert_eq!(
        (writes(&it), problems(&it)),
        (vec!["a create db".to_owned()], vec!["ForeignObject shop web".to_owned()])
    );
    assert!(it.problems[0].message.contains("Argo CD application web"));
    let mut policy = SyncPolicySpec::default();
    for (rule, managers, owner, found, taken) in [
        (TakeOverPolicy::IfUnowned, vec![], "Argo CD application web", vec!["argocd-controller"], false),
        (TakeOverPolicy::IfUnowned, vec![], "", vec!["kubectl-create"], true),
        (TakeOverPolicy::FromManagers, vec!["helm"], "", vec!["helm", "kube-controller-manager"], true),
        (TakeOverPolicy::FromManagers, vec!["helm"], "", vec!["helm", "someone"], false),
        (TakeOverPolicy::FromManagers, vec!["helm"], "", vec![], false),
    ] {
        policy.apply.take_over.policy = rule;
        policy.apply.take_over.managers = managers.into_iter().map(str::to_owned).collect();
        set_policy(&mut world, policy.clone());
        view(&mut world, "a").foreign.insert(key("web"), foreign(owner, &found));
        let it = plan(&world);
        assert_eq!(writes(&it).contains(&"a take over web".to_owned()), taken, "{rule:?} {owner} {found:?}");
        assert_eq!(problems(&it).is_empty(), taken);
    }
}

#[test]
fn what_copied_our_label_is_foreign() {
    let mut world = settled(&["web"]);
    seen(&mut world, "a", "shop", "web").controlled = true;
    write(&mut world, "shop", &["web=1"]);
    assert_eq!(problems(&plan(&world)), ["ForeignObject shop web"]);
    let object = seen(&mut world, "a", "shop", "web");
    (object.controlled, object.workspace) = (false, Some("blog".to_owned()));
    let it = plan(&world);
    assert_eq!((writes(&it).len(), problems(&it)), (0, vec!["ForeignObject shop web".to_owned()]));
}

#[test]
fn an_object_that_is_being_deleted_is_waited_for() {
    let mut world = settled(&["web"]);
    seen(&mut world, "a", "shop", "web").terminating = true;
    write(&mut world, "shop", &["web=1"]);
    let it = plan(&world);
    assert_eq!((writes(&it).len(), problems(&it)), (0, vec!["NotReady shop web".to_owned()]));
}

#[test]
fn an_object_that_changes_its_workspace_is_handed_over() {
    let mut world = world(&["a"], &[("blog", &["page", "x"], 1), ("shop", &["web"], 1)]);
    settle(&mut world);
    write(&mut world, "blog", &["page"]);
    write(&mut world, "shop", &["web", "x"]);
    let mut partly = world.clone();
    let set = view(&mut partly, "a").sets.get_mut("blog").expect("its set");
    set.unlisted.insert("Job.batch".to_owned(), "timeout".to_owned());
    view(&mut partly, "a").complete = false;
    assert_eq!(problems(&plan(&partly)), ["InventoryIncomplete shop x"], "not while some of it was not seen");
    let it = plan(&world);
    assert_eq!((writes(&it), deletes(&it)), (vec!["a hand over x".to_owned()], vec![]));
    settle(&mut world);
    assert!(world.clusters["a"].sets["shop"].objects.contains_key(&key("x")));
    // A renamed workspace: all its objects enter another one.
    config(&mut world).workspaces.remove("shop");
    config(&mut world).placements.remove("shop");
    world.desired.workspaces.remove("shop");
    write(&mut world, "store", &["web", "x"]);
    place(&mut world, "store", exactly(1));
    let it = plan(&world);
    assert_eq!((writes(&it).len(), deletes(&it).len(), it.holds.len()), (2, 0, 0));
    settle(&mut world);
    assert!(!world.clusters["a"].sets.contains_key("shop"));
}

#[test]
fn what_could_not_be_rendered_hands_nothing_over() {
    let mut world = world(&["a"], &[("blog", &["page", "x"], 1), ("shop", &["web"], 1)]);
    settle(&mut world);
    fail(&mut world, "blog", None);
    write(&mut world, "shop", &["web", "x"]);
    let it = plan(&world);
    assert!(it.is_quiet(), "{:?}", writes(&it));
    assert_eq!(problems(&it), ["WorkspaceFailedToRender blog", "TwoClaims shop x"]);
}

#[test]
fn two_claims_are_told_to_both_and_the_owner_keeps_it() {
    let mut world = world(&["a"], &[("blog", &["page", "x"], 1), ("shop", &["web"], 1)]);
    settle(&mut world);
    write(&mut world, "shop", &["web", "x"]);
    write(&mut world, "blog", &["page", "x=1"]);
    let it = plan(&world);
    assert_eq!((writes(&it), deletes(&it)), (vec!["a update x".to_owned()], vec![]));
    assert!(it.clusters["a"].sets["blog"].apply.len() == 1, "the present owner goes on");
    assert_eq!(problems(&it), ["TwoClaims blog x", "TwoClaims shop x"]);
    // Nobody has it: nobody makes it.
    write(&mut world, "shop", &["web", "y"]);
    write(&mut world, "blog", &["page", "x=1", "y"]);
    settle(&mut world);
    let it = plan(&world);
    assert_eq!(problems(&it), ["TwoClaims blog y", "TwoClaims shop y"]);
    assert!(it.is_quiet());
}

#[test]
fn namespaces_are_shared() {
    let mut world = world(
        &["a"],
        &[("blog", &["Namespace/shared", "page"], 1), ("shop", &["Namespace/shared", "web"], 1)],
    );
    let it = settle(&mut world);
    assert_eq!(it.problems, []);
    assert!(world.clusters["a"].sets["blog"].objects.contains_key(&key("Namespace/shared")));
    write(&mut world, "blog", &["page"]);
    assert_eq!(writes(&plan(&world)), ["a hand over shared"]);
}

#[test]
fn what_cannot_be_listed_is_neither_created_nor_forgotten() {
    let mut world = settled(&["web", "batch:Job/job"]);
    let set = view(&mut world, "a").sets.get_mut("shop").expect("its set");
    set.objects.remove(&key("batch:Job/job"));
    set.unlisted.insert("Job.batch".to_owned(), "503".to_owned());
    view(&mut world, "a").complete = false;
    write(&mut world, "shop", &["web=1", "batch:Job/job", "new"]);
    let it = plan(&world);
    assert_eq!(writes(&it), ["a create new", "a update web"]);
    assert_eq!(problems(&it), ["InventoryIncomplete shop job"]);
    write(&mut world, "shop", &["web"]);
    view(&mut world, "a").complete = true;
    let set = &plan(&world).clusters["a"].sets["shop"];
    assert!(set.group_kinds.contains(&GroupKind::new("batch", "Job")), "still in the parent's list");
}

#[test]
fn changed_fields_are_shown_and_secrets_are_not() {
    let mut world = settled(&["web", "Secret/key"]);
    let before = match &world.desired.workspaces["shop"] {
        crate::world::WorkspaceState::Rendered(rendered) => rendered.variants[""].clone(),
        crate::world::WorkspaceState::Failed { .. } => unreachable!("it was rendered"),
    };
    world.baseline.insert(("a".to_owned(), "shop".to_owned()), before);
    write(&mut world, "shop", &["web=1", "Secret/key=hunter2"]);
    world.desired.commit = "c1".to_owned();
    let it = plan(&world);
    let actions = &it.clusters["a"].sets["shop"].apply;
    let change = |name: &str| {
        let changes = &actions.iter().find(|it| it.object.key.name == name).expect("it changes").changes;
        assert_eq!(changes.len(), 1, "{changes:?}");
        (
            changes[0].path.clone(),
            changes[0].from.clone().unwrap_or_default(),
            changes[0].to.clone().unwrap_or_default(),
        )
    };
    assert_eq!(change("web"), ("data.text".to_owned(), "\"0\"".to_owned(), "\"1\"".to_owned()));
    assert_eq!(change("key"), ("data.text".to_owned(), "(secret)".to_owned(), "(secret)".to_owned()));
}

#[test]
fn what_is_kept_from_the_last_plan_is_never_of_another_commit_or_policy() {
    use crate::planner::{Memo, Scope, plan_with};
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    let mut memo = Memo::default();
    let commit = |it: &crate::plan::Plan| {
        let object = &it.clusters["a"].sets["shop"].apply[0].object;
        object.annotation("kcp.dev/commit").map(str::to_owned)
    };
    assert_eq!(commit(&plan_with(&world, &Scope::Daemon, &mut memo)).as_deref(), Some("c0"));
    world.desired.commit = "c1".to_owned();
    assert_eq!(commit(&plan_with(&world, &Scope::Daemon, &mut memo)).as_deref(), Some("c1"));
    let mut policy = SyncPolicySpec::default();
    policy.apply.ignore_fields =
        vec![kcp_api::IgnoreRule { paths: vec!["data".to_owned()], ..Default::default() }];
    set_policy(&mut world, policy);
    assert_eq!(plan_with(&world, &Scope::Daemon, &mut memo), plan(&world));
}

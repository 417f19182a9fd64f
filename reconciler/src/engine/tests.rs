//! The engine fed with events: what leaves it is what a reconciler would do.

use kcp_core::object::ContentHash;
use kcp_core::observe::Outcome;
use kcp_core::world::{ApiFacts, Health, HealthStatus, KindFacts, ObservedObject, ParentFacts};
use kustomize_rs::MemoryFiles;

use super::*;
use crate::prepare::Preparer;

const FLEET: &str = "apiVersion: kcp.dev/v1alpha1\nkind: Fleet\nmetadata: {name: acme}\nspec: {id: f1}\n";
const CLUSTER: &str = "apiVersion: kcp.dev/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1}\nspec: {connection: {context: eu}, uid: u-1}\n";
const PLACEMENT: &str = "apiVersion: kcp.dev/v1alpha1\nkind: Placement\nmetadata: {name: web}\nspec: {workspaces: {names: [web]}, clusters: {all: true}}\n";

fn map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: web}}\ndata: {{a: \"{value}\"}}\n"
    )
}

fn repo(maps: &[(&str, &str)]) -> MemoryFiles {
    let mut files: MemoryFiles =
        [("kcp.yaml", FLEET), ("clusters/eu-1.yaml", CLUSTER), ("placements/web.yaml", PLACEMENT)]
            .into_iter()
            .collect();
    for (name, value) in maps {
        files.insert(format!("workspaces/web/{name}.yaml"), map(name, value));
    }
    files
}

fn desired(commit: &str, maps: &[(&str, &str)]) -> Desired {
    Preparer::new().prepare(commit, &repo(maps)).unwrap()
}

fn engine(maps: &[(&str, &str)]) -> Engine {
    Engine::new(desired("c1", maps), SourceState::default(), Record::default(), Scope::Daemon, 100)
}

/// The cluster answers, and has nothing of the fleet.
fn answers(engine: &mut Engine, now: UnixSeconds) {
    let api = ApiFacts {
        kinds: [(
            String::new(),
            ["ConfigMap", "Secret", "Namespace"]
                .map(|kind| KindFacts {
                    kind: kind.into(),
                    plural: format!("{}s", kind.to_lowercase()),
                    namespaced: kind != "Namespace",
                    versions: vec!["v1".into()],
                })
                .to_vec(),
        )]
        .into(),
        failed_groups: BTreeMap::new(),
    };
    let uid = ClusterUid("u-1".into());
    engine.observe(
        "eu-1",
        Observation::Facts { uid: uid.clone(), version: "v1".into(), api: api.clone() },
        now,
    );
    let view = ClusterView { uid: Some(uid), api, complete: true, ..ClusterView::default() };
    engine.observe("eu-1", Observation::View(Box::new(view)), now);
    engine.observe("eu-1", Observation::Contact(Contact::Live { since: now }), now);
}

fn ordered(effects: &[Effect]) -> Option<&ClusterPlan> {
    effects.iter().find_map(|effect| match effect {
        Effect::Execute { plan, .. } => Some(plan.as_ref()),
        _ => None,
    })
}

fn names(plan: &ClusterPlan) -> (Vec<&str>, Vec<&str>) {
    let set = &plan.sets["web"];
    let applied = set.apply.iter().map(|action| action.object.key.name.as_str()).collect();
    (applied, set.delete.iter().map(|action| action.key.name.as_str()).collect())
}

/// Reports that all of `plan` was carried out.
fn carried_out(engine: &mut Engine, plan: &ClusterPlan, now: UnixSeconds) {
    for (workspace, set) in &plan.sets {
        let parent = ParentFacts {
            uid: format!("parent-{workspace}"),
            group_kinds: set.group_kinds.clone(),
            namespaces: set.namespaces.clone(),
            decision: set.decision.clone(),
            ..ParentFacts::default()
        };
        let parent = Some(Box::new(parent));
        engine.observe("eu-1", Observation::Parent { workspace: workspace.clone(), parent }, now);
        for (number, action) in set.apply.iter().enumerate() {
            let outcome = Outcome::Applied {
                object: Box::new(member(workspace, action.object.hash)),
                changed: true,
                forced_from: vec![],
                corrections: 0,
            };
            let observation = Observation::Outcome {
                workspace: workspace.clone(),
                key: action.object.key.clone(),
                hash: Some(action.object.hash),
                number: number as u64 + 1,
                outcome,
            };
            engine.observe("eu-1", observation, now);
        }
        let done = Observation::SetDone { workspace: workspace.clone(), whole: true, error: None };
        engine.observe("eu-1", done, now);
    }
}

fn member(workspace: &str, own: ContentHash) -> ObservedObject {
    ObservedObject {
        uid: format!("uid-{own}"),
        resource_version: "1".into(),
        own,
        applied: Some(own),
        managed: true,
        workspace: Some(workspace.into()),
        controlled: false,
        terminating: false,
        commit: Some("c1".into()),
        health: Health { status: HealthStatus::Current, message: String::new() },
    }
}

#[test]
fn it_connects_first_and_orders_nothing_before_the_cluster_was_read() {
    let mut engine = engine(&[("one", "1")]);
    let effects = engine.step(100);
    assert_eq!(
        effects,
        [Effect::Connect(Target {
            cluster: "eu-1".into(),
            context: "eu".into(),
            expected_uid: Some(ClusterUid("u-1".into())),
        })],
        "nothing is published either: nothing was seen yet"
    );
    assert!(!engine.is_settled());
    assert_eq!(engine.step(101), []);
    assert!(engine.step(100 + FIRST_LOOK).iter().any(|effect| matches!(effect, Effect::Publish(_))));
}

#[test]
fn what_is_in_hand_is_not_ordered_again_and_what_is_done_leaves_nothing_to_do() {
    let mut engine = engine(&[("one", "1")]);
    engine.step(100);
    answers(&mut engine, 100);
    let effects = engine.step(100);
    let plan = ordered(&effects).unwrap().clone();
    assert_eq!(names(&plan), (vec!["one"], vec![]));
    assert_eq!(ordered(&engine.step(101)), None, "it is in hand");
    assert!(!engine.is_settled());
    carried_out(&mut engine, &plan, 102);
    assert_eq!(ordered(&engine.step(102)), None);
    assert!(engine.is_settled());
    assert_eq!(engine.step(103), [], "a quiet fleet publishes and orders nothing");
}

#[test]
fn a_delete_that_is_no_longer_wanted_is_called_back() {
    let mut engine = engine(&[("one", "1"), ("two", "2")]);
    engine.step(100);
    answers(&mut engine, 100);
    let plan = ordered(&engine.step(100)).unwrap().clone();
    carried_out(&mut engine, &plan, 101);
    engine.step(101);
    assert!(engine.is_settled());

    engine.desire(desired("c2", &[("one", "1")]), SourceState::default());
    let effects = engine.step(102);
    assert_eq!(names(ordered(&effects).unwrap()), (vec![], vec!["two"]));
    assert_eq!(engine.world().recent.len(), 1, "it counts against the budget from when it was ordered");
    let is_kept = |effect: &Effect| matches!(effect, Effect::Remember(acts) if acts.len() == 1);
    let is_order = |effect: &Effect| matches!(effect, Effect::Execute { .. });
    assert!(effects.iter().position(is_kept) < effects.iter().position(is_order), "kept before it is done");
    assert!(effects.iter().any(is_kept));

    engine.desire(desired("c3", &[("one", "1"), ("two", "2")]), SourceState::default());
    let effects = engine.step(103);
    assert_eq!(names(ordered(&effects).unwrap()), (vec![], vec![]));
}

#[test]
fn lost_contact_drops_what_was_in_hand_and_it_is_ordered_anew() {
    let mut engine = engine(&[("one", "1")]);
    engine.step(100);
    answers(&mut engine, 100);
    assert!(ordered(&engine.step(100)).is_some());
    engine.observe("eu-1", Observation::Contact(Contact::Lost { since: 101, message: "gone".into() }), 101);
    assert_eq!(ordered(&engine.step(101)), None);
    assert!(engine.is_settled(), "a cluster that was given up keeps nobody waiting");
    answers(&mut engine, 102);
    assert!(ordered(&engine.step(102)).is_some());
}

#[test]
fn a_cluster_document_that_goes_ends_its_worker_and_deletes_nothing() {
    let mut engine = engine(&[("one", "1")]);
    engine.step(100);
    answers(&mut engine, 100);
    let plan = ordered(&engine.step(100)).unwrap().clone();
    carried_out(&mut engine, &plan, 101);
    engine.step(101);
    let mut files = repo(&[("one", "1")]);
    files.remove("clusters/eu-1.yaml");
    engine.desire(Preparer::new().prepare("c2", &files).unwrap(), SourceState::default());
    let effects = engine.step(102);
    assert_eq!(effects[0], Effect::Disconnect { cluster: "eu-1".into() });
    assert_eq!(ordered(&effects), None);
    assert!(engine.plan().clusters.is_empty());
}

#[test]
fn what_was_recorded_is_not_taken_for_what_is_there() {
    let mut engine = engine(&[("one", "1")]);
    engine.step(100);
    answers(&mut engine, 100);
    let plan = ordered(&engine.step(100)).unwrap().clone();
    carried_out(&mut engine, &plan, 101);
    let effects = engine.step(101);
    let record = effects.into_iter().find_map(|effect| match effect {
        Effect::Publish(record) => Some(*record),
        _ => None,
    });
    let mut restarted = Engine::new(
        desired("c2", &[("two", "2")]),
        SourceState::default(),
        record.unwrap(),
        Scope::Daemon,
        200,
    );
    restarted.step(200);
    assert!(restarted.plan().is_quiet(), "{:?}", restarted.plan());
    assert_eq!(restarted.world().memory.len(), 1, "decisions are remembered");
}

#[test]
fn a_plan_that_only_calls_back_keeps_nobody_waiting() {
    let mut engine = engine(&[("one", "1")]);
    engine.step(100);
    answers(&mut engine, 100);
    assert!(ordered(&engine.step(100)).is_some());
    engine.halt(Some(Halt { until: 1_000, reason: "storm".into() }));
    let effects = engine.step(101);
    assert!(ordered(&effects).unwrap().stopped.is_some());
    assert!(engine.is_settled(), "a worker that had not begun says nothing");
}

#[test]
fn a_parent_that_cannot_be_written_is_told_and_tried_again_with_pauses() {
    let mut engine = engine(&[("one", "1")]);
    engine.step(100);
    answers(&mut engine, 100);
    let mut orders = 0;
    for now in 100..160 {
        if ordered(&engine.step(now)).is_some() {
            orders += 1;
            let error = Some((Reason::Forbidden, "may not write Secrets".to_owned()));
            let done = Observation::SetDone { workspace: "web".into(), whole: false, error };
            engine.observe("eu-1", done, now);
        }
    }
    assert!((3..10).contains(&orders), "{orders} in a minute");
    let told = &engine.plan().problems;
    assert!(
        told.iter().any(|it| it.reason == Reason::Forbidden && it.message.contains("may not write")),
        "{told:?}"
    );
    // A cluster that is seen anew is tried at once.
    answers(&mut engine, 160);
    assert!(ordered(&engine.step(160)).is_some());
}

#[test]
fn a_decision_on_the_branch_alone_counts_only_until_its_clusters_were_read() {
    let decision = kcp_core::world::Decision {
        epoch: 99,
        targets: BTreeSet::new(),
        leaving: [ClusterUid("u-1".into())].into(),
        since: 1,
    };
    let workspace = crate::record::WorkspaceRecord {
        status: kcp_api::WorkspaceStatus::default(),
        decision: Some(decision),
        verdicts: BTreeMap::new(),
        movement: None,
        problems: Vec::new(),
    };
    let record = Record { workspaces: [("web".to_owned(), workspace)].into(), ..Record::default() };
    let desired = desired("c1", &[("one", "1")]);
    let mut engine = Engine::new(desired, SourceState::default(), record, Scope::Daemon, 100);
    let epoch = |engine: &Engine| {
        engine.plan().units[&UnitId::workspace("web")].decision.as_ref().map(|decision| decision.epoch)
    };
    engine.step(100);
    assert!(epoch(&engine) >= Some(99));
    answers(&mut engine, 101);
    engine.step(101);
    assert_eq!(epoch(&engine), Some(1));
}

fn published(effects: Vec<Effect>) -> Record {
    let record = effects.into_iter().find_map(|effect| match effect {
        Effect::Publish(record) => Some(*record),
        _ => None,
    });
    record.expect("something changed")
}

/// A commit with these objects and this budget of deletes.
fn with_budget(commit: &str, maps: &[(&str, &str)], floor: u32) -> Desired {
    let mut files = repo(maps);
    let safety = format!("spec: {{id: f1, safety: {{maxDelete: {{percent: 0, floor: {floor}}}}}}}");
    files.insert("kcp.yaml", FLEET.replace("spec: {id: f1}", &safety));
    Preparer::new().prepare(commit, &files).unwrap()
}

#[test]
fn a_loosened_budget_counts_from_the_next_commit_on_also_after_a_restart() {
    let first = with_budget("c1", &[("one", "1"), ("two", "1"), ("three", "1")], 1);
    let mut engine = Engine::new(first, SourceState::default(), Record::default(), Scope::Daemon, 100);
    engine.step(100);
    answers(&mut engine, 100);
    let plan = ordered(&engine.step(100)).unwrap().clone();
    carried_out(&mut engine, &plan, 101);
    engine.step(101);
    let loosened = || with_budget("c2", &[("one", "1")], 100);
    engine.desire(loosened(), SourceState { commit: "c2".into(), ..SourceState::default() });
    let effects = engine.step(102);
    assert_eq!(ordered(&effects), None);
    let record = published(effects);
    assert_eq!((record.fleet.holds.len(), record.fleet.before.as_deref()), (1, Some("c1")));
    assert_eq!(record.fleet.judged_by.as_ref().map(|it| it.commit.as_str()), Some("c1"));

    // The same commit again is no next one, and neither is a restart.
    engine.desire(loosened(), SourceState::default());
    assert_eq!(ordered(&engine.step(103)), None);
    let mut restarted = Engine::new(loosened(), SourceState::default(), record, Scope::Daemon, 104);
    restarted.follows(engine.world().before.clone(), "c2");
    restarted.step(104);
    let view = engine.world().clusters["eu-1"].clone();
    restarted.observe("eu-1", Observation::View(Box::new(view)), 104);
    restarted.observe("eu-1", Observation::Contact(Contact::Live { since: 104 }), 104);
    restarted.step(104);
    assert_eq!(restarted.plan().holds.len(), 1);
    restarted.desire(with_budget("c3", &[("one", "1")], 100), SourceState::default());
    assert_eq!(names(ordered(&restarted.step(105)).unwrap()), (vec![], vec!["three", "two"]));
}

#[test]
fn a_secret_is_recorded_without_its_hash_and_taken_as_its_commit_had_it_after_a_restart() {
    let mut files = repo(&[]);
    let secret = map("key", "hunter2").replace("ConfigMap", "Secret").replace("\ndata:", "\nstringData:");
    files.insert("workspaces/web/key.yaml", secret);
    let desired = || Preparer::new().prepare("c1", &files).unwrap();
    let source = || SourceState { commit: "c1".into(), ..SourceState::default() };
    let mut engine = Engine::new(desired(), source(), Record::default(), Scope::Daemon, 100);
    engine.step(100);
    answers(&mut engine, 100);
    let plan = ordered(&engine.step(100)).unwrap().clone();
    carried_out(&mut engine, &plan, 101);
    let record = published(engine.step(101));
    let hash = plan.sets["web"].apply.iter().find(|it| it.object.key.is_secret()).unwrap().object.hash;
    let told = record.files().into_values().any(|file| {
        let text = String::from_utf8(file).unwrap().replace(&format!("uid-{hash}"), "its uid");
        text.contains(&hash.to_string())
    });
    assert!(!told, "the hash of a Secret is in the record");
    let mut restarted = Engine::new(desired(), source(), record, Scope::Daemon, 200);
    restarted.follows(None, "c1");
    restarted.step(200);
    assert!(restarted.plan().is_quiet(), "{:?}", restarted.plan());
}

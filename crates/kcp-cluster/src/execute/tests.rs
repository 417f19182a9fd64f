//! Plans on a fake API server: what is written, in which order, and what is not.

use std::collections::BTreeSet;
use std::sync::Arc;

use kcp_api::{Conflicts, Propagation, Reason};
use kcp_core::applyset;
use kcp_core::object::{ContentHash, Object, ObjectKey, Origin};
use kcp_core::observe::{Observation, Outcome};
use kcp_core::plan::{ApplyAction, ApplyRules, ApplyVerb, ClusterPlan, DeleteAction, SetPlan};
use kcp_core::world::{ClusterUid, ClusterView, Contact, Decision};
use serde_json::{Value, json};

use crate::discovery::Identity;
use crate::fake::Fake;
use crate::memory::Written;
use crate::session::{Session, Sink};
use crate::timing::Timing;
use crate::worker::Clock;

const CONFIG_MAPS: &str = "/api/v1/namespaces/shop/configmaps";

pub(crate) fn session(fake: &Fake) -> Session {
    let (events, _) = tokio::sync::mpsc::channel(1);
    let identity = Identity { uid: ClusterUid("the-uid".into()), version: "v1".into() };
    let kind = |kind: &str, plural: &str, namespaced| kcp_core::world::KindFacts {
        kind: kind.into(),
        plural: plural.into(),
        namespaced,
        versions: vec!["v1".into()],
    };
    let core = vec![kind("ConfigMap", "configmaps", true), kind("Secret", "secrets", true)];
    let api = kcp_core::world::ApiFacts { kinds: [(String::new(), core)].into(), ..Default::default() };
    let written = Arc::new(Written::default());
    let sink = Sink::new("fake", events);
    Session::new(fake.cluster(), "f1".into(), identity, api, written, sink, Arc::new(|| 7), Timing::default())
}

pub(crate) fn create(body: Value) -> ApplyAction {
    let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let key = ObjectKey {
        group: String::new(),
        kind: text("/kind"),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
    };
    ApplyAction {
        verb: ApplyVerb::Create,
        object: Object {
            key,
            version: "v1".into(),
            hash: ContentHash::of_value(&body),
            body: Arc::new(body),
            origin: Origin { file: "a.yaml".into(), line: 1 },
        },
        before: None,
        earlier: None,
        rules: ApplyRules { conflicts: Conflicts::Owned, ignore: vec![], create_only: false },
        changes: vec![],
        why: "new".into(),
    }
}

fn object(kind: &str, name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": {
            "name": name, "namespace": "shop",
            "labels": {"applyset.kubernetes.io/part-of": applyset::set_id("f1", "shop")},
            "annotations": {"kcp.dev/workspace": "shop"},
        },
        "data": {"a": value},
    })
}

fn set(epoch: u64, apply: Vec<ApplyAction>, delete: Vec<DeleteAction>) -> SetPlan {
    SetPlan {
        decision: Some(Decision {
            epoch,
            targets: [ClusterUid("the-uid".into())].into(),
            leaving: BTreeSet::new(),
            since: 1,
        }),
        group_kinds: apply.iter().map(|action| action.object.key.group_kind()).collect(),
        namespaces: ["shop".to_owned()].into(),
        apply,
        delete,
        write_parent: true,
        ..SetPlan::default()
    }
}

/// Runs a plan on what is observed; gives the view after it and the outcomes by name.
async fn run(fake: &Fake, set: SetPlan) -> (ClusterView, Vec<(String, Outcome)>, Vec<Observation>) {
    let clock: Clock = Arc::new(|| 7);
    let cluster = fake.cluster();
    let mut view = crate::observe_once(&cluster, "f1", None, &BTreeSet::new(), &clock).await;
    assert!(matches!(view.contact, Contact::Live { .. }), "{view:?}");
    fake.log(|_| false);
    let plan = ClusterPlan { sets: [("shop".to_owned(), set)].into(), stopped: None };
    let mut outcomes = Vec::new();
    let mut rest = Vec::new();
    crate::execute_once(&cluster, "f1", &mut view, &plan, &clock, |observation| match observation {
        Observation::Outcome { key, outcome, .. } => outcomes.push((key.name.clone(), outcome.clone())),
        other => rest.push(other.clone()),
    })
    .await;
    outcomes.sort_by(|a, b| a.0.cmp(&b.0));
    (view, outcomes, rest)
}

#[tokio::test]
async fn the_parent_covers_everything_before_the_first_write_and_one_bad_object_stops_no_other() {
    let fake = Fake::new();
    let refused = json!({"reason": "Invalid", "message": "no", "details": {"kind": "x"}});
    fake.fail(&format!("PATCH {CONFIG_MAPS}/bad"), 422, refused, 1);
    let actions = ["a", "bad", "c"].map(|name| create(object("ConfigMap", name, "1"))).to_vec();
    let (view, outcomes, _) = run(&fake, set(1, actions, vec![])).await;
    let applied =
        |name: &str| outcomes.iter().any(|(n, o)| n == name && matches!(o, Outcome::Applied { .. }));
    assert!(applied("a") && applied("c"));
    assert_eq!(
        view.failures.values().map(|failure| failure.reason).collect::<Vec<_>>(),
        [Reason::InvalidObject]
    );
    let writes = fake.writes();
    let first_object = writes.iter().position(|line| line.contains("configmaps")).expect("written");
    assert!(
        writes[..first_object].iter().any(|line| line.starts_with("PATCH /api/v1/namespaces/kcp-system/"))
    );
    assert!(view.sets["shop"].objects.values().all(|object| object.applied.is_some()));

    // The same once more, whole by now: only what is missing is written, and a third time nothing but reads.
    let actions = vec![create(object("ConfigMap", "bad", "1"))];
    let (view, ..) = run(&fake, set(1, actions.clone(), vec![])).await;
    assert!(view.failures.is_empty());
    fake.writes();
    let (_, outcomes, rest) = run(&fake, set(1, actions, vec![])).await;
    assert!(matches!(&outcomes[0].1, Outcome::Applied { changed: false, .. }), "{outcomes:?}");
    assert!(rest.iter().any(|it| matches!(it, Observation::SetDone { whole: true, .. })));
    assert_eq!(fake.writes().iter().filter(|line| line.contains("kcp-system")).count(), 0);
}

#[tokio::test]
async fn an_older_epoch_writes_nothing() {
    let fake = Fake::new();
    run(&fake, set(5, vec![create(object("ConfigMap", "a", "1"))], vec![])).await;
    fake.writes();
    let (_, outcomes, rest) = run(&fake, set(4, vec![create(object("ConfigMap", "b", "1"))], vec![])).await;
    assert!(outcomes.is_empty() && fake.writes().is_empty());
    assert!(
        rest.iter().any(|it| matches!(it, Observation::SetDone { error: Some((Reason::NewerEpoch, _)), .. }))
    );
    let mut rival = set(5, vec![create(object("ConfigMap", "b", "1"))], vec![]);
    if let Some(decision) = &mut rival.decision {
        decision.targets.insert(ClusterUid("elsewhere".into()));
    }
    let (_, outcomes, _) = run(&fake, rival).await;
    assert!(
        outcomes.is_empty() && fake.writes().is_empty(),
        "the same epoch with other targets is a rival's"
    );
}

#[tokio::test]
async fn what_is_not_ours_is_not_written() {
    let fake = Fake::new();
    let foreign = json!({"metadata": {"name": "a", "managedFields": [{"manager": "helm"}]}});
    fake.put(&format!("{CONFIG_MAPS}/a"), foreign);
    // A label that was copied proves nothing.
    let mut copied = object("ConfigMap", "b", "x");
    copied["metadata"]["managedFields"] = json!([{"manager": "controller", "operation": "Update"}]);
    fake.put(&format!("{CONFIG_MAPS}/b"), copied);
    let actions = ["a", "b"].map(|name| create(object("ConfigMap", name, "1"))).to_vec();
    let (view, outcomes, _) = run(&fake, set(1, actions, vec![])).await;
    assert!(outcomes.iter().all(|(_, outcome)| matches!(outcome, Outcome::Foreign(_))), "{outcomes:?}");
    assert_eq!(view.foreign.len(), 2);
    assert!(fake.writes().iter().all(|line| !line.contains("configmaps")));
}

#[tokio::test]
async fn an_update_never_reaches_another_object_of_that_name() {
    let fake = Fake::new();
    run(&fake, set(1, vec![create(object("ConfigMap", "a", "1"))], vec![])).await;
    let clock: Clock = Arc::new(|| 7);
    let cluster = fake.cluster();
    let mut view = crate::observe_once(&cluster, "f1", None, &BTreeSet::new(), &clock).await;
    // After it was observed, somebody deletes it and makes one of their own.
    fake.put(&format!("{CONFIG_MAPS}/a"), json!({"metadata": {"name": "a", "uid": "theirs"}}));
    let update = ApplyAction { verb: ApplyVerb::Update, ..create(object("ConfigMap", "a", "2")) };
    let key = update.object.key.clone();
    let plan =
        ClusterPlan { sets: [("shop".to_owned(), set(1, vec![update], vec![]))].into(), stopped: None };
    crate::execute_once(&cluster, "f1", &mut view, &plan, &clock, |_| {}).await;
    assert!(view.foreign.contains_key(&key));
    assert_eq!(fake.get(&format!("{CONFIG_MAPS}/a")).expect("there").pointer("/data/a"), None);
}

#[tokio::test]
async fn conflicts_are_forced_only_where_the_fields_were_ours() {
    let conflict = json!({"reason": "Conflict", "message": "conflict", "details": {"causes": [
        {"reason": "FieldManagerConflict", "field": ".data.a", "message": "conflict with \"kubectl\" using v1"},
    ]}});
    let fake = Fake::new();
    run(&fake, set(1, vec![create(object("ConfigMap", "a", "1"))], vec![])).await;
    let patch = format!("PATCH {CONFIG_MAPS}/a?fieldManager=kcp&force=false");
    let action = |verb: ApplyVerb, conflicts| {
        let mut action = ApplyAction { verb, ..create(object("ConfigMap", "a", "2")) };
        action.rules.conflicts = conflicts;
        set(1, vec![action], vec![])
    };
    fake.writes();
    fake.fail(&patch, 409, conflict.clone(), 1);
    let (view, outcomes, _) = run(&fake, action(ApplyVerb::Update, Conflicts::Abort)).await;
    assert!(matches!(&outcomes[0].1, Outcome::Conflict { managers, .. } if managers == &["kubectl"]));
    assert!(view.failures.values().all(|failure| failure.reason == Reason::FieldConflict));
    assert!(fake.writes().iter().all(|line| !line.contains("force=true") || line.contains("kcp-system")));

    fake.fail(&patch, 409, conflict, 1);
    let (_, outcomes, _) = run(&fake, action(ApplyVerb::Correct, Conflicts::Owned)).await;
    assert!(
        matches!(&outcomes[0].1, Outcome::Applied { forced_from, corrections: 1, .. } if forced_from == &["kubectl"]),
        "{outcomes:?}"
    );
    assert!(fake.writes().iter().any(|line| line.contains("configmaps") && line.contains("force=true")));
}

#[tokio::test]
async fn nothing_of_a_secret_gets_into_a_message() {
    let fake = Fake::new();
    let refused = json!({"reason": "Invalid", "message": "Invalid value: \"hunter2\"", "details": {
        "kind": "secrets", "causes": [{"field": "data[a]", "message": "Invalid value: \"hunter2\""}],
    }});
    fake.fail("PATCH /api/v1/namespaces/shop/secrets/s", 422, refused, 1);
    let (view, ..) = run(&fake, set(1, vec![create(object("Secret", "s", "hunter2"))], vec![])).await;
    let text = format!("{view:?}");
    assert!(text.contains("data[a]") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn only_the_very_object_that_was_judged_is_deleted_and_the_parent_goes_last() {
    let fake = Fake::new();
    let actions = ["a", "b"].map(|name| create(object("ConfigMap", name, "1"))).to_vec();
    let (view, ..) = run(&fake, set(1, actions, vec![])).await;
    let delete = |name: &str, uid: &str| DeleteAction {
        key: create(object("ConfigMap", name, "1")).object.key,
        version: "v1".into(),
        uid: uid.into(),
        propagation: Propagation::Background,
        moved: false,
        why: String::new(),
    };
    let uid = |name: &str| {
        let objects = &view.sets["shop"].objects;
        objects
            .iter()
            .find(|(key, _)| key.name == name)
            .map(|(_, object)| object.uid.clone())
            .unwrap_or_default()
    };
    fake.writes();
    let (_, outcomes, _) = run(&fake, set(1, vec![], vec![delete("a", "another")])).await;
    assert_eq!(outcomes[0].1, Outcome::Replaced);
    assert!(fake.writes().iter().all(|line| !line.starts_with("DELETE")));

    let mut all = set(1, vec![], vec![delete("a", &uid("a")), delete("b", &uid("b"))]);
    all.remove_parent = true;
    let (view, ..) = run(&fake, all).await;
    assert!(view.sets.is_empty(), "{view:?}");
    let deletes = fake.log(|line| line.starts_with("DELETE"));
    assert!(deletes.len() == 3 && deletes[2].contains("kcp-system"), "{deletes:?}");
}

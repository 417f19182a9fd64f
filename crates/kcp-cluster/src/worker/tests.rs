//! Workers on a fake API server, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use kcp_core::object::{ContentHash, GroupKind};
use kcp_core::observe::{Observation, Outcome};
use kcp_core::plan::{ClusterPlan, SetPlan};
use kcp_core::world::{ClusterUid, ClusterView, Contact, Decision};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Worker, WorkerHandle, WorkerOptions, WorkerState};
use crate::connect::Connector;
use crate::execute::tests::create;
use crate::fake::Fake;
use crate::timing::Timing;

struct Watched {
    handle: WorkerHandle,
    events: mpsc::Receiver<(String, Observation)>,
    view: ClusterView,
}

impl Watched {
    fn new(fake: &Fake, expected: &str) -> Self {
        let (sender, events) = mpsc::channel(16);
        let fake = fake.clone();
        let handle = Worker::spawn(WorkerOptions {
            name: "eu-1".into(),
            connector: Arc::new(Connector::from_fn(move |_| Ok(fake.cluster()))),
            context: "eu-1".into(),
            fleet_id: "f1".into(),
            expected_uid: Some(ClusterUid(expected.into())),
            events: sender,
            clock: Arc::new(|| 9),
            timing: Timing::default(),
            seed: 3,
        });
        Self { handle, events, view: ClusterView::default() }
    }

    /// Takes events until one is as asked.
    async fn until(&mut self, what: &str, is: impl Fn(&Observation) -> bool) -> Observation {
        loop {
            let event = tokio::time::timeout(Duration::from_secs(3600), self.events.recv()).await;
            let Ok(Some((name, observation))) = event else { panic!("never saw: {what}; {:?}", self.view) };
            assert_eq!(name, "eu-1");
            self.view.apply(observation.clone(), 9);
            if is(&observation) {
                return observation;
            }
        }
    }

    async fn live(&mut self) {
        self.until("live", |it| matches!(it, Observation::Contact(Contact::Live { .. }))).await;
    }
}

fn config_map(value: &str) -> Value {
    let id = kcp_core::applyset::set_id("f1", "shop");
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": "a", "namespace": "shop",
            "labels": {"applyset.kubernetes.io/part-of": id},
            "annotations": {"kcp.dev/workspace": "shop"},
        },
        "data": {"a": value},
    })
}

fn plan() -> ClusterPlan {
    let set = SetPlan {
        decision: Some(Decision {
            epoch: 1,
            targets: [ClusterUid("the-uid".into())].into(),
            leaving: Default::default(),
            since: 1,
        }),
        group_kinds: [GroupKind::new("", "ConfigMap")].into(),
        namespaces: ["shop".to_owned()].into(),
        apply: vec![create(config_map("1"))],
        write_parent: true,
        ..SetPlan::default()
    };
    ClusterPlan { sets: [("shop".to_owned(), set)].into(), stopped: None }
}

const PATH: &str = "/api/v1/namespaces/shop/configmaps/a";

#[tokio::test(start_paused = true)]
async fn a_plan_is_carried_out_once_and_changes_are_seen() {
    let fake = Fake::new();
    let mut worker = Watched::new(&fake, "the-uid");
    worker.live().await;
    assert_eq!(worker.handle.state(), WorkerState::Live);
    worker.handle.plan(plan(), worker.view.outcomes);
    let stale = worker.view.outcomes;
    worker.until("done", |it| matches!(it, Observation::SetDone { whole: true, .. })).await;
    fake.writes();
    // A planner that has not heard of the outcome yet gives the same plan again.
    worker.handle.plan(plan(), stale);
    worker.until("done", |it| matches!(it, Observation::SetDone { .. })).await;
    assert!(fake.writes().is_empty());

    let object = fake.get(PATH).expect("applied");
    fake.event("/api/v1/configmaps", "ADDED", &object);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(fake.log(|line| line.contains(PATH)).is_empty(), "our own write is not read again");

    let mut edited = object;
    edited["data"]["a"] = json!("edited");
    let edited = fake.put(PATH, edited);
    fake.event("/api/v1/configmaps", "MODIFIED", &edited);
    worker.until("the edit", |it| matches!(it, Observation::Object { object: Some(_), .. })).await;
    let hash = ContentHash::of_value(&config_map("1"));
    assert!(worker.view.sets["shop"].objects.values().all(|object| !object.is(hash)));

    fake.event("/api/v1/configmaps", "DELETED", &edited);
    worker.until("the delete", |it| matches!(it, Observation::Object { object: None, .. })).await;
    assert!(worker.view.sets["shop"].objects.is_empty());
    worker.handle.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_expired_watch_lists_its_kind_again() {
    let fake = Fake::new();
    let mut worker = Watched::new(&fake, "the-uid");
    worker.live().await;
    worker.handle.plan(plan(), 0);
    worker.until("done", |it| matches!(it, Observation::SetDone { .. })).await;
    let mut edited = fake.get(PATH).expect("applied");
    edited["data"]["a"] = json!("edited while nobody watched");
    fake.put(PATH, edited);
    fake.event("/api/v1/configmaps", "ERROR", &json!({"code": 410, "message": "too old"}));
    let seen = worker.until("a new list", |it| matches!(it, Observation::Listed { .. })).await;
    let Observation::Listed { sets, .. } = seen else { panic!("{seen:?}") };
    let hash = ContentHash::of_value(&config_map("1"));
    assert!(sets["shop"].values().all(|object| !object.is(hash)));
    assert!(matches!(worker.view.contact, Contact::Live { .. }), "that is no loss");
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_a_loss_and_new_ones_end_it() {
    let fake = Fake::new();
    let mut worker = Watched::new(&fake, "the-uid");
    worker.live().await;
    fake.fail("GET /", 401, json!({"message": "Unauthorized"}), 5);
    fake.end_watches();
    let lost = worker.until("lost", |it| matches!(it, Observation::Contact(Contact::Lost { .. }))).await;
    assert!(format!("{lost:?}").contains("Unauthorized"));
    worker.until("a whole new view", |it| matches!(it, Observation::View(_))).await;
    worker.live().await;
}

#[tokio::test(start_paused = true)]
async fn a_failing_kind_is_not_a_lost_cluster() {
    let fake = Fake::new();
    let mut worker = Watched::new(&fake, "the-uid");
    worker.live().await;
    worker.handle.plan(plan(), 0);
    worker.until("done", |it| matches!(it, Observation::SetDone { .. })).await;
    assert!(worker.view.complete);
    fake.fail("GET /api/v1/configmaps", 503, json!({"message": "its server is down"}), 3);
    fake.event("/api/v1/configmaps", "ERROR", &json!({"code": 410}));
    worker.until("unlisted", |it| matches!(it, Observation::Unlisted { .. })).await;
    assert!(!worker.view.complete && worker.view.sets["shop"].objects.len() == 1, "unknown is not gone");
    worker.until("listed", |it| matches!(it, Observation::Listed { .. })).await;
    assert!(worker.view.complete && matches!(worker.view.contact, Contact::Live { .. }));
}

#[tokio::test(start_paused = true)]
async fn another_cluster_is_refused_and_gets_no_write() {
    let fake = Fake::new();
    let mut worker = Watched::new(&fake, "expected");
    worker.until("refused", |it| matches!(it, Observation::Contact(Contact::Refused { .. }))).await;
    worker.handle.plan(plan(), 0);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(fake.writes().is_empty());
    assert_eq!(worker.handle.state(), WorkerState::BackingOff);

    // One that becomes another while it is watched is found by the next probe.
    let fake = Fake::new();
    let mut worker = Watched::new(&fake, "the-uid");
    worker.live().await;
    fake.put("/api/v1/namespaces/kube-system", json!({"metadata": {"name": "kube-system", "uid": "other"}}));
    worker.until("refused", |it| matches!(it, Observation::Contact(Contact::Refused { .. }))).await;
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_finishes_and_the_quiet_cost_no_writes() {
    let fake = Fake::new();
    let mut worker = Watched::new(&fake, "the-uid");
    worker.live().await;
    worker.handle.plan(plan(), 0);
    let applied = |it: &Observation| {
        matches!(it, Observation::Outcome { outcome: Outcome::Applied { changed: true, .. }, .. })
    };
    worker.until("applied", applied).await;
    worker.until("done", |it| matches!(it, Observation::SetDone { .. })).await;
    fake.writes();
    tokio::time::sleep(Duration::from_secs(1800)).await;
    assert!(fake.writes().is_empty());
    let state = worker.handle.state.clone();
    worker.handle.shutdown().await;
    assert_eq!(*state.borrow(), WorkerState::Ended);
}

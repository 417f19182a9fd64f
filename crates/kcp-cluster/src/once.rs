//! One look at a cluster and one run of a plan there, without watches: for `run --once` and `sync`.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use kcp_core::object::GroupKind;
use kcp_core::observe::Observation;
use kcp_core::plan::ClusterPlan;
use kcp_core::world::{ApiFacts, ClusterUid, ClusterView, Contact};
use tokio::sync::mpsc;

use crate::call::{CallError, Cluster};
use crate::discovery::{self, Identity};
use crate::execute::{Step, Wants};
use crate::memory::{Memory, Written};
use crate::observe;
use crate::session::{Session, Sink};
use crate::timing::Timing;
use crate::worker::Clock;

/// Sets of one cluster worked on at once.
pub(crate) const SETS_AT_ONCE: usize = 4;
/// Events that may wait to be taken.
const EVENTS: usize = 64;

/// Reads everything of a fleet on a cluster, once. Kinds in `more` are listed too.
///
/// A view always comes back: one of a cluster that could not be read says so in its contact.
pub async fn observe_once(
    cluster: &Cluster,
    fleet_id: &str,
    expected_uid: Option<&ClusterUid>,
    more: &BTreeSet<GroupKind>,
    clock: &Clock,
) -> ClusterView {
    let mut view = ClusterView::default();
    let since = clock();
    let read = async {
        let Identity { uid, version } = discovery::identity(cluster).await?;
        view.uid = Some(uid.clone());
        view.version = Some(version);
        if let Some(refused) = crate::worker::other_identity(expected_uid, &uid, since) {
            return Ok(refused);
        }
        view.api = discovery::discover(cluster).await?;
        let observed = observe::observe(cluster, fleet_id, &view.api, more, &Memory::default()).await?;
        view.apply(
            Observation::View(Box::new(ClusterView {
                sets: observed.sets,
                complete: observed.complete,
                parent_errors: observed.parent_errors,
                ..view.clone()
            })),
            since,
        );
        Ok::<_, CallError>(Contact::Live { since })
    };
    view.contact = read.await.unwrap_or_else(|error| Contact::Lost { since, message: error.to_string() });
    view
}

/// Carries out a plan on a cluster, once, and brings `view` up to date by what came of it; `on` hears of each step.
///
/// Nothing is written unless the contact of the view is live. `false` if the cluster was lost over it.
pub async fn execute_once(
    cluster: &Cluster,
    fleet_id: &str,
    view: &mut ClusterView,
    plan: &ClusterPlan,
    clock: &Clock,
    mut on: impl FnMut(&Observation),
) -> bool {
    let (Contact::Live { .. }, Some(uid)) = (&view.contact, view.uid.clone()) else { return false };
    if plan.stopped.is_some() {
        return true;
    }
    let identity = Identity { uid, version: view.version.clone().unwrap_or_default() };
    let (events, mut taken) = mpsc::channel(EVENTS);
    let session = Session::new(
        cluster.clone(),
        fleet_id.to_owned(),
        identity,
        ApiFacts::clone(&view.api),
        Arc::new(Written::default()),
        Sink::new(cluster.name(), events),
        Arc::clone(clock),
        Timing::default(),
    );
    for (key, object) in view.sets.values().flat_map(|set| &set.objects) {
        session.memory.saw(key, object);
    }
    let run = async move {
        let all = run_plan(&session, plan, 0, &All).await;
        // The channel closes with it.
        drop(session);
        all
    };
    let take = async {
        while let Some((_, observation)) = taken.recv().await {
            on(&observation);
            view.apply(observation, clock());
        }
    };
    tokio::join!(run, take).0
}

/// Carries out all sets of a plan. `false` if the cluster was lost over it.
pub(crate) async fn run_plan(session: &Session, plan: &ClusterPlan, seen: u64, wanted: &dyn Wants) -> bool {
    let mut waiting = plan.sets.iter();
    let mut running = FuturesUnordered::new();
    let mut all = true;
    loop {
        while running.len() < SETS_AT_ONCE {
            let Some((workspace, set)) = waiting.next() else { break };
            running.push(session.run_set(workspace, set, seen, wanted).boxed());
        }
        match running.next().await {
            Some(one) => all &= one,
            None => return all,
        }
    }
}

/// Does all of it.
struct All;

impl Wants for All {
    fn wants(&self, _: &str, _: Step<'_>) -> bool {
        true
    }
}

//! One connection of a worker, from the first request to the last: `Connecting`, `Discovering`, `Listing`, `Live`.

use std::collections::BTreeSet;
use std::sync::Arc;

use kcp_core::object::GroupKind;
use kcp_core::observe::Observation;
use kcp_core::plan::ClusterPlan;
use kcp_core::world::{ClusterView, Contact};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use super::{End, Planned, Worker, WorkerState, other_identity, stopped};
use crate::backoff::Backoff;
use crate::call::{Call, CallError, Cluster, JSON, METADATA};
use crate::connect::Connector;
use crate::discovery;
use crate::execute::{Step, Wants};
use crate::metrics::Verb;
use crate::observe::{self, Observed};
use crate::once::run_plan;
use crate::path::Endpoint;
use crate::session::Session;
use crate::watch::{self as watches, Report, Target};

/// Reports that may wait: watches wait for their turn beyond that.
const REPORTS: usize = 64;
/// Objects in the way that are looked at again in one round.
const LOOKED_AT: usize = 50;

/// A connection that is up.
pub(super) struct Connection<'a> {
    worker: &'a Worker,
    session: Arc<Session>,
    tasks: JoinSet<()>,
    reports: mpsc::Sender<Report>,
    watched: BTreeSet<Target>,
    /// Watches that were opened when everything was listed and are not connected yet.
    awaited: BTreeSet<Target>,
    live: watch::Sender<bool>,
    rediscover: Arc<Notify>,
}

impl Connection<'_> {
    /// Connects and stays connected as long as possible. Gives why it ended, and whether it was live.
    pub(super) async fn run(worker: &Worker) -> (End, bool) {
        let mut stop = worker.stop.clone();
        // Until it is live nothing is written: it can be given up at any point.
        let begun = tokio::select! {
            begun = begin(worker) => begun,
            () = stopped(&mut stop) => Err(End::Stopped),
            () = worker.sink.closed() => Err(End::Stopped),
        };
        match begun {
            Ok((session, observed, mark)) => follow(worker, session, observed, mark).await,
            Err(end) => (end, false),
        }
    }
}

/// Connects, checks who it is, discovers and lists.
async fn begin(worker: &Worker) -> Result<(Arc<Session>, Observed, u64), End> {
    let options = &worker.options;
    let since = (options.clock)();
    worker.state.send_replace(WorkerState::Connecting);
    let connected = options
        .connector
        .connect_counted(&options.context, Arc::clone(&worker.metrics), options.timing.request)
        .await
        .map_err(|error| match error.refusal() {
            Some(reason) => End::Refused(Contact::Refused { since, reason, message: error.to_string() }),
            None => End::Lost(error.to_string()),
        })?;
    let cluster = connected.cluster;
    let lost = |error: CallError| End::Lost(error.to_string());
    is_ready(&cluster).await?;
    worker.state.send_replace(WorkerState::Discovering);
    let identity = discovery::identity(&cluster).await.map_err(lost)?;
    if let Some(refused) = other_identity(options.expected_uid.as_ref(), &identity.uid, since) {
        return Err(End::Refused(refused));
    }
    let api = discovery::discover(&cluster).await.map_err(lost)?;
    let session = Arc::new(Session::new(
        cluster,
        options.fleet_id.clone(),
        identity,
        api.clone(),
        Arc::clone(&worker.written),
        worker.sink.clone(),
        Arc::clone(&options.clock),
        options.timing,
    ));
    session.tell_facts(api.clone()).await;
    worker.state.send_replace(WorkerState::Listing);
    let more = kinds_of(worker.plans.borrow().as_deref());
    let observed = observe::observe(&session.cluster, &session.fleet_id, &api, &more, &session.memory)
        .await
        .map_err(lost)?;
    observed.sets.keys().for_each(|workspace| session.knows_workspace(workspace));
    let view = ClusterView {
        uid: Some(session.identity.uid.clone()),
        version: Some(session.identity.version.clone()),
        api,
        sets: observed.sets.clone(),
        complete: observed.complete,
        parent_errors: observed.parent_errors.clone(),
        ..ClusterView::default()
    };
    session.sink.send(Observation::View(Box::new(view))).await;
    Ok((session, observed, connected.mark))
}

/// An API server that is just starting may not know yet what it serves: its answers would look like loss.
async fn is_ready(cluster: &Cluster) -> Result<(), End> {
    match cluster.call(Call::get(Verb::Discover, "/readyz", JSON)).await {
        // Who may not ask, or has no such path, is asked no further.
        Ok(_) | Err(CallError::Unreadable(_)) => Ok(()),
        Err(error) if matches!(error.code(), Some(403 | 404)) => Ok(()),
        Err(error) if error.code().is_some_and(|code| code >= 500) => {
            Err(End::Lost("its API server says that it is not ready".to_owned()))
        }
        Err(error) => Err(End::Lost(error.to_string())),
    }
}

/// Kinds that a plan writes.
fn kinds_of(planned: Option<&Planned>) -> BTreeSet<GroupKind> {
    let sets = planned.into_iter().flat_map(|planned| planned.plan.sets.values());
    sets.flat_map(|set| {
        let applied = set.apply.iter().map(|action| action.object.key.group_kind());
        set.group_kinds.iter().cloned().chain(applied).collect::<Vec<_>>()
    })
    .collect()
}

/// Keeps the view fresh and carries out plans, until something ends it.
async fn follow(worker: &Worker, session: Arc<Session>, observed: Observed, mark: u64) -> (End, bool) {
    let (reports, mut incoming) = mpsc::channel(REPORTS);
    let (live, is_live) = watch::channel(false);
    let mut connection = Connection {
        worker,
        session: Arc::clone(&session),
        tasks: JoinSet::new(),
        reports,
        watched: BTreeSet::new(),
        awaited: BTreeSet::new(),
        live,
        rediscover: Arc::new(Notify::new()),
    };
    let mut plans = worker.plans.clone();
    // What was planned before everything was listed is out of date.
    plans.mark_unchanged();
    connection.watch(Target::Parents, Some(observed.parents_version));
    connection.watch(Target::Crds, None);
    for (kind, version) in observed.versions {
        connection.watch(Target::Members(kind), Some(version));
    }
    let named: BTreeSet<GroupKind> =
        observed.sets.values().flat_map(|set| set.parent.group_kinds.iter().cloned()).collect();
    connection.watch_kinds(named);
    connection.awaited = connection.watched.clone();
    connection.watch_kinds(kinds_of(worker.plans.borrow().as_deref()));
    let mut executing = JoinSet::new();
    executing.spawn(execute(
        Arc::clone(&session),
        plans.clone(),
        is_live,
        worker.stop.clone(),
        connection.reports.clone(),
    ));
    connection.tasks.spawn(watches::read_dirty(Arc::clone(&session)));
    connection.tasks.spawn(rediscover(Arc::clone(&session), Arc::clone(&connection.rediscover)));
    connection.tasks.spawn(probe(
        Arc::clone(&session),
        Arc::clone(&worker.options.connector),
        worker.options.context.clone(),
        mark,
        connection.reports.clone(),
    ));
    let mut stop = worker.stop.clone();
    let end = loop {
        tokio::select! {
            report = incoming.recv() => {
                if let Some(end) = connection.report(report).await {
                    break end;
                }
            }
            changed = plans.changed() => {
                if changed.is_err() {
                    break End::Stopped;
                }
                let planned = plans.borrow_and_update().clone();
                connection.planned(planned.as_deref());
            }
            () = worker.credentials.notified() => {
                if changed_mark(&worker.options.connector, &worker.options.context, mark).await {
                    break End::Reconnect;
                }
            }
            () = stopped(&mut stop) => break End::Stopped,
            () = worker.sink.closed() => break End::Stopped,
        }
    };
    let was_live = *connection.live.borrow();
    // No other step is begun; those under way are finished, so that nothing is left half known.
    connection.live.send_replace(false);
    let _ = tokio::time::timeout(worker.options.timing.shutdown, executing.join_next()).await;
    (end, was_live)
}

impl Connection<'_> {
    fn watch(&mut self, target: Target, version: Option<String>) {
        if self.watched.insert(target.clone()) {
            let seed = self.worker.options.seed.wrapping_add(self.watched.len() as u64);
            self.tasks.spawn(watches::run(
                Arc::clone(&self.session),
                target,
                version,
                self.reports.clone(),
                seed,
            ));
        }
    }

    fn watch_kinds(&mut self, kinds: BTreeSet<GroupKind>) {
        for kind in kinds {
            self.watch(Target::Members(kind), None);
        }
    }

    fn planned(&mut self, planned: Option<&Planned>) {
        let Some(planned) = planned else { return };
        planned.plan.sets.keys().for_each(|workspace| self.session.knows_workspace(workspace));
        self.session.written.trim(planned.seen);
        self.watch_kinds(kinds_of(Some(planned)));
    }

    /// Takes in what a task reports; gives the end, if it is one.
    async fn report(&mut self, report: Option<Report>) -> Option<End> {
        match report {
            Some(Report::Up(target)) => {
                self.awaited.remove(&target);
                if self.awaited.is_empty() && !*self.live.borrow() {
                    self.worker.state.send_replace(WorkerState::Live);
                    let since = (self.session.clock)();
                    self.session.sink.send(Observation::Contact(Contact::Live { since })).await;
                    self.live.send_replace(true);
                }
                None
            }
            Some(Report::ApiChanged) => {
                self.rediscover.notify_one();
                None
            }
            Some(Report::Kinds(kinds)) => {
                self.watch_kinds(kinds);
                None
            }
            Some(Report::Lost(error)) => Some(End::Lost(error.to_string())),
            Some(Report::OtherCluster(uid)) => {
                let expected = Some(&self.session.identity.uid);
                other_identity(expected, &uid, (self.session.clock)()).map(End::Refused)
            }
            Some(Report::Reconnect) => Some(End::Reconnect),
            None => Some(End::Stopped),
        }
    }
}

/// Carries out plans, one after the other, the latest first.
async fn execute(
    session: Arc<Session>,
    mut plans: watch::Receiver<Option<Arc<Planned>>>,
    mut live: watch::Receiver<bool>,
    stop: watch::Receiver<bool>,
    reports: mpsc::Sender<Report>,
) {
    loop {
        if live.wait_for(|live| *live).await.is_err() {
            return;
        }
        tokio::select! {
            changed = plans.changed() => if changed.is_err() { return },
            // Once it is live no more, this connection is over.
            () = not_live(&mut live) => return,
        }
        let Some(planned) = plans.borrow_and_update().clone() else { continue };
        if planned.plan.stopped.is_some() {
            continue;
        }
        let wanted = Wanted {
            planned: Arc::clone(&planned),
            latest: plans.clone(),
            live: live.clone(),
            stop: stop.clone(),
        };
        if !run_plan(&session, &planned.plan, planned.seen, &wanted).await {
            let message = "it was lost while a plan was carried out".to_owned();
            let _ = reports.send(Report::Lost(CallError::Broken(message))).await;
            return;
        }
        if !*live.borrow() || *stop.borrow() {
            return;
        }
    }
}

async fn not_live(live: &mut watch::Receiver<bool>) {
    let _ = live.wait_for(|live| !*live).await;
}

/// A step is wanted as long as the worker is live and the latest plan has it.
struct Wanted {
    planned: Arc<Planned>,
    latest: watch::Receiver<Option<Arc<Planned>>>,
    live: watch::Receiver<bool>,
    stop: watch::Receiver<bool>,
}

impl Wants for Wanted {
    fn wants(&self, workspace: &str, step: Step<'_>) -> bool {
        *self.live.borrow()
            && !*self.stop.borrow()
            && self.latest.borrow().as_ref().is_some_and(|latest| {
                Arc::ptr_eq(latest, &self.planned) || has(&latest.plan, workspace, step)
            })
    }
}

/// Whether a newer plan has this step too.
fn has(plan: &ClusterPlan, workspace: &str, step: Step<'_>) -> bool {
    let Some(set) = plan.sets.get(workspace).filter(|_| plan.stopped.is_none()) else { return false };
    match step {
        Step::Apply(action) => set.apply.iter().any(|other| {
            other.object.key == action.object.key
                && other.object.hash == action.object.hash
                && other.verb == action.verb
        }),
        Step::Delete(action) => {
            set.delete.iter().any(|other| other.key == action.key && other.uid == action.uid)
        }
    }
}

/// Discovers again when asked to, and from time to time.
async fn rediscover(session: Arc<Session>, asked: Arc<Notify>) {
    loop {
        tokio::select! {
            () = asked.notified() => {}
            () = tokio::time::sleep(session.timing.rediscover) => {}
        }
        // CRDs come in groups, and discovery follows them with some delay: look twice.
        for _ in 0..2 {
            tokio::time::sleep(session.timing.backoff).await;
            match discovery::discover(&session.cluster).await {
                Ok(api) => session.set_api(api).await,
                Err(error) => {
                    tracing::warn!(cluster = session.cluster.name(), %error, "discovery failed; what was known stays");
                }
            }
        }
    }
}

/// Whether credentials or address are others now than those that gave `mark`.
async fn changed_mark(connector: &Arc<Connector>, context: &str, mark: u64) -> bool {
    let (connector, context) = (Arc::clone(connector), context.to_owned());
    let now = tokio::task::spawn_blocking(move || connector.mark(&context)).await;
    now.ok().flatten().is_some_and(|now| now != mark)
}

/// Asks a cluster who it is, again and again: it shows at once what watches show late.
async fn probe(
    session: Arc<Session>,
    connector: Arc<Connector>,
    context: String,
    mark: u64,
    reports: mpsc::Sender<Report>,
) {
    let mut backoff = Backoff::new(session.timing.backoff, session.timing.backoff_max, 1);
    let mut failed = false;
    loop {
        tokio::time::sleep(if failed { backoff.next() } else { session.timing.probe }).await;
        if changed_mark(&connector, &context, mark).await {
            let _ = reports.send(Report::Reconnect).await;
            return;
        }
        match discovery::uid(&session.cluster).await {
            Ok(uid) if uid == session.identity.uid => {
                failed = false;
                backoff.reset();
            }
            Ok(uid) => {
                let _ = reports.send(Report::OtherCluster(uid)).await;
                return;
            }
            Err(error) if failed || error.code() == Some(401) => {
                let _ = reports.send(Report::Lost(error)).await;
                return;
            }
            Err(_) => failed = true,
        }
        look_at_foreign(&session).await;
    }
}

/// Whether objects that were in the way still are.
async fn look_at_foreign(session: &Session) {
    for key in session.written.in_the_way().into_iter().take(LOOKED_AT) {
        let path =
            Endpoint::of(&session.api(), &key.group_kind(), None).and_then(|endpoint| endpoint.object(&key));
        let Ok(path) = path else { continue };
        let answer = session.cluster.call(Call::get(Verb::Get, path, METADATA)).await;
        if answer.is_err_and(|error| error.code() == Some(404)) {
            session.written.is_out_of_the_way(&key);
            session.sink.send(Observation::Foreign { key, foreign: None }).await;
        }
    }
}

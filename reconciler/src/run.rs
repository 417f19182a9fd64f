//! The shell around the engine: follows git, drives one worker for each cluster, publishes the record. It decides
//! nothing: events go in, effects come out.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use kcp_cluster::{ConnectOptions, Connector, Timing, Worker, WorkerHandle, WorkerOptions};
use kcp_core::observe::Observation;
use kcp_core::plan::ClusterPlan;
use kcp_core::planner::Scope;
use kcp_core::world::{Halt, UnixSeconds};
use kcp_git::{
    BranchWatch, GitCommand, GitError, Repo, Source, SourceError, SourceSpec, Transport, watch_local,
};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinHandle};

use crate::acts::ActFile;
use crate::clock::{Clock, SystemClock, rfc3339};
use crate::engine::{Effect, Engine};
use crate::event::Event;
use crate::follow::{Follower, Look, interval_of};
use crate::halt::HaltFile;
use crate::http::{Report, SharedReport};
use crate::lock::{FleetLock, LockError, check_writer};
use crate::publish::{PublishError, Publisher, writer};
use crate::record::{Record, SourceState};

/// How often time-outs, suspensions and the halt file are looked at.
const TICK: Duration = Duration::from_secs(1);
/// Where a step takes long, steps that only time calls for are rarer: an idle fleet costs one part in this many of a core.
const IDLE_SHARE: u32 = 20;
/// How long the end may take: in-flight writes are finished or abandoned, and the last record published.
const GRACE: Duration = Duration::from_secs(4);
/// Events of this many clusters may wait; a full queue slows the workers, it loses nothing.
const QUEUE: usize = 1024;
/// More than any run may last.
const LONGEST: Duration = Duration::from_secs(u32::MAX as u64);
/// So much of one worker may wait on its way into that queue.
const WAITING: usize = 16;
/// How long one fetch may take.
const FETCH: Duration = Duration::from_secs(60);

/// The reconciler could not start, or had to stop.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The repo or its branch.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The repo.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Another reconciler.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The status branch.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The fleet's documents cannot be used, and nothing was in force before.
    #[error("{message}")]
    NothingInForce {
        /// Why, with file and line.
        message: String,
    },
    /// The address for the status pages.
    #[error("cannot serve status pages on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// `Scope::Cluster` names a cluster that the fleet does not have.
    #[error("the fleet has no cluster {name}; it has: {known}")]
    UnknownCluster {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
}

/// How a run that was to do one pass ended.
#[derive(Debug)]
pub struct Once {
    /// The state at the end; its last plan says what is left.
    pub engine: Engine,
    /// Nothing was left to do.
    pub settled: bool,
}

/// How to run. See the crate's page for an example.
#[derive(Debug, Clone)]
pub struct Builder {
    repo: String,
    branch: Option<String>,
    state_dir: PathBuf,
    connector: Arc<Connector>,
    id: String,
    listen: Option<SocketAddr>,
    take_over: bool,
    accept_history: Option<String>,
    scope: Scope,
}

impl Builder {
    pub(crate) fn new(repo: impl Into<String>, state_dir: impl Into<PathBuf>) -> Self {
        Self {
            repo: repo.into(),
            branch: None,
            state_dir: state_dir.into(),
            connector: Arc::new(Connector::new(ConnectOptions::default())),
            id: "kcp-reconciler".into(),
            listen: None,
            take_over: false,
            accept_history: None,
            scope: Scope::Daemon,
        }
    }

    /// The branch to follow; without it, the one that HEAD of a local repo is on, or `main`.
    #[must_use]
    pub fn branch(mut self, branch: impl Into<String>) -> Self {
        self.branch = Some(branch.into());
        self
    }

    /// Where contexts are looked up, and what is allowed of them.
    #[must_use]
    pub fn connect(self, options: ConnectOptions) -> Self {
        self.connector(Connector::new(options))
    }

    /// How clusters are connected to: for a program that embeds the reconciler and has clusters of its own.
    #[must_use]
    pub fn connector(mut self, connector: Connector) -> Self {
        self.connector = Arc::new(connector);
        self
    }

    /// The stable name of this reconciler: what another one is told, and what may follow itself after a crash.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Serves `/healthz`, `/readyz` and `/metrics` there. Off unless given.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Follows another reconciler that is gone for good.
    #[must_use]
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// A commit (or at least 7 digits of it) whose history need not contain the commit in force.
    #[must_use]
    pub fn accept_history(mut self, commit: Option<String>) -> Self {
        self.accept_history = commit;
        self
    }

    /// Which clusters to work with.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Runs until `shutdown` is ready.
    ///
    /// # Errors
    /// It could not start, or another reconciler took over. Whatever else goes wrong while it runs is status, not an
    /// error.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
        let mut shutdown = std::pin::pin!(shutdown);
        let started = tokio::select! {
            started = self.start(true) => started?,
            () = &mut shutdown => return Ok(()),
        };
        started.work(shutdown, None).await?;
        Ok(())
    }

    /// One pass: until every cluster was read or given up and nothing is left that can be done now, or until `limit`.
    ///
    /// # Errors
    /// It could not start, or another reconciler took over.
    pub async fn run_once(
        self,
        limit: Duration,
        shutdown: impl Future<Output = ()>,
    ) -> Result<Once, RunError> {
        let started = self.start(false).await?;
        let (engine, settled) = started.work(shutdown, Some(limit)).await?;
        Ok(Once { engine, settled })
    }

    /// Opens the source, waits for the first commit that can be in force, takes the lock, reads the record.
    async fn start(self, patient: bool) -> Result<Running, RunError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let report = SharedReport::default();
        if let Some(address) = self.listen {
            let address = crate::http::serve(address, report.clone())
                .await
                .map_err(|source| RunError::Listen { address, source })?;
            tracing::info!(%address, "serving /healthz, /readyz and /metrics");
        }
        let transport: Arc<dyn Transport> = Arc::new(GitCommand::new());
        let (source, local) = self.open(&transport)?;
        let mut follower = Follower::new(source, self.accept_history.clone(), clock.clone());
        if let Some(commit) = self.recorded_commit(&follower, transport.as_ref()).await? {
            follower.assume(&commit);
        }
        let (desired, state) = loop {
            match follower.look().await {
                Look::Desired(desired, state) => break (*desired, state),
                Look::State(state) => {
                    let message = state.trouble.map_or_else(String::new, |trouble| trouble.message);
                    if !patient {
                        return Err(RunError::NothingInForce { message });
                    }
                    if let Some(last_good) = follower.fall_back().await {
                        tracing::warn!("the commit that was in force before stays: {message}");
                        break last_good;
                    }
                    tracing::error!("nothing is in force yet: {message}");
                    tokio::time::sleep(Duration::from_secs(10)).await;
                }
            }
        };
        if let Scope::Cluster(name) = &self.scope
            && !desired.config.clusters.contains_key(name)
        {
            let known = desired.config.clusters.keys().cloned().collect::<Vec<_>>().join(", ");
            return Err(RunError::UnknownCluster { name: name.clone(), known });
        }
        let fleet = desired.config.fleet.value.spec.id.clone();
        let holder = format!("{}, process {}, since {}", self.id, std::process::id(), rfc3339(clock.now()));
        let lock = FleetLock::take(&self.state_dir, &fleet, &holder)?;
        let remote =
            follower.source().is_mirrored().then(|| (transport.clone(), follower.source().url().clone()));
        let target = &desired.config.fleet.value.spec.status;
        let mut publisher = Publisher::new(
            follower.source().repo()?,
            target,
            remote,
            writer(&self.id, clock.as_ref()),
            clock.clone(),
        )?;
        let published = match &mut publisher {
            Some(publisher) => publisher.read().await?,
            None => crate::publish::Published::default(),
        };
        for damaged in &published.damaged {
            tracing::warn!("status branch: {damaged}; it is rebuilt from the clusters");
        }
        check_writer(published.writer.as_ref(), &self.id, self.take_over)?;
        // A record of another fleet on the same branch says nothing of this one.
        let ours = published.record.fleet.id == fleet;
        let record = if ours { published.record } else { Record::default() };
        if let Some(publisher) = &publisher {
            match publisher.claim().await {
                Err(error @ PublishError::Rival { .. }) => return Err(error.into()),
                Err(error) => tracing::warn!(%error, "the status branch does not name this reconciler yet"),
                Ok(()) => {}
            }
        }
        let mut engine = Engine::new(desired, state, record, self.scope.clone(), clock.now());
        if !ours || !published.damaged.is_empty() {
            engine.remembers_nothing();
        }
        let acts = ActFile::new(&self.state_dir, &fleet);
        match acts.read() {
            Ok(known) => engine.remember(known),
            Err(error) => {
                tracing::warn!(%error, "what was deleted within the last hour is known from the record only")
            }
        }
        Ok(Running {
            halt: HaltFile::new(&self.state_dir, &fleet),
            acts,
            connector: self.connector.clone(),
            engine,
            follower,
            publisher,
            clock,
            report,
            local,
            fleet,
            _lock: lock,
        })
    }

    /// A local repo is read directly; a remote one through a bare mirror of our own.
    fn open(&self, transport: &Arc<dyn Transport>) -> Result<(Source, Option<PathBuf>), RunError> {
        let local = Path::new(&self.repo).is_dir().then(|| PathBuf::from(&self.repo));
        let branch = match (&self.branch, &local) {
            (Some(branch), _) => branch.clone(),
            (None, Some(path)) => Repo::open(path)?.head_branch()?.unwrap_or_else(|| "main".into()),
            (None, None) => "main".into(),
        };
        let mirror_dir = match local {
            Some(_) => None,
            None => Some(self.state_dir.join("mirrors").join(mirror_name(&self.repo))),
        };
        let spec = SourceSpec { url_or_path: self.repo.clone(), branch, mirror_dir, deadline: FETCH };
        Ok((Source::open(spec, transport.clone())?, local))
    }

    /// The commit that was in force when the record was last published, for a source that does not remember it: where
    /// that record is, the fleet document at the head of the branch says.
    async fn recorded_commit(
        &self,
        follower: &Follower,
        transport: &dyn Transport,
    ) -> Result<Option<String>, RunError> {
        let source = follower.source();
        if source.accepted().is_some() {
            return Ok(None);
        }
        let target = follower.peek().await.unwrap_or_default();
        let branch = kcp_git::StatusBranch::new(source.repo()?, &target.branch)?;
        if source.is_mirrored() && target.mode != kcp_api::RecordMode::Disabled {
            // A mirror that was made anew has only the branch that is followed.
            branch.pull(transport, source.url(), FETCH, false).await.map_err(PublishError::from)?;
        }
        let recorded = crate::publish::read_branch(&branch)?.record.fleet.source;
        let same = recorded.branch == source.branch() && !recorded.commit.is_empty();
        Ok(same.then_some(recorded.commit))
    }
}

/// A folder name for the mirror of a location: readable, and one for each.
fn mirror_name(location: &str) -> String {
    let readable: String =
        location.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    let hash = kcp_core::object::ContentHash::of_bytes(location.as_bytes()).to_string();
    let tail: String = readable.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{}-{}", tail.trim_matches('-'), &hash[..8])
}

struct Running {
    engine: Engine,
    follower: Follower,
    publisher: Option<Publisher>,
    connector: Arc<Connector>,
    halt: HaltFile,
    acts: ActFile,
    clock: Arc<dyn Clock>,
    report: SharedReport,
    local: Option<PathBuf>,
    fleet: String,
    _lock: FleetLock,
}

impl Running {
    /// The loop. With a limit it ends when everything is settled.
    async fn work(
        self,
        shutdown: impl Future<Output = ()>,
        limit: Option<Duration>,
    ) -> Result<(Engine, bool), PublishError> {
        let Self {
            mut engine,
            follower,
            publisher,
            connector,
            halt,
            acts,
            clock,
            report,
            local,
            fleet,
            _lock,
        } = self;
        let (events, mut queue) = mpsc::channel::<Event>(QUEUE);
        let (records, published) = watch::channel(None::<Record>);
        let mut publishing = publisher.map(|publisher| tokio::spawn(publisher.run(published)));
        let mut rival = None;
        let once = limit.is_some();
        let following = (!once).then(|| tokio::spawn(follow(follower, local, &engine, events.clone())));
        let (seen, mut sights) = mpsc::channel(QUEUE);
        let mut workers =
            Workers { handles: BTreeMap::new(), started: 0, connector, fleet, seen, clock: clock.clone() };
        // No run is that long, and a longer one is no point in time.
        let limit = limit.unwrap_or(LONGEST).min(LONGEST);
        let deadline = tokio::time::Instant::now() + limit;
        let mut shutdown = std::pin::pin!(shutdown);
        let settled = loop {
            let (now, begun) = (clock.now(), tokio::time::Instant::now());
            engine.halt(halt.read(now));
            for effect in engine.step(now) {
                match effect {
                    Effect::Publish(record) => drop(records.send(Some(*record))),
                    Effect::Remember(done) => {
                        if let Err(error) = acts.write(&done) {
                            tracing::error!(%error, "what counts against the budgets could not be kept on this machine");
                        }
                    }
                    effect => workers.carry_out(effect),
                }
            }
            engine.count_requests(workers.requests());
            *report.write().unwrap_or_else(PoisonError::into_inner) = Report::of(&engine);
            if once && engine.is_settled() {
                break true;
            }
            let wake = begun + (begun.elapsed() * IDLE_SHARE).max(TICK);
            tokio::select! {
                biased;
                () = &mut shutdown => break false,
                () = tokio::time::sleep_until(deadline) => break false,
                // It ends before the loop only if somebody else writes for this fleet.
                ended = ended(&mut publishing) => {
                    publishing = None;
                    match ended {
                        Ok(Err(error)) => {
                            rival = Some(error);
                            break false;
                        }
                        Ok(Ok(())) => {}
                        Err(error) => tracing::error!(%error, "the status is published no more"),
                    }
                }
                Some(event) = queue.recv() => handle(&mut engine, event, clock.now()),
                Some(sight) = sights.recv() => {
                    let mut next = Some(sight);
                    // What has come meanwhile belongs to the same step.
                    while let Some(sight) = next {
                        if workers.has(&sight) {
                            handle(&mut engine, Event::of(sight.cluster, sight.observation), clock.now());
                        }
                        next = sights.try_recv().ok();
                    }
                }
                () = due(&halt, engine.world().halted.as_ref(), clock.as_ref(), wake) => {}
            }
        };
        if let Some(following) = following {
            following.abort();
        }
        let ending = async {
            workers.shutdown().await;
            drop(records);
            match publishing {
                Some(publishing) => publishing.await.unwrap_or(Ok(())),
                None => Ok(()),
            }
        };
        match tokio::time::timeout(GRACE, ending).await {
            Ok(Err(error)) => rival = Some(error),
            Ok(Ok(())) => {}
            Err(_) => {
                tracing::warn!("the end took too long; what was under way is taken up at the next start");
            }
        }
        rival.map_or(Ok((engine, settled)), Err)
    }
}

/// The end of the publisher; without one, never.
async fn ended(
    publishing: &mut Option<JoinHandle<Result<(), PublishError>>>,
) -> Result<Result<(), PublishError>, JoinError> {
    match publishing {
        Some(publishing) => publishing.await,
        None => std::future::pending().await,
    }
}

/// Ready when time alone calls for a step: at `wake`, or as soon as the halt file says something else.
async fn due(halt: &HaltFile, halted: Option<&Halt>, clock: &dyn Clock, wake: tokio::time::Instant) {
    loop {
        tokio::time::sleep(TICK).await;
        if tokio::time::Instant::now() >= wake || halt.read(clock.now()).as_ref() != halted {
            return;
        }
    }
}

fn handle(engine: &mut Engine, event: Event, now: UnixSeconds) {
    match event {
        Event::Desired(desired, state) => {
            tracing::info!(commit = %desired.commit, "a new commit is in force");
            engine.desire(*desired, state);
        }
        Event::Source(state) => {
            note_source(&state);
            engine.source(state);
        }
        Event::Cluster { cluster, observation } => engine.observe(&cluster, *observation, now),
    }
}

fn note_source(state: &SourceState) {
    match &state.trouble {
        Some(trouble) => tracing::warn!(reason = %trouble.reason, "{}", trouble.message),
        None => tracing::info!(commit = %state.commit, "the source is well again"),
    }
}

/// Follows the branch: by interval, and at once when a local repo changes.
fn follow(
    follower: Follower,
    local: Option<PathBuf>,
    engine: &Engine,
    events: mpsc::Sender<Event>,
) -> impl Future<Output = ()> + use<> {
    let (hint, hints) = mpsc::channel(1);
    let watch: Option<BranchWatch> = local.and_then(|path| {
        watch_local(&path, follower.source().branch(), hint)
            .inspect_err(|error| tracing::warn!(%error, "changes are seen at the next interval only"))
            .ok()
    });
    let interval = interval_of(&engine.world().desired);
    async move {
        let _watch = watch;
        follower.run(interval, hints, events).await;
    }
}

/// What one worker saw.
struct Sight {
    cluster: String,
    /// Which worker: an earlier one of the same name may have worked with another cluster.
    worker: u64,
    observation: Observation,
}

struct Workers {
    /// By cluster, each with its number.
    handles: BTreeMap<String, (u64, WorkerHandle)>,
    /// How many were started.
    started: u64,
    connector: Arc<Connector>,
    fleet: String,
    /// What the workers see.
    seen: mpsc::Sender<Sight>,
    clock: Arc<dyn Clock>,
}

impl Workers {
    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Connect(target) => {
                let clock = self.clock.clone();
                self.started += 1;
                let (events, sights) = mpsc::channel(WAITING);
                tokio::spawn(forward(self.started, sights, self.seen.clone()));
                let handle = Worker::spawn(WorkerOptions {
                    name: target.cluster.clone(),
                    connector: self.connector.clone(),
                    context: target.context,
                    fleet_id: self.fleet.clone(),
                    expected_uid: target.expected_uid,
                    events,
                    clock: Arc::new(move || clock.now()),
                    timing: Timing::default(),
                    // Spreads the waiting times of workers; any number that differs will do.
                    seed: u64::from(std::process::id()) ^ self.handles.len() as u64,
                });
                self.handles.insert(target.cluster, (self.started, handle));
            }
            Effect::Disconnect { cluster } => {
                if let Some((_, handle)) = self.handles.remove(&cluster) {
                    tokio::spawn(handle.shutdown());
                }
            }
            Effect::Execute { cluster, plan, seen } => {
                if let Some((_, handle)) = self.handles.get(&cluster) {
                    handle.plan(ClusterPlan::clone(&plan), seen);
                }
            }
            Effect::Publish(_) | Effect::Remember(_) => {}
        }
    }

    /// Whether what was seen is of the worker that is there now.
    fn has(&self, sight: &Sight) -> bool {
        self.handles.get(&sight.cluster).is_some_and(|(number, _)| *number == sight.worker)
    }

    fn requests(&self) -> BTreeMap<String, u64> {
        self.handles
            .iter()
            .map(|(name, (_, handle))| {
                (name.clone(), handle.metrics().all().into_iter().map(|(_, _, count)| count).sum())
            })
            .collect()
    }

    async fn shutdown(self) {
        futures::future::join_all(self.handles.into_values().map(|(_, handle)| handle.shutdown())).await;
    }
}

/// Passes on what one worker sees, with its number.
async fn forward(worker: u64, mut from: mpsc::Receiver<(String, Observation)>, to: mpsc::Sender<Sight>) {
    while let Some((cluster, observation)) = from.recv().await {
        if to.send(Sight { cluster, worker, observation }).await.is_err() {
            return;
        }
    }
}

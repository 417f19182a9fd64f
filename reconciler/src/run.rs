//! The shell around the engine: follows git, drives one worker for each cluster, publishes the record. It decides
//! nothing: events go in, effects come out.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use kcp_cluster::{Connector, Timing, Worker, WorkerHandle, WorkerOptions};
use kcp_core::observe::Observation;
use kcp_core::plan::ClusterPlan;
use kcp_core::world::{Halt, UnixSeconds};
use kcp_git::{BranchWatch, GitError, SourceError, watch_local};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinHandle};

use crate::acts::ActFile;
use crate::clock::Clock;
use crate::engine::{Effect, Engine};
use crate::event::Event;
use crate::follow::{Follower, interval_of};
use crate::halt::HaltFile;
use crate::http::{Report, SharedReport};
use crate::lock::{FleetLock, LockError};
use crate::publish::{PublishError, Publisher};
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

/// All that the loop needs, ready to work.
pub(crate) struct Running {
    pub(crate) engine: Engine,
    pub(crate) follower: Follower,
    pub(crate) publisher: Option<Publisher>,
    pub(crate) connector: Arc<Connector>,
    pub(crate) halt: HaltFile,
    pub(crate) acts: ActFile,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) report: SharedReport,
    pub(crate) local: Option<PathBuf>,
    pub(crate) fleet: String,
    pub(crate) _lock: FleetLock,
}

impl Running {
    /// The loop. With a limit it ends when everything is settled.
    pub(crate) async fn work(
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

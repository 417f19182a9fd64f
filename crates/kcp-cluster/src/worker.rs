//! One task for each cluster: it connects, keeps the view fresh, and carries out plans. A dead cluster costs only its
//! own task.

mod connection;

use std::sync::Arc;

use kcp_api::Reason;
use kcp_core::observe::Observation;
use kcp_core::plan::ClusterPlan;
use kcp_core::world::{ClusterUid, Contact, UnixSeconds};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;

use crate::backoff::Backoff;
use crate::connect::Connector;
use crate::memory::Written;
use crate::metrics::Metrics;
use crate::session::Sink;
use crate::timing::Timing;

use connection::Connection;

/// Seconds since 1970, as the reconciler sees them.
pub type Clock = Arc<dyn Fn() -> UnixSeconds + Send + Sync>;
/// Where workers tell what they see: the name of the cluster, and the event. A slow receiver slows workers down and
/// loses nothing.
pub type Events = mpsc::Sender<(String, Observation)>;

/// What a worker needs.
#[derive(Clone)]
pub struct WorkerOptions {
    /// Name of the Cluster document.
    pub name: String,
    /// How to connect.
    pub connector: Arc<Connector>,
    /// By which context.
    pub context: String,
    /// Whose objects these are.
    pub fleet_id: String,
    /// The cluster that the context must lead to; without it any is taken.
    pub expected_uid: Option<ClusterUid>,
    /// Where events go.
    pub events: Events,
    /// The time.
    pub clock: Clock,
    /// All durations.
    pub timing: Timing,
    /// Repeats the jitter of waiting times exactly.
    pub seed: u64,
}

/// What a worker is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerState {
    /// Reading credentials and reaching the API.
    Connecting,
    /// Finding out who the cluster is and what it serves. Leads to `BackingOff` if it is another cluster.
    Discovering,
    /// Listing everything of the fleet and opening watches.
    Listing,
    /// All watches are connected: plans are carried out.
    Live,
    /// It failed, or must not be worked with, and is tried again after a while or with new credentials.
    BackingOff,
    /// Over.
    Ended,
}

/// A plan, and the outcomes that its planner knew of.
pub(crate) struct Planned {
    pub(crate) plan: ClusterPlan,
    pub(crate) seen: u64,
}

/// A worker for one cluster.
pub struct Worker {
    options: WorkerOptions,
    sink: Sink,
    metrics: Arc<Metrics>,
    written: Arc<Written>,
    plans: watch::Receiver<Option<Arc<Planned>>>,
    stop: watch::Receiver<bool>,
    credentials: Arc<Notify>,
    state: watch::Sender<WorkerState>,
}

/// The way to talk to a worker. Dropping it ends the worker as soon as it can; [`WorkerHandle::shutdown`] waits for
/// that.
pub struct WorkerHandle {
    plans: watch::Sender<Option<Arc<Planned>>>,
    stop: watch::Sender<bool>,
    credentials: Arc<Notify>,
    state: watch::Receiver<WorkerState>,
    metrics: Arc<Metrics>,
    task: JoinHandle<()>,
    timing: Timing,
}

impl WorkerHandle {
    /// The latest plan for this cluster, whatever was given before; `seen` is `outcomes` of the view it was made from.
    ///
    /// It is carried out while the worker is live, and only once: give the plan again after each planning, also if it
    /// is the same. A step that is under way is finished; steps that the new plan does not have are not begun.
    pub fn plan(&self, plan: ClusterPlan, seen: u64) {
        self.plans.send_replace(Some(Arc::new(Planned { plan, seen })));
    }

    /// The credentials may have changed: they are read again, also if the worker waits.
    pub fn credentials_changed(&self) {
        self.credentials.notify_one();
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> WorkerState {
        *self.state.borrow()
    }

    /// Counts of its requests, over all connections.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Ends it: the objects that are being written are finished, no other is begun. After `Timing::shutdown` it is
    /// abandoned.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        // A moment more than the worker gives itself.
        let most = self.timing.shutdown + self.timing.shutdown / 8;
        if tokio::time::timeout(most, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

/// Why a connection ended.
pub(crate) enum End {
    /// The worker is to end.
    Stopped,
    /// The cluster cannot be reached or worked with for now.
    Lost(String),
    /// A rule forbids to work with it.
    Refused(Contact),
    /// Credentials changed.
    Reconnect,
}

/// Waits until the worker is to end; a handle that is gone means the same.
pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// What is told of a cluster that is not the expected one.
pub(crate) fn other_identity(
    expected: Option<&ClusterUid>,
    found: &ClusterUid,
    since: UnixSeconds,
) -> Option<Contact> {
    let expected = expected.filter(|expected| *expected != found)?;
    let message = format!(
        "the connection leads to another cluster: expected UID {expected}, found {found}; if it was replaced on \
         purpose, record the new UID in its document"
    );
    Some(Contact::Refused { since, reason: Reason::ClusterIdentityChanged, message })
}

impl Worker {
    /// Starts a worker. Needs a running tokio runtime.
    pub fn spawn(options: WorkerOptions) -> WorkerHandle {
        let (plans, plans_out) = watch::channel(None);
        let (stop, stop_out) = watch::channel(false);
        let (state, state_out) = watch::channel(WorkerState::Connecting);
        let credentials = Arc::new(Notify::new());
        let metrics = Arc::new(Metrics::default());
        let timing = options.timing;
        let worker = Self {
            sink: Sink::new(&options.name, options.events.clone()),
            metrics: Arc::clone(&metrics),
            written: Arc::new(Written::default()),
            plans: plans_out,
            stop: stop_out,
            credentials: Arc::clone(&credentials),
            state,
            options,
        };
        let task = tokio::spawn(worker.run());
        WorkerHandle { plans, stop, credentials, state: state_out, metrics, task, timing }
    }

    async fn run(self) {
        let timing = self.options.timing;
        let mut backoff = Backoff::new(timing.backoff, timing.backoff_max, self.options.seed);
        // When it stopped being live, and what was told of it.
        let mut down: Option<(UnixSeconds, Contact)> = None;
        loop {
            let (end, was_live) = Connection::run(&self).await;
            if was_live {
                backoff.reset();
                down = None;
            }
            let since = down.as_ref().map_or_else(|| (self.options.clock)(), |(since, _)| *since);
            let (contact, wait) = match end {
                End::Stopped => break,
                End::Reconnect => {
                    let message = "its credentials changed: connecting again".to_owned();
                    (Contact::Lost { since, message }, std::time::Duration::ZERO)
                }
                End::Lost(message) => (Contact::Lost { since, message }, backoff.next()),
                End::Refused(Contact::Refused { reason, message, .. }) => {
                    (Contact::Refused { since, reason, message }, timing.backoff_max)
                }
                End::Refused(other) => (other, timing.backoff_max),
            };
            self.state.send_replace(WorkerState::BackingOff);
            if down.as_ref().is_none_or(|(_, told)| *told != contact) {
                self.sink.send(Observation::Contact(contact.clone())).await;
            }
            down = Some((since, contact));
            let mut stop = self.stop.clone();
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.credentials.notified() => {}
                () = stopped(&mut stop) => break,
                () = self.sink.closed() => break,
            }
        }
        self.state.send_replace(WorkerState::Ended);
    }
}

#[cfg(test)]
mod tests;

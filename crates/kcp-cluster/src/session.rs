//! What all tasks of one connection share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use kcp_core::applyset;
use kcp_core::object::{ContentHash, ObjectKey};
use kcp_core::observe::{Observation, Outcome};
use kcp_core::world::{ApiFacts, ParentFacts};
use tokio::sync::{Notify, mpsc};

use crate::call::Cluster;
use crate::discovery::Identity;
use crate::memory::{Memory, Written};
use crate::timing::Timing;
use crate::worker::Clock;

/// Where observations go.
#[derive(Clone)]
pub(crate) struct Sink {
    name: String,
    events: mpsc::Sender<(String, Observation)>,
    /// Outcomes so far, over all connections of the worker.
    outcomes: Arc<AtomicU64>,
}

impl Sink {
    pub(crate) fn new(name: impl Into<String>, events: mpsc::Sender<(String, Observation)>) -> Self {
        Self { name: name.into(), events, outcomes: Arc::new(AtomicU64::new(0)) }
    }

    /// Tells it; waits while the receiver is behind.
    pub(crate) async fn send(&self, observation: Observation) {
        // Nobody listens any more: the worker ends by itself then.
        let _ = self.events.send((self.name.clone(), observation)).await;
    }

    pub(crate) async fn closed(&self) {
        self.events.closed().await;
    }
}

/// Why an object is to be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dirty {
    /// The apiVersion it was applied in: only then do its managedFields fit its fields.
    pub(crate) applied_version: Option<String>,
    /// The resource version that is new; if it is known by then, nothing needs to be read. Empty: it is read anyhow.
    pub(crate) version: String,
}

/// One connection and what is known by it.
pub(crate) struct Session {
    pub(crate) cluster: Cluster,
    pub(crate) fleet_id: String,
    pub(crate) identity: Identity,
    pub(crate) memory: Memory,
    pub(crate) written: Arc<Written>,
    pub(crate) sink: Sink,
    pub(crate) clock: Clock,
    pub(crate) timing: Timing,
    api: RwLock<Arc<ApiFacts>>,
    /// Rung when the API facts changed.
    pub(crate) api_changed: Notify,
    /// Workspaces of the fleet, by the id of their set.
    workspaces: Mutex<BTreeMap<String, String>>,
    /// Resource versions of the parents, as last told.
    parents: Mutex<BTreeMap<String, String>>,
    dirty: Mutex<BTreeMap<ObjectKey, Dirty>>,
    /// Rung when something became dirty.
    pub(crate) dirtied: Notify,
}

impl Session {
    #[allow(clippy::too_many_arguments, reason = "made in two places, and each part is of its own kind")]
    pub(crate) fn new(
        cluster: Cluster,
        fleet_id: String,
        identity: Identity,
        api: ApiFacts,
        written: Arc<Written>,
        sink: Sink,
        clock: Clock,
        timing: Timing,
    ) -> Self {
        Self {
            cluster,
            fleet_id,
            identity,
            memory: Memory::default(),
            written,
            sink,
            clock,
            timing,
            api: RwLock::new(Arc::new(api)),
            api_changed: Notify::new(),
            workspaces: Mutex::new(BTreeMap::new()),
            parents: Mutex::new(BTreeMap::new()),
            dirty: Mutex::new(BTreeMap::new()),
            dirtied: Notify::new(),
        }
    }

    /// What the API serves, as last discovered.
    pub(crate) fn api(&self) -> Arc<ApiFacts> {
        Arc::clone(&self.api.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in a new discovery and tells it, if anything changed.
    pub(crate) async fn set_api(&self, api: ApiFacts) {
        if *self.api() == api {
            return;
        }
        *self.api.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(api.clone());
        self.api_changed.notify_waiters();
        self.tell_facts(api).await;
    }

    pub(crate) async fn tell_facts(&self, api: ApiFacts) {
        let Identity { uid, version } = self.identity.clone();
        self.sink.send(Observation::Facts { uid, version, api }).await;
    }

    /// Tells what came of an action, and counts it.
    pub(crate) async fn tell_outcome(
        &self,
        workspace: &str,
        key: &ObjectKey,
        hash: Option<ContentHash>,
        outcome: Outcome,
    ) {
        let number = self.sink.outcomes.fetch_add(1, Ordering::Relaxed) + 1;
        self.written.outcome(key, number);
        let (workspace, key) = (workspace.to_owned(), key.clone());
        self.sink.send(Observation::Outcome { workspace, key, hash, number, outcome }).await;
    }

    /// A workspace of this fleet may have members here.
    pub(crate) fn knows_workspace(&self, workspace: &str) {
        let id = applyset::set_id(&self.fleet_id, workspace);
        self.workspaces.lock().unwrap_or_else(PoisonError::into_inner).insert(id, workspace.to_owned());
    }

    /// The workspace of a set, if it is one of this fleet.
    pub(crate) fn workspace_of(&self, id: &str) -> Option<String> {
        self.workspaces.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Tells what a parent says now.
    pub(crate) async fn tell_parent(&self, workspace: &str, parent: Option<ParentFacts>) {
        let version = parent.as_ref().map(|parent| parent.resource_version.clone()).unwrap_or_default();
        self.parents.lock().unwrap_or_else(PoisonError::into_inner).insert(workspace.to_owned(), version);
        let (workspace, parent) = (workspace.to_owned(), parent.map(Box::new));
        self.sink.send(Observation::Parent { workspace, parent }).await;
    }

    /// Whether this version of a parent was told.
    pub(crate) fn told_parent(&self, workspace: &str, version: &str) -> bool {
        let parents = self.parents.lock().unwrap_or_else(PoisonError::into_inner);
        parents.get(workspace).is_some_and(|told| told == version)
    }

    /// The object is to be read.
    pub(crate) fn mark_dirty(&self, key: ObjectKey, dirty: Dirty) {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner).insert(key, dirty);
        self.dirtied.notify_one();
    }

    /// Everything that is to be read.
    pub(crate) fn take_dirty(&self) -> BTreeMap<ObjectKey, Dirty> {
        std::mem::take(&mut *self.dirty.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

//! Watches: one for each kind, metadata only; what changed is read and reduced by itself.
//!
//! A watch goes on from the version where it stopped. Where the server has forgotten that version, the kind is listed
//! again. A watch that fails twice in a row means that the cluster is lost; its session ends then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kcp_core::applyset::PART_OF_LABEL;
use kcp_core::object::{GroupKind, ObjectKey};
use kcp_core::observe::Observation;
use kcp_core::world::{ClusterUid, ObservedObject, ParentFacts};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::call::{Call, CallError, METADATA_LIST};

use crate::metrics::Verb;
use crate::observe::{self, ListError};
use crate::parent::Parent;
use crate::path::{Endpoint, NotServed, with_query};
use crate::reduce;
use crate::session::{Dirty, Session};

/// Reads of changed objects at once.
const READS_AT_ONCE: usize = 4;
/// How long a kind that is not served is left alone, unless discovery finds something new.
const NOT_SERVED_PAUSE: Duration = Duration::from_secs(600);

/// A watch that ends by itself within this time ended at once.
const SHORT: Duration = Duration::from_secs(1);

/// What a watch is on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// Members of one kind.
    Members(GroupKind),
    /// The parents of the fleet.
    Parents,
    /// All CRDs: what the API serves may have changed.
    Crds,
}

/// What a watch tells its session.
#[derive(Debug)]
pub(crate) enum Report {
    /// It is connected, or its kind is known to be unreadable: nothing is missed that could be seen.
    Up(Target),
    /// CRDs changed.
    ApiChanged,
    /// A parent names these kinds.
    Kinds(BTreeSet<GroupKind>),
    /// The connection leads to another cluster now.
    OtherCluster(ClusterUid),
    /// The credentials or the address were changed where they are kept.
    Reconnect,
    /// The cluster is lost.
    Lost(CallError),
}

/// One line of a watch.
enum Event {
    Changed(Value),
    Deleted(Value),
    Bookmark(String),
    /// The version is too old.
    Expired,
    Failed(CallError),
}

/// Why a watch ended.
enum End {
    /// By itself: it goes on.
    Quiet,
    /// By itself, as soon as it began.
    AtOnce,
    Expired,
    Failed(CallError),
}

/// Runs one watch until the session ends.
pub(crate) async fn run(
    session: Arc<Session>,
    target: Target,
    start: Option<String>,
    reports: mpsc::Sender<Report>,
    seed: u64,
) {
    let mut version = start;
    let mut failures = 0_u32;
    let mut backoff = Backoff::new(session.timing.backoff, session.timing.backoff_max, seed);
    loop {
        let from = match version.take() {
            Some(version) => Ok(Some(version)),
            None => relist(&session, &target, &reports).await,
        };
        let end = match from {
            Ok(Some(from)) => follow(&session, &target, from, &mut version, &mut failures, &reports).await,
            Ok(None) => {
                pause(&session, &target, None, &reports, NOT_SERVED_PAUSE).await;
                continue;
            }
            Err(error) => Err(error),
        };
        let error = match end {
            Ok(End::Quiet) => {
                backoff.reset();
                continue;
            }
            // A server that ends or forgets at once must not be asked in a tight loop.
            Ok(End::AtOnce) => {
                tokio::time::sleep(backoff.next()).await;
                continue;
            }
            Ok(End::Expired) => {
                version = None;
                tokio::time::sleep(backoff.next()).await;
                continue;
            }
            Ok(End::Failed(error)) | Err(ListError::Call(error)) => error,
            Err(ListError::Unknown(message)) => {
                version = None;
                pause(&session, &target, Some(message), &reports, backoff.next()).await;
                continue;
            }
        };
        // No rights, no such kind, its own server is down: that concerns this kind only.
        if !error.is_loss() && target != Target::Parents {
            version = None;
            pause(&session, &target, Some(error.to_string()), &reports, backoff.next()).await;
            continue;
        }
        failures += 1;
        if failures > 1 {
            let _ = reports.send(Report::Lost(error)).await;
            return;
        }
        tokio::time::sleep(backoff.next()).await;
    }
}

/// The kind is not served, or cannot be read for now: then its members are unknown until it can be listed again.
async fn pause(
    session: &Session,
    target: &Target,
    message: Option<String>,
    reports: &mpsc::Sender<Report>,
    wait: Duration,
) {
    let api_changed = session.api_changed.notified();
    if let Some(message) = message {
        tracing::warn!(cluster = session.cluster.name(), ?target, %message, "cannot be watched");
        if let Target::Members(kind) = target {
            session.sink.send(Observation::Unlisted { kind: kind.clone(), message }).await;
        }
    }
    let _ = reports.send(Report::Up(target.clone())).await;
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        () = api_changed => {}
    }
}

/// Lists again and tells all of it; gives the version to watch from, or `None` if there is nothing to watch.
async fn relist(
    session: &Session,
    target: &Target,
    reports: &mpsc::Sender<Report>,
) -> Result<Option<String>, ListError> {
    match target {
        Target::Members(kind) => {
            let members = observe::list(&session.cluster, &session.api(), kind, &session.memory).await?;
            let mut sets: BTreeMap<String, BTreeMap<ObjectKey, ObservedObject>> = BTreeMap::new();
            for (id, key, object) in members.objects {
                if let Some(workspace) = session.workspace_of(&id) {
                    sets.entry(workspace).or_default().insert(key, object);
                }
            }
            session.sink.send(Observation::Listed { kind: kind.clone(), sets }).await;
            Ok(Some(members.version).filter(|version| !version.is_empty()))
        }
        Target::Parents => {
            let parents =
                observe::parents(&session.cluster, &session.fleet_id).await.map_err(ListError::Call)?;
            for (workspace, message) in parents.broken {
                session.sink.send(Observation::ParentUnreadable { workspace, message }).await;
            }
            for (workspace, parent) in parents.sets {
                tell_parent(session, workspace, Some(parent), reports).await;
            }
            Ok(Some(parents.version))
        }
        Target::Crds => {
            let Ok(endpoint) = crds(session) else { return Ok(None) };
            let path = with_query(&endpoint.all(), &[("limit", "1")]);
            let list = session.cluster.call(Call::get(Verb::List, path, METADATA_LIST)).await;
            let version = reduce::resource_version(&list.map_err(ListError::Call)?);
            // What changed before is not in the watch.
            let _ = reports.send(Report::ApiChanged).await;
            Ok(Some(version))
        }
    }
}

fn crds(session: &Session) -> Result<Endpoint, NotServed> {
    Endpoint::of(&session.api(), &GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition"), None)
}

/// Tells of a parent, and of the kinds it names.
async fn tell_parent(
    session: &Session,
    workspace: String,
    parent: Option<ParentFacts>,
    reports: &mpsc::Sender<Report>,
) {
    if let Some(parent) = &parent {
        session.knows_workspace(&workspace);
        let _ = reports.send(Report::Kinds(parent.group_kinds.clone())).await;
    }
    session.tell_parent(&workspace, parent).await;
}

fn path(session: &Session, target: &Target, version: &str) -> Result<String, ListError> {
    let seconds = session.timing.watch.as_secs().max(1).to_string();
    let mut parameters =
        vec![("watch", "true"), ("allowWatchBookmarks", "true"), ("timeoutSeconds", &seconds)];
    if !version.is_empty() {
        parameters.push(("resourceVersion", version));
    }
    let unknown = |error: NotServed| ListError::Unknown(error.message);
    Ok(match target {
        Target::Members(kind) => {
            parameters.push(("labelSelector", PART_OF_LABEL));
            let endpoint = Endpoint::of(&session.api(), kind, None).map_err(unknown)?;
            with_query(&endpoint.all(), &parameters)
        }
        Target::Parents => observe::parents_path(&parameters, &session.fleet_id),
        Target::Crds => with_query(&crds(session).map_err(unknown)?.all(), &parameters),
    })
}

/// Watches from a version; leaves in `version` where to go on.
async fn follow(
    session: &Session,
    target: &Target,
    from: String,
    version: &mut Option<String>,
    failures: &mut u32,
    reports: &mpsc::Sender<Report>,
) -> Result<End, ListError> {
    let path = path(session, target, &from)?;
    *version = Some(from);
    let mut lines = match session.cluster.lines(path).await {
        Ok(lines) => lines,
        Err(error) if error.code() == Some(410) => return Ok(End::Expired),
        Err(error) => return Ok(End::Failed(error)),
    };
    *failures = 0;
    let _ = reports.send(Report::Up(target.clone())).await;
    let began = Instant::now();
    loop {
        let line = match tokio::time::timeout(session.timing.idle, lines.next()).await {
            Ok(Some(Ok(line))) => line,
            Ok(Some(Err(error))) => return Ok(End::Failed(error)),
            Ok(None) if began.elapsed() < SHORT => return Ok(End::AtOnce),
            // Its time is up, or nothing came for too long.
            Ok(None) | Err(_) => return Ok(End::Quiet),
        };
        match read(&line) {
            Event::Bookmark(seen) => *version = Some(seen),
            Event::Expired => return Ok(End::Expired),
            Event::Failed(error) => return Ok(End::Failed(error)),
            Event::Changed(object) => {
                *version = Some(reduce::resource_version(&object));
                changed(session, target, &object, reports).await;
            }
            Event::Deleted(object) => {
                *version = Some(reduce::resource_version(&object));
                deleted(session, target, &object, reports).await;
            }
        }
    }
}

fn read(line: &[u8]) -> Event {
    let unreadable = |what: String| Event::Failed(CallError::Unreadable(what));
    let mut event: Value = match serde_json::from_slice(line) {
        Ok(event) => event,
        Err(error) => return unreadable(format!("a line of a watch: {error}")),
    };
    let object = event.get_mut("object").map(Value::take).unwrap_or_default();
    match event.get("type").and_then(Value::as_str) {
        Some("ADDED" | "MODIFIED") => Event::Changed(object),
        Some("DELETED") => Event::Deleted(object),
        Some("BOOKMARK") => Event::Bookmark(reduce::resource_version(&object)),
        Some("ERROR") => {
            let code = object.get("code").and_then(Value::as_u64);
            let message =
                object.get("message").and_then(Value::as_str).unwrap_or("an error without a message");
            if code == Some(410) {
                Event::Expired
            } else {
                unreadable(format!("the watch failed: {message}"))
            }
        }
        other => unreadable(format!("a watch event of type {}", other.unwrap_or("nothing"))),
    }
}

async fn changed(session: &Session, target: &Target, object: &Value, reports: &mpsc::Sender<Report>) {
    match target {
        Target::Members(kind) => {
            let key = reduce::key(&kind.group, &kind.kind, object);
            let version = reduce::resource_version(object);
            if !session.memory.knows(&key, &version) {
                let applied_version = reduce::applied_version(object).map(str::to_owned);
                session.mark_dirty(key, Dirty { applied_version, version });
            }
        }
        Target::Parents => {
            // Its facts are in its annotations and its data: read it whole.
            if let Some(workspace) = reduce::workspace(object) {
                // The answer to our own write may be on its way.
                tokio::time::sleep(session.timing.settle).await;
                if session.told_parent(workspace, &reduce::resource_version(object)) {
                    return;
                }
                let cluster = &session.cluster;
                match (Parent { cluster, fleet_id: &session.fleet_id, workspace }).read().await {
                    Ok(facts) => tell_parent(session, workspace.to_owned(), facts, reports).await,
                    Err(error) => {
                        tracing::warn!(cluster = cluster.name(), workspace, %error, "a parent cannot be read");
                        let (workspace, message) = (workspace.to_owned(), error.to_string());
                        session.sink.send(Observation::ParentUnreadable { workspace, message }).await;
                    }
                }
            }
        }
        Target::Crds => {
            let _ = reports.send(Report::ApiChanged).await;
        }
    }
}

async fn deleted(session: &Session, target: &Target, object: &Value, reports: &mpsc::Sender<Report>) {
    match target {
        Target::Members(kind) => {
            let key = reduce::key(&kind.group, &kind.kind, object);
            // Another one of that name may be there by now, and known.
            if session.memory.forget(&key, &reduce::uid(object)) {
                session.sink.send(Observation::Object { workspace: None, key, object: None }).await;
            }
        }
        Target::Parents => {
            if let Some(workspace) = reduce::workspace(object) {
                tell_parent(session, workspace.to_owned(), None, reports).await;
            }
        }
        Target::Crds => {
            let _ = reports.send(Report::ApiChanged).await;
        }
    }
}

/// Reads what became dirty, until the session ends.
pub(crate) async fn read_dirty(session: Arc<Session>) {
    loop {
        session.dirtied.notified().await;
        // Several events of one object, and the answer to our own write, become one read or none.
        tokio::time::sleep(session.timing.settle).await;
        let dirty = session.take_dirty();
        if dirty.is_empty() {
            continue;
        }
        let session = &session;
        futures::stream::iter(dirty)
            .for_each_concurrent(READS_AT_ONCE, |(key, dirty)| read_one(session, key, dirty))
            .await;
    }
}

async fn read_one(session: &Session, key: ObjectKey, dirty: Dirty) {
    if session.memory.knows(&key, &dirty.version) {
        return;
    }
    let version = dirty.applied_version.as_deref();
    let found = observe::get(&session.cluster, &session.api(), &key, version).await;
    let (workspace, object) = match found {
        Ok(Some((id, object))) => {
            session.memory.saw(&key, &object);
            let workspace = id.and_then(|id| session.workspace_of(&id));
            // Another fleet's member is none of ours.
            (workspace.clone(), workspace.map(|_| Box::new(object)))
        }
        Ok(None) => (None, None),
        Err(error) => {
            tracing::debug!(cluster = session.cluster.name(), %key, %error, "a changed object could not be read");
            tokio::time::sleep(session.timing.backoff).await;
            session.mark_dirty(key, dirty);
            return;
        }
    };
    session.sink.send(Observation::Object { workspace, key, object }).await;
}

//! All that the planner may know: the desired state of one commit, what was last seen on each cluster, and what was
//! decided before. Plain values; the shell fills them in, nothing here reads a clock or a client.
//!
//! The observed side keeps identity, versions, ownership, health and a hash of our own fields, never bodies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use kcp_api::Reason;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::object::{ContentHash, GroupKind, ObjectKey};
use crate::render::{Rendered, RenderedVariant};

/// Seconds since 1970-01-01T00:00:00Z, given to the planner by its caller.
pub type UnixSeconds = i64;

/// The UID of a cluster's kube-system namespace: what a cluster *is*, whatever its document is called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClusterUid(pub String);

impl fmt::Display for ClusterUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What moves together. So far a unit is a whole workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnitId {
    /// Name of the workspace.
    pub workspace: String,
}

impl UnitId {
    /// The unit that is a whole workspace.
    pub fn workspace(name: impl Into<String>) -> Self {
        Self { workspace: name.into() }
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.workspace)
    }
}

/// Everything a plan depends on. Equal worlds give equal plans.
#[derive(Debug, Clone)]
pub struct World {
    /// The present.
    pub now: UnixSeconds,
    /// What git asks for.
    pub desired: Desired,
    /// What was seen, by the name of the Cluster document.
    pub clusters: BTreeMap<String, ClusterView>,
    /// Decisions made before, from the ApplySet parents of the clusters, or from the status branch for clusters that
    /// cannot be reached.
    pub memory: BTreeMap<UnitId, Decision>,
    /// Deletes and voluntary moves of the last hour, for the budgets. What is missing here can only permit, so the
    /// shell records it durably.
    pub recent: Vec<Act>,
    /// Break-glass: nothing but reading until then.
    pub halted: Option<Halt>,
    /// Whether `memory` could be read. If not, units that may be on an unreachable cluster are not placed a second
    /// time without approval.
    pub memory_known: bool,
    /// What was desired before this commit: what was in force last, or else its parent. Its `safety` judges this commit
    /// too, and what it had applied was ours. `None` if there was nothing before.
    pub before: Option<Arc<Desired>>,
    /// What was desired before, by cluster document and workspace: only to show changed fields. Empty in the daemon.
    pub baseline: BTreeMap<(String, String), Arc<RenderedVariant>>,
}

impl World {
    /// A world of which nothing is known yet but what git asks for.
    #[must_use]
    pub fn new(now: UnixSeconds, desired: Desired) -> Self {
        Self {
            now,
            desired,
            clusters: BTreeMap::new(),
            memory: BTreeMap::new(),
            recent: Vec::new(),
            halted: None,
            memory_known: true,
            before: None,
            baseline: BTreeMap::new(),
        }
    }
}

/// The desired state of one commit.
#[derive(Debug, Clone)]
pub struct Desired {
    /// The commit, or a name for a working tree.
    pub commit: String,
    /// The fleet's own documents, all valid.
    pub config: Arc<Config>,
    /// Each workspace of the commit, rendered or failed.
    pub workspaces: BTreeMap<String, WorkspaceState>,
}

/// A workspace as it was rendered from the commit.
#[derive(Debug, Clone)]
pub enum WorkspaceState {
    /// The whole of it was rendered, each variant that a cluster can get.
    Rendered(Arc<Rendered>),
    /// It could not be rendered: what is on the clusters stays as it is, nothing of it is deleted.
    Failed {
        /// What is wrong, with file and line.
        errors: Vec<String>,
        /// The last state that could be rendered, if this process saw one: it is kept up meanwhile.
        last_good: Option<Arc<Rendered>>,
    },
}

/// Whether a cluster can be worked with, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Contact {
    /// Not tried yet since the start.
    Pending,
    /// Watches are fresh.
    Live {
        /// Since when.
        since: UnixSeconds,
    },
    /// It cannot be reached, or does not let us in.
    Lost {
        /// Since when.
        since: UnixSeconds,
        /// Why.
        message: String,
    },
    /// It can be reached and must not be worked with: another identity, an insecure connection.
    Refused {
        /// Since when.
        since: UnixSeconds,
        /// The rule.
        reason: Reason,
        /// Why, and what to do.
        message: String,
    },
}

/// What was last seen on one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterView {
    /// Whether it can be worked with.
    pub contact: Contact,
    /// The UID of its kube-system namespace, once seen.
    pub uid: Option<ClusterUid>,
    /// Kubernetes version, as in `v1.36.3`.
    pub version: Option<String>,
    /// What its API serves.
    pub api: ApiFacts,
    /// The workspaces of this fleet that have objects there, by name. Only complete if `complete`.
    pub sets: BTreeMap<String, ObservedSet>,
    /// The list of parents and all lists of their objects were read whole.
    pub complete: bool,
    /// Parents that cannot be read, by workspace or else by their own name, and why: then nothing is complete.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parent_errors: BTreeMap<String, String>,
    /// Objects that are there, have the name of a desired one, and are not ours.
    #[serde(with = "crate::keyed")]
    pub foreign: BTreeMap<ObjectKey, Foreign>,
    /// Objects whose last write failed.
    #[serde(with = "crate::keyed")]
    pub failures: BTreeMap<ObjectKey, Failure>,
    /// How many outcomes of writes, by the count of this cluster's worker, are part of this view: given back with a
    /// plan, so that the worker does not repeat what the planner did not know to be done.
    #[serde(skip)]
    pub outcomes: u64,
}

impl Default for ClusterView {
    fn default() -> Self {
        Self {
            contact: Contact::Pending,
            uid: None,
            version: None,
            api: ApiFacts::default(),
            sets: BTreeMap::new(),
            complete: false,
            parent_errors: BTreeMap::new(),
            foreign: BTreeMap::new(),
            failures: BTreeMap::new(),
            outcomes: 0,
        }
    }
}

/// What a cluster's API serves, as far as discovery answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiFacts {
    /// Served kinds.
    pub kinds: BTreeMap<String, Vec<KindFacts>>,
    /// Groups whose discovery failed, with the error: their kinds are unknown, not gone.
    pub failed_groups: BTreeMap<String, String>,
}

impl ApiFacts {
    /// The facts of a kind, if the cluster serves it.
    #[must_use]
    pub fn kind(&self, kind: &GroupKind) -> Option<&KindFacts> {
        self.kinds.get(&kind.group)?.iter().find(|facts| facts.kind == kind.kind)
    }

    /// Whether it is known that the cluster does not serve this kind.
    #[must_use]
    pub fn lacks(&self, kind: &GroupKind) -> bool {
        !self.kinds.is_empty() && self.kind(kind).is_none() && !self.failed_groups.contains_key(&kind.group)
    }
}

/// One served kind of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KindFacts {
    /// Kind.
    pub kind: String,
    /// Name in URLs, as in `deployments`.
    pub plural: String,
    /// Namespaced or cluster-scoped.
    pub namespaced: bool,
    /// Served versions, preferred first.
    pub versions: Vec<String>,
}

/// One workspace on one cluster: the ApplySet parent and its members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedSet {
    /// The parent object.
    pub parent: ParentFacts,
    /// Members by label, whoever made them: what may be pruned is decided by `ObservedObject`'s marks.
    #[serde(with = "crate::keyed")]
    pub objects: BTreeMap<ObjectKey, ObservedObject>,
    /// Kinds of the parent whose members could not be listed (API gone or failing), with the error: nothing of
    /// them is deleted or forgotten.
    pub unlisted: BTreeMap<String, String>,
}

/// What the ApplySet parent says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParentFacts {
    /// UID of the parent object.
    pub uid: String,
    /// For compare-and-swap; changes with each write, so it is not part of the record.
    #[serde(skip)]
    pub resource_version: String,
    /// `applyset.kubernetes.io/contains-group-kinds`.
    pub group_kinds: BTreeSet<GroupKind>,
    /// Namespaces of members (the parent's own included when it has members).
    pub namespaces: BTreeSet<String>,
    /// The decision that was current when the parent was written.
    pub decision: Option<Decision>,
    /// Content last applied, by object: what we owned before, after a restart.
    pub applied: BTreeMap<String, ContentHash>,
}

/// One member of a set as it was last seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObservedObject {
    /// UID: the precondition of a delete.
    pub uid: String,
    /// Changes with each write of anybody, so it is not part of the record.
    #[serde(skip)]
    pub resource_version: String,
    /// Hash of the fields that manager `kcp` owns there, as they are now.
    pub own: ContentHash,
    /// The desired content that was applied last and gave exactly `own`: servers may store a value in another
    /// spelling, so `own` need not equal the desired hash.
    pub applied: Option<ContentHash>,
    /// Manager `kcp` is in managedFields.
    pub managed: bool,
    /// Value of our workspace annotation.
    pub workspace: Option<String>,
    /// It has a controller ownerReference: somebody generated it and copied our label.
    pub controlled: bool,
    /// It is being deleted.
    pub terminating: bool,
    /// The commit annotation.
    pub commit: Option<String>,
    /// Its health by kstatus.
    pub health: Health,
}

impl ObservedObject {
    /// Whether the object is as `desired` says.
    #[must_use]
    pub fn is(&self, desired: ContentHash) -> bool {
        self.own == desired || self.applied == Some(desired)
    }
}

/// Health of one object by the rules of kstatus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The verdict.
    pub status: HealthStatus,
    /// Why it is not `Current`; empty otherwise. Never holds values of a Secret.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The statuses of kstatus, worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HealthStatus {
    /// It is what its spec says.
    Current,
    /// On its way.
    InProgress,
    /// Being deleted.
    Terminating,
    /// Not to be told.
    Unknown,
    /// It will not get there by itself.
    Failed,
}

/// An object that is in the way of a desired one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Foreign {
    /// Its UID.
    pub uid: String,
    /// Who seems to own it: another ApplySet, a GitOps tool, or its field managers.
    pub owner: String,
    /// Its field managers.
    pub managers: Vec<String>,
}

/// The last write of an object failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The workspace that wanted it.
    pub workspace: String,
    /// The content that was sent; a failure of other content says nothing.
    pub hash: Option<ContentHash>,
    /// The kind of failure.
    pub reason: Reason,
    /// What the server said.
    pub message: String,
    /// Since when.
    pub since: UnixSeconds,
    /// Not tried again before this time. Changes with each attempt, so it is not part of the record.
    #[serde(skip)]
    pub retry_at: UnixSeconds,
    /// How often it was tried; not part of the record either.
    #[serde(skip)]
    pub attempts: u32,
}

impl Failure {
    /// Nothing waits longer than this before it is tried again, in seconds.
    pub const LONGEST_WAIT: UnixSeconds = 600;

    /// Whether it is not to be tried again yet. A time further ahead than any wait is from a clock that was wrong.
    #[must_use]
    pub fn waits(&self, now: UnixSeconds) -> bool {
        now < self.retry_at && self.retry_at.saturating_sub(now) <= Self::LONGEST_WAIT
    }
}

/// Where one unit shall be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Grows with each change of `targets`: a writer with an older one must not write.
    pub epoch: u64,
    /// The clusters that shall have it.
    pub targets: BTreeSet<ClusterUid>,
    /// Clusters that still have a copy and shall lose it once the new copies are healthy.
    pub leaving: BTreeSet<ClusterUid>,
    /// When `targets` became so.
    pub since: UnixSeconds,
}

/// A delete or a voluntary move that was done, for the budgets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Act {
    /// When.
    pub at: UnixSeconds,
    /// Of which workspace.
    pub workspace: String,
    /// What was done.
    pub kind: ActKind,
    /// A name for what was done, so that it is counted once: `CLUSTER-UID OBJECT-KEY` or the unit with its epoch.
    pub id: String,
}

/// What counts against a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ActKind {
    /// An object was deleted that git no longer has.
    Delete,
    /// A unit began to move for a voluntary reason.
    Move,
}

/// Break-glass: only reading until it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Halt {
    /// When it ends by itself.
    pub until: UnixSeconds,
    /// Why, in the words of who did it.
    pub reason: String,
}

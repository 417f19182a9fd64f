//! What was seen and decided: the content of the status branch, and the `status` of our kinds.
//!
//! Points in time only, never ages: a status changes when something changed, not because time goes by. No values of
//! Secrets, and no values of fields at all.

use serde::{Deserialize, Serialize};

use crate::{Action, Condition, Reason, Timestamp};

/// Status of a kind that nothing more is known of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentStatus {
    /// What is said about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Status of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FleetStatus {
    /// Commit that is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Who writes this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<Writer>,
    /// What is said about the fleet and its repo.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What waits for a person, of the whole fleet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
}

/// The reconciler that writes the record. There is one for each fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Writer {
    /// Its id, which it makes up when it starts.
    pub id: String,
    /// When it began to write.
    pub since: Timestamp,
}

/// Status of a cluster: one file of the status branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterStatus {
    /// Name of the Cluster document.
    pub name: String,
    /// UID of the kube-system namespace that was found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Kubernetes version that the cluster says it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the cluster answers.
    pub reachable: bool,
    /// Since when `reachable` is what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable_since: Option<Timestamp>,
    /// Whether what is known of the cluster is up to date: all watches run.
    pub fresh: bool,
    /// Since when `fresh` is what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_since: Option<Timestamp>,
    /// What is said about the cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// How many objects of ours are there.
    pub objects: u64,
    /// How many objects of ours left the repo and stay there, as the policy says for their kinds.
    pub retained: u64,
    /// API groups, with version where known, that could not be discovered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_api_groups: Vec<String>,
    /// What waits for a person on this cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
}

/// Work that is stopped on purpose and waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    /// Hash of the sorted actions: what an Approval names.
    pub id: String,
    /// Why it is held.
    pub reason: Reason,
    /// Why, for people, and what to do next.
    #[serde(default)]
    pub message: String,
    /// Since when.
    pub since: Timestamp,
    /// What is held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
}

/// Status of a workspace: one file of the status branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceStatus {
    /// Name of the workspace.
    pub name: String,
    /// Name of the placement that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<String>,
    /// Commit that it was last rendered from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What is said about the workspace, all clusters together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Which clusters were chosen, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// How it is on each cluster that has a copy or is to have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<WorkspaceClusterStatus>,
    /// What waits for a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
}

/// How a workspace is on one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceClusterStatus {
    /// Name of the cluster.
    pub name: String,
    /// UID of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Commit that was last applied there as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What is said about the copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// How many objects the copy has.
    #[serde(default)]
    pub objects: u64,
    /// How many of them are as they should be.
    #[serde(default)]
    pub current: u64,
    /// Those that are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_current: Vec<ObjectStatus>,
}

/// One object that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ObjectStatus {
    /// API group; the core group is the empty text.
    #[serde(default)]
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; left out for objects without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
    /// How it is.
    pub status: Kstatus,
    /// Why, in one word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Why, for people.
    #[serde(default)]
    pub message: String,
    /// Since when it is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// How an object is, in the words of kstatus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Kstatus {
    /// As it should be.
    Current,
    /// On its way.
    InProgress,
    /// It cannot get there by itself.
    Failed,
    /// It is being deleted.
    Terminating,
    /// It is not there.
    NotFound,
    /// It could not be read.
    Unknown,
}

impl Kstatus {
    /// The word in documents and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "Current",
            Self::InProgress => "InProgress",
            Self::Failed => "Failed",
            Self::Terminating => "Terminating",
            Self::NotFound => "NotFound",
            Self::Unknown => "Unknown",
        }
    }
}

/// Which clusters were chosen for a workspace, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Decision {
    /// Grows with each decision: a writer with an older one must not write.
    pub epoch: u64,
    /// Commit that it was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Names of the chosen clusters, sorted.
    pub clusters: Vec<String>,
    /// Why, for each cluster of the fleet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ClusterReason>,
}

/// Why a cluster was chosen or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterReason {
    /// Name of the cluster.
    pub name: String,
    /// Whether it was chosen.
    pub chosen: bool,
    /// Why, in one word for programs.
    pub reason: Reason,
    /// Why, for people: the rule that decided.
    #[serde(default)]
    pub message: String,
}

/// Status of a placement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PlacementStatus {
    /// What is said about the placement, all its workspaces together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Names of the workspaces that belong to it, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<String>,
}

//! `kind: Cluster`: a member of the fleet.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ClusterStatus, Quantity, Suspension, Taint, document::document, validate};

document! {
    /// A member Kubernetes API of the fleet.
    Cluster, ClusterSpec, ClusterStatus, validate::cluster
}

/// What a cluster is and how it is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterSpec {
    /// Who brings objects to the cluster.
    #[serde(default)]
    pub mode: ClusterMode,
    /// How the cluster is reached: exactly one of its fields.
    pub connection: Connection,
    /// UID of the cluster's kube-system namespace, recorded when it joined. A connection that leads to another UID
    /// is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Marks that keep workspaces away unless they tolerate them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<Taint>,
    /// Values that workspaces may use on this cluster.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Cordon: nothing new comes, what is there stays.
    #[serde(default)]
    pub unschedulable: bool,
    /// Empties the cluster, once there is somewhere to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<Drain>,
    /// Overrides what is observed, by resource name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub capacity: BTreeMap<String, Quantity>,
    /// Name of the one reconciler that may take this cluster; left out means any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reconciler: String,
    /// What is stopped on purpose on this cluster, until when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspend: Vec<Suspension>,
}

/// Who brings objects to the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClusterMode {
    /// The reconciler connects to the cluster and applies.
    #[default]
    Push,
    /// An agent in the cluster applies its own bundles.
    Pull,
    /// Nothing runs by itself; a person syncs.
    None,
}

/// How a cluster is reached: exactly one of these. Which contexts and namespaces may be used is the reconciler's own
/// setting; credentials are never in the repo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Connection {
    /// Context of the kubeconfig of the place where the reconciler runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Secret, where the reconciler runs, that holds a kubeconfig.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretKeyRef>,
    /// ClusterProfile of a cluster inventory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_profile: Option<ProfileRef>,
    /// A simulated cluster, served by the embedded API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,
}

/// One key of a Secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyRef {
    /// Namespace of the Secret.
    pub namespace: String,
    /// Name of the Secret.
    pub name: String,
    /// Key in its data.
    #[serde(default = "default_key")]
    pub key: String,
}

fn default_key() -> String {
    "value".to_owned()
}

/// A Secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    /// Namespace of the Secret.
    pub namespace: String,
    /// Name of the Secret.
    pub name: String,
}

/// A ClusterProfile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProfileRef {
    /// Namespace of the ClusterProfile.
    pub namespace: String,
    /// Name of the ClusterProfile.
    pub name: String,
}

/// A cluster that exists only in the reconciler's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Simulated {
    /// Kubernetes version to play, as major and minor, like "1.36".
    pub kubernetes: String,
    /// Start of its pseudo-random numbers: the same seed behaves the same.
    #[serde(default)]
    pub seed: u64,
}

/// That a cluster is to be emptied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Drain {
    /// Why, for the people who wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

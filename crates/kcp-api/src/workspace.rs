//! `kind: Workspace`: a folder of manifests with its own namespaces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{LabelSelector, Verify, WorkspaceStatus, document::document, validate};

document! {
    /// A logical cluster: one folder of manifests with its own namespaces.
    Workspace, #[serde(default)] WorkspaceSpec, WorkspaceStatus, validate::workspace
}

/// How the folder is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceSpec {
    /// Namespace of objects that name none. Without it such objects are an error; `default` is never assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_namespace: Option<String>,
    /// Whether namespaces that objects use and no manifest brings are created.
    pub create_namespaces: bool,
    /// What is rendered for a cluster: the first that fits. Empty means the folder as it is, for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// Values that manifests may use.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Whether variables are put in place of their names.
    pub substitute: Substitute,
    /// Small differences per cluster, after rendering and before the policy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Override>,
    /// Workspaces that must be there first. Never gates a delete or an evacuation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Dependency>,
    /// When objects of kinds that are not known are healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub health: Vec<HealthRule>,
    /// Name that the workspace had before, so that its objects are kept and not deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formerly: Option<String>,
}

/// One way to render the workspace, for the clusters it fits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Variant {
    /// Unique in its list.
    pub name: String,
    /// Clusters it fits; left out means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_selector: Option<LabelSelector>,
    /// Folder inside the workspace; left out means the workspace's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Takes the manifests from elsewhere, instead of `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<VariantSource>,
}

/// Where manifests come from when not from this repo: exactly one of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct VariantSource {
    /// Another git repo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSource>,
}

/// A folder of another git repo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitSource {
    /// URL of the repo.
    pub url: String,
    /// What is taken of it.
    #[serde(rename = "ref")]
    pub reference: GitRef,
    /// Folder in the repo; left out means its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Which of its commits are trusted.
    #[serde(default)]
    pub verify: Verify,
}

/// A point in the history of a repo: exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct GitRef {
    /// Tip of a branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// A tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// A commit, by its whole id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Whether variables are put in place of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Substitute {
    /// They are not.
    #[default]
    Disabled,
    /// `${name}` is replaced, from declared variables only; one that is not declared is an error.
    Strict,
}

/// Small differences for some clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Override {
    /// Unique in its list.
    pub name: String,
    /// Clusters meant; left out means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_selector: Option<LabelSelector>,
    /// Numbers of replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<ReplicaOverride>,
    /// Images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageOverride>,
    /// Patches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<PatchOverride>,
}

/// Replicas of all workloads of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplicaOverride {
    /// Name of the workload.
    pub name: String,
    /// How many replicas.
    pub count: u32,
}

/// Another image in place of one, as in a kustomization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImageOverride {
    /// Image to replace, without tag.
    pub name: String,
    /// Its new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_name: Option<String>,
    /// Its new tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tag: Option<String>,
    /// Its new digest, in place of a tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A patch as in a kustomization: exactly one of `patch` and `path`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PatchOverride {
    /// The patch itself, as YAML text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// File of the workspace that holds the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Objects meant; left out means those that the patch names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<PatchTarget>,
}

/// Objects that a patch is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PatchTarget {
    /// API group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// API version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Name, as a regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace, as a regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Label selector, in kubectl's text form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
    /// Annotation selector, in kubectl's text form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation_selector: Option<String>,
}

/// Another workspace that must be there first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// Name of the other workspace.
    pub workspace: String,
    /// Where it must be.
    #[serde(default, rename = "where")]
    pub scope: DependencyScope,
    /// What it must be.
    #[serde(default)]
    pub gate: DependencyGate,
    /// For which of our actions.
    #[serde(default)]
    pub when: DependencyWhen,
}

/// Where a dependency must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DependencyScope {
    /// On any cluster.
    #[default]
    Anywhere,
    /// On the same cluster.
    SameCluster,
}

/// What a dependency must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DependencyGate {
    /// Applied and ready.
    #[default]
    Ready,
    /// Applied.
    Exists,
}

/// Which actions wait for a dependency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DependencyWhen {
    /// Only the first apply on a cluster.
    #[default]
    Create,
    /// Every change.
    EveryChange,
}

/// When objects of a kind are healthy, in CEL over `object`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HealthRule {
    /// Unique in its list.
    pub name: String,
    /// API group; left out means the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Kind.
    pub kind: String,
    /// True when the object is as it should be.
    pub current: String,
    /// True while the object is on its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<String>,
    /// True when the object cannot get there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

//! Transforms of a sync policy: changes to objects on their way to a cluster.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{LabelSelector, ObjectMatch};

/// One change to objects: exactly one of the fields from `podSecurity` to `conversion`. It may not change group,
/// kind, namespace or name, nor add objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Transform {
    /// Unique in its list.
    pub name: String,
    /// Objects meant; left out means all.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectMatch>,
    /// Clusters meant; left out means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_selector: Option<LabelSelector>,
    /// Whether it may see the data of Secrets, which is masked otherwise.
    #[serde(default)]
    pub secrets: bool,
    /// Fills in the security defaults of pod specs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_security: Option<PodSecurity>,
    /// Sets one field to the value of a CEL expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cel: Option<CelTransform>,
    /// A JSON patch (RFC 6902).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub json_patch: Vec<PatchOp>,
    /// A JSON merge patch (RFC 7386).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_patch: Option<BTreeMap<String, Value>>,
    /// A strategic merge patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategic_merge_patch: Option<BTreeMap<String, Value>>,
    /// A Lua script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lua: Option<ScriptFile>,
    /// A WebAssembly module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wasm: Option<ScriptFile>,
    /// Brings objects from one version of their kind to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion: Option<Conversion>,
}

/// Security defaults of pod specs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodSecurity {
    /// The level to fulfil.
    pub level: PodSecurityLevel,
}

/// A level of the Pod Security Standards, in their own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PodSecurityLevel {
    /// Known ways to more rights are closed.
    Baseline,
    /// Hardened by current good practice.
    Restricted,
}

/// One field, set to the value of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CelTransform {
    /// The field, as keys with dots in between.
    pub path: String,
    /// CEL over `object` and `cluster`.
    pub expression: String,
}

/// One operation of a JSON patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PatchOp {
    /// What is done.
    pub op: PatchOpKind,
    /// Where, as a JSON pointer.
    pub path: String,
    /// For move and copy: where from, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// For add, replace and test: the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// What an operation of a JSON patch does, in the words of RFC 6902.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum PatchOpKind {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
}

/// A script of the repo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScriptFile {
    /// Its file, below the folder of the policies.
    pub file: String,
}

/// From one version of a kind to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Conversion {
    /// API group of the kind.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Version that the repo has.
    pub from: String,
    /// Version that the cluster serves.
    pub to: String,
    /// Sets fields of the new version from expressions over the old one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<CelTransform>,
}

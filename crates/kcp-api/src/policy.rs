//! `kind: SyncPolicy`: the guard rails of one pipeline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    DocumentStatus, Duration, IgnoreRule, KindRule, ObjectMatch, Transform, document::document, validate,
};

document! {
    /// Rules of one pipeline: what is filtered, changed, admitted, corrected and deleted.
    SyncPolicy, #[serde(default)] SyncPolicySpec, DocumentStatus, validate::sync_policy
}

/// The rules of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SyncPolicySpec {
    /// Objects that are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Filter>,
    /// How namespaces are renamed on their way.
    pub namespaces: NamespaceRewrite,
    /// Changes to objects, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transforms: Vec<Transform>,
    /// Rules that the objects must fulfil after the transforms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub admission: Vec<AdmissionRule>,
    /// What differing API schemas mean for placing.
    pub schema: SchemaRules,
    /// How objects are written.
    pub apply: Apply,
    /// How objects are removed.
    pub delete: Delete,
    /// How status is merged.
    pub status: StatusRules,
}

/// Objects that are left out; each shows as a line of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Filter {
    /// Unique in its list.
    pub name: String,
    /// Objects meant.
    pub exclude: ObjectMatch,
}

/// How namespaces are renamed before objects reach a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NamespaceRewrite {
    /// Put before the name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// Put after the name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub suffix: String,
    /// New names, by old ones; prefix and suffix do not apply to these.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub map: BTreeMap<String, String>,
}

/// A rule that objects must fulfil.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AdmissionRule {
    /// Unique in its list.
    pub name: String,
    /// Objects meant; left out means all.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectMatch>,
    /// CEL over `object` and `cluster`; false breaks the rule.
    pub expression: String,
    /// What is said when the rule is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What is done when the rule is broken.
    #[serde(default = "deny")]
    pub actions: Vec<AdmissionAction>,
}

fn deny() -> Vec<AdmissionAction> {
    vec![AdmissionAction::Deny]
}

/// What is done when a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AdmissionAction {
    /// The object is not applied; what was there before stays.
    Deny,
    /// The plan says so.
    Warn,
    /// The record says so.
    Audit,
}

/// What differing API schemas mean for placing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SchemaRules {
    /// Which fields may be used.
    pub mode: SchemaMode,
    /// What happens when a cluster no longer accepts an object.
    pub on_api_loss: OnApiLoss,
    /// How long it may be so first.
    pub grace: Duration,
}

impl Default for SchemaRules {
    fn default() -> Self {
        Self { mode: SchemaMode::Used, on_api_loss: OnApiLoss::Evacuate, grace: Duration::from_mins(5) }
    }
}

/// Which fields may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SchemaMode {
    /// Any; an object goes only where each field it uses is kept.
    #[default]
    Used,
    /// Only what all candidate clusters keep.
    Common,
    /// Any; optional fields that a cluster lacks are left out there.
    DropUnknown,
}

/// What happens when a cluster no longer accepts an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnApiLoss {
    /// Its unit moves to a cluster that does.
    #[default]
    Evacuate,
    /// Its unit stays and waits for a person.
    Hold,
}

/// How objects are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Apply {
    /// Fields that somebody else owns.
    pub conflicts: Conflicts,
    /// Objects that are there and not ours.
    pub take_over: TakeOver,
    /// Changes on the cluster that did not come from the repo.
    pub drift: Drift,
    /// Fields that are left to others once the object exists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_fields: Vec<IgnoreRule>,
}

/// What happens to fields that somebody else owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Conflicts {
    /// Only fields that we owned before are taken back; others are reported with their owner.
    #[default]
    Owned,
    /// All are taken.
    Force,
    /// The object is not written.
    Abort,
}

/// What happens to objects that are there and not ours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TakeOver {
    /// Whether they are taken.
    pub policy: TakeOverPolicy,
    /// With policy FromManagers: field managers from which they are taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<String>,
}

/// Whether foreign objects are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TakeOverPolicy {
    /// They are left alone and reported.
    #[default]
    Never,
    /// Those are taken that no other tool claims.
    IfUnowned,
    /// Those of the named field managers are taken.
    FromManagers,
}

/// What happens to changes on a cluster that did not come from the repo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Drift {
    /// They are undone.
    #[default]
    Correct,
    /// They are reported and left.
    Report,
    /// They are left.
    Ignore,
}

/// How objects are removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Delete {
    /// Whether objects that left the repo are deleted.
    pub prune: bool,
    /// What happens to their dependents.
    pub propagation: Propagation,
    /// Kinds that are never deleted: they stay and are counted. A list given here replaces the default one.
    pub keep: Vec<KindRule>,
}

impl Default for Delete {
    fn default() -> Self {
        let keep = |group: Option<&str>, kind: Option<&str>| KindRule {
            group: group.map(str::to_owned),
            kind: kind.map(str::to_owned),
        };
        Self {
            prune: true,
            propagation: Propagation::Background,
            keep: vec![
                keep(None, Some("Namespace")),
                keep(None, Some("PersistentVolume")),
                keep(None, Some("PersistentVolumeClaim")),
                keep(Some("apiextensions.k8s.io"), Some("CustomResourceDefinition")),
                keep(Some("cluster.x-k8s.io"), None),
            ],
        }
    }
}

impl Delete {
    /// Whether objects of this group and kind are never deleted.
    pub fn keeps(&self, group: &str, kind: &str) -> bool {
        self.keep.iter().any(|rule| rule.matches(group, kind))
    }
}

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Propagation {
    /// They are deleted after it.
    #[default]
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// How status is merged and carried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct StatusRules {
    /// How fields of several clusters become one; the default is that the worst wins and counts add up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<MergeRule>,
    /// Fields that come back from the clusters into the record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub upsync: Vec<UpsyncRule>,
}

/// How one field of several clusters becomes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeRule {
    /// Unique in its list.
    pub name: String,
    /// Objects meant; left out means all.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectMatch>,
    /// The field, as keys with dots in between.
    pub path: String,
    /// How it is merged.
    pub merge: StatusMerge,
}

/// How values of several clusters become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StatusMerge {
    /// The worst.
    Worst,
    /// The best.
    Best,
    /// Their sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// Fields that come back from the clusters into the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpsyncRule {
    /// Unique in its list.
    pub name: String,
    /// Objects meant; left out means all.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectMatch>,
    /// The fields, as keys with dots in between.
    pub paths: Vec<String>,
}

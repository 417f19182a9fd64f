//! The order of output: what others need first, webhooks last; names decide between equals.

use std::cmp::Ordering;

use crate::item::Item;

const FIRST: &[&str] = &[
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

const LAST: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Sorts objects as they are printed.
pub(crate) fn sort(items: &mut [Item]) {
    items.sort_by(compare);
}

fn compare(left: &Item, right: &Item) -> Ordering {
    let (left, right) = (&left.resource, &right.resource);
    rank(left.kind())
        .cmp(&rank(right.kind()))
        .then_with(|| gvk(left).cmp(&gvk(right)))
        .then_with(|| place(left).cmp(&place(right)))
}

fn rank(kind: &str) -> usize {
    if let Some(rank) = FIRST.iter().position(|it| *it == kind) {
        return rank;
    }
    FIRST.len() + LAST.iter().position(|it| *it == kind).map_or(0, |rank| rank + 1)
}

/// The core group is written `~G`, so that it sorts after named groups.
fn gvk(resource: &crate::Resource) -> String {
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_owned() } else { text.to_owned() };
    format!("{}_{}_{}", or(resource.group(), "~G"), or(resource.version(), "~V"), or(resource.kind(), "~K"))
}

/// An absent namespace is written `~X`, so that it sorts after named ones.
fn place(resource: &crate::Resource) -> String {
    format!("{}|{}", resource.namespace().unwrap_or("~X"), resource.name())
}

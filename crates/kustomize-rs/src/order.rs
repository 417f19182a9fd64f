//! The order of output: what others need first, webhooks last; names decide between equals.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::item::Item;
use crate::kustomization::{SortOptions, SortOrder};

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

/// Sorts objects as they are printed: by the usual order of kinds, or as `sortOptions` says.
pub(crate) fn sort(items: &mut [Item], options: Option<&SortOptions>) {
    let ranks = match options {
        None => Ranks::Usual,
        Some(options) if options.order == SortOrder::Fifo => return,
        Some(options) => {
            options.legacy.as_ref().map_or(Ranks::Usual, |(first, last)| Ranks::new(first, last))
        }
    };
    items.sort_by_cached_key(|item| {
        let it = &item.resource;
        let core_namespace = it.kind() == "Namespace" && it.group().is_empty();
        // One text, in which a bar ends the namespace: it sorts after letters.
        let name = format!("{}|{}", it.namespace().unwrap_or("~X"), it.name());
        let rank = ranks.of(it.kind());
        // Of namespaces among themselves, those of the core come first.
        (rank, rank != 0 && !core_namespace, gvk(it), name)
    });
}

/// Where kinds stand: negative ones first, those that are not named at 0.
enum Ranks<'a> {
    Usual,
    Given(HashMap<&'a str, i64>),
}

impl<'a> Ranks<'a> {
    fn new(first: &'a [String], last: &'a [String]) -> Self {
        // What is named twice stands where it is named last.
        let mut ranks: HashMap<&str, i64> = HashMap::with_capacity(first.len() + last.len());
        for (kind, rank) in first.iter().rev().zip(1..) {
            ranks.entry(kind).or_insert(-rank);
        }
        ranks.extend(last.iter().map(String::as_str).zip(1..));
        Self::Given(ranks)
    }

    fn of(&self, kind: &str) -> i64 {
        match self {
            Self::Usual => rank(kind),
            Self::Given(ranks) => ranks.get(kind).copied().unwrap_or(0),
        }
    }
}

/// The order of kinds alone, each as group, version and kind.
pub(crate) fn kinds(left: (&str, &str, &str), right: (&str, &str, &str)) -> Ordering {
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_owned() } else { text.to_owned() };
    let key = |(group, version, kind): (&str, &str, &str)| {
        format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K"))
    };
    rank(left.2).cmp(&rank(right.2)).then_with(|| key(left).cmp(&key(right)))
}

fn rank(kind: &str) -> i64 {
    let at = |list: &[&str]| list.iter().position(|it| *it == kind).and_then(|at| i64::try_from(at).ok());
    let first = i64::try_from(FIRST.len()).unwrap_or(i64::MAX);
    at(FIRST).map(|at| at - first).or_else(|| at(LAST).map(|at| at + 1)).unwrap_or(0)
}

/// The core group is written `~G`, so that it sorts after named groups.
fn gvk(resource: &crate::Resource) -> String {
    let or = |text: &str, empty: &str| if text.is_empty() { empty.to_owned() } else { text.to_owned() };
    format!("{}_{}_{}", or(resource.group(), "~G"), or(resource.version(), "~V"), or(resource.kind(), "~K"))
}

#[cfg(test)]
mod tests {
    use super::Ranks;

    #[test]
    fn given_kinds_replace_the_usual_ones() {
        let kinds = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (first, last) = (kinds(&["Service", "Secret"]), kinds(&["Namespace", "Deployment"]));
        let ranks = Ranks::new(&first, &last);
        let mut given = ["Deployment", "Pod", "Secret", "Namespace", "Service"];
        given.sort_by_key(|kind| ranks.of(kind));
        assert_eq!(given, ["Service", "Secret", "Pod", "Namespace", "Deployment"]);
        given.sort_by_key(|kind| Ranks::Usual.of(kind));
        assert_eq!(given, ["Namespace", "Secret", "Service", "Deployment", "Pod"]);
    }
}

//! Lists: the parents of a fleet, and the members of their sets by kind. Bodies are reduced page by page.
//!
//! A list that fails makes its kind unknown; nothing is ever taken for gone because it could not be read.

use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt, TryStreamExt};
use kcp_api::Reason;
use kcp_core::applyset::{self, PARENT_NAMESPACE, PART_OF_LABEL};
use kcp_core::object::{GroupKind, ObjectKey};
use kcp_core::world::{ApiFacts, ObservedObject, ObservedSet, ParentFacts};
use serde_json::Value;

use crate::call::{Call, CallError, Cluster, JSON};
use crate::memory::Memory;
use crate::metrics::Verb;
use crate::path::{Endpoint, with_query};
use crate::reduce;

/// Objects of a page; smaller ones where a page would be too large.
const PAGES: [u32; 3] = [250, 25, 1];
/// How often a list is begun again when it took too long to page through.
const RESTARTS: usize = 3;
/// Kinds listed at once; the cluster's own limit counts too.
const KINDS_AT_ONCE: usize = 8;

/// A list could not be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ListError {
    /// It is not known whether the kind is served.
    Unknown(String),
    /// The request failed.
    Call(CallError),
}

impl ListError {
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Unknown(message) => message.clone(),
            Self::Call(error) => error.to_string(),
        }
    }
}

/// Members of one kind.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Where a watch goes on; empty if the kind is not served.
    pub(crate) version: String,
    /// (id of the set, key, object)
    pub(crate) objects: Vec<(String, ObjectKey, ObservedObject)>,
}

/// The parents of a fleet.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    pub(crate) version: String,
    pub(crate) sets: BTreeMap<String, ParentFacts>,
    /// Parents that cannot be read: their workspace or else their name, and what is wrong.
    pub(crate) broken: BTreeMap<String, String>,
}

/// Everything of a fleet on a cluster.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) sets: BTreeMap<String, ObservedSet>,
    pub(crate) complete: bool,
    pub(crate) parent_errors: BTreeMap<String, String>,
    /// Where watches go on, by kind.
    pub(crate) versions: BTreeMap<GroupKind, String>,
    pub(crate) parents_version: String,
}

/// Lists all of a fleet: parents, then every kind that one of them names, and `more`.
pub(crate) async fn observe(
    cluster: &Cluster,
    fleet_id: &str,
    api: &ApiFacts,
    more: &BTreeSet<GroupKind>,
    memory: &Memory,
) -> Result<Observed, CallError> {
    let parents = parents(cluster, fleet_id).await?;
    let mut observed = Observed {
        complete: parents.broken.is_empty(),
        parents_version: parents.version,
        ..Observed::default()
    };
    for (parent, message) in &parents.broken {
        tracing::warn!(cluster = cluster.name(), parent, message, "a parent cannot be read");
    }
    observed.parent_errors = parents.broken;
    for (workspace, parent) in parents.sets {
        observed.sets.insert(workspace, ObservedSet { parent, ..ObservedSet::default() });
    }
    let kinds: BTreeSet<GroupKind> =
        observed.sets.values().flat_map(|set| set.parent.group_kinds.iter()).chain(more).cloned().collect();
    let ids = set_ids(fleet_id, observed.sets.keys());
    let lists: Vec<_> = futures::stream::iter(kinds)
        .map(|kind| async move {
            match list(cluster, api, &kind, memory).await {
                Err(ListError::Call(error)) if error.is_loss() => Err(error),
                result => Ok((kind, result)),
            }
        })
        .buffer_unordered(KINDS_AT_ONCE)
        .try_collect()
        .await?;
    for (kind, result) in lists {
        match result {
            Ok(members) => {
                for (id, key, object) in members.objects {
                    let set = ids.get(&id).and_then(|workspace| observed.sets.get_mut(workspace));
                    if let Some(set) = set {
                        set.objects.insert(key, object);
                    }
                }
                if !members.version.is_empty() {
                    observed.versions.insert(kind, members.version);
                }
            }
            Err(error) => {
                for set in observed.sets.values_mut().filter(|set| set.parent.group_kinds.contains(&kind)) {
                    set.unlisted.insert(kind.to_string(), error.message());
                    observed.complete = false;
                }
            }
        }
    }
    Ok(observed)
}

/// The ids of the sets of these workspaces.
pub(crate) fn set_ids<'a>(
    fleet_id: &str,
    workspaces: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, String> {
    workspaces.map(|workspace| (applyset::set_id(fleet_id, workspace), workspace.clone())).collect()
}

/// The selector of the parents of a fleet.
pub(crate) fn parents_path(parameters: &[(&str, &str)], fleet_id: &str) -> String {
    let selector = format!("{}={fleet_id}", applyset::fleet_label());
    let mut all = vec![("labelSelector", selector.as_str())];
    all.extend_from_slice(parameters);
    with_query(&format!("/api/v1/namespaces/{PARENT_NAMESPACE}/secrets"), &all)
}

/// Lists the parents of a fleet.
pub(crate) async fn parents(cluster: &Cluster, fleet_id: &str) -> Result<Parents, CallError> {
    let mut parents = Parents::default();
    let read = |parents: &mut Parents, parent: &Value| match applyset::parse_parent(parent) {
        Ok((workspace, facts)) => {
            parents.sets.insert(workspace, facts);
        }
        Err(message) => {
            let named = reduce::workspace(parent).map(str::to_owned);
            parents.broken.insert(named.unwrap_or_else(|| reduce::key("", "Secret", parent).name), message);
        }
    };
    parents.version = pages(
        cluster,
        |parameters| parents_path(parameters, fleet_id),
        |page| match page {
            Page::Begin => parents = Parents::default(),
            Page::Item(parent) => read(&mut parents, &parent),
        },
    )
    .await?;
    Ok(parents)
}

/// Lists the members of one kind, of whatever set.
pub(crate) async fn list(
    cluster: &Cluster,
    api: &ApiFacts,
    kind: &GroupKind,
    memory: &Memory,
) -> Result<Members, ListError> {
    let endpoint = match Endpoint::of(api, kind, None) {
        Ok(endpoint) => endpoint,
        // The cluster's answer was whole and does not have it: no members.
        Err(error) if error.reason == Reason::KindMissing => return Ok(Members::default()),
        Err(error) => return Err(ListError::Unknown(error.message)),
    };
    let mut objects = Vec::new();
    let mut elsewhere = Vec::new();
    let path = |parameters: &[(&str, &str)]| {
        let mut all = vec![("labelSelector", PART_OF_LABEL)];
        all.extend_from_slice(parameters);
        with_query(&endpoint.all(), &all)
    };
    let version = pages(cluster, path, |page| match page {
        Page::Begin => {
            objects.clear();
            elsewhere.clear();
        }
        Page::Item(mut object) => {
            // Items of a list leave out what the list says.
            if let Value::Object(map) = &mut object {
                map.entry("apiVersion").or_insert_with(|| endpoint.api_version.as_str().into());
                map.entry("kind").or_insert_with(|| kind.kind.as_str().into());
            }
            let Some(id) = reduce::part_of(&object) else { return };
            let key = reduce::key(&kind.group, &kind.kind, &object);
            match reduce::applied_version(&object) {
                Some(version) if version != endpoint.api_version => elsewhere.push((key, version.to_owned())),
                _ => objects.push((id.to_owned(), key, reduce::reduce(&object))),
            }
        }
    })
    .await
    .map_err(ListError::Call)?;
    // What was applied in another version is read in that one: our fields are named in its terms.
    for (key, version) in elsewhere {
        if let Some((Some(id), object)) =
            get(cluster, api, &key, Some(&version)).await.map_err(ListError::Call)?
        {
            objects.push((id, key, object));
        }
    }
    for (_, key, object) in &objects {
        memory.saw(key, object);
    }
    Ok(Members { version, objects })
}

/// An object as it is now, and the set whose label it has.
pub(crate) type Found = (Option<String>, ObservedObject);

/// Reads one object, in the version it was applied in where that is served; `None` if it is not there.
pub(crate) async fn get(
    cluster: &Cluster,
    api: &ApiFacts,
    key: &ObjectKey,
    applied_version: Option<&str>,
) -> Result<Option<Found>, CallError> {
    let version = applied_version.map(|version| version.rsplit('/').next().unwrap_or(version));
    let kind = key.group_kind();
    let endpoint = Endpoint::of(api, &kind, version).or_else(|_| Endpoint::of(api, &kind, None));
    let Ok(path) = endpoint.and_then(|endpoint| endpoint.object(key)) else { return Ok(None) };
    match cluster.call(Call::get(Verb::Get, path, JSON)).await {
        Ok(object) => Ok(Some((reduce::part_of(&object).map(str::to_owned), reduce::reduce(&object)))),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}

enum Page {
    /// The list begins (again).
    Begin,
    Item(Value),
}

/// Reads a list page by page; gives its resource version.
async fn pages(
    cluster: &Cluster,
    path: impl Fn(&[(&str, &str)]) -> String,
    mut take: impl FnMut(Page),
) -> Result<String, CallError> {
    let mut restarts = 0;
    let mut size = 0;
    'whole: loop {
        take(Page::Begin);
        let mut token = String::new();
        loop {
            let limit = PAGES[size].to_string();
            let mut parameters = vec![("limit", limit.as_str())];
            if !token.is_empty() {
                parameters.push(("continue", &token));
            }
            let answer = cluster.call(Call::get(Verb::List, path(&parameters), JSON)).await;
            let mut page = match answer {
                Ok(page) => page,
                Err(CallError::TooLarge) if size + 1 < PAGES.len() => {
                    size += 1;
                    continue;
                }
                // The rest of the list is no longer there as it was when it began.
                Err(error) if error.code() == Some(410) && restarts < RESTARTS => {
                    restarts += 1;
                    continue 'whole;
                }
                Err(error) => return Err(error),
            };
            let text = |page: &Value, field: &str| {
                let value = page.get("metadata").and_then(|metadata| metadata.get(field));
                value.and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            token = text(&page, "continue");
            let version = text(&page, "resourceVersion");
            match page.get_mut("items").map(Value::take) {
                Some(Value::Array(items)) => items.into_iter().for_each(|item| take(Page::Item(item))),
                Some(Value::Null) | None if token.is_empty() => {}
                _ => return Err(CallError::Unreadable("a list without items".to_owned())),
            }
            if token.is_empty() {
                return Ok(version);
            }
        }
    }
}

#[cfg(test)]
mod tests;

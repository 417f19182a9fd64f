//! Who a cluster is, what its API serves, and what we may do there.
//!
//! A group that cannot be discovered is recorded as failed; its kinds are unknown and never gone.

use std::collections::{BTreeMap, BTreeSet};

use kcp_core::world::{ApiFacts, ClusterUid, KindFacts};
use serde_json::{Value, json};

use crate::call::{Call, CallError, Cluster, JSON};
use crate::metrics::Verb;

/// Aggregated discovery, and plain JSON from servers that do not know it.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

const REGION: &str = "topology.kubernetes.io/region";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Who a cluster is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// UID of its kube-system namespace.
    pub uid: ClusterUid,
    /// Kubernetes version, as in `v1.36.3`.
    pub version: String,
}

/// Regions and zones named by the labels of a cluster's nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeTopology {
    /// Values of `topology.kubernetes.io/region`.
    pub regions: BTreeSet<String>,
    /// Values of `topology.kubernetes.io/zone`.
    pub zones: BTreeSet<String>,
    /// Nodes that were looked at: the first page only.
    pub nodes: usize,
}

/// One thing that we need to do on a cluster, and whether its rights allow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// As in `create`.
    pub verb: &'static str,
    /// API group of the resource.
    pub group: &'static str,
    /// Plural kind.
    pub resource: &'static str,
    /// Whether it is allowed, everywhere in the cluster.
    pub allowed: bool,
    /// What the cluster said about it; may be empty.
    pub reason: String,
}

/// Reads who the cluster is.
///
/// # Errors
/// [`CallError`] of the reads; also if the kube-system namespace has no UID.
pub async fn identity(cluster: &Cluster) -> Result<Identity, CallError> {
    let uid = uid(cluster).await?;
    let version = cluster.call(Call::get(Verb::Discover, "/version", JSON)).await?;
    let version = version.get("gitVersion").and_then(Value::as_str).unwrap_or("unknown").to_owned();
    Ok(Identity { uid, version })
}

/// Reads the UID only.
pub(crate) async fn uid(cluster: &Cluster) -> Result<ClusterUid, CallError> {
    let namespace = cluster.call(Call::get(Verb::Get, "/api/v1/namespaces/kube-system", JSON)).await?;
    let uid = namespace.get("metadata").and_then(|metadata| metadata.get("uid")).and_then(Value::as_str);
    match uid {
        Some(uid) if !uid.is_empty() => Ok(ClusterUid(uid.to_owned())),
        _ => Err(CallError::Unreadable("namespace kube-system has no UID".to_owned())),
    }
}

/// Reads what the API serves.
///
/// # Errors
/// [`CallError`] if the list of groups itself cannot be read; failures of single groups are part of the result.
pub async fn discover(cluster: &Cluster) -> Result<ApiFacts, CallError> {
    let mut facts = ApiFacts::default();
    for root in ["/api", "/apis"] {
        let answer = cluster.call(Call::get(Verb::Discover, root, AGGREGATED)).await?;
        match answer.get("kind").and_then(Value::as_str) {
            Some("APIGroupDiscoveryList") => aggregated(&answer, &mut facts),
            Some("APIVersions") => {
                let versions = texts(answer.get("versions"));
                legacy_group(cluster, "", versions, &mut facts).await?;
            }
            Some("APIGroupList") => {
                for group in items(answer.get("groups")) {
                    let name = text(group, "name");
                    let mut versions: Vec<_> =
                        items(group.get("versions")).map(|version| text(version, "version")).collect();
                    let preferred = group.get("preferredVersion").map(|version| text(version, "version"));
                    versions.sort_by_key(|version| Some(version) != preferred.as_ref());
                    legacy_group(cluster, &name, versions, &mut facts).await?;
                }
            }
            other => {
                let kind = other.unwrap_or("nothing");
                return Err(CallError::Unreadable(format!("{root} answered {kind}, not a list of groups")));
            }
        }
    }
    Ok(facts)
}

fn aggregated(list: &Value, facts: &mut ApiFacts) {
    for group in items(list.get("items")) {
        let name = group.get("metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
        let mut kinds = Kinds::default();
        for version in items(group.get("versions")) {
            let version_name = text(version, "version");
            if text(version, "freshness") == "Stale" {
                let message =
                    format!("the answer for {name}/{version_name} is out of date: its server is down");
                facts.failed_groups.insert(name.clone(), message);
            }
            for resource in items(version.get("resources")) {
                let kind = resource.get("responseKind").map(|kind| text(kind, "kind")).unwrap_or_default();
                let namespaced = text(resource, "scope") == "Namespaced";
                let verbs = texts(resource.get("verbs"));
                kinds.add(&kind, &text(resource, "resource"), namespaced, &verbs, &version_name);
            }
        }
        kinds.finish(name, facts);
    }
}

/// Servers before aggregated discovery, and small ones.
async fn legacy_group(
    cluster: &Cluster,
    group: &str,
    versions: Vec<String>,
    facts: &mut ApiFacts,
) -> Result<(), CallError> {
    let mut kinds = Kinds::default();
    for version in versions {
        let path =
            if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        match cluster.call(Call::get(Verb::Discover, path, JSON)).await {
            Ok(list) => {
                for resource in items(list.get("resources")) {
                    let namespaced = resource.get("namespaced").and_then(Value::as_bool) == Some(true);
                    let verbs = texts(resource.get("verbs"));
                    kinds.add(&text(resource, "kind"), &text(resource, "name"), namespaced, &verbs, &version);
                }
            }
            // A lost connection or refused credentials are no fault of the group.
            Err(error) if matches!(error.code(), None | Some(401)) => return Err(error),
            Err(error) => {
                facts.failed_groups.insert(group.to_owned(), error.to_string());
            }
        }
    }
    kinds.finish(group.to_owned(), facts);
    Ok(())
}

#[derive(Default)]
struct Kinds(BTreeMap<String, KindFacts>);

impl Kinds {
    fn add(&mut self, kind: &str, plural: &str, namespaced: bool, verbs: &[String], version: &str) {
        // Subresources, and what cannot be read back (reviews, bindings), are no objects.
        if kind.is_empty()
            || plural.is_empty()
            || plural.contains('/')
            || !verbs.iter().any(|verb| verb == "get")
        {
            return;
        }
        let facts = self.0.entry(kind.to_owned()).or_insert_with(|| KindFacts {
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced,
            versions: Vec::new(),
        });
        if facts.plural == plural && !facts.versions.iter().any(|known| known == version) {
            facts.versions.push(version.to_owned());
        }
    }

    fn finish(self, group: String, facts: &mut ApiFacts) {
        if !self.0.is_empty() {
            facts.kinds.insert(group, self.0.into_values().collect());
        }
    }
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn texts(list: Option<&Value>) -> Vec<String> {
    items(list).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Reads region and zone from the labels of the first nodes.
///
/// # Errors
/// [`CallError`] of the read.
pub async fn node_topology(cluster: &Cluster) -> Result<NodeTopology, CallError> {
    let list = cluster.call(Call::get(Verb::List, "/api/v1/nodes?limit=250", JSON)).await?;
    let mut topology = NodeTopology::default();
    for node in items(list.get("items")) {
        topology.nodes += 1;
        let labels = node.get("metadata").and_then(|metadata| metadata.get("labels"));
        let label =
            |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str).map(str::to_owned);
        topology.regions.extend(label(REGION));
        topology.zones.extend(label(ZONE));
    }
    Ok(topology)
}

/// What the reconciler needs: (verb, group, resource).
const NEEDED: [(&str, &str, &str); 8] = [
    ("get", "", "namespaces"),
    ("create", "", "namespaces"),
    ("create", "", "secrets"),
    ("patch", "", "secrets"),
    ("list", "*", "*"),
    ("watch", "*", "*"),
    ("patch", "*", "*"),
    ("delete", "*", "*"),
];

/// Asks the cluster whether its rights allow what the reconciler needs.
///
/// # Errors
/// [`CallError`] if a question cannot be asked.
pub async fn access_review(cluster: &Cluster) -> Result<Vec<Access>, CallError> {
    let mut answers = Vec::with_capacity(NEEDED.len());
    for (verb, group, resource) in NEEDED {
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": verb, "group": group, "resource": resource}},
        });
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned();
        let answer =
            cluster.call(Call::send(Verb::Discover, http::Method::POST, path, JSON, &review)).await?;
        let status = answer.get("status");
        answers.push(Access {
            verb,
            group,
            resource,
            allowed: status.and_then(|status| status.get("allowed")).and_then(Value::as_bool) == Some(true),
            reason: status.map(|status| text(status, "reason")).unwrap_or_default(),
        });
    }
    Ok(answers)
}

#[cfg(test)]
mod tests;

//! Clusters of the fleet, reached with the person's own kubeconfig: only to look. Decides nothing, writes nothing there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use kcp_cluster::{Access, ConnectOptions, Connector, Identity, NodeTopology};
use kcp_core::world::{ClusterUid, ClusterView, Contact};

use crate::error::CommandError;
use crate::when;

/// How clusters are reached.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ConnectArgs {
    /// Kubeconfig whose contexts the Cluster documents name; default: KUBECONFIG, then ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Connect also to clusters whose kubeconfig says insecure-skip-tls-verify
    #[arg(long)]
    pub(crate) allow_insecure_clusters: bool,
}

impl ConnectArgs {
    /// The settings that these flags mean.
    pub(crate) fn options(&self) -> ConnectOptions {
        own_kubeconfig(self.kubeconfig.clone(), self.allow_insecure_clusters)
    }
}

/// The settings for the person's own kubeconfig.
pub(crate) fn own_kubeconfig(kubeconfig: Option<PathBuf>, allow_insecure: bool) -> ConnectOptions {
    // What it runs for credentials, kubectl runs too.
    ConnectOptions { kubeconfig, allow_exec: true, allow_insecure, ..ConnectOptions::default() }
}

/// Everything that is asked of a cluster before it joins, or when it is examined.
#[derive(Debug)]
pub(crate) struct Found {
    /// Who it is.
    pub(crate) identity: Identity,
    /// Where its nodes are.
    pub(crate) topology: Result<NodeTopology, String>,
    /// What may be done there.
    pub(crate) access: Vec<Access>,
}

impl Found {
    /// Rights that are missing, one line each.
    pub(crate) fn missing(&self) -> Vec<String> {
        let missing = self.access.iter().filter(|access| !access.allowed);
        let line = |access: &Access| {
            let group = if access.group.is_empty() { String::new() } else { format!(".{}", access.group) };
            let reason =
                if access.reason.is_empty() { String::new() } else { format!(" ({})", access.reason) };
            format!("{} {}{group}{reason}", access.verb, access.resource)
        };
        missing.map(line).collect()
    }
}

/// Connects and asks.
pub(crate) async fn examine(connector: &Connector, context: &str) -> Result<Found, CommandError> {
    let cluster = connector.connect(context).await?;
    let at = |error: kcp_cluster::CallError| {
        CommandError::failure(format!("cluster at context `{context}`: {error}"))
    };
    let identity = kcp_cluster::identity(&cluster).await.map_err(at)?;
    let access = kcp_cluster::access_review(&cluster).await.map_err(at)?;
    let topology = kcp_cluster::node_topology(&cluster).await.map_err(|error| error.to_string());
    Ok(Found { identity, topology, access })
}

/// What is on a cluster now; a cluster that cannot be read is one that is lost, not an empty one.
pub(crate) async fn observe(
    connector: &Connector,
    context: &str,
    fleet: &str,
    expected: Option<&ClusterUid>,
) -> ClusterView {
    let clock: kcp_cluster::Clock = Arc::new(when::now);
    match connector.connect(context).await {
        Ok(cluster) => kcp_cluster::observe_once(&cluster, fleet, expected, &BTreeSet::new(), &clock).await,
        Err(error) => ClusterView {
            contact: match error.refusal() {
                Some(reason) => Contact::Refused { since: when::now(), reason, message: error.to_string() },
                None => Contact::Lost { since: when::now(), message: error.to_string() },
            },
            ..ClusterView::default()
        },
    }
}

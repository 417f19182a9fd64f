//! Which clusters of the fleet a command is about.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use kcp_api::Cluster;
use kcp_core::config::Located;

use crate::error::CommandError;
use crate::labels;

/// Flags that choose members of the fleet.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Members {
    /// Only these clusters
    #[arg(short = 'C', long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) clusters: Vec<String>,
    /// Only clusters with these labels, as in `stage=prod,!edge`
    #[arg(short = 'L', long, value_name = "SELECTOR")]
    pub(crate) cluster_selector: Option<String>,
}

impl Members {
    /// The names of the clusters meant; `None` if nothing was chosen.
    pub(crate) fn choose(
        &self,
        clusters: &BTreeMap<String, Located<Cluster>>,
    ) -> Result<Option<BTreeSet<String>>, CommandError> {
        for name in &self.clusters {
            known("cluster", name, clusters)?;
        }
        let selector = self.cluster_selector.as_deref().map(labels::selector).transpose()?;
        if self.clusters.is_empty() && selector.is_none() {
            return Ok(None);
        }
        let fits = |(name, cluster): &(&String, &Located<Cluster>)| {
            (self.clusters.is_empty() || self.clusters.contains(name))
                && selector.as_ref().is_none_or(|it| it.matches(&cluster.value.metadata.labels))
        };
        Ok(Some(clusters.iter().filter(fits).map(|(name, _)| name.clone()).collect()))
    }
}

/// The one of a name, or an error that helps with the name.
pub(crate) fn known<'a, T>(
    what: &str,
    name: &str,
    all: &'a BTreeMap<String, T>,
) -> Result<&'a T, CommandError> {
    all.get(name).ok_or_else(|| CommandError::unknown(what, name, all.keys().map(String::as_str)))
}

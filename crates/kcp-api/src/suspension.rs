//! Stopping on purpose: work that waits, with a reason, until a stated time.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Nothing is changed on these clusters until a point in time; what is seen is still reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Suspension {
    /// Names of the clusters meant; empty means all that the document is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
    /// Why, for the people who wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it ends by itself.
    pub until: Timestamp,
}

impl Suspension {
    /// Whether this cluster is held still at this time (seconds since the epoch).
    pub fn covers(&self, cluster: &str, now: i64) -> bool {
        now < self.until.epoch_seconds()
            && (self.clusters.is_empty() || self.clusters.iter().any(|name| name == cluster))
    }
}

#[cfg(test)]
mod tests {
    use super::Suspension;
    use crate::Timestamp;

    #[test]
    fn covers_its_clusters_until_it_ends() {
        let mut suspension = Suspension {
            clusters: vec!["eu-1".into()],
            reason: None,
            until: Timestamp::from_epoch_seconds(1000),
        };
        assert!(suspension.covers("eu-1", 999));
        assert!(!suspension.covers("eu-1", 1000));
        assert!(!suspension.covers("eu-2", 999));
        suspension.clusters.clear();
        assert!(suspension.covers("eu-2", 999));
    }
}

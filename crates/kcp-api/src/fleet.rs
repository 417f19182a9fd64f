//! `kind: Fleet`: the one document that makes a repo a fleet repo.

use serde::{Deserialize, Serialize};

use crate::{Duration, FleetStatus, Suspension, Window, document::document, validate};

document! {
    /// All clusters of one repo, and the rules that hold for all of them.
    Fleet, FleetSpec, FleetStatus, validate::fleet
}

/// What a fleet is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetSpec {
    /// Written once when the repo is made and never changed: part of every ownership mark on clusters.
    pub id: String,
    /// How often the repo is looked at. A webhook or a change of local files triggers at once.
    #[serde(default = "default_interval")]
    pub interval: Duration,
    /// Where decisions, facts and status are recorded.
    #[serde(default)]
    pub status: RecordTarget,
    /// Which commits are trusted.
    #[serde(default)]
    pub verify: Verify,
    /// Whose signature counts on approvals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// What is stopped on purpose, until when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspend: Vec<Suspension>,
    /// When changes may be made; empty means always.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
    /// How much may happen by itself before a person is asked.
    #[serde(default)]
    pub safety: Safety,
    /// The folders of the repo.
    #[serde(default)]
    pub paths: Paths,
}

fn default_interval() -> Duration {
    Duration::from_secs(30)
}

impl FleetSpec {
    /// A fleet with this id and every other field at its default.
    pub fn with_id(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            interval: default_interval(),
            status: RecordTarget::default(),
            verify: Verify::default(),
            approvers: Vec::new(),
            suspend: Vec::new(),
            windows: Vec::new(),
            safety: Safety::default(),
            paths: Paths::default(),
        }
    }
}

/// The branch that holds decisions, facts and status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RecordTarget {
    /// Name of the branch.
    pub branch: String,
    /// URL of another repo to keep the branch in; left out means this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Whether there is a record at all.
    pub mode: RecordMode,
}

impl Default for RecordTarget {
    fn default() -> Self {
        Self { branch: "kcp/status".to_owned(), repo: None, mode: RecordMode::Enabled }
    }
}

/// Whether a record is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecordMode {
    /// A branch holds it.
    #[default]
    Enabled,
    /// None: one process, which forgets when it ends.
    Disabled,
}

/// Which commits are trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Verify {
    /// How commits are checked.
    pub mode: VerifyMode,
    /// With mode Signed: file of the repo with the ssh keys that may sign, one a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_signers: Option<String>,
    /// With mode Signed: file of the repo with the OpenPGP keys that may sign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyring: Option<String>,
}

/// How commits are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum VerifyMode {
    /// Whoever may push is trusted.
    #[default]
    None,
    /// Only commits with a good signature are used.
    Signed,
}

/// How much may happen by itself. Counted over a sliding hour; a budget applies only above its floor, and what is
/// beyond it is held until it is approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Safety {
    /// Deletes, as a share of the objects of the workspace. Removal after a hand-over is part of the move.
    pub max_delete: Budget,
    /// Moves that nothing forces: changes of policies or labels, rebalancing; as a share of all units of the fleet.
    pub max_move: Budget,
    /// Losing a whole failure domain that is allowed for in advance.
    pub evacuate: Evacuate,
    /// A loss of this share of the clusters, of at least two, that is not one failure domain is taken as our own
    /// fault: all moves are held. In percent.
    #[cfg_attr(feature = "schema", schemars(range(max = 100)))]
    pub suspect_percent: u32,
}

impl Default for Safety {
    fn default() -> Self {
        Self {
            max_delete: Budget { percent: 10, floor: 5 },
            max_move: Budget { percent: 25, floor: 2 },
            evacuate: Evacuate::default(),
            suspect_percent: 50,
        }
    }
}

/// How many actions may be done without asking: the larger of a share and a fixed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// The share, in percent.
    #[cfg_attr(feature = "schema", schemars(range(max = 100)))]
    pub percent: u32,
    /// So many are allowed however small the whole is.
    pub floor: u32,
}

impl Budget {
    /// How many of so many may go without approval: the share, rounded down, but at least the floor.
    pub fn allowed(self, total: u64) -> u64 {
        // Wide, so that no total overflows.
        let share = u128::from(total) * u128::from(self.percent.min(100)) / 100;
        u64::try_from(share).unwrap_or(u64::MAX).max(u64::from(self.floor))
    }
}

/// How many whole failure domains may be left in a hurry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Evacuate {
    /// Label of clusters that names their failure domain.
    pub topology_key: String,
    /// So many domains at once.
    pub max_domains: u32,
}

impl Default for Evacuate {
    fn default() -> Self {
        Self { topology_key: "topology.kubernetes.io/region".to_owned(), max_domains: 1 }
    }
}

/// The folders of the repo, relative to its root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Paths {
    /// Folder of the Cluster documents.
    pub clusters: String,
    /// Folder of the Placement documents.
    pub placements: String,
    /// Folder of the SyncPolicy documents and the files of scripted transforms.
    pub policies: String,
    /// Folder of the Tenant documents.
    pub tenants: String,
    /// Folder of the Approval documents.
    pub approvals: String,
    /// Folder that holds one folder for each workspace.
    pub workspaces: String,
}

impl Default for Paths {
    fn default() -> Self {
        Self {
            clusters: "clusters".to_owned(),
            placements: "placements".to_owned(),
            policies: "policies".to_owned(),
            tenants: "tenants".to_owned(),
            approvals: "approvals".to_owned(),
            workspaces: "workspaces".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn a_budget_is_the_larger_of_share_and_floor() {
        let budget = Budget { percent: 10, floor: 5 };
        assert_eq!([0, 40, 59, 60, 1000].map(|total| budget.allowed(total)), [5, 5, 5, 6, 100]);
        assert_eq!(Budget { percent: 100, floor: 0 }.allowed(u64::MAX), u64::MAX);
    }
}

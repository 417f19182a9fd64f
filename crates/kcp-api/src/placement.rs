//! `kind: Placement`: which workspaces go where, in how many copies, and how they move.

use serde::{Deserialize, Serialize};

use crate::{
    Duration, LabelSelector, PlacementStatus, ResourceRule, Suspension, Toleration, Window,
    document::document, validate,
};

document! {
    /// Rules: which workspaces go to which clusters, how many copies, how they spread, move and roll out.
    Placement, PlacementSpec, PlacementStatus, validate::placement
}

/// The rules of a placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlacementSpec {
    /// Workspaces meant: by names or by labels.
    pub workspaces: WorkspaceRefs,
    /// On how many clusters.
    pub clusters: ClusterCount,
    /// Clusters that may be chosen; left out means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_selector: Option<LabelSelector>,
    /// Groups of clusters with rules of their own; empty means one, made of this placement's own fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// What moves together.
    #[serde(default)]
    pub unit: Unit,
    /// Objects of the workspaces that are meant; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceRule>,
    /// Clusters and other placements to be near to or away from.
    #[serde(default)]
    pub affinity: Affinity,
    /// Taints of clusters that are put up with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// How copies spread over failure domains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topology_spread_constraints: Vec<Spread>,
    /// Whether each cluster gets all replicas or a part.
    #[serde(default)]
    pub replicas: Replicas,
    /// What must be up, whatever spread says.
    #[serde(default)]
    pub availability: Availability,
    /// Who goes first when there is not room for all: higher before lower.
    #[serde(default)]
    pub priority: i32,
    /// How a move is made.
    #[serde(default)]
    pub movement: Movement,
    /// How a change reaches the clusters; left out means all at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollout: Option<Rollout>,
    /// Name of the sync policy; the policy `default` need not exist.
    #[serde(default = "default_policy")]
    pub policy_name: String,
    /// What is stopped on purpose, until when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suspend: Vec<Suspension>,
    /// When changes may be made; the fleet's windows must allow it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
}

fn default_policy() -> String {
    "default".to_owned()
}

impl Default for PlacementSpec {
    /// Every field as if it had been left out; the two that cannot be are empty, which is not valid.
    fn default() -> Self {
        Self {
            workspaces: WorkspaceRefs::default(),
            clusters: ClusterCount::default(),
            cluster_selector: None,
            targets: Vec::new(),
            unit: Unit::default(),
            resources: Vec::new(),
            affinity: Affinity::default(),
            tolerations: Vec::new(),
            topology_spread_constraints: Vec::new(),
            replicas: Replicas::default(),
            availability: Availability::default(),
            priority: 0,
            movement: Movement::default(),
            rollout: None,
            policy_name: default_policy(),
            suspend: Vec::new(),
            windows: Vec::new(),
        }
    }
}

/// Workspaces: exactly one of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct WorkspaceRefs {
    /// By name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// By labels of the Workspace documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}

/// On how many clusters: `exactly`, or `min` and `max`, or `all`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterCount {
    /// This many; 0 is nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exactly: Option<u32>,
    /// At least this many; with `max` alone it is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// At most this many; with `min` alone there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// On each that may be chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
}

/// A [`ClusterCount`] that was found to say exactly one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This many clusters.
    Exactly(u32),
    /// As many as fit between the two.
    Between {
        /// Fewer is not enough.
        min: u32,
        /// More is too many; none is no limit.
        max: Option<u32>,
    },
    /// Each cluster that may be chosen.
    All,
}

impl ClusterCount {
    /// The one thing it says; `None` when it says nothing, too much or something impossible, which
    /// [`crate::Document::validate`] reports.
    pub fn wanted(&self) -> Option<Wanted> {
        match (self.exactly, self.min, self.max, self.all) {
            (Some(count), None, None, None) => Some(Wanted::Exactly(count)),
            (None, None, None, Some(true)) => Some(Wanted::All),
            (None, Some(min), max, None) if max.is_none_or(|max| min <= max) => {
                Some(Wanted::Between { min, max })
            }
            (None, None, Some(max), None) => Some(Wanted::Between { min: max.min(1), max: Some(max) }),
            _ => None,
        }
    }
}

/// A group of clusters with rules of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Unique in its list.
    pub name: String,
    /// Clusters that may be chosen; left out means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_selector: Option<LabelSelector>,
    /// On how many clusters.
    pub clusters: ClusterCount,
    /// Clusters and other placements to be near to or away from.
    #[serde(default)]
    pub affinity: Affinity,
    /// Taints of clusters that are put up with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    /// How copies spread over failure domains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topology_spread_constraints: Vec<Spread>,
    /// Whether each cluster gets all replicas or a part.
    #[serde(default)]
    pub replicas: Replicas,
}

/// What moves together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unit {
    /// The whole workspace.
    #[default]
    Workspace,
    /// All objects of a namespace.
    Namespace,
    /// One object, with what it refers to.
    Object,
}

/// Clusters and other placements to be near to or away from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    /// Which clusters are needed or preferred, in the shape of a pod's nodeAffinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_affinity: Option<ClusterAffinity>,
    /// Workspaces to be near to, in the shape of a pod's podAffinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement_affinity: Option<PlacementAffinity>,
    /// Workspaces to be away from, in the shape of a pod's podAntiAffinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement_anti_affinity: Option<PlacementAffinity>,
}

/// Which clusters are needed or preferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterAffinity {
    /// A cluster must fulfil one of these terms to be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_during_scheduling_ignored_during_execution: Vec<ClusterSelectorTerm>,
    /// The more weight of fulfilled terms, the better the cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_during_scheduling_ignored_during_execution: Vec<PreferredClusterTerm>,
}

/// Conditions on one cluster; all must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterSelectorTerm {
    /// Conditions on its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<TermRequirement>,
    /// Conditions on its fields: `metadata.name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_fields: Vec<TermRequirement>,
}

/// One condition on a label or field of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TermRequirement {
    /// Key of the label, or path of the field.
    pub key: String,
    /// How it is compared.
    pub operator: TermOperator,
    /// The values, where the operator takes any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// How a label or field of a cluster is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TermOperator {
    /// It is there, with one of the values.
    In,
    /// It is missing, or has none of the values.
    NotIn,
    /// It is there.
    Exists,
    /// It is missing.
    DoesNotExist,
    /// It is a whole number above the one value.
    Gt,
    /// It is a whole number below the one value.
    Lt,
}

/// A term that makes a cluster better.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PreferredClusterTerm {
    /// How much better, from 1 to 100.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub weight: u32,
    /// When.
    pub preference: ClusterSelectorTerm,
}

/// Workspaces to be near to, or away from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PlacementAffinity {
    /// All of these must hold for a cluster to be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_during_scheduling_ignored_during_execution: Vec<PlacementAffinityTerm>,
    /// The more weight of fulfilled terms, the better the cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPlacementTerm>,
}

/// Workspaces in the same failure domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlacementAffinityTerm {
    /// Workspaces meant, by their labels.
    pub label_selector: LabelSelector,
    /// Label of clusters that names the failure domain.
    pub topology_key: String,
}

/// A term that makes a cluster better.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WeightedPlacementTerm {
    /// How much better, from 1 to 100.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub weight: u32,
    /// When.
    pub placement_affinity_term: PlacementAffinityTerm,
}

/// How copies spread over failure domains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// Label of clusters that names the failure domain.
    pub topology_key: String,
    /// How many more copies one domain may have than another.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max_skew: u32,
    /// What happens where it cannot be kept.
    #[serde(default)]
    pub when_unsatisfiable: WhenUnsatisfiable,
}

fn one() -> u32 {
    1
}

/// What happens where a spread cannot be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WhenUnsatisfiable {
    /// The copy is not placed, unless availability would suffer.
    #[default]
    DoNotSchedule,
    /// It is placed all the same, where it hurts least.
    ScheduleAnyway,
}

/// Whether each cluster gets all replicas or a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Replicas {
    /// All or a part.
    pub strategy: ReplicaStrategy,
    /// With strategy Divide: by what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<DivideBy>,
    /// With `by: Weight`: the weights; clusters that none selects have weight 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<ReplicaWeight>,
    /// With strategy Divide: each chosen cluster gets at least so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_per_cluster: Option<u32>,
}

/// All replicas or a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReplicaStrategy {
    /// Each cluster gets all of them.
    #[default]
    Duplicate,
    /// Each cluster gets a part of them.
    Divide,
}

/// By what replicas are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DivideBy {
    /// The same for each.
    Even,
    /// By stated weights.
    Weight,
    /// By free capacity.
    Capacity,
}

/// Weight of some clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplicaWeight {
    /// Unique in its list.
    pub name: String,
    /// Clusters meant.
    pub cluster_selector: LabelSelector,
    /// Their share, in proportion to the others.
    pub weight: u32,
}

/// What must be up, whatever spread says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Availability {
    /// On at least so many clusters: up in a skewed way is better than down.
    pub min_clusters: u32,
}

impl Default for Availability {
    fn default() -> Self {
        Self { min_clusters: 1 }
    }
}

/// How a move is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Movement {
    /// In which order.
    pub strategy: MovementStrategy,
    /// How long the new copy may take to be ready; then the move is held.
    pub health_timeout: Duration,
    /// How long a unit rests between two moves that nothing forces.
    pub stabilization: Duration,
    /// How many units move at once.
    pub max_concurrent: u32,
    /// What happens when a cluster is lost.
    pub on_unreachable: OnUnreachable,
    /// What becomes of data, which does not move by itself.
    pub state: MovementState,
}

impl Default for Movement {
    fn default() -> Self {
        Self {
            strategy: MovementStrategy::MakeBeforeBreak,
            health_timeout: Duration::from_mins(5),
            stabilization: Duration::from_mins(5),
            max_concurrent: 2,
            on_unreachable: OnUnreachable::Move,
            state: MovementState::Stay,
        }
    }
}

/// In which order a unit is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MovementStrategy {
    /// The new copy is ready before the old one goes.
    #[default]
    MakeBeforeBreak,
    /// The old copy is confirmed gone before the new one starts: for what must run once.
    Recreate,
}

/// What happens when a cluster is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnUnreachable {
    /// Its units move, past their toleration.
    #[default]
    Move,
    /// Its units wait for a person.
    Hold,
}

/// What becomes of data when a unit moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MovementState {
    /// Units with data do not move.
    #[default]
    Stay,
    /// The data is elsewhere or replicated: units with claims may move.
    External,
    /// The data may be lost: units with claims may move.
    Discard,
}

/// How a change reaches the clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Rollout {
    /// Groups of clusters, in order; the rest comes last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<Wave>,
    /// So many clusters may be not ready at once.
    pub max_unavailable: u32,
    /// How long a cluster may take to be ready.
    pub progress_deadline: Duration,
    /// What happens when one does not get ready.
    pub on_failure: OnFailure,
}

impl Default for Rollout {
    fn default() -> Self {
        Self {
            waves: Vec::new(),
            max_unavailable: 1,
            progress_deadline: Duration::from_mins(10),
            on_failure: OnFailure::Halt,
        }
    }
}

/// A group of clusters that gets a change together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Wave {
    /// Unique in its list.
    pub name: String,
    /// Clusters meant.
    pub cluster_selector: LabelSelector,
    /// How long it must stay ready before the next wave.
    #[serde(default)]
    pub soak: Duration,
}

/// What happens when a rollout fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnFailure {
    /// It stops and waits for a person.
    #[default]
    Halt,
    /// It goes on.
    Continue,
}

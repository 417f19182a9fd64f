//! The documents of a fleet repo, their status, and the words of conditions and reasons.
//!
//! Every other crate agrees on these types. They are plain serde structs: no untagged unions and no flattening,
//! so that each error can name its field and the CRDs are structural. "Exactly one of" is a struct of options,
//! checked by [`Document::validate`]. Unknown fields are reported by the reader of the repo, which knows lines.
//!
//! This crate must never do IO, read a clock, or decide anything: it says what a document means, not what to do.
//!
//! ```
//! use kcp_api::{ClusterCount, Document, Placement, PlacementSpec, WorkspaceRefs};
//!
//! let spec = PlacementSpec {
//!     workspaces: WorkspaceRefs { names: vec!["shop".into()], selector: None },
//!     clusters: ClusterCount { exactly: Some(2), ..ClusterCount::default() },
//!     ..PlacementSpec::default()
//! };
//! assert!(Placement::new("shop", spec).validate().is_empty());
//! ```

mod approval;
mod cluster;
mod condition;
mod document;
mod duration;
mod fleet;
mod names;
mod object_match;
mod placement;
mod policy;
mod quantity;
mod reason;
mod selector;
mod status;
mod suspension;
mod taint;
mod tenant;
mod timestamp;
mod transform;
mod validate;
mod window;
mod workspace;

pub use approval::{Action, Approval, ApprovalSpec, Verb};
pub use cluster::{
    Cluster, ClusterMode, ClusterSpec, Connection, Drain, ProfileRef, SecretKeyRef, SecretRef, Simulated,
};
pub use condition::{Condition, ConditionStatus, ConditionType};
pub use document::{Document, Kind, Metadata, ParseKindError};
pub use duration::{Duration, ParseDurationError};
pub use fleet::{
    Budget, Evacuate, Fleet, FleetSpec, Paths, RecordMode, RecordTarget, Safety, Verify, VerifyMode,
};
pub use names::{
    ANNOTATION_COMMIT, ANNOTATION_CREATE_ONLY, ANNOTATION_IGNORE, ANNOTATION_OPTIONAL, ANNOTATION_PLACEMENT,
    ANNOTATION_PRUNE, ANNOTATION_REPLACE, ANNOTATION_SINGLETON, ANNOTATION_SOURCE, ANNOTATION_WORKSPACE,
    ANNOTATIONS_OUTSIDE_CONTENT, API_VERSION, FIELD_MANAGER, GROUP, TAINT_UNREACHABLE, VERSION,
};
pub use object_match::{IgnoreRule, KindRule, ObjectMatch, ResourceRule};
pub use placement::{
    Affinity, Availability, ClusterAffinity, ClusterCount, ClusterSelectorTerm, DivideBy, Movement,
    MovementState, MovementStrategy, OnFailure, OnUnreachable, Placement, PlacementAffinity,
    PlacementAffinityTerm, PlacementSpec, PreferredClusterTerm, ReplicaStrategy, ReplicaWeight, Replicas,
    Rollout, Spread, Target, TermOperator, TermRequirement, Unit, Wanted, Wave, WeightedPlacementTerm,
    WhenUnsatisfiable, WorkspaceRefs,
};
pub use policy::{
    AdmissionAction, AdmissionRule, Apply, Conflicts, Delete, Drift, Filter, MergeRule, NamespaceRewrite,
    OnApiLoss, Propagation, SchemaMode, SchemaRules, StatusMerge, StatusRules, SyncPolicy, SyncPolicySpec,
    TakeOver, TakeOverPolicy, UpsyncRule,
};
pub use quantity::{ParseQuantityError, Quantity};
pub use reason::{ParseReasonError, Reason};
pub use selector::{LabelSelector, SelectorOperator, SelectorRequirement};
pub use status::{
    ClusterReason, ClusterStatus, Decision, DocumentStatus, FleetStatus, Hold, Kstatus, ObjectStatus,
    PlacementStatus, WorkspaceClusterStatus, WorkspaceStatus, Writer,
};
pub use suspension::Suspension;
pub use taint::{Effect, Taint, Toleration, TolerationOperator, toleration_for};
pub use tenant::{Decryption, SopsDecryption, Tenant, TenantSpec};
pub use timestamp::{ParseTimestampError, Timestamp};
pub use transform::{
    CelTransform, Conversion, PatchOp, PatchOpKind, PodSecurity, PodSecurityLevel, ScriptFile, Transform,
};
pub use validate::Finding;
pub use window::{Day, Window};
pub use workspace::{
    Dependency, DependencyGate, DependencyScope, DependencyWhen, GitRef, GitSource, HealthRule,
    ImageOverride, Override, PatchOverride, PatchTarget, ReplicaOverride, Substitute, Variant, VariantSource,
    Workspace, WorkspaceSpec,
};

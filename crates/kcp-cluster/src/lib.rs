//! Member clusters: how to reach them, what they serve, what is on them, and how a plan is carried out there.
//!
//! The one user of the Kubernetes client. It executes and reports; it decides nothing: what to write where is the
//! planner's, what a policy allows comes with each action. Bodies of objects are read, reduced to identity and a
//! hash of our own fields, and dropped.

mod backoff;
mod call;
mod conflict;
mod connect;
mod discovery;
mod execute;
#[cfg(test)]
mod fake;
mod field;
mod foreign;
mod limit;
mod memory;
mod metrics;
mod object;
mod observe;
mod once;
mod parent;
mod path;
mod reduce;
mod session;
mod timing;
mod watch;
mod worker;

pub use call::{CallError, Cluster, StatusError};
pub use connect::{ConnectError, ConnectOptions, Connector};
pub use discovery::{Access, Identity, NodeTopology, access_review, discover, identity, node_topology};
pub use metrics::{Answer, Metrics, Verb};
pub use once::{execute_once, observe_once};
pub use timing::Timing;
pub use worker::{Clock, Events, Worker, WorkerHandle, WorkerOptions, WorkerState};

/// What a worker tells of its cluster; applied to a view by `ClusterView::apply`.
pub use kcp_core::observe::{Observation as ClusterEvent, Outcome};

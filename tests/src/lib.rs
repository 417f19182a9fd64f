//! Real control planes for the tests, the demo and the benchmarks: etcd, kube-apiserver, kube-controller-manager and
//! kwok, started as processes on loopback, one fleet at a time in a process.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use kcp_tests::Fleet;
//! let fleet = Fleet::builder(["eu-1", "eu-2", "us-1"]).start().await?;
//! let mark = fleet.cluster("eu-1").mark().await;
//! // ... run something with `fleet.kubeconfig()` ...
//! fleet.cluster("eu-1").kill();
//! assert!(fleet.cluster("eu-2").requests(mark).await?.is_empty());
//! # Ok(()) }
//! ```
//!
//! It must never leave a process, a file or a lock behind, nor talk to a cluster that it did not start itself.

pub mod audit;
mod binder;
mod cluster;
pub mod control_planes;
mod credentials;
mod fleet;
pub mod oracles;
mod ports;
mod process;
pub mod proxy;
mod services;
mod skip;
mod wait;

pub use audit::{Mark, Request};
pub use cluster::{Cluster, Output};
pub use control_planes::{BuildError, Kubernetes, Programs};
pub use fleet::{ClusterSpec, Fleet, FleetBuilder};
pub use skip::fleet_or_skip;
pub use wait::wait_until;

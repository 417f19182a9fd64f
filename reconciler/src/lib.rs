//! The reconciler: watches a fleet repo and drives its clusters.
//!
//! It wires the parts (git, planner, clusters) in one loop over one stream of events, and has no rules of its own.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use kcp_reconciler::Reconciler;
//!
//! Reconciler::builder("/srv/fleet", "/var/lib/kcp")
//!     .branch("main")
//!     .run(async { drop(tokio::signal::ctrl_c().await) })
//!     .await?;
//! # Ok(())
//! # }
//! ```

mod acts;
pub mod args;
pub mod before;
mod builder;
pub mod clock;
pub mod engine;
mod event;
mod follow;
pub mod halt;
pub mod http;
pub mod lock;
pub mod logs;
pub mod prepare;
pub mod publish;
pub mod record;
mod run;
pub mod signal;

pub use builder::Builder;
pub use kcp_cluster::ConnectOptions;
pub use kcp_core::planner::Scope;
pub use kcp_git::{GitCommand, Transport};
pub use run::{Once, RunError};

/// The reconciler of one fleet.
#[derive(Debug)]
pub struct Reconciler;

impl Reconciler {
    /// Settings for the fleet in `repo` (a path, or an address that `git` understands); what must be kept on this
    /// machine (lock, mirror, halt file) goes to `state_dir`.
    #[must_use]
    pub fn builder(repo: impl Into<String>, state_dir: impl Into<std::path::PathBuf>) -> Builder {
        Builder::new(repo, state_dir)
    }
}

//! Flags of the daemon, shared with `kubectl kcp run`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use kcp_cluster::ConnectOptions;

use crate::{Builder, Reconciler};

/// How to run a reconciler.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Branch to follow; default: the one that HEAD of a local repo is on, else `main`
    #[arg(long)]
    pub branch: Option<String>,
    /// Folder for what stays on this machine: lock, mirrors, halt file
    #[arg(long, env = "KCP_STATE_DIR", value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Stable name of this reconciler, told to others; the same name may follow itself after a crash
    #[arg(long, env = "KCP_ID", value_name = "NAME")]
    pub id: Option<String>,
    /// Serve /healthz, /readyz and /metrics there
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Follow another reconciler that is gone for good
    #[arg(long)]
    pub take_over: bool,
    /// Follow this commit although its history does not contain the commit in force
    #[arg(long, value_name = "COMMIT")]
    pub accept_history: Option<String>,
    /// Connect also to clusters whose kubeconfig says insecure-skip-tls-verify
    #[arg(long)]
    pub allow_insecure_clusters: bool,
    /// Let the context name `in-cluster` mean the service account of the pod that this runs in
    #[arg(long)]
    pub in_cluster: bool,
}

impl RunArgs {
    /// The settings that these flags mean for the fleet in `repo`.
    #[must_use]
    pub fn builder(&self, repo: &str, kubeconfig: Option<PathBuf>) -> Builder {
        let Self { branch, state_dir, id, listen, take_over, accept_history, .. } = self.clone();
        let Self { allow_insecure_clusters: allow_insecure, in_cluster, .. } = *self;
        let state_dir = state_dir.unwrap_or_else(default_state_dir);
        // The kubeconfig is that of whoever starts us, so it may run credential programs.
        let connect = ConnectOptions { kubeconfig, allow_exec: true, allow_insecure, in_cluster };
        let mut builder = Reconciler::builder(repo, state_dir)
            .connect(connect)
            .id(id.unwrap_or_else(default_id))
            .take_over(take_over)
            .accept_history(accept_history);
        if let Some(branch) = branch {
            builder = builder.branch(branch);
        }
        if let Some(address) = listen {
            builder = builder.listen(address);
        }
        builder
    }
}

/// `$XDG_STATE_HOME/kcp`, or `~/.local/state/kcp`.
#[must_use]
pub fn default_state_dir() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_else(|| "/".into())).join(".local/state");
    std::env::var_os("XDG_STATE_HOME")
        .filter(|dir| !dir.is_empty())
        .map_or_else(home, PathBuf::from)
        .join("kcp")
}

/// The name of this machine: one reconciler a machine and fleet is the rule.
fn default_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "kcp-reconciler".into())
}

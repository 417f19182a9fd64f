//! The daemon: flags in, a running reconciler.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Parser;
use kcp_reconciler::{args::RunArgs, logs, signal};

/// Watches a fleet repo and drives its clusters.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example:\n  kcp-reconciler https://git.example/fleet.git --state-dir /var/lib/kcp"
)]
struct Cli {
    /// The fleet repo: a path, or an address that git understands
    repo: String,
    /// Kubeconfig whose contexts the Cluster documents name; default: KUBECONFIG, then ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut cli = Cli::parse();
    logs::init("info");
    // The daemon always has its pages, on loopback unless told otherwise.
    cli.run.listen = cli.run.listen.or(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 8470))));
    Ok(cli.run.builder(&cli.repo, cli.kubeconfig).run(signal::terminated()).await?)
}

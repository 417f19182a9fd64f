//! `cargo xtask control-planes`: builds the real control planes that the tests start, if they are not there yet.

use std::io::Write;

use kcp_tests::{Kubernetes, control_planes};

/// Build the real control planes that the tests start, if they are not there yet, and say where they are
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The version: 1.34 or 1.36 (default: those that the tests would take)
    #[arg(long, value_name = "VERSION")]
    kubernetes: Option<Kubernetes>,
}

/// Build etcd, kube-apiserver, kube-controller-manager, kubectl and kwok for the tests.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let programs = args.kubernetes.map_or_else(control_planes::build, control_planes::build_of)?;
    writeln!(std::io::stdout(), "{}", programs.directory().display())?;
    Ok(())
}

//! `cargo xtask control-planes`: builds the real control planes that the tests start, if they are not there yet.

use std::io::Write;

/// Build etcd, kube-apiserver, kube-controller-manager and kwok for the tests.
pub(crate) fn run() -> anyhow::Result<()> {
    let programs = kcp_tests::control_planes::build()?;
    writeln!(std::io::stdout(), "{}", programs.directory().display())?;
    Ok(())
}

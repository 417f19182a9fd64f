//! Starts a fleet to play with, says where its kubeconfig is, and ends it on Ctrl-C:
//! `cargo run -p kcp-tests --example fleet -- eu-1 eu-2 us-1`.

use std::io::Write as _;
use std::time::Instant;

use kcp_tests::Fleet;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    let fleet = match names.len() {
        0 => Fleet::start(3).await?,
        _ => Fleet::builder(names).start().await?,
    };
    let mut out = std::io::stdout();
    writeln!(out, "ready after {:.1} s", start.elapsed().as_secs_f64())?;
    writeln!(out, "export KUBECONFIG={}", fleet.kubeconfig().display())?;
    writeln!(out, "export PATH={}:$PATH", fleet.programs().directory().display())?;
    tokio::signal::ctrl_c().await?;
    Ok(())
}

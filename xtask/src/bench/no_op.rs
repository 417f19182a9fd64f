//! What it costs to find out that nothing is to be done: one pass of ours, the same of kubectl, and a minute of the idle
//! daemon.

use std::time::Duration;

use anyhow::ensure;

use super::figures::{self, Round};
use super::say;
use super::shop::{OURS, PEER, Shop};
use super::site::{Site, Tool, together};

/// How long the idle daemon is watched.
const IDLE: Duration = Duration::from_secs(60);

pub(super) async fn run(pairs: u32) -> anyhow::Result<()> {
    let site = Site::start(&["eu-1", "eu-2", "us-1"], true).await?;
    let shop = Shop::new(&site).await?;
    site.commit()?;
    let daemon = site.daemon()?;
    together(shop.peer_commands(&["apply", "--server-side"])?, &[0])?;
    // Pods start, and all is read once more.
    tokio::time::sleep(Duration::from_secs(20)).await;
    site.quiet(&daemon).await?;
    shop.check(OURS, 0).await?;
    shop.check(PEER, 0).await?;
    say("no-op: the idle daemon")?;
    let (marks, cpu) = (site.mark().await, daemon.cpu()?);
    tokio::time::sleep(IDLE).await;
    let cpu = (daemon.cpu()? - cpu).as_secs_f64();
    let requests = site.requests(&marks, Tool::Ours).await?;
    let writes = requests.iter().filter(|request| request.is_write()).count();
    ensure!(writes == 0, "the idle daemon wrote {writes} times");
    daemon.stop()?;

    let mut rounds = Vec::new();
    for pair in 1..=pairs {
        let mut order = [Pass::Ours, Pass::Apply, Pass::Diff];
        if pair % 2 == 0 {
            order.reverse();
        }
        for pass in order {
            rounds.push(pass.round(&site, &shop, pair).await?);
        }
        say(&format!("no-op: pair {pair} of {pairs}"))?;
    }
    rounds.sort_by_key(|round| round.tool != Pass::Ours.name());
    let objects = shop.objects;
    figures::report("no-op", &format!("No-op: one pass, {objects} objects on each of 3 clusters"), &rounds)?;
    let count = requests.len();
    say(&format!("the idle daemon in {} s: {cpu:.2} CPU seconds, {count} requests, 0 writes", IDLE.as_secs()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Ours,
    Apply,
    Diff,
}

impl Pass {
    fn name(self) -> &'static str {
        match self {
            Self::Ours => "kcp run --once",
            Self::Apply => "kubectl apply",
            Self::Diff => "kubectl diff",
        }
    }

    async fn round(self, site: &Site, shop: &Shop<'_>, pair: u32) -> anyhow::Result<Round> {
        let (commands, tool) = match self {
            Self::Ours => {
                let mut command = site.ours("kubectl-kcp", &["run", "--once"]);
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                (vec![command], Tool::Ours)
            }
            Self::Apply => (shop.peer_commands(&["apply", "--server-side"])?, Tool::Kubectl),
            Self::Diff => (shop.peer_commands(&["diff", "--server-side"])?, Tool::Kubectl),
        };
        let marks = site.mark().await;
        // Exit code 1 of a diff would mean that something differs: nothing may.
        let (wall, cpu) = together(commands, &[0])?;
        let requests = site.requests(&marks, tool).await?;
        let writes = requests.iter().filter(|request| request.is_write()).count();
        ensure!(
            self != Self::Ours || writes == 0,
            "a pass of ours wrote {writes} times with nothing changed"
        );
        Ok(Round { tool: self.name(), pair, wall, cpu, requests: requests.len(), writes })
    }
}

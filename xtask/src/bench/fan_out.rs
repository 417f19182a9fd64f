//! From a change to the last write of it, on three clusters: a commit for the running daemon, `kubectl apply
//! --server-side -k` for each context at the same time.

use std::time::{Duration, SystemTime};

use anyhow::{Context, ensure};
use kcp_tests::Request;

use super::figures::{self, Round};
use super::say;
use super::shop::{OURS, PEER, Shop};
use super::site::{Daemon, Site, Tool, together};

/// What is measured of the daemon after a commit: longer than its status may wait to be published, so that this counts.
const WINDOW: Duration = Duration::from_secs(13);
/// How long all writes may take.
const PATIENCE: Duration = Duration::from_secs(120);

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
    let mut rounds = Vec::new();
    for pair in 1..=pairs {
        // A B, B A, A B, ...
        if pair % 2 == 1 {
            rounds.push(ours(&site, &shop, &daemon, pair).await?);
            rounds.push(peer(&site, &shop, pair).await?);
        } else {
            rounds.push(peer(&site, &shop, pair).await?);
            rounds.push(ours(&site, &shop, &daemon, pair).await?);
        }
        say(&format!("fan-out: pair {pair} of {pairs}"))?;
    }
    shop.check(OURS, pairs).await?;
    shop.check(PEER, pairs).await?;
    daemon.stop()?;
    let title = format!("Fan-out: {} objects on each of 3 clusters", shop.objects);
    figures::report("fan-out", &title, &rounds)
}

async fn ours(site: &Site, shop: &Shop<'_>, daemon: &Daemon, pair: u32) -> anyhow::Result<Round> {
    shop.change_ours(pair)?;
    let marks = site.mark().await;
    let cpu = daemon.cpu()?;
    let start = site.commit()?;
    let wanted = shop.objects * site.fleet.clusters().len();
    loop {
        let requests = site.requests(&marks, Tool::Ours).await?;
        let written = requests.iter().filter(|request| is_object(request, OURS)).count();
        if written >= wanted {
            break;
        }
        ensure!(start.elapsed()? < PATIENCE, "{written} of {wanted} objects were written");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    tokio::time::sleep(WINDOW.saturating_sub(start.elapsed()?)).await;
    let cpu = (daemon.cpu()? - cpu).as_secs_f64();
    let requests = site.requests(&marks, Tool::Ours).await?;
    round("kcp", pair, OURS, start, cpu, &requests)
}

async fn peer(site: &Site, shop: &Shop<'_>, pair: u32) -> anyhow::Result<Round> {
    shop.change_peer(pair)?;
    let commands = shop.peer_commands(&["apply", "--server-side"])?;
    let marks = site.mark().await;
    let start = SystemTime::now();
    let (_, cpu) = together(commands, &[0])?;
    let requests = site.requests(&marks, Tool::Kubectl).await?;
    round("kubectl apply", pair, PEER, start, cpu, &requests)
}

/// The wall time ends for both when the last write of an object arrives at its server.
fn round(
    tool: &'static str,
    pair: u32,
    namespace: &str,
    start: SystemTime,
    cpu: f64,
    requests: &[Request],
) -> anyhow::Result<Round> {
    let last = requests
        .iter()
        .filter(|request| is_object(request, namespace))
        .map(|request| &request.received)
        .max();
    let last: jiff::Timestamp = last.context("nothing was written")?.parse()?;
    let wall = last.duration_since(start.try_into()?).as_secs_f64();
    let writes = requests.iter().filter(|request| request.is_write()).count();
    Ok(Round { tool, pair, wall, cpu, requests: requests.len(), writes })
}

fn is_object(request: &Request, namespace: &str) -> bool {
    request.is_write() && request.namespace == namespace && (200..300).contains(&request.code)
}

//! Memory of the daemon per object that it applies and watches: ConfigMaps of about 500 bytes in one workspace on one
//! cluster, a tenth of them and all of them.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::site::{Daemon, Site, document};
use super::{raw_file, say};

const CLUSTER: &str = "big";
const NAMESPACE: &str = "bulk";
/// Objects of one file.
const FILE: u32 = 100;
/// How long the cluster may take to have all objects.
const PATIENCE: Duration = Duration::from_secs(600);

/// The daemon once it has nothing more to do.
struct Sample {
    objects: u32,
    phase: &'static str,
    resident: u64,
    peak: u64,
    /// CPU seconds from the start or the commit until then.
    cpu: f64,
    /// Seconds until the cluster had all objects; 0 if it had.
    wall: f64,
}

pub(super) async fn run(objects: u32) -> anyhow::Result<()> {
    let site = Site::start(&[CLUSTER], false).await?;
    let spec = format!("{{defaultNamespace: {NAMESPACE}, createNamespaces: true}}");
    site.write("workspaces/bulk/workspace.yaml", &document("Workspace", "bulk", &spec))?;
    site.place("bulk")?;
    let (few, most) = (objects / 10, objects);
    let mut samples = Vec::new();
    write_objects(&site, few)?;
    site.commit()?;
    let daemon = site.daemon()?;
    samples.push(sample(&site, &daemon, few, "first", Duration::ZERO).await?);
    let daemon = restart(&site, daemon)?;
    samples.push(sample(&site, &daemon, few, "restarted", Duration::ZERO).await?);
    let before = daemon.cpu()?;
    write_objects(&site, most)?;
    site.commit()?;
    samples.push(sample(&site, &daemon, most, "grown", before).await?);
    let daemon = restart(&site, daemon)?;
    samples.push(sample(&site, &daemon, most, "restarted", Duration::ZERO).await?);
    let before = daemon.cpu()?;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let idle = (daemon.cpu()? - before).as_secs_f64();
    daemon.stop()?;
    report(&samples, idle)
}

fn restart(site: &Site, daemon: Daemon) -> anyhow::Result<Daemon> {
    daemon.stop()?;
    site.daemon()
}

fn write_objects(site: &Site, objects: u32) -> anyhow::Result<()> {
    for file in 0..objects.div_ceil(FILE) {
        let mut text = String::new();
        for number in (file * FILE..objects).take(FILE as usize) {
            // Different in each, so that nothing can be kept once for all.
            let value = format!("{number:08x}").repeat(45);
            write!(
                text,
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{number:06}\n  labels: {{app: bulk}}\ndata:\n  \
                 value: \"{value}\"\n"
            )?;
        }
        site.write(&format!("workspaces/bulk/{file:04}.yaml"), &text)?;
    }
    Ok(())
}

async fn sample(
    site: &Site,
    daemon: &Daemon,
    objects: u32,
    phase: &'static str,
    before: Duration,
) -> anyhow::Result<Sample> {
    let start = Instant::now();
    let had = count(site).await? >= objects;
    while count(site).await? < objects {
        ensure!(start.elapsed() < PATIENCE, "only {} of {objects} objects are there", count(site).await?);
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let wall = if had { 0.0 } else { start.elapsed().as_secs_f64() };
    let cpu = (site.quiet(daemon).await? - before).as_secs_f64();
    let memory = daemon.memory()?;
    say(&format!(
        "memory: {objects} objects, {phase}: {:.1} MiB, {cpu:.2} CPU seconds",
        memory.resident as f64 / f64::from(1 << 20)
    ))?;
    Ok(Sample { objects, phase, resident: memory.resident, peak: memory.peak, cpu, wall })
}

/// How many ConfigMaps the cluster has, without reading them.
async fn count(site: &Site) -> anyhow::Result<u32> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps?limit=1");
    let answer = site.fleet.cluster(CLUSTER).kubectl(&["get", "--raw", &path]).await?;
    ensure!(answer.success, "cannot count objects: {}", answer.stderr);
    let list: Value = serde_json::from_str(&answer.stdout).context("a list is not JSON")?;
    let first = list["items"].as_array().map_or(0, Vec::len);
    let more = list["metadata"]["remainingItemCount"].as_u64().unwrap_or_default();
    Ok(u32::try_from(first as u64 + more)?)
}

fn report(samples: &[Sample], idle: f64) -> anyhow::Result<()> {
    let mut csv = "objects,phase,resident_bytes,peak_bytes,cpu_seconds,wall_seconds\n".to_owned();
    let mut table = "| objects | daemon | resident, MiB | peak, MiB | CPU, s | all applied after, s |\n\
                     |---|---|---|---|---|---|\n"
        .to_owned();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    for Sample { objects, phase, resident, peak, cpu, wall } in samples {
        writeln!(csv, "{objects},{phase},{resident},{peak},{cpu:.2},{wall:.1}")?;
        let (resident, peak) = (mib(*resident), mib(*peak));
        writeln!(table, "| {objects} | {phase} | {resident:.1} | {peak:.1} | {cpu:.2} | {wall:.1} |")?;
    }
    let path = raw_file("memory.csv")?;
    std::fs::write(&path, csv)?;
    say(&format!("\nMemory of the daemon\n\n{table}"))?;
    let restarted: Vec<_> = samples.iter().filter(|sample| sample.phase == "restarted").collect();
    if let [few, most] = restarted[..] {
        let slope = (most.resident as f64 - few.resident as f64) / f64::from(most.objects - few.objects);
        say(&format!("bytes per object, from {} to {}, restarted: {slope:.0}", few.objects, most.objects))?;
    }
    say(&format!("the idle daemon in 60 s: {idle:.2} CPU seconds\nraw numbers: {}", path.display()))
}

//! `cargo xtask bench`: what the reconciler costs, against kubectl on the same clusters in the same run. Rounds alternate,
//! so that what else the machine does falls on both. It must never leave out a figure because it looks bad for us.

mod fan_out;
mod figures;
mod kustomize;
mod memory;
mod no_op;
mod proc;
mod shop;
mod site;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use crate::demo::{checked, root};

/// Compare the reconciler with kubectl on real clusters, and kustomize-rs with kustomize. Raw numbers go to target/bench
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which; without it all of them
    #[arg(value_enum)]
    which: Option<Which>,
    /// Rounds of each tool
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// Objects of the memory benchmark, at its end
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    objects: u32,
    /// Take the release programs as they are, instead of building them first
    #[arg(long)]
    no_build: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    /// From a commit to the last write, on three clusters
    FanOut,
    /// What it costs to find out that nothing is to be done
    NoOp,
    /// Memory per watched object
    Memory,
    /// kustomize-rs against the reference, on the corpus
    Kustomize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if !args.no_build && args.which != Some(Which::Kustomize) {
        build()?;
    }
    let wants = |which| args.which.is_none_or(|only| only == which);
    if wants(Which::Kustomize) {
        kustomize::run(args.pairs)?;
    }
    if args.which == Some(Which::Kustomize) {
        return Ok(());
    }
    let runtime = tokio::runtime::Runtime::new()?;
    if wants(Which::FanOut) {
        runtime.block_on(fan_out::run(args.pairs))?;
    }
    if wants(Which::NoOp) {
        runtime.block_on(no_op::run(args.pairs))?;
    }
    if wants(Which::Memory) {
        runtime.block_on(memory::run(args.objects))?;
    }
    Ok(())
}

/// The programs as they are released.
fn build() -> anyhow::Result<()> {
    say("building the release programs")?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--release", "-p", "kubectl-kcp", "-p", "kcp-reconciler"]);
    checked(cargo.current_dir(root()))
}

/// Where cargo puts what it builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// A file for raw numbers or logs.
fn raw_file(name: &str) -> anyhow::Result<PathBuf> {
    let folder = target().join("bench");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder.join(name))
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

//! Generators and other tools of the people who work on this project. One file a command; this one only dispatches.

mod bench;
mod control_planes;
mod crds;
mod demo;
mod krew;

use clap::{Parser, Subcommand};

/// Generators and other tools for working on kcp.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Bench(bench::Args),
    /// Build the real control planes that the tests start, if they are not there yet
    ControlPlanes,
    Crds(crds::Args),
    Demo(demo::Args),
    /// Check the plugin manifest by krew's own rules
    Krew,
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Bench(args) => bench::run(&args),
        Command::ControlPlanes => control_planes::run(),
        Command::Crds(args) => crds::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Krew => krew::run(),
    }
}

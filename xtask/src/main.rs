//! Generators and other tools of the people who work on this project. One file a command; this one only dispatches.

mod bench;
mod control_planes;
mod crds;
mod demo;
mod krew;
mod kustomize_schema;
mod new_rule;

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
    ControlPlanes(control_planes::Args),
    Crds(crds::Args),
    Demo(demo::Args),
    /// Check the plugin manifest by krew's own rules
    Krew,
    KustomizeSchema(kustomize_schema::Args),
    NewRule(new_rule::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Bench(args) => bench::run(&args),
        Command::ControlPlanes(args) => control_planes::run(&args),
        Command::Crds(args) => crds::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Krew => krew::run(),
        Command::KustomizeSchema(args) => kustomize_schema::run(&args),
        Command::NewRule(args) => new_rule::run(&args),
    }
}

//! `kubectl kcp cluster ...`: members of the fleet, as documents of the repo.

mod add;
mod change;
mod list;
mod remove;

use clap::Subcommand;

use super::Context;
use crate::error::Outcome;

/// Add, list, close and mark the clusters of the fleet
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    Add(add::AddArgs),
    List(list::ListArgs),
    Cordon(change::CordonArgs),
    Uncordon(change::UncordonArgs),
    Taint(change::TaintArgs),
    Label(change::LabelArgs),
    Remove(remove::RemoveArgs),
}

pub(crate) async fn run(context: &Context, command: ClusterCommand) -> Outcome {
    match command {
        ClusterCommand::Add(args) => Box::pin(add::run(context, args)).await,
        ClusterCommand::List(args) => list::run(context, &args),
        ClusterCommand::Cordon(args) => change::cordon(context, args).await,
        ClusterCommand::Uncordon(args) => change::uncordon(context, args).await,
        ClusterCommand::Taint(args) => change::taint(context, args).await,
        ClusterCommand::Label(args) => change::label(context, args).await,
        ClusterCommand::Remove(args) => remove::run(context, args).await,
    }
}

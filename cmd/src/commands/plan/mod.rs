//! `kubectl kcp plan`: what a desired state would do on every cluster, before it does. Only looks.

mod data;
mod markdown;
mod text;

use clap::{Args, ValueEnum};
use kcp_core::config;
use kcp_core::planner::Scope;
use serde_json::json;
use yaml_span::Diagnostic;

use super::Context;
use crate::ahead::{self, Ahead, Request};
use crate::error::{CommandError, Exit, Outcome};
use crate::member::ConnectArgs;
use crate::members::Members;
use crate::repo::FleetRepo;
pub(crate) use text::text;

/// Show what a change would do on every cluster
///
/// Without flags: the files as they are on disk, also what is not committed, against what the reconciler recorded
/// last. No kubeconfig is needed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp plan
  kubectl kcp plan --branch add-shop --from main -o markdown
  kubectl kcp plan --live --exit-code

Exit codes: 1 if something is held or wrong, or with --exit-code if anything would be done.")]
pub(crate) struct PlanArgs {
    /// Plan this commit instead of the working tree
    #[arg(long, value_name = "REV", conflicts_with = "branch")]
    commit: Option<String>,
    /// Plan the tip of this branch instead of the working tree
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Show changed fields against this commit; default: the commit in force
    #[arg(long, value_name = "REV")]
    from: Option<String>,
    /// Plan against what was recorded at this commit of the status branch; default: its tip
    #[arg(long, value_name = "REV", conflicts_with = "live")]
    at: Option<String>,
    /// Look at the clusters as they are now, by your kubeconfig
    #[arg(long)]
    live: bool,
    /// Exit with 1 also if anything would be created, changed or deleted
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    members: Members,
    #[command(flatten)]
    connect: ConnectArgs,
    /// How it is shown; markdown fits a pull request
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
}

/// Forms of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For a pull request
    Markdown,
    /// For programs
    Json,
}

pub(crate) async fn run(context: &Context, args: PlanArgs) -> Outcome {
    let fleet = context.fleet()?;
    let request = Request {
        desired: args.commit.or(args.branch),
        from: args.from,
        at: args.at,
        live: args.live.then(|| args.connect.options()),
        scope: Scope::Daemon,
    };
    if let Err(found) = documents(&fleet, &request)? {
        return broken(context, &found, args.output);
    }
    let ahead = ahead::look(&fleet, &request).await?;
    let chosen = args.members.choose(&ahead.world.desired.config.clusters)?;
    let exit = match args.output {
        Output::Text => text(context, &ahead, chosen.as_ref()),
        Output::Markdown => {
            context.ui.data(&markdown::markdown(&ahead, chosen.as_ref()));
            verdict(&ahead)
        }
        Output::Json => {
            context.ui.json(&data::data(&ahead, chosen.as_ref()))?;
            verdict(&ahead)
        }
    };
    Ok(if args.exit_code && !ahead.plan.is_quiet() { Exit::No } else { exit })
}

/// Whether the plan may go ahead: nothing is held, nothing is wrong.
fn verdict(ahead: &Ahead) -> Exit {
    let fine = ahead.plan.holds.is_empty() && ahead.errors.is_empty() && ahead.findings().next().is_none();
    if fine { Exit::Yes } else { Exit::No }
}

/// The errors of the fleet's documents: for a plan they are the answer, not a failure of the command. A repo that is no
/// fleet at all is one.
fn documents(fleet: &FleetRepo, request: &Request) -> Result<Result<(), Vec<Diagnostic>>, CommandError> {
    let loaded = match &request.desired {
        Some(rev) => config::load(&fleet.repo.snapshot(rev)?),
        None => config::load(&fleet.files()?),
    };
    match loaded {
        Ok(_) => Ok(Ok(())),
        Err(found) => {
            let error = crate::repo::unusable(&found);
            if error.details.is_empty() { Err(error) } else { Ok(Err(found)) }
        }
    }
}

fn broken(context: &Context, found: &[Diagnostic], output: Output) -> Outcome {
    match output {
        Output::Text => {
            found.iter().for_each(|it| context.ui.line(it.to_string()));
            context
                .ui
                .note(format!("nothing is planned: the documents of the fleet have {} errors", found.len()));
        }
        Output::Markdown => {
            let lines: Vec<String> =
                found.iter().map(|it| format!("- {}\n", markdown::code(&it.to_string()))).collect();
            context
                .ui
                .data(&format!("### Plan: the documents of the fleet have errors\n\n{}", lines.concat()));
        }
        Output::Json => {
            let item = |it: &Diagnostic| json!({"file": it.file, "line": it.line, "column": it.column, "path": it.path, "message": it.message, "help": it.help});
            context.ui.json(&json!({ "errors": found.iter().map(item).collect::<Vec<_>>() }))?;
        }
    }
    Ok(Exit::No)
}

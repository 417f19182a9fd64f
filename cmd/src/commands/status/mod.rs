//! `kubectl kcp status`: what the reconciler recorded last. Ages are computed here, when reading. Problems come first.

mod one;
mod overview;

use clap::Args;
use kcp_api::{ConditionType, Reason, WorkspaceStatus};
use serde_json::{Value, json};

use super::Context;
use crate::ahead;
use crate::args::TableOutput;
use crate::error::{CommandError, Exit, Outcome};
use crate::recorded::Recorded;

/// Show how the fleet is: the commit in force, what is held, clusters and workspaces
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp status
  kubectl kcp status web
  kubectl kcp status -o json

Exit codes: 1 if something is not ready, held, or not recorded yet.")]
pub(crate) struct StatusArgs {
    /// Name of a workspace; default: all
    workspace: Option<String>,
    /// How it is shown; default: tables
    #[arg(short, long, value_enum)]
    output: Option<TableOutput>,
}

pub(crate) fn run(context: &Context, args: &StatusArgs) -> Outcome {
    let fleet = context.fleet()?;
    // Broken documents are when status is needed most: the record does not depend on them.
    let config = fleet.config();
    let spec = config.as_ref().ok().map(|config| &config.fleet.value.spec);
    let target = spec.map(|spec| spec.status.clone()).unwrap_or_default();
    let recorded = Recorded::read(&fleet.repo, &target, spec.map(|spec| spec.id.as_str()), None)?;
    let config = match config {
        Ok(config) => Some(config),
        Err(error) if !recorded.exists() => return Err(error),
        Err(error) => {
            context.ui.note(format!("note: {}; this is what was recorded", error.message));
            None
        }
    };
    for file in &recorded.damaged {
        context.ui.note(format!("note: the record has a file that cannot be read: {file}"));
    }
    if !recorded.exists() {
        context.ui.note(format!("nothing was recorded yet on branch {}", target.branch));
        context.ui.hint("start a reconciler: kubectl kcp run; or do one pass: kubectl kcp run --once");
        return Ok(Exit::No);
    }
    let source = &recorded.record.fleet.source;
    let tip = fleet.repo.branch_tip(&source.branch).ok().flatten().map(|tip| tip.to_string());
    let judged =
        source.trouble.as_ref().and_then(|trouble| trouble.commit.as_ref()).unwrap_or(&source.commit);
    if tip.as_ref().is_some_and(|tip| tip != judged) {
        let tip = ahead::brief(tip.as_deref().unwrap_or_default()).to_owned();
        let message = format!("note: {} is at {tip}, of which nothing was recorded yet", source.branch);
        context.ui.note(format!("{message}; records are written at most every ten seconds"));
    }
    let workspaces = &recorded.record.workspaces;
    if let Some(name) = &args.workspace
        && !workspaces.contains_key(name)
    {
        if config.is_some_and(|config| config.workspaces.contains_key(name)) {
            context
                .ui
                .note(format!("the workspace {name} is in the files, and nothing was recorded of it yet"));
            return Ok(Exit::No);
        }
        return Err(CommandError::unknown("workspace", name, workspaces.keys().map(String::as_str)));
    }
    match args.output {
        Some(TableOutput::Json) => drop(context.ui.json(&data(&recorded, args.workspace.as_deref()))?),
        Some(TableOutput::Yaml) => drop(context.ui.yaml(&data(&recorded, args.workspace.as_deref()))?),
        Some(TableOutput::Name) => {
            let wanted =
                workspaces.keys().filter(|name| args.workspace.as_ref().is_none_or(|it| it == *name));
            wanted.for_each(|name| context.ui.line(format!("workspace/{name}")));
        }
        None | Some(TableOutput::Wide) => match &args.workspace {
            Some(name) => one::show(context, &recorded, name),
            None => overview::show(context, &recorded, args.output.is_some()),
        },
    }
    Ok(verdict(&recorded, args.workspace.as_deref()))
}

/// Yes: what was asked about is ready and nothing of it is held.
fn verdict(recorded: &Recorded, workspace: Option<&str>) -> Exit {
    let record = &recorded.record;
    let well = |status: &WorkspaceStatus| (is_ready(status) || is_gone(status)) && status.holds.is_empty();
    let fine = match workspace {
        Some(name) => record.workspaces.get(name).is_some_and(|it| well(&it.status)),
        None => {
            record.fleet.source.trouble.is_none()
                && record.fleet.holds.is_empty()
                && record.fleet.problems.is_empty()
                && record.workspaces.values().all(|it| well(&it.status))
        }
    };
    if fine { Exit::Yes } else { Exit::No }
}

fn is_ready(status: &WorkspaceStatus) -> bool {
    ahead::holds(&status.conditions, ConditionType::Ready)
}

/// Out of the repo, with nothing left but what is kept by rule: nobody waits for it to be ready.
fn is_gone(status: &WorkspaceStatus) -> bool {
    ahead::condition(&status.conditions, ConditionType::Ready)
        .is_some_and(|it| it.reason == Reason::WorkspaceRemoved)
}

fn data(recorded: &Recorded, workspace: Option<&str>) -> Value {
    let record = &recorded.record;
    let workspaces: serde_json::Map<String, Value> = record
        .workspaces
        .iter()
        .filter(|(name, _)| workspace.is_none_or(|it| it == *name))
        .map(|(name, it)| (name.clone(), json!(it.status)))
        .collect();
    let clusters: serde_json::Map<String, Value> =
        record.clusters.iter().map(|(name, it)| (name.clone(), json!(it.status))).collect();
    json!({
        "fleet": record.fleet,
        "writer": recorded.writer,
        "record": recorded.commit,
        "clusters": clusters,
        "workspaces": workspaces,
    })
}

//! Verbs that change a field of Cluster documents: `cordon`, `uncordon`, `taint`, `label`. Each edits only its lines.

use clap::Args;
use kcp_api::{Effect, Kind, Taint, Timestamp};
use kcp_core::config::Config;
use kcp_git::Edits;
use serde_json::{Value, json};

use super::Context;
use crate::documents::{Editing, path};
use crate::edit::{Edit, EditArgs, apply};
use crate::error::{CommandError, Outcome};
use crate::labels::{self, LabelChange};
use crate::members::known;
use crate::repo::FleetRepo;
use crate::taints::{self, TaintChange};
use crate::when;

/// Close clusters: nothing new comes, what is there stays
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl kcp cluster cordon eu-1 -m 'eu-1: hardware swap'")]
pub(crate) struct CordonArgs {
    /// Names of clusters
    #[arg(required = true)]
    names: Vec<String>,
    #[command(flatten)]
    edit: EditArgs,
}

/// Open clusters again
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl kcp cluster uncordon eu-1")]
pub(crate) struct UncordonArgs {
    /// Names of clusters
    #[arg(required = true)]
    names: Vec<String>,
    #[command(flatten)]
    edit: EditArgs,
}

/// Add or remove taints, as `kubectl taint` does for nodes
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp cluster taint eu-1 maintenance:NoExecute
  kubectl kcp cluster taint eu-1 gpu=a100:NoSchedule
  kubectl kcp cluster taint eu-1 maintenance:NoExecute-")]
pub(crate) struct TaintArgs {
    /// Name of the cluster
    name: String,
    /// key=value:Effect or key:Effect adds; key:Effect- or key- removes
    #[arg(required = true, value_name = "TAINT", value_parser = taints::change)]
    taints: Vec<TaintChange>,
    /// Change the value of a taint that is there
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    edit: EditArgs,
}

/// Add, change or remove labels, as `kubectl label` does
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp cluster label eu-1 stage=prod
  kubectl kcp cluster label eu-1 stage=test --overwrite
  kubectl kcp cluster label eu-1 stage-")]
pub(crate) struct LabelArgs {
    /// Name of the cluster
    name: String,
    /// key=value sets; key- removes
    #[arg(required = true, value_name = "LABEL", value_parser = labels::change)]
    labels: Vec<LabelChange>,
    /// Change the value of a label that is there
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) async fn cordon(context: &Context, args: CordonArgs) -> Outcome {
    let subject = format!("cordon {}", args.names.join(", "));
    set_cordon(context, &args.names, true, &args.edit, subject).await
}

pub(crate) async fn uncordon(context: &Context, args: UncordonArgs) -> Outcome {
    let subject = format!("uncordon {}", args.names.join(", "));
    set_cordon(context, &args.names, false, &args.edit, subject).await
}

async fn set_cordon(
    context: &Context,
    names: &[String],
    closed: bool,
    args: &EditArgs,
    subject: String,
) -> Outcome {
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let mut files = Edits::new();
    for name in names {
        let cluster = known("cluster", name, &config.clusters)?;
        if cluster.value.spec.unschedulable == closed {
            continue;
        }
        let mut document = open(&fleet, &config, name, &files)?;
        document.set(&path(["spec", "unschedulable"]), &json!(closed))?;
        files.extend(document.finish());
    }
    let state = if closed { "cordoned already" } else { "open already" };
    let unchanged = format!("nothing to change: {}: {state}", names.join(", "));
    apply(context, &fleet, args, Edit { files, subject, unchanged, next: see_plan() }).await
}

pub(crate) async fn taint(context: &Context, args: TaintArgs) -> Outcome {
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let cluster = known("cluster", &args.name, &config.clusters)?;
    let mut taints = cluster.value.spec.taints.clone();
    let mut document = open(&fleet, &config, &args.name, &Edits::new())?;
    let list = path(["spec", "taints"]);
    for change in &args.taints {
        match change {
            TaintChange::Add(taint) => {
                let taint = stamped(taint);
                let there = taints.iter().position(|it| it.key == taint.key && it.effect == taint.effect);
                match there {
                    Some(index) if taints[index].value == taint.value => {}
                    Some(_) if !args.overwrite => {
                        let message = format!(
                            "{} has a taint {}:{} already",
                            args.name,
                            taint.key,
                            taint.effect.as_str()
                        );
                        return Err(CommandError::failure(message).hint("--overwrite changes its value"));
                    }
                    Some(index) => {
                        document.set(&list.clone().index(index).key("value"), &json!(taint.value))?;
                        taints[index].value = taint.value;
                    }
                    None => {
                        document.push(&list, &json!(taint))?;
                        taints.push(taint);
                    }
                }
            }
            TaintChange::Remove { key, effect } => {
                let goes =
                    |taint: &Taint| taint.key == *key && effect.is_none_or(|effect| effect == taint.effect);
                let indices: Vec<usize> = (0..taints.len()).filter(|index| goes(&taints[*index])).collect();
                if indices.is_empty() {
                    let shown = effect.map_or_else(String::new, |effect| format!(":{}", effect.as_str()));
                    return Err(CommandError::failure(format!("{} has no taint {key}{shown}", args.name)));
                }
                if indices.len() == taints.len() {
                    document.remove(&list)?;
                    taints.clear();
                    continue;
                }
                for index in indices.into_iter().rev() {
                    document.remove(&list.clone().index(index))?;
                    taints.remove(index);
                }
            }
        }
    }
    let edit = Edit {
        files: document.finish().into_iter().collect(),
        subject: format!("change taints of cluster {}", args.name),
        unchanged: format!("nothing to change: {} has these taints already", args.name),
        next: see_plan(),
    };
    apply(context, &fleet, &args.edit, edit).await
}

/// `tolerationSeconds` count from the time that a taint carries.
fn stamped(taint: &Taint) -> Taint {
    let time = (taint.effect == Effect::NoExecute).then(|| Timestamp::from_epoch_seconds(when::now()));
    Taint { time_added: time, ..taint.clone() }
}

pub(crate) async fn label(context: &Context, args: LabelArgs) -> Outcome {
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    known("cluster", &args.name, &config.clusters)?;
    let mut document = open(&fleet, &config, &args.name, &Edits::new())?;
    let all = path(["metadata", "labels"]);
    for LabelChange { key, value } in &args.labels {
        let at = all.clone().key(key);
        match (document.get(&at), value) {
            (None, Some(value)) => document.set(&at, &json!(value))?,
            (Some(Value::String(old)), Some(value)) if old == *value => {}
            (Some(_), Some(_)) if !args.overwrite => {
                let message = format!("{} has a label {key} already", args.name);
                return Err(CommandError::failure(message).hint("--overwrite changes its value"));
            }
            (Some(_), Some(value)) => document.set(&at, &json!(value))?,
            (None, None) => {
                return Err(CommandError::failure(format!("{} has no label {key}", args.name)));
            }
            (Some(_), None) => {
                let last =
                    document.get(&all).and_then(|it| it.as_object().map(serde_json::Map::len)) == Some(1);
                document.remove(if last { &all } else { &at })?;
            }
        }
    }
    let edit = Edit {
        files: document.finish().into_iter().collect(),
        subject: format!("change labels of cluster {}", args.name),
        unchanged: format!("nothing to change: {} has these labels already", args.name),
        next: see_plan(),
    };
    apply(context, &fleet, &args.edit, edit).await
}

/// Opens the document of a cluster, with what was edited before in the same file.
fn open(fleet: &FleetRepo, config: &Config, name: &str, edits: &Edits) -> Result<Editing, CommandError> {
    let files = fleet.files()?;
    let files = crate::overlay::Overlay::new(&files, edits);
    Editing::open(&files, known("cluster", name, &config.clusters)?, Kind::Cluster, name)
}

fn see_plan() -> Vec<String> {
    vec!["see what follows: kubectl kcp plan".into()]
}

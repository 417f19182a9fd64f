//! `kubectl kcp cluster add`: a kubeconfig context becomes a document. Looks at the cluster, writes nothing there.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use kcp_api::{Kind, Taint};
use kcp_cluster::{Connector, NodeTopology};
use kcp_core::config::Config;
use kcp_git::Edits;
use serde_json::{Map, Value, json};

use super::Context;
use crate::documents;
use crate::edit::{Edit, EditArgs, apply};
use crate::error::{CommandError, Outcome};
use crate::labels;
use crate::member::{self, Found};
use crate::taints::{self, TaintChange};

const REGION: &str = "topology.kubernetes.io/region";
const ZONE: &str = "topology.kubernetes.io/zone";

/// Add a cluster from a kubeconfig context; it takes nothing until it is opened
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp cluster add eu-1 --context eu-1 --open
  kubectl kcp cluster add us-1 --label stage=prod --taint gpu=a100:NoSchedule
  kubectl kcp cluster add lab --mode None")]
pub(crate) struct AddArgs {
    /// Name of the cluster in the fleet
    name: String,
    /// Context of the kubeconfig; default: the name of the cluster
    #[arg(long)]
    context: Option<String>,
    /// Let workspaces come at once; otherwise the cluster starts cordoned
    #[arg(long)]
    open: bool,
    /// Label of the cluster; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = labels::pair)]
    labels: Vec<(String, String)>,
    /// Taint of the cluster; may be given more than once
    #[arg(long = "taint", value_name = "KEY[=VALUE]:EFFECT", value_parser = taint)]
    taints: Vec<Taint>,
    /// Who brings objects to it: the reconciler, or only a person by `sync`
    #[arg(long, value_enum, default_value = "Push")]
    mode: Mode,
    #[command(flatten)]
    edit: EditArgs,
}

/// Modes that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum Mode {
    /// The reconciler connects and applies
    Push,
    /// Nothing runs by itself
    None,
}

fn taint(text: &str) -> Result<Taint, String> {
    match taints::change(text)? {
        TaintChange::Add(taint) => Ok(taint),
        TaintChange::Remove { .. } => Err("write key=value:Effect or key:Effect".into()),
    }
}

pub(crate) async fn run(context: &Context, args: AddArgs) -> Outcome {
    args.edit.check()?;
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let name = args.name.as_str();
    if let Some(there) = config.clusters.get(name) {
        return Err(CommandError::failure(format!(
            "the cluster {name} is in the fleet already: {}",
            there.origin()
        )));
    }
    let file = format!("{}/{name}.yaml", config.fleet.value.spec.paths.clusters);
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(
            CommandError::usage(format!("{name}: not a name of a cluster")).hint("write it like eu-1")
        );
    }
    if fleet.root()?.join(&file).exists() {
        return Err(CommandError::failure(format!(
            "{file} is there already and holds no cluster of that name"
        )));
    }
    let kube_context = args.context.as_deref().unwrap_or(name);
    let connector = Connector::new(args.edit.connect.options());
    let found = member::examine(&connector, kube_context).await?;
    is_new(&config, &found)?;
    let missing = found.missing();
    if !missing.is_empty() {
        return Err(CommandError::failure(format!(
            "context {kube_context} may not do what syncing needs; it lacks"
        ))
        .details(missing)
        .hint("give its user these rights (cluster-admin has them all), then run this again"));
    }
    if let Err(error) = &found.topology {
        context.ui.note(format!("nodes cannot be read, so region and zone are left out: {error}"));
    }
    let edit = Edit {
        files: Edits::from([(file, Some(document(&args, kube_context, &found)))]),
        subject: format!("add cluster {name}"),
        unchanged: format!("the cluster {name} is in the fleet already"),
        next: vec![if args.open {
            "add what shall run: kubectl kcp workspace add NAME --namespace NAMESPACE -f FILE".to_owned()
        } else {
            format!(
                "{name} takes nothing yet; see what would come with `kubectl kcp cluster uncordon {name} \
                 --dry-run=server`, open it without --dry-run"
            )
        }],
    };
    apply(context, &fleet, &args.edit, edit).await
}

/// One cluster, one document.
fn is_new(config: &Config, found: &Found) -> Result<(), CommandError> {
    let uid = &found.identity.uid.0;
    let same = config.clusters.iter().find(|(_, it)| it.value.spec.uid.as_ref() == Some(uid));
    match same {
        None => Ok(()),
        Some((name, document)) => {
            let message = format!("this cluster is in the fleet already, as {name}: {}", document.origin());
            Err(CommandError::failure(message).hint(format!(
                "its kube-system namespace has the UID {uid}; name another context with --context"
            )))
        }
    }
}

fn document(args: &AddArgs, kube_context: &str, found: &Found) -> Vec<u8> {
    let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
    let nowhere = NodeTopology::default();
    let topology = found.topology.as_ref().unwrap_or(&nowhere);
    // A label says one thing: a cluster over several zones gets none.
    for (key, values) in [(REGION, &topology.regions), (ZONE, &topology.zones)] {
        if let (Some(value), 1) = (values.first(), values.len()) {
            labels.insert(key, value);
        }
    }
    labels.extend(args.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    let mut metadata = json!({ "name": args.name });
    if !labels.is_empty() {
        metadata["labels"] = json!(labels);
    }
    let mut spec = Map::new();
    if args.mode == Mode::None {
        spec.insert("mode".into(), json!("None"));
    }
    spec.insert("connection".into(), json!({ "context": kube_context }));
    spec.insert("uid".into(), json!(found.identity.uid.0));
    if !args.taints.is_empty() {
        spec.insert("taints".into(), json!(args.taints));
    }
    if !args.open {
        spec.insert("unschedulable".into(), json!(true));
    }
    documents::text(Kind::Cluster, metadata, Value::Object(spec))
}

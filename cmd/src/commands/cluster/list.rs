//! `kubectl kcp cluster list`: what the repo says of the clusters, and what was recorded of them.

use clap::Args;
use kcp_api::{Cluster, ClusterMode, ClusterStatus};
use serde_json::json;

use super::Context;
use crate::args::TableOutput;
use crate::error::{Exit, Outcome};
use crate::members::Members;
use crate::recorded::Recorded;
use crate::ui::{Table, Text, Tone};

/// List the clusters of the fleet
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl kcp cluster list -L stage=prod -o wide")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    members: Members,
    /// How it is shown; default: a table
    #[arg(short, long, value_enum)]
    output: Option<TableOutput>,
}

pub(crate) fn run(context: &Context, args: &ListArgs) -> Outcome {
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let chosen = args.members.choose(&config.clusters)?;
    let spec = &config.fleet.value.spec;
    let recorded = Recorded::read(&fleet.repo, &spec.status, Some(&spec.id), None)?;
    let clusters: Vec<(&str, &Cluster, Option<&ClusterStatus>)> = config
        .clusters
        .iter()
        .filter(|(name, _)| chosen.as_ref().is_none_or(|chosen| chosen.contains(*name)))
        .map(|(name, it)| (name.as_str(), &it.value, recorded.record.clusters.get(name).map(|it| &it.status)))
        .collect();
    let as_data = || {
        let item = |(name, cluster, status): &(&str, &Cluster, Option<&ClusterStatus>)| json!({ "name": name, "metadata": cluster.metadata, "spec": cluster.spec, "status": status });
        json!({ "clusters": clusters.iter().map(item).collect::<Vec<_>>() })
    };
    match args.output {
        Some(TableOutput::Json) => return context.ui.json(&as_data()),
        Some(TableOutput::Yaml) => return context.ui.yaml(&as_data()),
        Some(TableOutput::Name) => {
            clusters.iter().for_each(|(name, ..)| context.ui.line(format!("cluster/{name}")))
        }
        None | Some(TableOutput::Wide) => {
            if clusters.is_empty() {
                context.ui.note("no clusters");
                context.ui.hint("add one: kubectl kcp cluster add NAME --context CONTEXT --open");
                return Ok(Exit::Yes);
            }
            context.ui.table(&table(&clusters, args.output.is_some()));
        }
    }
    Ok(Exit::Yes)
}

fn table(clusters: &[(&str, &Cluster, Option<&ClusterStatus>)], wide: bool) -> Table {
    let mut headings = vec!["NAME", "STATE", "MODE", "VERSION", "REGION", "OBJECTS"];
    if wide {
        headings.extend(["CONTEXT", "UID", "TAINTS", "LABELS"]);
    }
    let mut table = Table::new(headings);
    for (name, cluster, status) in clusters {
        let label = |key: &str| cluster.metadata.labels.get(key).map_or("-", String::as_str).to_owned();
        let mode = match cluster.spec.mode {
            ClusterMode::Push => "Push",
            ClusterMode::Pull => "Pull",
            ClusterMode::None => "None",
        };
        let mut row: Vec<Text> = vec![
            (*name).into(),
            state(cluster, *status),
            mode.into(),
            status.and_then(|it| it.version.clone()).unwrap_or_else(|| "-".into()).into(),
            label("topology.kubernetes.io/region").into(),
            status.map_or_else(|| "-".into(), |it| it.objects.to_string()).into(),
        ];
        if wide {
            let taints: Vec<String> = cluster.spec.taints.iter().map(ToString::to_string).collect();
            let labels: Vec<String> =
                cluster.metadata.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
            row.extend([
                or_dash(cluster.spec.connection.context.clone().unwrap_or_default()).into(),
                or_dash(cluster.spec.uid.clone().unwrap_or_default()).into(),
                or_dash(taints.join(",")).into(),
                or_dash(labels.join(",")).into(),
            ]);
        }
        table.row(row);
    }
    table
}

/// In words, as kubectl says it of a node.
fn state(cluster: &Cluster, status: Option<&ClusterStatus>) -> Text {
    let text = match status {
        None => Text::toned(Tone::Dim, "Unknown"),
        Some(status) if status.reachable && status.fresh => Text::toned(Tone::Good, "Ready"),
        Some(status) if status.reachable => Text::toned(Tone::Warn, "Stale"),
        Some(_) => Text::toned(Tone::Bad, "Unreachable"),
    };
    if cluster.spec.unschedulable { text.and(Tone::Warn, ",Cordoned") } else { text }
}

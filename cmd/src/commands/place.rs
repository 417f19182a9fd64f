//! `kubectl kcp place`: says on which clusters workspaces run. Makes a Placement, or edits the one that claims them.

use clap::{ArgGroup, Args};
use kcp_api::{Kind, LabelSelector, Placement, Toleration};
use kcp_core::config::{Config, Located};
use kcp_git::Edits;
use serde_json::{Map, Value, json};

use super::Context;
use crate::documents::{self, Editing, path};
use crate::edit::{Edit, EditArgs, apply};
use crate::error::{CommandError, Outcome};
use crate::labels;
use crate::members::known;
use crate::repo::FleetRepo;
use crate::taints;

/// Say on which clusters workspaces run
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("count").args(["exactly", "min", "all"]).required(true),
    after_help = "Examples:
  kubectl kcp place web --exactly 1
  kubectl kcp place web api --name shop --min 2 --max 4 -L stage=prod
  kubectl kcp place agents --all --toleration gpu:NoSchedule"
)]
pub(crate) struct PlaceArgs {
    /// Names of workspaces
    #[arg(required = true, value_name = "WORKSPACE")]
    workspaces: Vec<String>,
    /// Name of the placement; default: the one that claims the workspaces, or the name of the workspace
    #[arg(long)]
    name: Option<String>,
    /// On this many clusters
    #[arg(long, value_name = "N")]
    exactly: Option<u32>,
    /// On at least this many clusters
    #[arg(long, value_name = "N")]
    min: Option<u32>,
    /// On at most this many clusters
    #[arg(long, value_name = "N", requires = "min")]
    max: Option<u32>,
    /// On every cluster that may be chosen
    #[arg(long)]
    all: bool,
    /// Only on clusters with these labels, as in `stage=prod,!edge`
    #[arg(short = 'L', long, value_name = "SELECTOR")]
    cluster_selector: Option<String>,
    /// Put up with a taint; may be given more than once
    #[arg(long = "toleration", value_name = "KEY[=VALUE][:EFFECT]", value_parser = taints::toleration)]
    tolerations: Vec<Toleration>,
    #[command(flatten)]
    edit: EditArgs,
}

impl PlaceArgs {
    fn count(&self) -> Value {
        let mut count = Map::new();
        for (field, value) in [("exactly", self.exactly), ("min", self.min), ("max", self.max)] {
            if let Some(value) = value {
                count.insert(field.into(), json!(value));
            }
        }
        if self.all {
            count.insert("all".into(), json!(true));
        }
        Value::Object(count)
    }
}

pub(crate) async fn run(context: &Context, mut args: PlaceArgs) -> Outcome {
    args.edit.check()?;
    if let (Some(min), Some(max)) = (args.min, args.max)
        && min > max
    {
        return Err(CommandError::usage(format!("--min {min} is more than --max {max}")));
    }
    let selector = args.cluster_selector.as_deref().map(labels::selector).transpose()?;
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let mut seen = std::collections::BTreeSet::new();
    args.workspaces.retain(|name| seen.insert(name.clone()));
    for name in &args.workspaces {
        known("workspace", name, &config.workspaces)?;
    }
    let (files, name) = match target(&config, &args)? {
        Target::Edit(placement) => {
            let name = placement.value.metadata.name.clone();
            (edited(&fleet, placement, &args, selector.as_ref())?, name)
        }
        Target::Create(name) => (created(&fleet, &config, &name, &args, selector.as_ref())?, name),
    };
    let edit = Edit {
        files,
        subject: format!("place {}", args.workspaces.join(", ")),
        unchanged: format!("nothing to change: the placement {name} says so already"),
        next: vec!["see what follows: kubectl kcp plan".into()],
    };
    apply(context, &fleet, &args.edit, edit).await
}

enum Target<'a> {
    Edit(&'a Located<Placement>),
    Create(String),
}

/// Which placement is meant. A workspace that another one claims is not taken from it.
fn target<'a>(config: &'a Config, args: &PlaceArgs) -> Result<Target<'a>, CommandError> {
    let mut claiming: Vec<(&str, &Located<Placement>)> = Vec::new();
    for workspace in &args.workspaces {
        let Some(placement) = config.placement_of(workspace) else { continue };
        let name = &placement.value.metadata.name;
        if args.name.as_ref().is_some_and(|wanted| wanted != name) {
            let message =
                format!("the workspace {workspace} belongs to the placement {name}: {}", placement.origin());
            return Err(CommandError::failure(message)
                .hint(format!("leave out --name to edit {name}, or take {workspace} out of it first")));
        }
        claiming.push((workspace, placement));
    }
    if let Some(name) = &args.name {
        return Ok(config.placements.get(name).map_or_else(|| Target::Create(name.clone()), Target::Edit));
    }
    let Some((first, placement)) = claiming.first() else {
        let [only] = args.workspaces.as_slice() else {
            let message = "several workspaces, and no placement has one of them yet";
            return Err(CommandError::usage(message).hint("--name NAME makes one for all of them"));
        };
        return Ok(config.placements.get(only).map_or_else(|| Target::Create(only.clone()), Target::Edit));
    };
    if let Some((other, second)) =
        claiming.iter().find(|(_, it)| it.value.metadata.name != placement.value.metadata.name)
    {
        let message = format!(
            "two placements claim them: {first} belongs to {} ({}), {other} to {} ({})",
            placement.value.metadata.name,
            placement.origin(),
            second.value.metadata.name,
            second.origin()
        );
        return Err(CommandError::failure(message).hint("place them one by one"));
    }
    Ok(Target::Edit(placement))
}

fn created(
    fleet: &FleetRepo,
    config: &Config,
    name: &str,
    args: &PlaceArgs,
    selector: Option<&LabelSelector>,
) -> Result<Edits, CommandError> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        return Err(
            CommandError::usage(format!("{name:?}: not a name of a placement")).hint("write it like web")
        );
    }
    let file = format!("{}/{name}.yaml", config.fleet.value.spec.paths.placements);
    if fleet.root()?.join(&file).exists() {
        let message = format!("{file} is there already and holds no placement {name}");
        return Err(CommandError::failure(message).hint("choose another name with --name"));
    }
    let mut spec = Map::new();
    spec.insert("workspaces".into(), json!({ "names": args.workspaces }));
    spec.insert("clusters".into(), args.count());
    if let Some(selector) = selector {
        spec.insert("clusterSelector".into(), json!(selector));
    }
    if !args.tolerations.is_empty() {
        spec.insert("tolerations".into(), args.tolerations.iter().map(as_written).collect());
    }
    let text = documents::text(Kind::Placement, json!({ "name": name }), Value::Object(spec));
    Ok(Edits::from([(file, Some(text))]))
}

fn edited(
    fleet: &FleetRepo,
    placement: &Located<Placement>,
    args: &PlaceArgs,
    selector: Option<&LabelSelector>,
) -> Result<Edits, CommandError> {
    let name = &placement.value.metadata.name;
    let spec = &placement.value.spec;
    let mut document = Editing::open(&fleet.files()?, placement, Kind::Placement, name)?;
    let names = &spec.workspaces.names;
    let missing: Vec<&String> = args.workspaces.iter().filter(|it| !names.contains(it)).collect();
    if spec.workspaces.selector.is_none() {
        for workspace in missing {
            document.push(&path(["spec", "workspaces", "names"]), &json!(workspace))?;
        }
    } else if let Some(workspace) = missing.first().filter(|_| args.name.is_some()) {
        // Those that its labels choose are claimed already, and only a named placement can be one that does not.
        let message =
            format!("the placement {name} chooses workspaces by label, and may not choose {workspace}");
        return Err(CommandError::failure(message)
            .hint("label the workspace in its workspace.yaml, or use another placement"));
    }
    document.set(&path(["spec", "clusters"]), &args.count())?;
    if let Some(selector) = selector {
        document.set(&path(["spec", "clusterSelector"]), &json!(selector))?;
    }
    for toleration in &args.tolerations {
        if !spec.tolerations.contains(toleration) {
            document.push(&path(["spec", "tolerations"]), &as_written(toleration))?;
        }
    }
    Ok(document.finish().into_iter().collect())
}

/// Without what is at its default.
fn as_written(toleration: &Toleration) -> Value {
    let mut value = json!(toleration);
    if toleration.operator == kcp_api::TolerationOperator::default()
        && let Some(fields) = value.as_object_mut()
    {
        fields.remove("operator");
    }
    value
}

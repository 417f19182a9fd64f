//! `kubectl kcp suspend`: writes stop on purpose, with a reason, until a stated time.

use clap::{ArgGroup, Args};
use kcp_api::{Kind, Suspension};
use kcp_core::config::Config;
use serde_json::json;

use super::Context;
use crate::documents::{Editing, path};
use crate::edit::{Edit, EditArgs, apply};
use crate::error::{CommandError, Outcome};
use crate::members::known;
use crate::repo::FleetRepo;
use crate::when;

/// What is stopped or goes on.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("subject").args(["fleet", "cluster", "placement"]).required(true))]
pub(crate) struct Subject {
    /// The whole fleet
    #[arg(long)]
    fleet: bool,
    /// One cluster
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// One placement, and so its workspaces
    #[arg(long, value_name = "NAME")]
    placement: Option<String>,
}

/// Stop all writes for the fleet, a cluster or a placement; ends by itself
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp suspend --cluster eu-1 --reason 'hardware swap' --until 2h
  kubectl kcp suspend --fleet --reason 'change freeze' --until 2027-01-03T08:00:00Z")]
pub(crate) struct SuspendArgs {
    #[command(flatten)]
    subject: Subject,
    /// Why, for the people who wait
    #[arg(long)]
    reason: String,
    /// When it ends: a duration from now, or a point in time
    #[arg(long, value_name = "TIME")]
    until: String,
    #[command(flatten)]
    edit: EditArgs,
}

impl Subject {
    /// In words.
    pub(crate) fn words(&self) -> String {
        match (&self.cluster, &self.placement) {
            (Some(name), _) => format!("cluster {name}"),
            (None, Some(name)) => format!("placement {name}"),
            (None, None) => "the fleet".into(),
        }
    }

    /// As it is given on the command line.
    fn flag(&self) -> String {
        match (&self.cluster, &self.placement) {
            (Some(name), _) => format!("--cluster {name}"),
            (None, Some(name)) => format!("--placement {name}"),
            (None, None) => "--fleet".into(),
        }
    }

    /// What is suspended already.
    pub(crate) fn suspensions<'a>(&self, config: &'a Config) -> Result<&'a [Suspension], CommandError> {
        Ok(match (&self.cluster, &self.placement) {
            (Some(name), _) => &known("cluster", name, &config.clusters)?.value.spec.suspend,
            (None, Some(name)) => &known("placement", name, &config.placements)?.value.spec.suspend,
            (None, None) => &config.fleet.value.spec.suspend,
        })
    }

    /// Its document.
    pub(crate) fn open(&self, fleet: &FleetRepo, config: &Config) -> Result<Editing, CommandError> {
        let files = fleet.files()?;
        match (&self.cluster, &self.placement) {
            (Some(name), _) => {
                Editing::open(&files, known("cluster", name, &config.clusters)?, Kind::Cluster, name)
            }
            (None, Some(name)) => {
                Editing::open(&files, known("placement", name, &config.placements)?, Kind::Placement, name)
            }
            (None, None) => {
                Editing::open(&files, &config.fleet, Kind::Fleet, &config.fleet.value.metadata.name)
            }
        }
    }
}

pub(crate) async fn run(context: &Context, args: SuspendArgs) -> Outcome {
    args.edit.check()?;
    let until = when::until("--until", &args.until, when::now())?;
    if args.reason.trim().is_empty() {
        return Err(CommandError::usage("--reason is empty").hint("say why, for the people who wait"));
    }
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    args.subject.suspensions(&config)?;
    let mut document = args.subject.open(&fleet, &config)?;
    let suspension =
        Suspension { clusters: Vec::new(), reason: Some(args.reason.clone()), until: until.clone() };
    document.push(&path(["spec", "suspend"]), &json!(suspension))?;
    let edit = Edit {
        files: document.finish().into_iter().collect(),
        subject: format!("suspend {} until {}: {}", args.subject.words(), until.as_str(), args.reason),
        unchanged: String::new(),
        next: vec![format!("it ends by itself, or by: kubectl kcp resume {}", args.subject.flag())],
    };
    apply(context, &fleet, &args.edit, edit).await
}

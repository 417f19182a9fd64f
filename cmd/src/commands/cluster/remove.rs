//! `kubectl kcp cluster remove`: the document goes; everything on the cluster stays.

use clap::Args;
use kcp_api::Kind;
use kcp_git::Edits;

use super::Context;
use crate::documents::Editing;
use crate::edit::{Edit, EditArgs, apply};
use crate::error::{CommandError, Outcome};
use crate::members::known;

/// Take clusters out of the fleet; everything on them stays as it is
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl kcp cluster remove eu-1")]
pub(crate) struct RemoveArgs {
    /// Names of clusters
    #[arg(required = true)]
    names: Vec<String>,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) async fn run(context: &Context, args: RemoveArgs) -> Outcome {
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let mut files = Edits::new();
    for name in &args.names {
        let cluster = known("cluster", name, &config.clusters)?;
        let document = Editing::open(&fleet.files()?, cluster, Kind::Cluster, name)?;
        if !document.is_alone() {
            let message = format!("{} holds other documents, too", cluster.file);
            let hint = format!("remove the one at line {} by hand", cluster.line);
            return Err(CommandError::failure(message).hint(hint));
        }
        files.insert(cluster.file.clone(), None);
    }
    let names = args.names.join(", ");
    let edit = Edit {
        files,
        subject: format!("remove cluster {names}"),
        unchanged: String::new(),
        next: vec![format!("{names} detached: everything there stays, and nothing is done there any more")],
    };
    apply(context, &fleet, &args.edit, edit).await
}

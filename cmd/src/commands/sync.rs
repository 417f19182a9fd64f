//! `kubectl kcp sync`: one pass over one cluster, whatever its mode. Thin: everything it does is kcp-reconciler's.

use clap::Args;
use kcp_api::Duration;
use kcp_reconciler::args::RunArgs;
use kcp_reconciler::{Scope, signal};

use super::Context;
use super::run::report;
use crate::error::{CommandError, Outcome};
use crate::members::known;

/// Bring one cluster up to date, once; also one of mode None
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  kubectl kcp sync --cluster lab --timeout 2m")]
pub(crate) struct SyncArgs {
    /// Name of the cluster
    #[arg(long, value_name = "NAME")]
    cluster: String,
    /// Give up after this time
    #[arg(long, default_value = "5m", value_name = "DURATION")]
    timeout: Duration,
    /// Kubeconfig whose contexts the Cluster documents name; default: KUBECONFIG, then ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<std::path::PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) async fn run(context: &Context, args: SyncArgs) -> Outcome {
    let fleet = context.fleet()?;
    known("cluster", &args.cluster, &fleet.config()?.clusters)?;
    let location = fleet.location().to_str().ok_or_else(|| {
        CommandError::failure(format!(
            "{}: the path of the repo is not UTF-8 text",
            fleet.location().display()
        ))
    })?;
    let builder = args.run.builder(location, args.kubeconfig).scope(Scope::Cluster(args.cluster));
    let once = builder.run_once(args.timeout.to_std(), signal::terminated()).await?;
    Ok(report(context, &once, args.timeout))
}

//! `kubectl kcp run`: the reconciler, in the foreground. Thin: everything it does is kcp-reconciler's.

use clap::Args;
use kcp_api::Duration;
use kcp_core::world::Contact;
use kcp_reconciler::args::RunArgs;
use kcp_reconciler::{Once, signal};

use super::Context;
use crate::error::{CommandError, Exit, Outcome};
use crate::ui::{Text, Tone};

/// Run the reconciler here: keep the clusters as the repo says, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp run --once
  kubectl kcp run --branch main --listen 127.0.0.1:8470

Exit codes with --once: 1 if something is held or wrong, 4 if it was not done in time.")]
pub(crate) struct RunCommand {
    /// One pass: until nothing is left that can be done now
    #[arg(long)]
    once: bool,
    /// With --once: give up after this time
    #[arg(long, default_value = "5m", value_name = "DURATION", requires = "once")]
    timeout: Duration,
    /// Kubeconfig whose contexts the Cluster documents name; default: KUBECONFIG, then ~/.kube/config
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<std::path::PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) async fn run(context: &Context, args: RunCommand) -> Outcome {
    let fleet = context.fleet()?;
    let location = fleet.location().to_str().ok_or_else(|| {
        CommandError::failure(format!(
            "{}: the path of the repo is not UTF-8 text",
            fleet.location().display()
        ))
    })?;
    let builder = args.run.builder(location, args.kubeconfig);
    if args.once {
        let once = builder.run_once(args.timeout.to_std(), signal::terminated()).await?;
        return Ok(report(context, &once, args.timeout));
    }
    builder.run(signal::terminated()).await?;
    Ok(Exit::Yes)
}

/// Says how a pass ended.
pub(super) fn report(context: &Context, once: &Once, limit: Duration) -> Exit {
    let (ui, engine) = (&context.ui, &once.engine);
    let mut lost = false;
    for (name, view) in engine.connected() {
        if let Contact::Lost { message, .. } | Contact::Refused { message, .. } = &view.contact {
            lost = true;
            ui.line(Text::toned(Tone::Bad, format!("{name}: ")).and(Tone::Plain, message.clone()));
        }
    }
    let plan = engine.plan();
    for hold in &plan.holds {
        ui.line(
            Text::toned(Tone::Warn, "held: ").and(Tone::Plain, format!("{}: {}", hold.subject, hold.message)),
        );
    }
    for problem in &plan.problems {
        let workspace =
            problem.workspace.as_ref().map_or_else(String::new, |name| format!("workspace {name}: "));
        ui.line(
            Text::toned(Tone::Bad, "problem: ").and(Tone::Plain, format!("{workspace}{}", problem.message)),
        );
    }
    if !once.settled {
        ui.note(format!("not everything was done within {limit}; run it again, or see: kubectl kcp status"));
        return Exit::Timeout;
    }
    let members: usize =
        plan.clusters.values().flat_map(|it| it.sets.values()).map(|set| set.unchanged).sum();
    ui.line(format!("done: {members} objects are as they should be"));
    if lost || !plan.holds.is_empty() || !plan.problems.is_empty() { Exit::No } else { Exit::Yes }
}

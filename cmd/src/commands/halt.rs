//! `kubectl kcp halt`: break-glass without git, for the reconciler on this machine. May only reduce what is done, and
//! ends by itself.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use kcp_api::Duration;
use kcp_core::world::Halt;
use kcp_reconciler::args::default_state_dir;
use kcp_reconciler::halt::{HaltFile, LONGEST};

use super::Context;
use crate::error::{CommandError, Exit, Outcome};
use crate::when;

/// Stop all writes of the reconciler on this machine, without git
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").args(["until", "end"]).required(true),
    after_help = "Examples:
  kubectl kcp halt --until 1h --reason 'eu is on fire'
  kubectl kcp halt --end"
)]
pub(crate) struct HaltArgs {
    /// When it ends: a duration from now, or a point in time; at most 24h
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Why, for the people who wait
    #[arg(long, conflicts_with = "end")]
    reason: Option<String>,
    /// End it now
    #[arg(long)]
    end: bool,
    /// Folder where the reconciler keeps what stays on this machine
    #[arg(long, env = "KCP_STATE_DIR", value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &HaltArgs) -> Outcome {
    let now = when::now();
    let until = args.until.as_deref().map(|text| when::until("--until", text, now)).transpose()?;
    if let Some(until) = &until
        && until.epoch_seconds() - now > LONGEST
    {
        let longest = Duration::from_secs(LONGEST.unsigned_abs());
        return Err(CommandError::usage(format!("a halt lasts {longest} at most")).hint(
            "what lasts longer belongs into git: kubectl kcp suspend --fleet --reason REASON --until TIME",
        ));
    }
    let config = context.fleet()?.config()?;
    let fleet = &config.fleet.value;
    let directory = args.state_dir.clone().unwrap_or_else(default_state_dir);
    let file = HaltFile::new(&directory, &fleet.spec.id);
    let failed = |error: std::io::Error| CommandError::failure(format!("{}: {error}", file.path().display()));
    match until {
        None => {
            let was = file.clear().map_err(failed)?;
            let text = if was { "ended: the reconciler goes on" } else { "there was no halt" };
            context.ui.line(text);
        }
        Some(until) => {
            let reason = args.reason.clone().unwrap_or_else(|| "no reason was given".into());
            file.write(&Halt { until: until.epoch_seconds(), reason }).map_err(failed)?;
            context.ui.line(format!(
                "fleet {} is halted on this machine until {}",
                fleet.metadata.name,
                until.as_str()
            ));
            context.ui.hint("only reading goes on; end it earlier with: kubectl kcp halt --end");
        }
    }
    Ok(Exit::Yes)
}

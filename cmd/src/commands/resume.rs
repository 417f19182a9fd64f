//! `kubectl kcp resume`: what was suspended goes on before its time.

use clap::Args;

use super::Context;
use super::suspend::Subject;
use crate::documents::path;
use crate::edit::{Edit, EditArgs, apply};
use crate::error::Outcome;

/// End what `suspend` stopped, before its time
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  kubectl kcp resume --cluster eu-1\n  kubectl kcp resume --fleet")]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) async fn run(context: &Context, args: ResumeArgs) -> Outcome {
    args.edit.check()?;
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let mut document = args.subject.open(&fleet, &config)?;
    if !args.subject.suspensions(&config)?.is_empty() {
        document.remove(&path(["spec", "suspend"]))?;
    }
    let edit = Edit {
        files: document.finish().into_iter().collect(),
        subject: format!("resume {}", args.subject.words()),
        unchanged: format!("nothing to change: {} is not suspended", args.subject.words()),
        next: vec!["see what follows: kubectl kcp plan".into()],
    };
    apply(context, &fleet, &args.edit, edit).await
}

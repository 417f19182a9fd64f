//! `kubectl kcp api ...`: what APIs accept, and what changed in them. Works on files alone; no fleet is needed.

mod check;
mod diff;
mod lcd;
mod source;
mod validate;

use clap::Subcommand;

use super::Context;
use crate::error::Outcome;

/// Compare APIs: breaking changes, all changes, what is common
#[derive(Debug, Subcommand)]
pub(crate) enum ApiCommand {
    Check(check::CheckArgs),
    Diff(diff::DiffArgs),
    Lcd(lcd::LcdArgs),
    Validate(validate::ValidateArgs),
}

pub(crate) fn run(context: &Context, command: &ApiCommand) -> Outcome {
    match command {
        ApiCommand::Check(args) => check::run(context, args),
        ApiCommand::Diff(args) => diff::run(context, args),
        ApiCommand::Lcd(args) => lcd::run(context, args),
        ApiCommand::Validate(args) => validate::run(context, args),
    }
}

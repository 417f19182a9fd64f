//! `kubectl kcp`: words in; text, commits and an exit code out. It has no rules of its own: what a document means is
//! kcp-api's, what is to be done is kcp-core's.

mod ahead;
mod args;
mod commands;
mod diff;
mod documents;
mod edit;
mod error;
mod labels;
mod member;
mod members;
mod overlay;
mod recorded;
mod repo;
mod taints;
mod ui;
mod when;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main(std::env::args_os())
}

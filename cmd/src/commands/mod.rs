//! One file a verb: arguments, whose comments are the help, and what is done with them.

pub(crate) mod api;
pub(crate) mod approve;
pub(crate) mod cluster;
pub(crate) mod completion;
pub(crate) mod doctor;
pub(crate) mod halt;
pub(crate) mod init;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod render;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod suspend;
pub(crate) mod sync;
pub(crate) mod version;
pub(crate) mod why;
pub(crate) mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use kcp_reconciler::logs;

use crate::args::{Cli, Command};
use crate::error::{CommandError, Exit, Outcome};
use crate::repo::FleetRepo;
use crate::ui::Ui;

/// What every verb is given.
#[derive(Debug)]
pub(crate) struct Context {
    /// Where output goes.
    pub(crate) ui: Ui,
    /// `--repo`.
    pub(crate) repo: Option<PathBuf>,
}

impl Context {
    /// The repo that the person means.
    pub(crate) fn fleet(&self) -> Result<FleetRepo, CommandError> {
        FleetRepo::find(self.repo.as_deref())
    }
}

/// Reads the words, does what they say, gives the exit code.
pub(crate) fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not errors; clap prints both kinds where they belong.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Yes }.into();
        }
    };
    let quiet = if matches!(cli.command, Command::Run(_) | Command::Sync(_)) { "info" } else { "error" };
    logs::init(match cli.global.verbosity {
        None | Some(0) => quiet,
        Some(1..=3) => "info",
        // What lies below says so much that nothing else would be seen.
        Some(4 | 5) => "info,kcp_core=debug,kcp_git=debug,kcp_cluster=debug,kcp_reconciler=debug",
        Some(_) => "debug",
    });
    let context = Context { ui: Ui::new(), repo: cli.global.repo };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            context.ui.error(&CommandError::failure(format!("cannot start: {error}")));
            return Exit::Failure.into();
        }
    };
    match runtime.block_on(run(&context, cli.command)) {
        Ok(exit) => exit.into(),
        Err(error) => {
            context.ui.error(&error);
            error.exit.into()
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Boxed one by one: the verbs differ much in what they hold.
async fn run(context: &Context, command: Command) -> Outcome {
    match command {
        Command::Init(args) => Box::pin(init::run(context, args)).await,
        Command::Cluster(command) => Box::pin(cluster::run(context, command)).await,
        Command::Workspace(command) => Box::pin(workspace::run(context, command)).await,
        Command::Place(args) => Box::pin(place::run(context, args)).await,
        Command::Plan(args) => Box::pin(plan::run(context, args)).await,
        Command::Render(args) => render::run(context, &args),
        Command::Run(args) => Box::pin(run::run(context, args)).await,
        Command::Sync(args) => Box::pin(sync::run(context, args)).await,
        Command::Status(args) => status::run(context, &args),
        Command::Why(args) => Box::pin(why::run(context, args)).await,
        Command::Api(command) => api::run(context, &command),
        Command::Approve(args) => Box::pin(approve::run(context, args)).await,
        Command::Suspend(args) => Box::pin(suspend::run(context, args)).await,
        Command::Resume(args) => Box::pin(resume::run(context, args)).await,
        Command::Halt(args) => halt::run(context, &args),
        Command::Doctor(args) => Box::pin(doctor::run(context, args)).await,
        Command::Version(args) => version::run(context, &args),
        Command::Completion(args) => completion::run(context, &args),
    }
}

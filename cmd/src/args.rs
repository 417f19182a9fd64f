//! The words of the command line: the verbs and the flags that all of them take.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    api, approve, cluster, completion, doctor, halt, init, place, plan, render, resume, run, status, suspend,
    sync, version, why, workspace,
};

/// How the program is called by people.
pub(crate) const NAME: &str = "kubectl kcp";

/// Edits placement and policy YAML in a git repo, shows what it would do on many clusters, and does it
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    bin_name = NAME,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 110,
    after_help = "Examples:
  kubectl kcp init
  kubectl kcp cluster add eu-1 --context eu-1 --open
  kubectl kcp workspace add web --namespace web -f ./web.yaml
  kubectl kcp place web --exactly 1
  kubectl kcp plan && kubectl kcp run --once
  kubectl kcp status web

Exit codes:
  0  done, or the answer is yes
  1  the answer is no: it differs, is not ready, is held, or has findings
  2  the words of the command are wrong
  3  it could not be done
  4  it was not done in time"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Folder of the fleet repo; default: the repo that the current folder is in
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) repo: Option<PathBuf>,
    /// Log what is done, on stderr; higher levels say more
    #[arg(short = 'v', long = "v", global = true, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "2")]
    pub(crate) verbosity: Option<u8>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitArgs),
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    #[command(subcommand)]
    Workspace(workspace::WorkspaceCommand),
    Place(place::PlaceArgs),
    Plan(plan::PlanArgs),
    Render(render::RenderArgs),
    Run(run::RunCommand),
    Sync(sync::SyncArgs),
    Status(status::StatusArgs),
    Why(why::WhyArgs),
    #[command(subcommand)]
    Api(api::ApiCommand),
    Approve(approve::ApproveArgs),
    Suspend(suspend::SuspendArgs),
    Resume(resume::ResumeArgs),
    Halt(halt::HaltArgs),
    Doctor(doctor::DoctorArgs),
    Version(version::VersionArgs),
    Completion(completion::CompletionArgs),
}

/// Output for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataOutput {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// Output of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableOutput {
    /// More columns
    Wide,
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// Names only
    Name,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn flags_and_verbs_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_explains_itself_with_an_example() {
        fn check(command: &clap::Command, path: &str) {
            let verbs: Vec<_> = command.get_subcommands().filter(|it| it.get_name() != "help").collect();
            assert!(command.get_about().is_some(), "{path}: no description");
            if verbs.is_empty() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.starts_with("Example") && help.contains(path), "{path}: no example in {help:?}");
            }
            for verb in verbs {
                check(verb, &format!("{path} {}", verb.get_name()));
            }
        }
        check(&Cli::command(), super::NAME);
    }

    #[test]
    fn every_flag_is_explained() {
        fn check(command: &clap::Command) {
            for flag in command.get_arguments() {
                assert!(flag.get_help().is_some(), "{}: {}", command.get_name(), flag.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}

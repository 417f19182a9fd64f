//! `kubectl kcp completion`: a script for the person's shell.

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::Context;
use crate::args::Cli;
use crate::error::{Exit, Outcome};

/// Name of the program file, which is what shells complete.
const PROGRAM: &str = "kubectl-kcp";

/// Print a completion script for your shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  source <(kubectl kcp completion bash)
  kubectl kcp completion zsh > ~/.zfunc/_kubectl-kcp
  kubectl kcp completion fish > ~/.config/fish/completions/kubectl-kcp.fish")]
pub(crate) struct CompletionArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Supported,
}

/// Shells that a script can be had for.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Supported {
    /// Bash
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
    /// PowerShell
    Powershell,
}

pub(crate) fn run(context: &Context, args: &CompletionArgs) -> Outcome {
    let shell = match args.shell {
        Supported::Bash => Shell::Bash,
        Supported::Zsh => Shell::Zsh,
        Supported::Fish => Shell::Fish,
        Supported::Powershell => Shell::PowerShell,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command().name(PROGRAM), PROGRAM, &mut script);
    context.ui.data(&String::from_utf8_lossy(&script));
    Ok(Exit::Yes)
}

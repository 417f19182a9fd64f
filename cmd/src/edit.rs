//! What all editing verbs share: edits of files become one commit. Judged before anything is written: the repo as it
//! will be must be valid. Never touches files that hold somebody else's uncommitted work.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use clap::{Args, ValueEnum};
use kcp_core::config;
use kcp_git::{CommitError, CommitId, Edits, GitCommand, Repo};

use crate::ahead::{self, Place, Request};
use crate::commands::Context;
use crate::diff;
use crate::error::{CommandError, Exit, Outcome, findings};
use crate::member::ConnectArgs;
use crate::overlay::Overlay;
use crate::repo::FleetRepo;

/// Flags of every editing verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Commit")]
pub(crate) struct EditArgs {
    /// Only show the diff; `server` also shows the plan against the clusters as they are now
    #[arg(long, value_enum, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_value = "none", default_missing_value = "client")]
    pub(crate) dry_run: DryRun,
    /// Write the files, but do not commit them
    #[arg(long, conflicts_with = "push")]
    pub(crate) no_commit: bool,
    /// Message of the commit
    #[arg(short = 'm', long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Push the branch after the commit
    #[arg(long)]
    pub(crate) push: bool,
    /// Refused by name: opening pull requests is not there yet
    #[arg(long, hide = true)]
    pub(crate) pr: bool,
    /// Kubeconfig for `--dry-run=server`
    #[command(flatten)]
    pub(crate) connect: ConnectArgs,
}

/// How far an edit goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DryRun {
    /// It is made.
    None,
    /// The diff is shown; no network.
    Client,
    /// The diff is shown, and the plan against the clusters as they are now.
    Server,
}

/// An edit, ready to be made.
#[derive(Debug)]
pub(crate) struct Edit {
    /// The files; `None` removes one.
    pub(crate) files: Edits,
    /// Subject of the commit.
    pub(crate) subject: String,
    /// What to say when nothing changes.
    pub(crate) unchanged: String,
    /// What to do next.
    pub(crate) next: Vec<String>,
}

impl EditArgs {
    /// Refuses what is not there yet. To be called before anything else is done.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        if self.pr {
            let hint = "use --push and open the pull request on your git host";
            return Err(CommandError::usage("--pr is not there yet").hint(hint));
        }
        Ok(())
    }
}

/// Makes an edit: checks it, shows or writes it, commits and pushes it.
pub(crate) async fn apply(context: &Context, fleet: &FleetRepo, args: &EditArgs, edit: Edit) -> Outcome {
    args.check()?;
    let work_tree = fleet.files()?;
    let files: Edits =
        edit.files.into_iter().filter(|(path, new)| differs(fleet, path, new.as_deref())).collect();
    if files.is_empty() {
        context.ui.line(edit.unchanged);
        return Ok(Exit::Yes);
    }
    let after = Overlay::new(&work_tree, &files);
    let config = config::load(&after).map_err(|found| {
        findings("not done: the documents of the fleet would have", &found)
            .hint("nothing was written; repair these first, or give other values")
    })?;
    match args.dry_run {
        DryRun::None => {}
        DryRun::Client => {
            show_diff(context, fleet, &files);
            return Ok(Exit::Yes);
        }
        DryRun::Server => {
            show_diff(context, fleet, &files);
            let options = args.connect.options();
            let request = Request { live: Some(options), ..Request::default() };
            let place = Place { name: "working tree with this edit", commit: None };
            let ahead = ahead::look_at(fleet, &after, place, &config, &request).await?;
            return Ok(crate::commands::plan::text(context, &ahead, None));
        }
    }
    if args.no_commit {
        write(fleet.root()?, &files)?;
        for (path, verb) in described(fleet, &files) {
            context.ui.line(format!("{verb} {path}, not committed"));
        }
    } else {
        let message = args.message.clone().unwrap_or_else(|| edit.subject.clone());
        let described = described(fleet, &files);
        let commit = commit(&fleet.repo, &files, &message).await?;
        context.ui.line(format!("[{}] {}", commit.short(), message.lines().next().unwrap_or_default()));
        for (path, verb) in described {
            context.ui.line(format!("  {verb} {path}"));
        }
        if args.push {
            push(context, fleet).await?;
        }
    }
    for next in edit.next {
        context.ui.hint(next);
    }
    Ok(Exit::Yes)
}

/// Commits files, and says what to do when that is refused.
pub(crate) async fn commit(repo: &Repo, files: &Edits, message: &str) -> Result<CommitId, CommandError> {
    GitCommand::new().commit_paths(repo, files, message).await.map_err(|error| match error {
        CommitError::Refused { .. } => CommandError::from(error).hint(
            "the files are written; commit them yourself, or repair what git names and run the command again",
        ),
        CommitError::Foreign(_) => CommandError::from(error)
            .hint("nothing was written; --no-commit edits the files and leaves committing to you"),
        error => error.into(),
    })
}

fn differs(fleet: &FleetRepo, path: &str, new: Option<&[u8]>) -> bool {
    on_disk(fleet, path).as_deref() != new
}

fn on_disk(fleet: &FleetRepo, path: &str) -> Option<Vec<u8>> {
    fs::read(fleet.repo.root()?.join(path)).ok()
}

fn show_diff(context: &Context, fleet: &FleetRepo, files: &Edits) {
    for (path, new) in files {
        context.ui.data(&diff::unified(path, on_disk(fleet, path).as_deref(), new.as_deref()));
    }
}

/// Each path with what happens to it.
fn described(fleet: &FleetRepo, files: &Edits) -> Vec<(String, &'static str)> {
    let verb = |path: &str, new: &Option<Vec<u8>>| match (on_disk(fleet, path), new) {
        (None, _) => "create",
        (Some(_), Some(_)) => "change",
        (Some(_), None) => "delete",
    };
    files.iter().map(|(path, new)| (path.clone(), verb(path, new))).collect()
}

fn write(root: &Path, files: &Edits) -> Result<(), CommandError> {
    for (path, content) in files {
        let full = root.join(path);
        let wrong =
            |error: std::io::Error| CommandError::failure(format!("{path}: cannot be written: {error}"));
        let mut at = root.to_owned();
        for name in path.split('/') {
            at.push(name);
            // A link might lead out of the repo.
            if fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_symlink()) {
                let message = format!("{path}: a symlink is on the way; edit what it leads to");
                return Err(CommandError::failure(message));
            }
        }
        match content {
            Some(content) => {
                if let Some(folder) = full.parent() {
                    fs::create_dir_all(folder).map_err(wrong)?;
                }
                fs::write(&full, content).map_err(wrong)?;
            }
            None => fs::remove_file(&full).map_err(wrong)?,
        }
    }
    Ok(())
}

/// Pushes the branch that was committed to, by the person's own git settings.
async fn push(context: &Context, fleet: &FleetRepo) -> Result<(), CommandError> {
    let branch = fleet.repo.head_branch()?.ok_or_else(|| {
        CommandError::failure("not pushed: HEAD is on no branch").hint("the commit is made; push it yourself")
    })?;
    let root = fleet.root()?;
    let configured =
        git(root, &["config", "--get", &format!("branch.{branch}.remote")]).await.unwrap_or_default();
    let remote = if configured.trim().is_empty() {
        let remotes = git(root, &["remote"]).await.unwrap_or_default();
        let remotes: Vec<&str> = remotes.lines().collect();
        match remotes.as_slice() {
            [only] => (*only).to_owned(),
            several if several.contains(&"origin") => "origin".to_owned(),
            _ => {
                let message = format!("not pushed: git does not know where branch {branch} goes");
                let hint =
                    format!("the commit is made; push it with: git push --set-upstream REMOTE {branch}");
                return Err(CommandError::failure(message).hint(hint));
            }
        }
    } else {
        configured.trim().to_owned()
    };
    git(root, &["push", "--quiet", &remote, &format!("HEAD:refs/heads/{branch}")]).await.map_err(
        |message| {
            CommandError::failure(format!("not pushed to {remote}: {message}"))
                .hint("the commit is made; bring in what the remote has, then: git push")
        },
    )?;
    context.ui.line(format!("pushed {branch} to {remote}"));
    Ok(())
}

/// Runs the person's git and gives what it prints; its own words where it fails.
pub(crate) async fn git(dir: &Path, words: &[&str]) -> Result<String, String> {
    let mut command = tokio::process::Command::new("git");
    command.arg("-C").arg(dir).args(words).stdin(Stdio::null());
    let output = command.output().await.map_err(|error| format!("git cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let message: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).take(5).collect();
    Err(if message.is_empty() { format!("{}", output.status) } else { message.join("; ") })
}

//! The transport that runs the `git` program, so that a person's ssh, credential helpers and proxies just work. Must
//! never prompt, run a hook, or start anything but https, ssh and file transports.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::mirror;
use crate::process::{self, Output, RunError};
use crate::repo::branch_ref;
use crate::transport::{FetchRequest, PushRequest, Pushed, RefUpdate, Transfer, Transport, TransportError};
use crate::url::{Scheme, redact};
use crate::{RemoteUrl, Repo};

/// Nothing that a repo or a remote says may run a program or take more than was asked for.
const SETTINGS: [&str; 10] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "fetch.prune=false",
    "fetch.bundleURI=",
    "gc.autoDetach=false",
    "maintenance.autoDetach=false",
    "credential.interactive=false",
];

/// What the surroundings say about another repo, or about tracing that would show credentials.
const STRIPPED: [&str; 22] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_TEMPLATE_DIR",
    "GIT_PUSH_OPTION_COUNT",
    "GIT_TRACE",
    "GIT_TRACE_PACKET",
    "GIT_TRACE_CURL",
    "GIT_TRACE_SETUP",
    "GIT_CURL_VERBOSE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_TRACE2_PERF",
];

/// Runs `git`. The process environment is inherited, except what names another repo; additions win over everything.
#[derive(Clone)]
pub struct GitCommand {
    program: PathBuf,
    env: Vec<(OsString, OsString)>,
    /// Whether the configuration has an ssh command of its own; asked once.
    ssh_configured: Arc<OnceCell<bool>>,
}

impl Default for GitCommand {
    fn default() -> Self {
        Self { program: "git".into(), env: Vec::new(), ssh_configured: Arc::default() }
    }
}

/// Names only: values may be credentials.
impl std::fmt::Debug for GitCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        f.debug_struct("GitCommand")
            .field("program", &self.program)
            .field("env", &names)
            .finish_non_exhaustive()
    }
}

impl GitCommand {
    /// `git` from the search path.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Another program.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Adds an environment variable, say `GIT_ASKPASS` for a program that knows the token. `GIT_SSH_COMMAND` from
    /// the inherited environment or from here replaces ours (`ssh` in batch mode).
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub(crate) fn program_path(&self) -> &Path {
        &self.program
    }

    /// `git` with a sane environment and nothing else: the person's own settings, hooks and signing count.
    pub(crate) fn plain(&self) -> Command {
        let mut command = Command::new(&self.program);
        for name in STRIPPED {
            command.env_remove(name);
        }
        // Messages are read: they must be in one language.
        command.env("LC_ALL", "C").env("LANGUAGE", "").env("GIT_LITERAL_PATHSPECS", "1");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// `git` on a repo, without prompts, hooks and helpers.
    fn sealed(&self, git_dir: &Path) -> Command {
        let mut command = Command::new(&self.program);
        for name in STRIPPED {
            command.env_remove(name);
        }
        command
            .env("LC_ALL", "C")
            .env("LANGUAGE", "")
            .env("GIT_TERMINAL_PROMPT", "0")
            // Answers every question with nothing.
            .env("GIT_ASKPASS", "true")
            .env("SSH_ASKPASS", "true")
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env("GIT_ALLOW_PROTOCOL", "https:ssh:file")
            .env("GIT_NO_LAZY_FETCH", "1")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(git_dir);
        for setting in SETTINGS {
            command.arg("-c").arg(setting);
        }
        let mut option = OsString::from("--git-dir=");
        option.push(git_dir);
        command.arg(option);
        command
    }

    /// As `sealed`, and ssh in batch mode unless the person configured an ssh command.
    async fn network(&self, git_dir: &Path, url: &RemoteUrl) -> Command {
        let mut command = self.sealed(git_dir);
        if url.scheme() == Scheme::Ssh && !*self.ssh_configured.get_or_init(|| self.asks_ssh(git_dir)).await {
            // A setting, not the variable: a GIT_SSH_COMMAND that is there wins over it.
            command.arg("-c").arg("core.sshCommand=ssh -o BatchMode=yes");
        }
        command
    }

    async fn asks_ssh(&self, git_dir: &Path) -> bool {
        let mut command = self.sealed(git_dir);
        command.args(["config", "--get", "core.sshCommand"]);
        matches!(process::run(command, None, Duration::from_secs(10), true).await, Ok(out) if out.status.success())
    }

    /// git itself judges whether it is worth it. Nothing is lost where it fails or takes too long.
    async fn maintain_now(&self, git_dir: PathBuf, deadline: Duration) -> Result<(), TransportError> {
        let lock = mirror::lock(&git_dir, Instant::now() + deadline).await?;
        let mut command = self.sealed(&git_dir);
        command.args(["gc", "--auto", "--quiet"]);
        let done = process::run(command, None, deadline, true).await;
        let url = git_dir.display().to_string();
        let out = done.map_err(|e| self.failed(e, "tidy up", &url, deadline))?;
        drop(lock);
        if out.status.success() {
            return Ok(());
        }
        Err(TransportError::Failed { what: "tidy up", url, message: self.message(&out) })
    }

    pub(crate) fn failed(
        &self,
        error: RunError,
        what: &'static str,
        url: &str,
        limit: Duration,
    ) -> TransportError {
        match error {
            RunError::Start(source) => TransportError::NoGit { program: self.program.clone(), source },
            RunError::Deadline => TransportError::Deadline { what, url: url.into(), deadline: limit },
            RunError::Io(e) => TransportError::Failed { what, url: url.into(), message: e.to_string() },
        }
    }

    /// The error in short, without anything that may be a credential.
    pub(crate) fn message(&self, out: &Output) -> String {
        let mut text = redact(&out.stderr);
        for (name, value) in &self.env {
            let name = name.to_string_lossy().to_ascii_uppercase();
            let secret =
                ["TOKEN", "PASS", "SECRET", "KEY", "CONFIG_VALUE"].iter().any(|word| name.contains(word));
            let value = value.to_string_lossy();
            if secret && value.len() >= 6 {
                text = text.replace(&*value, "***");
            }
        }
        shorten(&text, out)
    }

    async fn fetch_now(&self, request: FetchRequest) -> Result<Vec<RefUpdate>, TransportError> {
        const WHAT: &str = "fetch from";
        let end = Instant::now() + request.deadline;
        let url = request.url.to_string();
        let mut refspecs = Vec::new();
        for want in &request.wants {
            let from = branch_ref(&want.branch)?;
            if !want.into.starts_with("refs/") || !git2::Reference::is_valid_name(&want.into) {
                return Err(crate::GitError::InvalidName { name: want.into.clone(), what: "ref" }.into());
            }
            refspecs.push(format!("+{from}:{}", want.into));
        }
        let lock = mirror::lock(&request.git_dir, end).await?;
        let old = tips(&request).await?;
        let mut command = self.network(&request.git_dir, &request.url).await;
        command.args(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]);
        command.args(["--no-auto-maintenance", "--refmap=", "--", request.url.as_arg()]).args(&refspecs);
        let left = end.saturating_duration_since(Instant::now());
        let out = match process::run(command, None, left, true).await {
            Ok(out) => out,
            Err(e) => {
                mirror::sweep_fetch(&request.git_dir, &lock);
                return Err(self.failed(e, WHAT, &url, request.deadline));
            }
        };
        if !out.status.success() {
            mirror::sweep_fetch(&request.git_dir, &lock);
            for want in &request.wants {
                if out.stderr.contains(&format!("couldn't find remote ref refs/heads/{}\n", want.branch)) {
                    return Err(TransportError::BranchMissing { url, branch: want.branch.clone() });
                }
            }
            return Err(TransportError::Failed { what: WHAT, url, message: self.message(&out) });
        }
        drop(lock);
        let new = tips(&request).await?;
        let mut updates = Vec::new();
        for ((want, old), new) in request.wants.into_iter().zip(old).zip(new) {
            let Some(new) = new else {
                let message = format!("git reported success but {} is not there", want.into);
                return Err(TransportError::Failed { what: WHAT, url, message });
            };
            updates.push(RefUpdate { branch: want.branch, old, new });
        }
        Ok(updates)
    }

    async fn push_now(&self, request: PushRequest) -> Result<Pushed, TransportError> {
        const WHAT: &str = "push to";
        let url = request.url.to_string();
        let target = branch_ref(&request.branch)?;
        let expected = request.expected.map(|id| id.to_string()).unwrap_or_default();
        let mut command = self.network(&request.git_dir, &request.url).await;
        command.args(["push", "--porcelain", "--no-follow-tags", "--no-recurse-submodules"]);
        command.arg(format!("--force-with-lease={target}:{expected}"));
        command.args(["--", request.url.as_arg()]).arg(format!("{}:{target}", request.commit));
        let out = process::run(command, None, request.deadline, true)
            .await
            .map_err(|e| self.failed(e, WHAT, &url, request.deadline))?;
        let stdout = String::from_utf8_lossy(&out.stdout);
        let line =
            stdout.lines().find(|line| line.split('\t').nth(1).is_some_and(|pair| pair.ends_with(&target)));
        match line {
            Some(line) if line.starts_with('!') => {
                let reason = line.split('\t').nth(2).unwrap_or_default();
                if reason.contains("(stale info)") || reason.contains("(fetch first)") {
                    return Ok(Pushed::Moved);
                }
                let reason = redact(reason.trim()).chars().filter(|c| !c.is_control()).collect();
                Err(TransportError::Rejected { url, branch: request.branch, reason })
            }
            Some(_) if out.status.success() => Ok(Pushed::Done),
            _ => Err(TransportError::Failed { what: WHAT, url, message: self.message(&out) }),
        }
    }
}

/// Where the local refs of a fetch are.
async fn tips(request: &FetchRequest) -> Result<Vec<Option<crate::CommitId>>, TransportError> {
    let git_dir = request.git_dir.clone();
    let names: Vec<String> = request.wants.iter().map(|want| want.into.clone()).collect();
    blocking(move || {
        let repo = Repo::open(git_dir)?;
        names.iter().map(|name| repo.ref_commit(name)).collect::<Result<Vec<_>, _>>()
    })
    .await
    .map_err(TransportError::Repo)
}

/// Work on the disk, away from the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, crate::GitError> + Send + 'static,
) -> Result<T, crate::GitError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| {
        Err(crate::GitError::Git { what: "work on the repository".into(), message: e.to_string() })
    })
}

/// The lines that say why, at most a few, and what to do about the usual causes.
fn shorten(text: &str, out: &Output) -> String {
    const MAX: usize = 400;
    let clean = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let lines: Vec<String> = text.lines().map(clean).filter(|line| !line.trim().is_empty()).collect();
    let telling = |line: &&String| {
        ["fatal:", "error:", "ERROR", "remote:", "ssh:", "Permission denied", "Host key"]
            .iter()
            .any(|start| line.starts_with(start) || (start.len() > 8 && line.contains(start)))
    };
    let mut chosen: Vec<&String> = lines.iter().filter(telling).take(4).collect();
    if chosen.is_empty() {
        chosen = lines.iter().rev().take(2).rev().collect();
    }
    let mut message = chosen.iter().map(|line| line.trim()).collect::<Vec<_>>().join("; ");
    if message.is_empty() {
        message = format!("git ended with {}", out.status);
    }
    if let Some((end, _)) = message.char_indices().nth(MAX) {
        message.truncate(end);
        message.push_str("...");
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&[
        "could not read Username",
        "could not read Password",
        "Authentication failed",
        "terminal prompts disabled",
    ]) {
        message.push_str(" (no credentials: set up a credential helper, see git help credentials)");
    } else if has(&["Permission denied (publickey"]) {
        message.push_str(" (no ssh key that the host accepts: check ssh-add -l)");
    } else if has(&["Host key verification failed"]) {
        message.push_str(" (the host is not in known_hosts, or its key changed)");
    }
    message
}

impl Transport for GitCommand {
    fn fetch(&self, request: FetchRequest) -> Transfer<'_, Vec<RefUpdate>> {
        Box::pin(self.fetch_now(request))
    }

    fn push(&self, request: PushRequest) -> Transfer<'_, Pushed> {
        Box::pin(self.push_now(request))
    }

    fn maintain(&self, git_dir: PathBuf, deadline: Duration) -> Transfer<'_, ()> {
        Box::pin(self.maintain_now(git_dir, deadline))
    }
}

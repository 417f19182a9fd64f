//! Where benchmarks happen: real clusters, a fleet repo, the released programs, and kubectl as the peer. It must never
//! use the git settings or the state of the person who runs it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail, ensure};
use kcp_tests::{Cluster, Fleet, Mark, Request};
use tempfile::TempDir;

use super::{proc, raw_file, target};
use crate::demo::checked;

/// No budget holds anything here.
const SAFETY: &str = "{maxDelete: {percent: 100, floor: 100000}, maxMove: {percent: 100, floor: 100000}}";
/// How long a daemon may write.
const PATIENCE: Duration = Duration::from_secs(600);

/// Clusters and a repo.
pub(super) struct Site {
    pub(super) fleet: Fleet,
    folder: TempDir,
}

impl Site {
    /// Starts clusters of these names, and makes a repo that lists them.
    pub(super) async fn start(names: &[&str], controllers: bool) -> anyhow::Result<Self> {
        let fleet = Fleet::builder(names).controllers(controllers).start().await?;
        let folder = tempfile::Builder::new().prefix("kcp-bench-").tempdir()?;
        let site = Self { fleet, folder };
        std::fs::create_dir(site.repo())?;
        site.git(&["init", "--quiet", "--initial-branch=main"])?;
        site.write("kcp.yaml", &document("Fleet", "bench", &format!("{{id: bench, safety: {SAFETY}}}")))?;
        for cluster in site.fleet.clusters() {
            let (name, uid) = (cluster.name(), cluster.uid());
            let spec = format!("{{connection: {{context: {name}}}, uid: {uid}}}");
            site.write(&format!("clusters/{name}.yaml"), &document("Cluster", name, &spec))?;
        }
        Ok(site)
    }

    pub(super) fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// A folder beside the repo.
    pub(super) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the repo.
    pub(super) fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let path = self.repo().join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Places a workspace on all clusters.
    pub(super) fn place(&self, workspace: &str) -> anyhow::Result<()> {
        let spec = format!("{{workspaces: {{names: [{workspace}]}}, clusters: {{all: true}}}}");
        self.write(&format!("placements/{workspace}.yaml"), &document("Placement", workspace, &spec))
    }

    /// Commits all. Gives the moment when that was done.
    pub(super) fn commit(&self) -> anyhow::Result<SystemTime> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "-m", "bench"])?;
        Ok(SystemTime::now())
    }

    fn git(&self, args: &[&str]) -> anyhow::Result<()> {
        checked(self.hermetic(Command::new("git").args(args)))
    }

    fn hermetic<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .current_dir(self.repo())
            .envs([
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_TERMINAL_PROMPT", "0"),
            ])
            .envs([("GIT_AUTHOR_NAME", "bench"), ("GIT_COMMITTER_NAME", "bench")])
            .envs([("GIT_AUTHOR_EMAIL", "bench@kcp.invalid"), ("GIT_COMMITTER_EMAIL", "bench@kcp.invalid")])
            .env("KUBECONFIG", self.fleet.kubeconfig())
            .env("KCP_STATE_DIR", self.folder.path().join("state"))
            .env("HOME", self.folder.path())
    }

    /// One of our released programs, in the repo.
    pub(super) fn ours(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(target().join("release").join(program));
        self.hermetic(command.args(args));
        command
    }

    /// The kubectl that was built with the control planes, with the token and by the way of the reconciler. Its cache is
    /// kept from round to round, as on a person's machine.
    pub(super) fn kubectl(&self, cluster: &Cluster, args: &[&str]) -> Command {
        let mut command = Command::new(self.fleet.programs().program("kubectl"));
        command.arg("--kubeconfig").arg(self.fleet.kubeconfig());
        command.args(["--context", cluster.name()]).arg("--cache-dir").arg(self.beside("kubectl-cache"));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Starts the daemon.
    pub(super) fn daemon(&self) -> anyhow::Result<Daemon> {
        let log = raw_file("daemon.log")?;
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log)?;
        let mut command = self.ours("kcp-reconciler", &[".", "--listen", "127.0.0.1:0"]);
        let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
        Ok(Daemon(child.context("cannot start the daemon")?))
    }

    /// This moment on all clusters.
    pub(super) async fn mark(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        for cluster in self.fleet.clusters() {
            marks.push(cluster.mark().await);
        }
        marks
    }

    /// What `tool` asked of all clusters since then.
    pub(super) async fn requests(&self, since: &[Mark], tool: Tool) -> anyhow::Result<Vec<Request>> {
        let mut all = Vec::new();
        for (cluster, mark) in self.fleet.clusters().iter().zip(since) {
            let requests = cluster.requests(*mark).await?;
            all.extend(
                requests.into_iter().filter(|request| request.user_agent.starts_with(tool.user_agent())),
            );
        }
        Ok(all)
    }

    /// Waits until the daemon wrote nothing for longer than its status may wait to be published (10 s). Gives the CPU time
    /// that it had used by then.
    pub(super) async fn quiet(&self, daemon: &Daemon) -> anyhow::Result<Duration> {
        let start = Instant::now();
        loop {
            let marks = self.mark().await;
            tokio::time::sleep(Duration::from_secs(14)).await;
            let cpu = daemon.cpu()?;
            let requests = self.requests(&marks, Tool::Ours).await?;
            if !requests.iter().any(Request::is_write) {
                return Ok(cpu);
            }
            ensure!(start.elapsed() < PATIENCE, "the daemon still writes after {} s", PATIENCE.as_secs());
        }
    }
}

/// Who asks; both use the same user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Ours,
    Kubectl,
}

impl Tool {
    fn user_agent(self) -> &'static str {
        match self {
            Self::Ours => "kcp",
            Self::Kubectl => "kubectl",
        }
    }
}

/// Runs commands at the same time until all have ended. Gives the seconds it took and their CPU seconds. One that fails
/// with another exit code than `accepted` is an error.
pub(super) fn together(commands: Vec<Command>, accepted: &[i32]) -> anyhow::Result<(f64, f64)> {
    let before = proc::cpu_of_children()?;
    let start = Instant::now();
    let children: Vec<Child> = commands
        .into_iter()
        .map(|mut command| command.spawn())
        .collect::<Result<_, _>>()
        .context("cannot start")?;
    let ended = children.into_iter().map(|mut child| child.wait()).collect::<Result<Vec<_>, _>>()?;
    let wall = start.elapsed();
    if let Some(bad) = ended.iter().find(|status| !status.code().is_some_and(|code| accepted.contains(&code)))
    {
        bail!("a command that is measured failed: {bad}");
    }
    Ok((wall.as_secs_f64(), (proc::cpu_of_children()? - before).as_secs_f64()))
}

/// A running reconciler; it ends with its value.
pub(super) struct Daemon(Child);

impl Daemon {
    pub(super) fn cpu(&self) -> anyhow::Result<Duration> {
        proc::cpu(self.0.id())
    }

    pub(super) fn memory(&self) -> anyhow::Result<proc::Memory> {
        proc::memory(self.0.id())
    }

    /// Ends it as a service manager would.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        checked(Command::new("kill").args(["-TERM", &self.0.id().to_string()]))?;
        let status = self.0.wait()?;
        ensure!(status.success(), "the daemon ended with {status}");
        Ok(())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One of our documents; `spec` is YAML in flow style.
pub(super) fn document(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: kcp.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

/// Copies a folder with all that is in it.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

//! `cargo xtask demo`: three real clusters, a fleet repo made from the sample, and the reconciler at work; each command is
//! shown as a person would type it. Everything is thrown away at the end.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use kcp_tests::{Fleet, control_planes};

/// How long the shop may take to become ready.
const READY: Duration = Duration::from_secs(120);

/// Three real clusters, a repo made from the sample, the reconciler at work.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// End as soon as the shop is ready, instead of waiting for Ctrl-C
    #[arg(long)]
    exit: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(demo(args))
}

async fn demo(args: &Args) -> anyhow::Result<()> {
    let root = root();
    say("building kubectl-kcp, and the control planes if they are not there yet (about ten minutes, once)")?;
    checked(
        Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "kubectl-kcp"]).current_dir(&root),
    )?;
    let programs = tokio::task::spawn_blocking(control_planes::build).await??;
    let start = Instant::now();
    let fleet = Fleet::builder(["eu-1", "eu-2", "us-1"]).start().await?;
    say(&format!("three clusters are up after {:.1} s", start.elapsed().as_secs_f64()))?;

    let folder = tempfile::Builder::new().prefix("kcp-demo-").tempdir()?;
    let shell =
        Shell { repo: folder.path().join("fleet"), state: folder.path().join("state"), fleet: &fleet, root };
    std::fs::create_dir(&shell.repo)?;
    shell.prepare_git()?;
    shell.kcp("init --name demo")?;
    for cluster in ["eu-1", "eu-2", "us-1"] {
        shell.kcp(&format!("cluster add {cluster} --context {cluster} --open"))?;
    }
    let samples = shell.root.join("manifests/samples");
    shell.kcp(&format!("workspace add shop -f {}", samples.join("shop").display()))?;
    shell.kcp(&format!("workspace add guestbook -f {}", samples.join("guestbook").display()))?;
    shell.kcp("place shop --all")?;
    shell.kcp("place guestbook --exactly 1 -L topology.kubernetes.io/region=eu")?;
    shell.kcp("plan")?;

    say("the reconciler runs beside this: kubectl kcp run")?;
    let mut reconciler =
        Background(shell.command("run").stdout(Stdio::null()).spawn().context("start the reconciler")?);
    let deadline = Instant::now() + READY;
    while !shell.silent("status").is_ok_and(|status| status.success()) {
        if let Some(status) = reconciler.0.try_wait()? {
            bail!("the reconciler ended: {status}");
        }
        if Instant::now() > deadline {
            shell.kcp("status").ok();
            bail!("the shop is not ready after {} s", READY.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    shell.kcp("status")?;
    shell.kcp("why shop")?;
    say(&format!("ready {:.1} s after the clusters began to start", start.elapsed().as_secs_f64()))?;
    if args.exit || !std::io::stdin().is_terminal() {
        return Ok(());
    }
    say("look around in another terminal; Ctrl-C here ends it all:")?;
    let mut out = std::io::stdout();
    writeln!(out, "  export KUBECONFIG={}", fleet.kubeconfig().display())?;
    writeln!(
        out,
        "  export PATH={}:{}:$PATH",
        programs.directory().display(),
        shell.binary_folder().display()
    )?;
    writeln!(out, "  export KCP_STATE_DIR={}", shell.state.display())?;
    writeln!(out, "  cd {}", shell.repo.display())?;
    writeln!(out, "  kubectl --context eu-1 -n shop get deployments")?;
    writeln!(out, "  kubectl kcp status")?;
    writeln!(out, "\nThe README has a tour of five minutes from here.")?;
    tokio::signal::ctrl_c().await?;
    Ok(())
}

/// Runs `kubectl kcp` in the demo's repo.
struct Shell<'a> {
    repo: PathBuf,
    state: PathBuf,
    fleet: &'a Fleet,
    root: PathBuf,
}

impl Shell<'_> {
    fn binary_folder(&self) -> PathBuf {
        // This program was built into the same folder.
        let here = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
        here.unwrap_or_else(|| self.root.join("target/debug"))
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(self.binary_folder().join("kubectl-kcp"));
        command
            .args(words.split_whitespace())
            .current_dir(&self.repo)
            .env("KUBECONFIG", self.fleet.kubeconfig())
            .env("KCP_STATE_DIR", &self.state)
            // A person without a git identity can see the demo, too.
            .envs([("GIT_AUTHOR_NAME", "demo"), ("GIT_COMMITTER_NAME", "demo")])
            .envs([("GIT_AUTHOR_EMAIL", "demo@kcp.invalid"), ("GIT_COMMITTER_EMAIL", "demo@kcp.invalid")]);
        command
    }

    fn kcp(&self, words: &str) -> anyhow::Result<()> {
        say(&format!("$ kubectl kcp {words}"))?;
        checked(&mut self.command(words))
    }

    fn silent(&self, words: &str) -> anyhow::Result<ExitStatus> {
        Ok(self.command(words).stdout(Stdio::null()).stderr(Stdio::null()).status()?)
    }

    fn prepare_git(&self) -> anyhow::Result<()> {
        checked(
            Command::new("git").args(["init", "--quiet", "--initial-branch=main"]).current_dir(&self.repo),
        )
    }
}

/// Ends with the demo.
struct Background(std::process::Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs it; that it fails is an error.
pub(crate) fn checked(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("start {}", command.get_program().display()))?;
    if !status.success() {
        bail!("{} {:?}: {status}", command.get_program().display(), command.get_args().collect::<Vec<_>>());
    }
    Ok(())
}

fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "\n{line}")?;
    Ok(())
}

/// The top of the work tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

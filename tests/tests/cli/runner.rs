//! Runs the built plugin in a world of its own: own home, own git settings, own clock for commits. Nothing of the
//! machine's settings is seen.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// A repo folder, and a home beside it.
pub(super) struct World {
    dir: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ended {
    /// It must have ended with this code.
    #[track_caller]
    pub(super) fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

/// The plugin, built once from the sources as they are.
fn plugin() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        if let Some(given) = std::env::var_os("KCP_TEST_PLUGIN") {
            return given.into();
        }
        // TARGET/PROFILE/deps/this
        let own = std::env::current_exe().unwrap();
        let profile = own.parent().and_then(Path::parent).expect("test programs are in TARGET/PROFILE/deps");
        let target = profile.parent().expect("a profile folder is in the target folder");
        let mut build = Command::new(env!("CARGO"));
        build.current_dir(env!("CARGO_MANIFEST_DIR")).args(["build", "--quiet", "--package", "kubectl-kcp"]);
        build.arg("--target-dir").arg(target);
        if profile.file_name().is_some_and(|name| name == "release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the plugin does not build");
        profile.join("kubectl-kcp")
    })
}

impl World {
    /// An empty folder.
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["home", "fleet"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let settings = "[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n";
        fs::write(dir.path().join("gitconfig"), settings).unwrap();
        Self { dir }
    }

    /// A fleet of one cluster, with a workspace that is placed.
    pub(super) fn with_fleet() -> Self {
        let world = Self::new();
        world.run("init").code(0);
        world.write("clusters/eu-1.yaml", CLUSTER);
        world.commit("a cluster");
        world.write("../web.yaml", WEB);
        world.run("workspace add web --namespace web -f ../web.yaml").code(0);
        world.run("place web --exactly 1").code(0);
        world
    }

    pub(super) fn repo(&self) -> PathBuf {
        self.dir.path().join("fleet")
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.repo().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(super) fn write(&self, path: &str, content: &str) {
        let full = self.repo().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, content).unwrap();
    }

    pub(super) fn commit(&self, message: &str) {
        self.git("add --all");
        self.git_with(&["commit", "--quiet", "--message", message], "");
    }

    /// Subjects of commits, newest first.
    pub(super) fn log(&self) -> Vec<String> {
        self.git("log --format=%s").lines().map(str::to_owned).collect()
    }

    pub(super) fn git(&self, words: &str) -> String {
        self.git_with(&words.split(' ').collect::<Vec<_>>(), "")
    }

    pub(super) fn git_with(&self, words: &[&str], input: &str) -> String {
        let ended = self.start(Path::new("git"), words, input);
        assert_eq!(ended.code, 0, "git {words:?}: {}", ended.err);
        ended.out
    }

    /// Runs the plugin with words that hold no blanks.
    pub(super) fn run(&self, words: &str) -> Ended {
        self.words(&words.split(' ').collect::<Vec<_>>())
    }

    pub(super) fn words(&self, words: &[&str]) -> Ended {
        self.start(plugin(), words, "")
    }

    pub(super) fn with_input(&self, words: &str, input: &str) -> Ended {
        self.start(plugin(), &words.split(' ').collect::<Vec<_>>(), input)
    }

    fn start(&self, program: &Path, words: &[&str], input: &str) -> Ended {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.repo()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let at = |name: &str| self.dir.path().join(name);
        command
            .env("HOME", at("home"))
            .env("XDG_STATE_HOME", at("state"))
            .env("XDG_CONFIG_HOME", at("config"));
        command.env("GIT_CONFIG_GLOBAL", at("gitconfig")).env("GIT_CONFIG_NOSYSTEM", "1");
        // The search for a repo must not leave this world.
        command.env("GIT_CEILING_DIRECTORIES", self.dir.path()).env("KUBECONFIG", at("no-kubeconfig"));
        for date in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
            command.env(date, "2026-01-02T03:04:05Z");
        }
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        // A program that does not read its input closes it.
        let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        Ended {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }
}

/// Written by a person who cares how it looks.
pub(super) const CLUSTER: &str = "\
# The first of our clusters.
apiVersion: kcp.dev/v1alpha1
kind: Cluster
metadata:
  name: eu-1   # as in the kubeconfig

  labels: {stage: prod}   # one line
spec:
  # How it is reached.
  connection:
    context: eu-1
  uid: 11111111-2222-3333-4444-555555555555
";

pub(super) const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: nginx}]
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: hunter2}
";

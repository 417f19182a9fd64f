//! Tests against real repos made by the `git` program, without any of this machine's settings.
#![cfg(unix)]

mod branches;
mod commits;
mod files;
mod following;
mod transfer;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{Author, CommitId, GitCommand};

const HERMETIC: [(&str, &str); 9] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@acme.example"),
    ("GIT_AUTHOR_DATE", "1700000000 +0000"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@acme.example"),
    ("GIT_COMMITTER_DATE", "1700000000 +0000"),
    ("LC_ALL", "C"),
];

/// Long enough never to be reached by a test that does not mean it.
const LONG: Duration = Duration::from_secs(120);

fn author() -> Author {
    Author { name: "kcp".into(), email: "kcp@acme.example".into(), time: 1_700_000_000 }
}

/// A temporary folder with repos in it.
struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        // The real path: on some systems the temporary folder is behind a link.
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// A repo with a work tree, on branch main, without commits.
    fn repo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        self.git(self.dir.path(), &["init", "--quiet", "--initial-branch=main", name]);
        path
    }

    fn git(&self, dir: &Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(dir).args(args).env_clear().envs(HERMETIC).env("HOME", self.dir.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let out = command.output().expect("git is installed");
        assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    /// Writes files and commits everything.
    fn commit(&self, repo: &Path, files: &[(&str, &str)]) -> CommitId {
        for (path, content) in files {
            write(&repo.join(path), content);
        }
        self.git(repo, &["add", "--all"]);
        self.git(repo, &["commit", "--quiet", "--allow-empty", "--message=change"]);
        self.head(repo)
    }

    fn head(&self, repo: &Path) -> CommitId {
        self.git(repo, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    /// The git program as our code runs it, without this machine's settings.
    fn command(&self) -> GitCommand {
        HERMETIC
            .iter()
            .fold(GitCommand::new(), |command, (name, value)| command.env(name, value))
            .env("HOME", self.dir.path())
    }
}

fn write(path: &Path, content: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// A script that can be run.
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    write(path, &format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

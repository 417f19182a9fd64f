//! Commits in a person's own repo, for the editing verbs: by the `git` program, so that their hooks, signing and
//! settings apply. Must never include, overwrite or unstage work that is not ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;

use crate::branch::check_path;
use crate::process::{self, Output, RunError};
use crate::{CommitId, Edits, GitCommand, GitError, Repo};

/// A hook may run a whole test suite, a signature may wait for a person.
const DEADLINE: Duration = Duration::from_secs(3600);
/// Paths given to one `git status`: below every system's limit.
const CHUNK: usize = 200;

/// A commit was not made.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Files that would be committed hold somebody else's uncommitted work.
    #[error("not committed: {}; commit or stash that first", join(.0))]
    Foreign(Vec<Dirty>),
    /// Nothing differs from the last commit.
    #[error("nothing to commit: the files are already as they should be")]
    Nothing,
    /// Git does not know who commits.
    #[error(
        "git does not know who you are; run: git config --global user.name \"Your Name\" && git config --global user.email you@example.com"
    )]
    NoIdentity,
    /// The repo has no files on disk.
    #[error("{}: a bare repository has no files to edit; clone it first", .0.display())]
    Bare(PathBuf),
    /// The git program could not be started.
    #[error("cannot start {}: {source}; install git, or name it by its path", program.display())]
    NoGit {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// git refused: a hook, a failed signature, a merge that is going on.
    #[error("git {what} failed: {message}")]
    Refused {
        /// The subcommand.
        what: &'static str,
        /// What it says.
        message: String,
    },
    /// The repo or a path is at fault.
    #[error(transparent)]
    Repo(#[from] GitError),
}

/// A file with uncommitted work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirty {
    /// Relative to the top level.
    pub path: String,
    /// Where the work is.
    pub dirt: Dirt,
}

/// Where uncommitted work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dirt {
    /// In the index.
    Staged,
    /// On disk only.
    Unstaged,
    /// In a file that git does not know.
    Untracked,
    /// In a merge that is not finished.
    Conflict,
}

fn join(files: &[Dirty]) -> String {
    let word = |dirt| match dirt {
        Dirt::Staged => "staged changes",
        Dirt::Unstaged => "changes that are not committed",
        Dirt::Untracked => "a file that is not in git",
        Dirt::Conflict => "an unfinished merge",
    };
    files.iter().map(|file| format!("{} has {}", file.path, word(file.dirt))).collect::<Vec<_>>().join(", ")
}

impl GitCommand {
    /// Makes a repo in `dir` and opens it; one that is there already is only opened.
    ///
    /// # Errors
    /// git refuses, or cannot be started.
    pub async fn init(&self, dir: &Path) -> Result<Repo, CommitError> {
        if let Ok(repo) = Repo::open(dir) {
            return Ok(repo);
        }
        fs::create_dir_all(dir).map_err(GitError::io(dir, "make the folder"))?;
        let mut command = self.plain();
        command.current_dir(dir).args(["init", "--quiet"]);
        self.expect(command, None, "init").await?;
        Ok(Repo::open(dir)?)
    }

    /// Which of these paths hold uncommitted work. To be asked before a file is edited.
    ///
    /// # Errors
    /// The repo is bare, or git cannot be run.
    pub async fn dirty(&self, repo: &Repo, paths: &[String]) -> Result<Vec<Dirty>, CommitError> {
        let root = top(repo)?;
        let mut found = Vec::new();
        for chunk in paths.chunks(CHUNK) {
            let mut command = self.plain();
            command.current_dir(root).args(["status", "--porcelain=v1", "-z", "--no-renames"]);
            command.args(["--untracked-files=all", "--ignore-submodules=none", "--"]).args(chunk);
            let out = self.expect(command, None, "status").await?;
            // Each record is two letters, a space and the path.
            for record in out.stdout.split(|byte| *byte == 0).filter(|record| record.len() > 3) {
                let path = String::from_utf8_lossy(&record[3..]).into_owned();
                let dirt = match (record[0], record[1]) {
                    (b'?', _) => Dirt::Untracked,
                    (b'U', _) | (_, b'U') | (b'A', b'A') | (b'D', b'D') => Dirt::Conflict,
                    (b' ', _) => Dirt::Unstaged,
                    _ => Dirt::Staged,
                };
                found.push(Dirty { path, dirt });
            }
        }
        Ok(found)
    }

    /// Writes these files (`None` removes one) and commits them and nothing else, as `git commit -- PATHS` would.
    /// Files that the caller wrote already, with the same content, are fine. What else is staged stays staged.
    ///
    /// # Errors
    /// [`CommitError::Foreign`] names files with other people's work; nothing was written then. When git refuses,
    /// the files stay written and uncommitted.
    pub async fn commit_paths(
        &self,
        repo: &Repo,
        changes: &Edits,
        message: &str,
    ) -> Result<CommitId, CommitError> {
        let root = top(repo)?.to_owned();
        for path in changes.keys() {
            check_path(path).map_err(|why| GitError::InvalidPath { path: path.clone(), why })?;
            check_links(&root, path)?;
        }
        let paths: Vec<String> = changes.keys().cloned().collect();
        let before = self.dirty(repo, &paths).await?;
        let foreign: Vec<Dirty> =
            before.iter().filter(|file| !is_ours(repo, &root, changes, file)).cloned().collect();
        if !foreign.is_empty() {
            return Err(CommitError::Foreign(foreign));
        }
        self.refuse_ignored(&root, changes).await?;
        self.check_identity(&root).await?;
        write_files(&root, changes)?;
        // What git sees now is what there is to commit; a file that was never there and is to be removed is not.
        let todo: Vec<String> = self.dirty(repo, &paths).await?.into_iter().map(|file| file.path).collect();
        if todo.is_empty() {
            return Err(CommitError::Nothing);
        }
        let list = todo.join("\0").into_bytes();
        let from_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        let mut add = self.plain();
        add.current_dir(&root).args(["add", "--all"]).args(from_input);
        self.expect(add, Some(list.clone()), "add").await?;
        let mut commit = self.plain();
        commit.current_dir(&root).args(["commit", "--quiet", "--only"]).arg(format!("--message={message}"));
        commit.args(from_input);
        if let Err(error) = self.expect(commit, Some(list), "commit").await {
            self.unstage(&root, &todo, &before).await;
            return Err(error);
        }
        Ok(repo.ref_commit("HEAD")?.ok_or_else(|| GitError::Git {
            what: "read the new commit".into(),
            message: "HEAD leads nowhere".into(),
        })?)
    }

    /// Takes out of the index what we put there; what was staged before stays.
    async fn unstage(&self, root: &Path, todo: &[String], before: &[Dirty]) {
        let staged =
            |path: &String| before.iter().any(|file| file.path == *path && file.dirt == Dirt::Staged);
        let list: Vec<&str> = todo.iter().filter(|path| !staged(path)).map(String::as_str).collect();
        if list.is_empty() {
            return;
        }
        let mut reset = self.plain();
        reset.current_dir(root).args(["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul"]);
        if let Err(error) = self.expect(reset, Some(list.join("\0").into_bytes()), "reset").await {
            tracing::warn!(%error, "the files stay staged");
        }
    }

    async fn check_identity(&self, root: &Path) -> Result<(), CommitError> {
        for name in ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"] {
            let mut command = self.plain();
            command.current_dir(root).args(["var", name]);
            if !self.run(command, None, "var").await?.status.success() {
                return Err(CommitError::NoIdentity);
            }
        }
        Ok(())
    }

    /// A file that git ignores and does not track would be written and never committed.
    async fn refuse_ignored(&self, root: &Path, changes: &Edits) -> Result<(), CommitError> {
        let paths: Vec<&str> =
            changes.iter().filter(|(_, content)| content.is_some()).map(|(path, _)| path.as_str()).collect();
        let mut command = self.plain();
        // This one takes paths, and refuses to be told that they are.
        command.env_remove("GIT_LITERAL_PATHSPECS").current_dir(root).args(["check-ignore", "-z", "--stdin"]);
        let out = self.run(command, Some(paths.join("\0").into_bytes()), "check-ignore").await?;
        match (out.status.code(), out.stdout.split(|byte| *byte == 0).next()) {
            (Some(1), _) => Ok(()),
            (Some(0), Some(path)) => {
                let path = String::from_utf8_lossy(path);
                let message = format!("{path} is ignored by git: change .gitignore or choose another name");
                Err(CommitError::Refused { what: "add", message })
            }
            _ => Err(CommitError::Refused { what: "check-ignore", message: self.message(&out) }),
        }
    }

    async fn run(
        &self,
        command: Command,
        input: Option<Vec<u8>>,
        what: &'static str,
    ) -> Result<Output, CommitError> {
        process::run(command, input, DEADLINE, false).await.map_err(|e| match e {
            RunError::Start(source) => CommitError::NoGit { program: self.program_path().to_owned(), source },
            RunError::Io(e) => CommitError::Refused { what, message: e.to_string() },
            RunError::Deadline => CommitError::Refused { what, message: "it did not end".into() },
        })
    }

    async fn expect(
        &self,
        command: Command,
        input: Option<Vec<u8>>,
        what: &'static str,
    ) -> Result<Output, CommitError> {
        let out = self.run(command, input, what).await?;
        if out.status.success() {
            return Ok(out);
        }
        if out.stderr.contains("Please tell me who you are") {
            return Err(CommitError::NoIdentity);
        }
        Err(CommitError::Refused { what, message: self.message(&out) })
    }
}

fn top(repo: &Repo) -> Result<&Path, CommitError> {
    repo.root().ok_or_else(|| CommitError::Bare(repo.git_dir().to_owned()))
}

/// Whether what is uncommitted in a file is just what is wanted: the caller wrote it, or an earlier try did.
fn is_ours(repo: &Repo, root: &Path, changes: &Edits, file: &Dirty) -> bool {
    let Some(wanted) = changes.get(&file.path) else { return false };
    let on_disk = fs::read(root.join(&file.path)).ok();
    if on_disk.as_ref() != wanted.as_ref() {
        return false;
    }
    match file.dirt {
        Dirt::Unstaged | Dirt::Untracked => true,
        Dirt::Conflict => false,
        Dirt::Staged => {
            let git = repo.lock();
            let Ok(mut index) = git.index() else { return false };
            if index.read(false).is_err() {
                return false;
            }
            let staged =
                index.get_path(Path::new(&file.path), 0).and_then(|entry| git.find_blob(entry.id).ok());
            staged.as_ref().map(|blob| blob.content()) == wanted.as_deref()
        }
    }
}

/// Refuses a path that leads through a symlink: it might leave the repo.
fn check_links(root: &Path, path: &str) -> Result<(), GitError> {
    let mut at = root.to_owned();
    for name in path.split('/') {
        at.push(name);
        if fs::symlink_metadata(&at).is_ok_and(|meta| meta.is_symlink()) {
            return Err(GitError::InvalidPath {
                path: path.into(),
                why: "a symlink is on the way; edit what it leads to",
            });
        }
    }
    Ok(())
}

fn write_files(root: &Path, changes: &BTreeMap<String, Option<Vec<u8>>>) -> Result<(), GitError> {
    for (path, content) in changes {
        let full = root.join(path);
        match content {
            Some(content) => {
                if fs::read(&full).is_ok_and(|there| there == *content) {
                    continue;
                }
                if let Some(dir) = full.parent() {
                    fs::create_dir_all(dir).map_err(GitError::io(dir, "make the folder"))?;
                }
                fs::write(&full, content).map_err(GitError::io(&full, "write the file"))?;
            }
            None => match fs::remove_file(&full) {
                Ok(()) => {}
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(GitError::io(&full, "remove the file")(e)),
            },
        }
    }
    Ok(())
}

//! Opening a repo and finding commits in it. Must never touch a work tree, and never hand a person's words to a
//! revision parser: names are looked up one by one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use git2::ErrorCode;

use crate::{CommitId, GitError, Snapshot};

/// The shortest abbreviated commit id that is looked up.
const MIN_ABBREVIATION: usize = 4;

/// The longest name of a commit that is looked at: each `^` is one step deeper.
const MAX_REVISION: usize = 1024;

/// A git repo, bare or not. Cloning shares the handle.
#[derive(Clone)]
pub struct Repo {
    git_dir: PathBuf,
    common_dir: PathBuf,
    root: Option<PathBuf>,
    inner: Arc<Mutex<git2::Repository>>,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo").field("git_dir", &self.git_dir).finish_non_exhaustive()
    }
}

impl Repo {
    /// Opens the repo at exactly `path`: its top level, or a bare repo. Parents are not searched.
    ///
    /// # Errors
    /// [`GitError::NotARepository`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, GitError> {
        let path = path.as_ref();
        let repo = git2::Repository::open(path).map_err(|e| not_a_repository(path, &e))?;
        Self::wrap(repo)
    }

    /// Opens the repo that `dir` is in, searching upwards.
    ///
    /// # Errors
    /// [`GitError::NotARepository`] where none is found.
    pub fn discover(dir: impl AsRef<Path>) -> Result<Self, GitError> {
        let dir = dir.as_ref();
        let repo = git2::Repository::discover(dir).map_err(|e| not_a_repository(dir, &e))?;
        Self::wrap(repo)
    }

    pub(crate) fn wrap(repo: git2::Repository) -> Result<Self, GitError> {
        Ok(Self {
            git_dir: repo.path().to_owned(),
            common_dir: repo.commondir().to_owned(),
            root: repo.workdir().map(Path::to_owned),
            inner: Arc::new(Mutex::new(repo)),
        })
    }

    /// The folder git keeps its data in.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The folder that holds refs and objects; another one than `git_dir` in a linked work tree.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The top level of the work tree, or `None` for a bare repo.
    #[must_use]
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The handle; held only for the length of one operation.
    pub(crate) fn lock(&self) -> MutexGuard<'_, git2::Repository> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files of a commit, named as in [`Repo::resolve`].
    ///
    /// # Errors
    /// As [`Repo::resolve`]; a damaged object database.
    pub fn snapshot(&self, rev: &str) -> Result<Snapshot, GitError> {
        self.snapshot_at(self.resolve(rev)?)
    }

    /// The files of a commit.
    ///
    /// # Errors
    /// The commit is not in the repo, or is damaged.
    pub fn snapshot_at(&self, commit: CommitId) -> Result<Snapshot, GitError> {
        let repo = git2::Repository::open(&self.git_dir).map_err(|e| not_a_repository(&self.git_dir, &e))?;
        Snapshot::new(repo, commit)
    }

    /// The branch that HEAD is on, also when it has no commit yet; `None` when detached.
    ///
    /// # Errors
    /// HEAD cannot be read.
    pub fn head_branch(&self) -> Result<Option<String>, GitError> {
        let repo = self.lock();
        let head = repo.find_reference("HEAD").map_err(GitError::during("read HEAD"))?;
        let target = head.symbolic_target().map_err(GitError::during("read HEAD"))?;
        Ok(target.and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned))
    }

    /// The commit that a local branch is at; `None` where there is no such branch.
    ///
    /// # Errors
    /// Not a branch name, or the ref cannot be read.
    pub fn branch_tip(&self, branch: &str) -> Result<Option<CommitId>, GitError> {
        self.ref_commit(&branch_ref(branch)?)
    }

    /// The commit that a full ref leads to (tags are peeled); `None` where there is no such ref.
    ///
    /// # Errors
    /// Not a ref name, or it leads to something else than a commit.
    pub fn ref_commit(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        if !git2::Reference::is_valid_name(name) {
            return Err(GitError::InvalidName { name: name.into(), what: "ref" });
        }
        let repo = self.lock();
        let reference = match repo.find_reference(name) {
            Ok(reference) => reference,
            Err(e) if e.code() == ErrorCode::NotFound => return Ok(None),
            Err(e) => return Err(GitError::during(format!("read ref {name}"))(e)),
        };
        match reference.peel_to_commit() {
            Ok(commit) => Ok(Some(CommitId(commit.id()))),
            // HEAD of a repo without commits.
            Err(e) if e.code() == ErrorCode::NotFound && name == "HEAD" => Ok(None),
            Err(e) => Err(GitError::during(format!("read the commit of ref {name}"))(e)),
        }
    }

    /// Finds a commit by `HEAD`, a full ref, a branch, a tag, a branch last seen on a remote (`main` or
    /// `origin/main`), a commit id, or the first four or more digits of one; each may be followed by `^` or `~N` for
    /// its first parents. Nothing else is understood: no `^2`, `@{}` or `:`.
    ///
    /// # Errors
    /// [`GitError::UnknownRevision`], [`GitError::AmbiguousRevision`] where a branch and a tag differ or the digits
    /// fit more than one object.
    pub fn resolve(&self, rev: &str) -> Result<CommitId, GitError> {
        let unknown = || GitError::UnknownRevision { rev: rev.into(), repo: self.git_dir.clone() };
        if rev.len() > MAX_REVISION {
            return Err(unknown());
        }
        if let Some((name, back)) = generations(rev) {
            let mut commit = self.resolve(name)?;
            let repo = self.lock();
            for _ in 0..back {
                let found = repo.find_commit(commit.0).and_then(|found| found.parent_id(0));
                commit = CommitId(found.map_err(|_| unknown())?);
            }
            return Ok(commit);
        }
        if rev == "HEAD" || rev.starts_with("refs/") {
            if !git2::Reference::is_valid_name(rev) {
                return Err(unknown());
            }
            return self.ref_commit(rev)?.ok_or_else(unknown);
        }
        if let Ok(id) = rev.parse::<CommitId>() {
            return match self.lock().find_commit(id.0) {
                Ok(_) => Ok(id),
                Err(_) => Err(unknown()),
            };
        }
        let mut found: Option<(String, CommitId)> = None;
        for prefix in ["refs/heads/", "refs/tags/", "refs/remotes/origin/", "refs/remotes/"] {
            let name = format!("{prefix}{rev}");
            // A local branch or a tag hides what was last seen on a remote; they do not hide each other.
            if found.is_some() && prefix.starts_with("refs/remotes/") {
                break;
            }
            if !git2::Reference::is_valid_name(&name) {
                continue;
            }
            match (self.ref_commit(&name)?, &found) {
                (Some(commit), Some((first, other))) if commit != *other => {
                    let candidates = format!("{first} and {name}");
                    return Err(GitError::AmbiguousRevision { rev: rev.into(), candidates });
                }
                (Some(commit), None) => found = Some((name, commit)),
                _ => {}
            }
        }
        if let Some((_, commit)) = found {
            return Ok(commit);
        }
        self.abbreviated(rev)?.ok_or_else(unknown)
    }

    fn abbreviated(&self, rev: &str) -> Result<Option<CommitId>, GitError> {
        if rev.len() < MIN_ABBREVIATION || rev.len() > 39 || !rev.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(None);
        }
        match self.lock().find_commit_by_prefix(rev) {
            Ok(commit) => Ok(Some(CommitId(commit.id()))),
            Err(e) if e.code() == ErrorCode::Ambiguous => {
                let candidates = "more than one object".to_owned();
                Err(GitError::AmbiguousRevision { rev: rev.into(), candidates })
            }
            Err(_) => Ok(None),
        }
    }

    /// How `new` came from `old`.
    ///
    /// # Errors
    /// `new` is not in the repo, or history is damaged.
    pub fn relation(&self, old: CommitId, new: CommitId) -> Result<Relation, GitError> {
        if old == new {
            return Ok(Relation::Same);
        }
        let repo = self.lock();
        let what = || format!("compare the history of {} and {}", old.short(), new.short());
        repo.find_commit(new.0).map_err(GitError::during(format!("read commit {new}")))?;
        if repo.find_commit(old.0).is_err() {
            // Were it an ancestor, it would be here.
            return Ok(Relation::Unrelated);
        }
        if repo.graph_descendant_of(new.0, old.0).map_err(GitError::during(what()))? {
            return Ok(Relation::Descendant);
        }
        match repo.merge_base(old.0, new.0) {
            Ok(_) => Ok(Relation::Diverged),
            Err(e) if e.code() == ErrorCode::NotFound => Ok(Relation::Unrelated),
            Err(e) => Err(GitError::during(what())(e)),
        }
    }

    /// Sets a ref that is ours (under `refs/kcp/`), or removes it.
    pub(crate) fn set_own_ref(&self, name: &str, commit: Option<CommitId>) -> Result<(), GitError> {
        let repo = self.lock();
        let what = || format!("write ref {name}");
        match commit {
            Some(commit) => {
                repo.reference(name, commit.0, true, "kcp").map_err(GitError::during(what()))?;
            }
            None => match repo.find_reference(name) {
                Ok(mut found) => found.delete().map_err(GitError::during(what()))?,
                Err(e) if e.code() == ErrorCode::NotFound => {}
                Err(e) => return Err(GitError::during(what())(e)),
            },
        }
        Ok(())
    }
}

/// How one commit came from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The same commit.
    Same,
    /// Only new commits were added.
    Descendant,
    /// They share history, but commits were taken away or replaced.
    Diverged,
    /// They share nothing that is known.
    Unrelated,
}

/// The full name of a branch's ref.
pub(crate) fn branch_ref(branch: &str) -> Result<String, GitError> {
    let name = format!("refs/heads/{branch}");
    // A leading dash would be an option to the git program.
    if branch.starts_with('-') || !git2::Reference::is_valid_name(&name) {
        return Err(GitError::InvalidName { name: branch.into(), what: "branch" });
    }
    Ok(name)
}

/// The name before `^`, `^^`, `~`, `~N`, and how many generations back that is; `None` without one of them.
fn generations(rev: &str) -> Option<(&str, u32)> {
    if let Some(name) = rev.strip_suffix('^') {
        return Some((name, 1));
    }
    let (name, number) = rev.rsplit_once('~')?;
    match number {
        "" => Some((name, 1)),
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => Some((name, digits.parse().ok()?)),
        _ => None,
    }
}

fn not_a_repository(path: &Path, error: &git2::Error) -> GitError {
    let mut message = error.message().to_owned();
    if error.code() == ErrorCode::Owner {
        message.push_str("; if you trust it: git config --global --add safe.directory <that path>");
    }
    GitError::NotARepository { path: path.to_owned(), message }
}

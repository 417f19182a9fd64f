//! Moving commits between repos, behind a trait so that a simulated fleet needs no processes. Must never show a
//! credential, and never take a failure for "nothing there".

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use crate::{CommitId, GitError, RemoteUrl};

/// What a [`Transport`] gives back at once; the work happens when it is awaited.
pub type Transfer<'a, T> = Pin<Box<dyn Future<Output = Result<T, TransportError>> + Send + 'a>>;

/// A branch of the remote, and the local ref it is stored in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// The branch on the remote.
    pub branch: String,
    /// The full name of the local ref, say `refs/remotes/origin/main`. It is overwritten, also backwards.
    pub into: String,
}

/// Get branches into a repo.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// The repo to fetch into.
    pub git_dir: PathBuf,
    /// From where.
    pub url: RemoteUrl,
    /// What.
    pub wants: Vec<Want>,
    /// How long it may take in all.
    pub deadline: Duration,
}

/// What a fetch did to one ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    /// The branch on the remote.
    pub branch: String,
    /// Where the local ref was, if it was there.
    pub old: Option<CommitId>,
    /// Where it is now.
    pub new: CommitId,
}

/// Set a branch of a remote to a commit.
#[derive(Debug, Clone)]
pub struct PushRequest {
    /// The repo that has the commit.
    pub git_dir: PathBuf,
    /// To where.
    pub url: RemoteUrl,
    /// The branch on the remote.
    pub branch: String,
    /// The commit it is to be at.
    pub commit: CommitId,
    /// Where the branch must be now; `None`: it must not exist. Anything else, and nothing is pushed.
    pub expected: Option<CommitId>,
    /// How long it may take in all.
    pub deadline: Duration,
}

/// What came of a push that the remote answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// The branch is now at the commit.
    Done,
    /// The branch was not where it was expected: somebody else wrote it. Nothing was changed.
    Moved,
}

/// Fetches and pushes.
pub trait Transport: Send + Sync + std::fmt::Debug {
    /// Gets branches of a remote. All of them, or an error.
    fn fetch(&self, request: FetchRequest) -> Transfer<'_, Vec<RefUpdate>>;
    /// Sets a branch of a remote, if it is where it is expected to be.
    fn push(&self, request: PushRequest) -> Transfer<'_, Pushed>;
    /// Packs what many small fetches left behind in a repo, where that is worth it. A transport that leaves nothing
    /// behind has nothing to do.
    fn maintain(&self, git_dir: PathBuf, deadline: Duration) -> Transfer<'_, ()> {
        let _ = (git_dir, deadline);
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A fetch or push failed. What was there before is still there.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The git program could not be started.
    #[error("cannot start {}: {source}; install git, or name it by its path", program.display())]
    NoGit {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It took too long and was stopped.
    #[error("{what} {url}: not done after {} s, stopped", deadline.as_secs_f32())]
    Deadline {
        /// `fetch from` or `push to`.
        what: &'static str,
        /// The remote.
        url: String,
        /// What was allowed.
        deadline: Duration,
    },
    /// Another process is fetching into the same mirror, and did not end in time.
    #[error("{}: another process is fetching into this mirror; give each process its own", git_dir.display())]
    Busy {
        /// The mirror.
        git_dir: PathBuf,
    },
    /// The remote answers, but has no such branch.
    #[error("{url} has no branch {branch}")]
    BranchMissing {
        /// The remote.
        url: String,
        /// The branch.
        branch: String,
    },
    /// The remote refused the push: a protected branch, a hook of its own.
    #[error("{url} refuses the push to {branch}: {reason}")]
    Rejected {
        /// The remote.
        url: String,
        /// The branch.
        branch: String,
        /// What it says.
        reason: String,
    },
    /// Anything else: not reachable, no permission, damaged objects.
    #[error("{what} {url}: {message}")]
    Failed {
        /// `fetch from` or `push to`.
        what: &'static str,
        /// The remote.
        url: String,
        /// What git says, shortened, without credentials.
        message: String,
    },
    /// The local repo is at fault.
    #[error(transparent)]
    Repo(#[from] GitError),
}

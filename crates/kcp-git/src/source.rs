//! What the reconciler follows: one branch of a repo. Must never take a failure for a change, and never accept a
//! commit by itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::git_command::blocking;
use crate::repo::{Relation, branch_ref};
use crate::transport::{FetchRequest, Transport, TransportError, Want};
use crate::url::UrlError;
use crate::{CommitId, GitError, RemoteUrl, Repo, Snapshot};

/// Which branch to follow, and how.
#[derive(Debug, Clone)]
pub struct SourceSpec {
    /// An address, or the path of a repo on this machine.
    pub url_or_path: String,
    /// The branch, without `refs/heads/`.
    pub branch: String,
    /// Where to keep a bare mirror; one folder for each `url_or_path`. Without it the location must be a path and is
    /// read directly, and what was accepted is not remembered between starts.
    pub mirror_dir: Option<PathBuf>,
    /// How long one fetch may take.
    pub deadline: Duration,
}

/// Follows one branch.
pub struct Source {
    branch: String,
    tracking: String,
    accepted_ref: String,
    url: RemoteUrl,
    mirrored: bool,
    git_dir: PathBuf,
    deadline: Duration,
    transport: Arc<dyn Transport>,
    accepted: Option<CommitId>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("url", &self.url)
            .field("branch", &self.branch)
            .field("accepted", &self.accepted)
            .finish_non_exhaustive()
    }
}

/// Where the branch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The commit the branch is at.
    pub commit: CommitId,
    /// What that means for what was accepted last.
    pub change: Change,
}

/// What became of the branch since the last accepted commit. Only `First` and `FastForward` may be accepted without
/// asking a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing was accepted before.
    First,
    /// It is where it was.
    Unchanged,
    /// Commits were added.
    FastForward {
        /// The last accepted commit.
        from: CommitId,
    },
    /// Commits were taken away or replaced.
    ForcePushed {
        /// The last accepted commit.
        from: CommitId,
    },
    /// Another history.
    Unrelated {
        /// The last accepted commit.
        from: CommitId,
    },
}

/// The branch could not be read. What was accepted last still holds; since when it fails is for the caller to keep.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The address is not accepted.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// A remote repo needs a mirror.
    #[error("{url}: a remote repository needs a folder for its mirror")]
    NoMirror {
        /// The remote.
        url: String,
    },
    /// The repo answers, but the branch is gone or was never there.
    #[error("{location} has no branch {branch}")]
    BranchMissing {
        /// The repo.
        location: String,
        /// The branch.
        branch: String,
    },
    /// It could not be fetched.
    #[error("cannot fetch branch {branch}: {reason}")]
    FetchFailed {
        /// The branch.
        branch: String,
        /// Why.
        reason: TransportError,
    },
    /// The repo on this machine, or the mirror, cannot be read.
    #[error(transparent)]
    Repo(#[from] GitError),
}

impl Source {
    /// Opens the mirror (making it where needed) or the local repo. Fetches nothing yet. A commit accepted through
    /// the same mirror before is remembered.
    ///
    /// # Errors
    /// The address is not accepted; the mirror or repo cannot be opened.
    pub fn open(spec: SourceSpec, transport: Arc<dyn Transport>) -> Result<Self, SourceError> {
        branch_ref(&spec.branch)?;
        let url = RemoteUrl::parse(&spec.url_or_path)?;
        let accepted_ref = format!("refs/kcp/accepted/{}", spec.branch);
        let (repo, mirrored) = match (&spec.mirror_dir, url.local_path()) {
            (Some(dir), _) => (Repo::init_bare_mirror(dir)?, true),
            (None, Some(path)) => (Repo::open(path)?, false),
            (None, None) => return Err(SourceError::NoMirror { url: url.to_string() }),
        };
        let accepted = if mirrored { repo.ref_commit(&accepted_ref)? } else { None };
        let prefix = if mirrored { "refs/remotes/origin/" } else { "refs/heads/" };
        Ok(Self {
            tracking: format!("{prefix}{}", spec.branch),
            branch: spec.branch,
            accepted_ref,
            url,
            mirrored,
            git_dir: repo.git_dir().to_owned(),
            deadline: spec.deadline,
            transport,
            accepted,
        })
    }

    /// The branch that is followed.
    #[must_use]
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// The repo's address; no credential is in it.
    #[must_use]
    pub fn url(&self) -> &RemoteUrl {
        &self.url
    }

    /// Whether the branch is followed through a mirror.
    #[must_use]
    pub fn is_mirrored(&self) -> bool {
        self.mirrored
    }

    /// The mirror, or the local repo itself.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn repo(&self) -> Result<Repo, GitError> {
        Repo::open(&self.git_dir)
    }

    /// What was accepted last.
    #[must_use]
    pub fn accepted(&self) -> Option<CommitId> {
        self.accepted
    }

    /// Looks where the branch is now. Accepts nothing.
    ///
    /// # Errors
    /// The branch is gone, or could not be read: never to be taken for an empty repo.
    pub async fn poll(&self) -> Result<Head, SourceError> {
        if self.mirrored {
            let want = Want { branch: self.branch.clone(), into: self.tracking.clone() };
            let request = FetchRequest {
                git_dir: self.git_dir.clone(),
                url: self.url.clone(),
                wants: vec![want],
                deadline: self.deadline,
            };
            self.transport.fetch(request).await.map_err(|reason| match reason {
                TransportError::BranchMissing { url, branch } => {
                    SourceError::BranchMissing { location: url, branch }
                }
                reason => SourceError::FetchFailed { branch: self.branch.clone(), reason },
            })?;
        }
        let (git_dir, tracking, accepted) = (self.git_dir.clone(), self.tracking.clone(), self.accepted);
        let head = blocking(move || {
            // Opened anew: a repo that was moved away must be an error, not a branch that is gone.
            let repo = Repo::open(git_dir)?;
            let Some(commit) = repo.ref_commit(&tracking)? else { return Ok(None) };
            let change = match accepted {
                None => Change::First,
                Some(from) => match repo.relation(from, commit)? {
                    Relation::Same => Change::Unchanged,
                    Relation::Descendant => Change::FastForward { from },
                    Relation::Diverged => Change::ForcePushed { from },
                    Relation::Unrelated => Change::Unrelated { from },
                },
            };
            Ok(Some(Head { commit, change }))
        })
        .await?;
        head.ok_or_else(|| SourceError::BranchMissing {
            location: self.url.to_string(),
            branch: self.branch.clone(),
        })
    }

    /// Makes `commit` the one that later polls are judged against: after checking it, or because a person said so.
    /// In a mirror it is remembered, and kept from being collected as garbage.
    ///
    /// # Errors
    /// The mirror cannot be written, or does not have the commit. Nothing is changed then.
    pub fn accept(&mut self, commit: CommitId) -> Result<(), GitError> {
        if self.mirrored && self.accepted != Some(commit) {
            self.repo()?.set_own_ref(&self.accepted_ref, Some(commit))?;
        }
        self.accepted = Some(commit);
        Ok(())
    }

    /// As [`Source::accept`], for what the caller remembers itself (a local repo, or the record on the clusters);
    /// the commit need not be in the repo any more.
    pub fn assume_accepted(&mut self, commit: CommitId) {
        self.accepted = Some(commit);
    }

    /// Packs the mirror, where that is worth it; a repo of somebody else is left alone. For quiet times: meanwhile
    /// nothing can be fetched.
    ///
    /// # Errors
    /// It failed or took longer than `deadline`; nothing is lost.
    pub async fn maintain(&self, deadline: Duration) -> Result<(), TransportError> {
        if !self.mirrored {
            return Ok(());
        }
        self.transport.maintain(self.git_dir.clone(), deadline).await
    }

    /// The files of a commit.
    ///
    /// # Errors
    /// The repo does not have it.
    pub fn snapshot(&self, commit: CommitId) -> Result<Snapshot, GitError> {
        self.repo()?.snapshot_at(commit)
    }
}

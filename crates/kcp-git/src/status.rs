//! The branch that status is recorded on: a cache that any reader can check out. Must never touch another branch; its
//! history is bounded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kustomize_rs::{Files, FilesError};

use crate::branch::{Base, Parent};
use crate::repo::{Relation, branch_ref};
use crate::transport::{FetchRequest, PushRequest, Pushed, Transport, TransportError, Want};
use crate::{Author, CommitId, Edits, ExpectedTip, GitError, RemoteUrl, Repo, Snapshot, Written};

/// The branch, unless the fleet names another.
pub const DEFAULT_STATUS_BRANCH: &str = "kcp/status";
/// History starts again after this many commits, unless told otherwise.
pub const DEFAULT_MAX_COMMITS: u32 = 5000;
/// A file of the branch may have this many bytes: one file tells all objects of a cluster, about 600 bytes each, and what
/// we wrote ourselves we must be able to read.
pub const MAX_STATUS_FILE: u64 = 256 * 1024 * 1024;
/// The trailer that counts commits since history last started, so that nobody has to walk it.
const COUNT: &str = "Kcp-Commit-Number: ";
/// The trailer of a first commit that names what it replaced.
const BEFORE: &str = "Kcp-Replaces: ";

/// Reads and writes the status branch of a repo.
#[derive(Debug, Clone)]
pub struct StatusBranch {
    repo: Repo,
    branch: String,
    remote_ref: String,
    max_commits: u32,
}

/// What a pull found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulled {
    /// The remote has no such branch.
    Absent,
    /// The local branch is now, or already was, at the remote's commit.
    Taken(CommitId),
    /// Both have commits that the other has not. The local branch was left alone.
    Diverged {
        /// Where the local branch is.
        local: CommitId,
        /// Where the remote's is.
        remote: CommitId,
    },
    /// The local branch has commits that the remote has not yet.
    Ahead {
        /// Where the local branch is.
        local: CommitId,
        /// Where the remote's is.
        remote: CommitId,
    },
}

impl StatusBranch {
    /// The branch need not exist yet.
    ///
    /// # Errors
    /// Not a branch name.
    pub fn new(repo: Repo, branch: &str) -> Result<Self, GitError> {
        branch_ref(branch)?;
        let remote_ref = format!("refs/kcp/remote/{branch}");
        Ok(Self { repo, branch: branch.into(), remote_ref, max_commits: DEFAULT_MAX_COMMITS })
    }

    /// Starts history again after this many commits (at least 2).
    #[must_use]
    pub fn with_max_commits(mut self, commits: u32) -> Self {
        self.max_commits = commits.max(2);
        self
    }

    /// Its name.
    #[must_use]
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Where it is; `None` where it does not exist yet.
    ///
    /// # Errors
    /// The ref cannot be read.
    pub fn tip(&self) -> Result<Option<CommitId>, GitError> {
        self.repo.branch_tip(&self.branch)
    }

    /// All its files; `None` where it does not exist yet.
    ///
    /// # Errors
    /// The branch cannot be read.
    pub fn snapshot(&self) -> Result<Option<Snapshot>, GitError> {
        let snapshot = self.tip()?.map(|tip| self.repo.snapshot_at(tip)).transpose()?;
        Ok(snapshot.map(|snapshot| snapshot.with_max_file(MAX_STATUS_FILE)))
    }

    /// One file, and nothing where it or the branch is not there.
    ///
    /// # Errors
    /// The branch or the file cannot be read.
    pub fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, GitError> {
        let Some(snapshot) = self.snapshot()? else { return Ok(None) };
        match snapshot.read(path) {
            Ok(content) => Ok(Some(content)),
            Err(FilesError::NotFound { .. }) => Ok(None),
            Err(e) => {
                Err(GitError::Git { what: format!("read branch {}", self.branch), message: e.to_string() })
            }
        }
    }

    /// Changes some files in one commit; the others stay.
    ///
    /// # Errors
    /// As [`Repo::write_branch`].
    pub fn write(
        &self,
        edits: &Edits,
        message: &str,
        author: &Author,
        expected: ExpectedTip,
    ) -> Result<Written, GitError> {
        self.commit(Base::Tip, edits, message, author, expected)
    }

    /// Makes these the only files, in one commit.
    ///
    /// # Errors
    /// As [`Repo::write_branch`].
    pub fn replace(
        &self,
        files: BTreeMap<String, Vec<u8>>,
        message: &str,
        author: &Author,
        expected: ExpectedTip,
    ) -> Result<Written, GitError> {
        let edits = files.into_iter().map(|(path, content)| (path, Some(content))).collect();
        self.commit(Base::Nothing, &edits, message, author, expected)
    }

    fn commit(
        &self,
        base: Base,
        edits: &Edits,
        message: &str,
        author: &Author,
        expected: ExpectedTip,
    ) -> Result<Written, GitError> {
        self.repo.write_with(&self.branch, base, edits, author, expected, |tip| {
            let before = tip.map_or(0, |tip| number(tip, self.max_commits));
            let message = message.trim_end();
            Ok(match tip {
                Some(tip) if before >= self.max_commits => {
                    (Parent::Nothing, format!("{message}\n\n{COUNT}1\n{BEFORE}{}\n", tip.id()))
                }
                _ => (Parent::Tip, format!("{message}\n\n{COUNT}{}\n", before + 1)),
            })
        })
    }

    /// Looks where the remote's branch is, and takes it where nothing of ours would be lost, or `force` is given.
    ///
    /// # Errors
    /// The remote cannot be read; nothing was changed.
    pub async fn pull(
        &self,
        transport: &dyn Transport,
        url: &RemoteUrl,
        deadline: Duration,
        force: bool,
    ) -> Result<Pulled, TransportError> {
        let seen = self.repo.ref_commit(&self.remote_ref)?;
        let want = Want { branch: self.branch.clone(), into: self.remote_ref.clone() };
        let git_dir = self.repo.git_dir().to_owned();
        let request = FetchRequest { git_dir, url: url.clone(), wants: vec![want], deadline };
        match transport.fetch(request).await {
            Ok(_) => {}
            Err(TransportError::BranchMissing { .. }) => {
                self.repo.set_own_ref(&self.remote_ref, None)?;
                return Ok(Pulled::Absent);
            }
            Err(e) => return Err(e),
        }
        let Some(remote) = self.repo.ref_commit(&self.remote_ref)? else { return Ok(Pulled::Absent) };
        let local = self.tip()?;
        // Where the local branch only follows the remote's, a history that was started again is simply taken.
        if let Some(local) = local.filter(|_| local != seen) {
            match self.repo.relation(local, remote)? {
                Relation::Same => return Ok(Pulled::Taken(remote)),
                Relation::Descendant => {}
                Relation::Diverged | Relation::Unrelated if force => {}
                Relation::Diverged | Relation::Unrelated => {
                    let ahead = self.repo.relation(remote, local)? == Relation::Descendant;
                    return Ok(if ahead {
                        Pulled::Ahead { local, remote }
                    } else {
                        Pulled::Diverged { local, remote }
                    });
                }
            }
        }
        if local != Some(remote) {
            self.repo.move_branch(&self.branch, local, remote)?;
        }
        Ok(Pulled::Taken(remote))
    }

    /// Pushes the branch, if the remote's is where the last pull or push left it. Without a local branch nothing is
    /// done.
    ///
    /// # Errors
    /// The remote cannot be reached or refuses.
    pub async fn push(
        &self,
        transport: &dyn Transport,
        url: &RemoteUrl,
        deadline: Duration,
    ) -> Result<Pushed, TransportError> {
        let Some(commit) = self.tip()? else { return Ok(Pushed::Done) };
        let expected = self.repo.ref_commit(&self.remote_ref)?;
        if expected == Some(commit) {
            return Ok(Pushed::Done);
        }
        let request = PushRequest {
            git_dir: self.repo.git_dir().to_owned(),
            url: url.clone(),
            branch: self.branch.clone(),
            commit,
            expected,
            deadline,
        };
        let pushed = transport.push(request).await?;
        if pushed == Pushed::Done {
            self.repo.set_own_ref(&self.remote_ref, Some(commit))?;
        }
        Ok(pushed)
    }
}

/// How many commits there are since history last started: what the message says, else by walking, at most `max`.
fn number(tip: &git2::Commit<'_>, max: u32) -> u32 {
    let message = String::from_utf8_lossy(tip.message_bytes());
    let said = message.lines().rev().find_map(|line| line.strip_prefix(COUNT)?.trim().parse().ok());
    said.unwrap_or_else(|| {
        let mut count = 1;
        let mut at = tip.parent(0);
        while let (Ok(commit), true) = (&at, count < max) {
            count += 1;
            at = commit.parent(0);
        }
        count
    })
}

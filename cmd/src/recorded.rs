//! The record that a reconciler left on the status branch: the facts from which a laptop without any kubeconfig looks
//! ahead. A cache, never a permission; only read here.

use kcp_api::{RecordMode, RecordTarget};
use kcp_git::{GitError, MAX_STATUS_FILE, Relation, Repo, Snapshot};
use kcp_reconciler::lock::Writer;
use kcp_reconciler::record::{Record, read_files, read_writer};

use crate::error::CommandError;

/// What was recorded.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// The record; empty where there is none.
    pub(crate) record: Record,
    /// Who wrote it.
    pub(crate) writer: Option<Writer>,
    /// Files that cannot be understood.
    pub(crate) damaged: Vec<String>,
    /// The commit of the status branch; `None` where nothing was recorded.
    pub(crate) commit: Option<String>,
}

impl Recorded {
    /// Reads what the status branch holds, or what it held at `at`, if it was written for `fleet`.
    pub(crate) fn read(
        repo: &Repo,
        target: &RecordTarget,
        fleet: Option<&str>,
        at: Option<&str>,
    ) -> Result<Self, CommandError> {
        if target.mode == RecordMode::Disabled {
            return Ok(Self::default());
        }
        let snapshot = match at {
            Some(rev) => Some(repo.snapshot(rev)?.with_max_file(MAX_STATUS_FILE)),
            None => newest(repo, &target.branch)?,
        };
        let Some(snapshot) = snapshot else { return Ok(Self::default()) };
        let files = read_files(&snapshot)?;
        let (record, damaged) = Record::read(&files);
        if at.is_some() && record.fleet.id.is_empty() {
            let message = format!("{}: no record of a fleet is there", at.unwrap_or_default());
            let hint = format!("--at takes a commit of the status branch: git log {}", target.branch);
            return Err(CommandError::failure(message).hint(hint));
        }
        // What was written for another fleet says nothing of this one.
        if fleet.is_some_and(|fleet| record.fleet.id != fleet) {
            return Ok(Self::default());
        }
        Ok(Self { record, writer: read_writer(&files), damaged, commit: Some(snapshot.commit.to_string()) })
    }

    /// Whether anything was recorded.
    pub(crate) fn exists(&self) -> bool {
        self.commit.is_some()
    }
}

/// The status branch of this repo, or what was last fetched of the remote's, whichever is ahead.
fn newest(repo: &Repo, branch: &str) -> Result<Option<Snapshot>, GitError> {
    let local = repo.branch_tip(branch)?;
    let remote = repo.ref_commit(&format!("refs/remotes/origin/{branch}"))?;
    let commit = match (local, remote) {
        (Some(local), Some(remote)) if repo.relation(local, remote)? == Relation::Descendant => Some(remote),
        (local, remote) => local.or(remote),
    };
    // The record of a large cluster is larger than any file that a person writes.
    let read = |commit| repo.snapshot_at(commit).map(|it| it.with_max_file(MAX_STATUS_FILE));
    commit.map(read).transpose()
}

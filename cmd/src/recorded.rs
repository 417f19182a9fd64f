//! The record that a reconciler left on the status branch: the facts from which a laptop without any kubeconfig looks
//! ahead. A cache, never a permission; only read here.

use std::collections::BTreeMap;

use kcp_api::{RecordMode, RecordTarget};
use kcp_git::{GitError, Relation, Repo, Snapshot};
use kcp_reconciler::lock::Writer;
use kcp_reconciler::record::{Record, read_writer};
use kustomize_rs::{EntryKind, Files, FilesError};

use crate::error::CommandError;

/// Files of one folder of the record that are read at most.
const MAX_FILES: usize = 100_000;

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
            Some(rev) => Some(repo.snapshot(rev)?),
            None => newest(repo, &target.branch)?,
        };
        let Some(snapshot) = snapshot else { return Ok(Self::default()) };
        let files = read_all(&snapshot)?;
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
    commit.map(|commit| repo.snapshot_at(commit)).transpose()
}

fn read_all(snapshot: &Snapshot) -> Result<BTreeMap<String, Vec<u8>>, FilesError> {
    let mut files = BTreeMap::new();
    for folder in ["", "clusters", "workspaces"] {
        if snapshot.entry(folder)? != Some(EntryKind::Directory) {
            continue;
        }
        let entries = snapshot.list(folder)?;
        for entry in entries.into_iter().filter(|entry| entry.kind == EntryKind::File).take(MAX_FILES) {
            let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
            let content = snapshot.read(&path)?.to_vec();
            files.insert(path, content);
        }
    }
    Ok(files)
}

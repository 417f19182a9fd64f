//! Writes the record to the status branch: at most one commit in ten seconds, none when nothing changed, and never to
//! the branch that people write to. What cannot be published now is published later, in its latest state.

use std::sync::Arc;
use std::time::Duration;

use kcp_api::{ConditionStatus, ConditionType, RecordMode};
use kcp_git::{
    Author, ExpectedTip, GitError, Pulled, Pushed, RemoteUrl, Repo, StatusBranch, Transport, TransportError,
    Written,
};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::clock::{Clock, rfc3339};
use crate::lock::Writer;
use crate::record::{Record, WorkspaceRecord, read_files, read_writer, writer_file};

/// At most one commit in this time.
const QUIET: Duration = Duration::from_secs(10);
/// A change seldom comes alone: what follows within this time belongs to the same commit.
const SETTLE: Duration = Duration::from_secs(1);
/// So often is written anew what was moved by somebody at the same time.
const TRIES: usize = 3;
/// How long a push or a fetch of the branch may take.
const DEADLINE: Duration = Duration::from_secs(60);

/// The record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The repo that holds the branch.
    #[error("status branch: {0}")]
    Repo(#[from] GitError),
    /// The remote.
    #[error("status branch: {0}")]
    Transport(#[from] TransportError),
    /// A file of the branch.
    #[error("status branch: {0}")]
    Files(#[from] kustomize_rs::FilesError),
    /// Somebody moves it while it is written.
    #[error("status branch {branch}: it was moved while it was written")]
    Moved {
        /// The branch.
        branch: String,
    },
    /// Another reconciler writes it.
    #[error(
        "status branch {branch}: another reconciler took over this fleet: {id}, since {since}. A fleet has one reconciler, so \
         this one ends; stop the other first, then start this one with --take-over"
    )]
    Rival {
        /// The branch.
        branch: String,
        /// Its id.
        id: String,
        /// RFC 3339.
        since: String,
    },
}

/// The status branch of a fleet.
pub struct Publisher {
    branch: StatusBranch,
    remote: Option<(Arc<dyn Transport>, RemoteUrl)>,
    writer: Writer,
    /// Who wrote it before this one: known when it started, so no rival.
    before: Option<Writer>,
    clock: Arc<dyn Clock>,
}

/// What a status branch holds.
#[derive(Debug, Default)]
pub struct Published {
    /// The record.
    pub record: Record,
    /// Who wrote it.
    pub writer: Option<Writer>,
    /// What could not be understood.
    pub damaged: Vec<String>,
    /// Whether there is such a branch.
    pub exists: bool,
}

/// Reads the record from a repo's status branch, as it is there now.
///
/// # Errors
/// The branch cannot be read. That there is none is not an error.
pub fn read_branch(branch: &StatusBranch) -> Result<Published, PublishError> {
    let Some(snapshot) = branch.snapshot()? else { return Ok(Published::default()) };
    let files = read_files(&snapshot)?;
    let (record, damaged) = Record::read(&files);
    Ok(Published { record, writer: read_writer(&files), damaged, exists: true })
}

impl Publisher {
    /// The publisher of `mode`'s branch in `repo`; with a remote, the branch is fetched before and pushed after.
    ///
    /// # Errors
    /// Not a branch name.
    pub fn new(
        repo: Repo,
        target: &kcp_api::RecordTarget,
        remote: Option<(Arc<dyn Transport>, RemoteUrl)>,
        writer: Writer,
        clock: Arc<dyn Clock>,
    ) -> Result<Option<Self>, PublishError> {
        if target.mode == RecordMode::Disabled {
            return Ok(None);
        }
        let branch = StatusBranch::new(repo, &target.branch)?;
        Ok(Some(Self { branch, remote, writer, before: None, clock }))
    }

    /// Reads what was published before, from the remote if there is one. While the remote cannot be reached, this
    /// machine's copy counts if it says that this reconciler was at work: nobody can have followed it without being told to.
    ///
    /// # Errors
    /// The remote or the repo cannot be read.
    pub async fn read(&mut self) -> Result<Published, PublishError> {
        let pulled = self.pull().await;
        let published = read_branch(&self.branch)?;
        if let Err(error) = pulled {
            if !published.writer.as_ref().is_some_and(|it| it.id == self.writer.id && !it.released) {
                return Err(error.into());
            }
            tracing::warn!(%error, "this machine's copy of the status branch is used");
        }
        self.before.clone_from(&published.writer);
        Ok(published)
    }

    async fn pull(&self) -> Result<(), TransportError> {
        if let Some((transport, url)) = &self.remote
            && let Pulled::Diverged { .. } =
                self.branch.pull(transport.as_ref(), url, DEADLINE, false).await?
        {
            // What the remote has was seen by everybody; what only this machine has is rebuilt from the clusters.
            self.branch.pull(transport.as_ref(), url, DEADLINE, true).await?;
        }
        Ok(())
    }

    /// Names this reconciler as the writer before it does anything, so that of two that start at once only one works.
    /// Only where others could look: on one machine there is a lock.
    ///
    /// # Errors
    /// `Rival` if another one was first, and as [`Self::publish`].
    pub async fn claim(&self) -> Result<(), PublishError> {
        if self.remote.is_none() {
            return Ok(());
        }
        let (path, content) = writer_file(&self.writer);
        let edits = [(path, Some(content))].into();
        let message = format!("{} starts", self.writer.id);
        self.put(|author, tip| self.branch.write(&edits, &message, author, tip)).await
    }

    /// Publishes one state of the record.
    ///
    /// # Errors
    /// `Rival` if another reconciler writes there now: this one must end. As `PublishError` otherwise; nothing is lost,
    /// the next call tries again.
    pub async fn publish(&self, record: &Record, released: bool) -> Result<(), PublishError> {
        let mut files = record.files();
        let writer = Writer { released, ..self.writer.clone() };
        files.extend([writer_file(&writer)]);
        let message = subject(record);
        self.put(|author, tip| self.branch.replace(files.clone(), &message, author, tip)).await
    }

    /// Writes and pushes. What somebody who is no reconciler did to the branch meanwhile is overwritten: it is a cache.
    async fn put(
        &self,
        write: impl Fn(&Author, ExpectedTip) -> Result<Written, GitError>,
    ) -> Result<(), PublishError> {
        let author = Author {
            name: "kcp-reconciler".into(),
            email: "kcp-reconciler@kcp.invalid".into(),
            time: self.clock.now(),
        };
        for _ in 0..TRIES {
            let tip = self.branch.tip()?;
            self.refuse_rival()?;
            let expected = tip.map_or(ExpectedTip::Absent, ExpectedTip::At);
            if let Written::Moved(_) = write(&author, expected)? {
                continue;
            }
            let Some((transport, url)) = &self.remote else { return Ok(()) };
            match self.branch.push(transport.as_ref(), url, DEADLINE).await? {
                Pushed::Done => return Ok(()),
                // What is there now is looked at, and who wrote it.
                Pushed::Moved => drop(self.branch.pull(transport.as_ref(), url, DEADLINE, true).await?),
            }
        }
        Err(PublishError::Moved { branch: self.branch.branch().into() })
    }

    /// Whether the branch names a reconciler that came after this one.
    fn refuse_rival(&self) -> Result<(), PublishError> {
        // What cannot be read names nobody, and is overwritten.
        let file = self.branch.read("writer.json").ok().flatten();
        let Some(writer) = file.and_then(|file| serde_json::from_slice::<Writer>(&file).ok()) else {
            return Ok(());
        };
        let is_self = writer.id == self.writer.id && writer.since == self.writer.since;
        if is_self || writer.released || self.before.as_ref() == Some(&writer) {
            return Ok(());
        }
        Err(PublishError::Rival { branch: self.branch.branch().into(), id: writer.id, since: writer.since })
    }

    /// Publishes each new record until the sender is gone, then the last one, marked as released.
    ///
    /// # Errors
    /// `Rival`, as soon as it shows: whoever works on must stop. Everything else is logged and tried again.
    pub async fn run(self, mut records: watch::Receiver<Option<Record>>) -> Result<(), PublishError> {
        let mut pending: Option<Record> = None;
        let mut not_before = Instant::now();
        loop {
            if pending.is_none() {
                if records.changed().await.is_err() {
                    break;
                }
                pending.clone_from(&records.borrow_and_update());
                not_before = not_before.max(Instant::now() + SETTLE);
            }
            // What comes during the pause belongs to the same commit; the end does not wait for the pause.
            tokio::select! {
                () = tokio::time::sleep_until(not_before) => {}
                () = collect(&mut records, &mut pending) => break,
            }
            let Some(record) = &pending else { continue };
            match self.publish(record, false).await {
                Ok(()) => pending = None,
                Err(error @ PublishError::Rival { .. }) => return Err(error),
                Err(error) => tracing::warn!(%error, "the status could not be published; it is tried again"),
            }
            not_before = Instant::now() + QUIET;
        }
        let last = pending.or_else(|| records.borrow().clone());
        let Some(record) = last else { return Ok(()) };
        match self.publish(&record, true).await {
            Err(error @ PublishError::Rival { .. }) => return Err(error),
            Err(error) => tracing::warn!(%error, "the last status could not be published"),
            Ok(()) => {}
        }
        Ok(())
    }
}

/// Takes in what comes until the sender is gone.
async fn collect(records: &mut watch::Receiver<Option<Record>>, pending: &mut Option<Record>) {
    while records.changed().await.is_ok() {
        pending.clone_from(&records.borrow_and_update());
    }
}

/// The name of the writer that starts now.
#[must_use]
pub fn writer(id: &str, clock: &dyn Clock) -> Writer {
    Writer { id: id.into(), since: rfc3339(clock.now()), released: false }
}

fn subject(record: &Record) -> String {
    let commit: String = record.fleet.source.commit.chars().take(10).collect();
    let is_ready = |workspace: &&WorkspaceRecord| {
        let ready = workspace
            .status
            .conditions
            .iter()
            .find(|condition| condition.condition_type == ConditionType::Ready);
        ready.is_some_and(|condition| condition.status == ConditionStatus::True)
    };
    format!(
        "{commit}: {}/{} workspaces ready, {} held",
        record.workspaces.values().filter(is_ready).count(),
        record.workspaces.len(),
        record.fleet.holds.len()
    )
}

#[cfg(test)]
mod tests;

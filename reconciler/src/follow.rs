//! Follows the branch of the fleet repo and prepares each new commit. Never takes a failure for a change: what cannot
//! be read, or may not be followed, is told as trouble, and the last good commit stays in force.

use std::sync::Arc;
use std::time::Duration;

use kcp_api::Reason;
use kcp_core::world::Desired;
use kcp_git::{Change, CommitId, GitError, Head, Snapshot, Source, SourceError};
use tokio::sync::mpsc;

use crate::clock::Clock;
use crate::event::Event;
use crate::prepare::Preparer;
use crate::record::{SourceState, SourceTrouble};

/// A commit cannot be followed so quickly that the disk does nothing else.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// One branch, followed.
pub(crate) struct Follower {
    source: Source,
    preparer: Preparer,
    state: SourceState,
    /// A rewritten history that a person said may be followed.
    accept_history: Option<String>,
    clock: Arc<dyn Clock>,
}

/// What a look at the branch gave.
#[derive(Debug)]
pub(crate) enum Look {
    /// A new commit, whole and valid.
    Desired(Box<Desired>, SourceState),
    /// No new commit is in force; the state says why, if there is a why.
    State(SourceState),
}

impl Follower {
    pub(crate) fn new(source: Source, accept_history: Option<String>, clock: Arc<dyn Clock>) -> Self {
        let state = SourceState {
            repo: source.url().to_string(),
            branch: source.branch().into(),
            commit: String::new(),
            trouble: None,
        };
        Self { source, preparer: Preparer::new(), state, accept_history, clock }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// What an earlier run had in force, for sources that do not remember it themselves: a history that was
    /// rewritten meanwhile is noticed.
    pub(crate) fn assume(&mut self, commit: &str) {
        if self.source.accepted().is_none()
            && let Ok(commit) = commit.parse::<CommitId>()
        {
            self.source.assume_accepted(commit);
        }
    }

    /// Looks at the branch once.
    pub(crate) async fn look(&mut self) -> Look {
        match self.source.poll().await {
            Ok(head) => self.judge(head).await,
            Err(error) => {
                let reason = match &error {
                    SourceError::BranchMissing { .. } => Reason::BranchMissing,
                    _ => Reason::FetchFailed,
                };
                self.trouble(reason, format!("{error}; the last good commit stays in force"), None)
            }
        }
    }

    async fn judge(&mut self, head: Head) -> Look {
        let id = head.commit.to_string();
        let in_force = !self.state.commit.is_empty();
        let may_follow = match head.change {
            Change::First | Change::FastForward { .. } => true,
            Change::Unchanged if in_force => {
                self.state.trouble = None;
                return Look::State(self.state.clone());
            }
            Change::Unchanged => true,
            Change::ForcePushed { .. } | Change::Unrelated { .. } => self
                .accept_history
                .as_ref()
                .is_some_and(|accepted| accepted.len() >= 7 && id.starts_with(accepted)),
        };
        if may_follow {
            return self.prepare(head.commit, id).await;
        }
        let (what, from) = match head.change {
            Change::Unrelated { from } => ("is another history than", from),
            Change::ForcePushed { from } | Change::FastForward { from } => {
                ("was rewritten and no longer contains", from)
            }
            Change::First | Change::Unchanged => ("is not", head.commit),
        };
        if !in_force {
            // Nothing is in force in this process yet: what was accepted last is read again.
            if let Look::Desired(desired, _) = self.prepare(from, from.to_string()).await {
                let state = self.held(what, from, &id);
                return Look::Desired(desired, state);
            }
        }
        Look::State(self.held(what, from, &id))
    }

    fn held(&mut self, what: &str, from: CommitId, id: &str) -> SourceState {
        let message = format!(
            "branch {} {what} the commit in force {from}: held. If this is meant, start the reconciler once with \
             --accept-history {id}",
            self.state.branch
        );
        self.note(Reason::ForcePushed, message, Some(id.to_owned()));
        self.state.clone()
    }

    async fn prepare(&mut self, commit: CommitId, id: String) -> Look {
        let snapshot = match self.source.snapshot(commit) {
            Ok(snapshot) => snapshot,
            Err(error) => return self.trouble(Reason::FetchFailed, error.to_string(), Some(id)),
        };
        match self.read(snapshot, &id).await {
            Err(message) => self.trouble(Reason::InvalidRepo, message, Some(id)),
            Ok(desired) => {
                if let Err(error) = self.accept(commit) {
                    return self.trouble(Reason::FetchFailed, error.to_string(), Some(id));
                }
                self.state.commit = id;
                self.state.trouble = None;
                Look::Desired(Box::new(desired), self.state.clone())
            }
        }
    }

    /// Rendering is computing: off the threads that wait for clusters.
    async fn read(&mut self, snapshot: Snapshot, id: &str) -> Result<Desired, String> {
        let mut preparer = std::mem::take(&mut self.preparer);
        let commit = id.to_owned();
        let work = tokio::task::spawn_blocking(move || {
            let outcome = preparer.prepare(&commit, &snapshot);
            (preparer, outcome)
        });
        let (preparer, outcome) = work.await.map_err(|error| format!("rendering ended early: {error}"))?;
        self.preparer = preparer;
        outcome.map_err(|errors| {
            let all: Vec<_> = errors.iter().map(ToString::to_string).collect();
            format!("{} error(s), the commit is not in force:\n{}", all.len(), all.join("\n"))
        })
    }

    fn accept(&mut self, commit: CommitId) -> Result<(), GitError> {
        self.source.accept(commit)
    }

    fn trouble(&mut self, reason: Reason, message: String, commit: Option<String>) -> Look {
        self.note(reason, message, commit);
        Look::State(self.state.clone())
    }

    /// The same trouble keeps its beginning.
    fn note(&mut self, reason: Reason, message: String, commit: Option<String>) {
        let since = match &self.state.trouble {
            Some(known) if known.reason == reason && known.commit == commit => known.since,
            _ => self.clock.now(),
        };
        self.state.trouble = Some(SourceTrouble { reason, message, since, commit });
    }

    /// Looks again and again: at each interval, and at once when `hints` says that the branch may have moved.
    pub(crate) async fn run(
        mut self,
        mut interval: Duration,
        mut hints: mpsc::Receiver<()>,
        events: mpsc::Sender<Event>,
    ) {
        let mut hints_open = true;
        loop {
            tokio::select! {
                () = tokio::time::sleep(interval.max(LEAST_INTERVAL)) => {}
                hint = hints.recv(), if hints_open => hints_open = hint.is_some(),
            }
            let before = self.state.clone();
            let event = match self.look().await {
                Look::Desired(desired, state) => {
                    interval = interval_of(&desired);
                    Event::Desired(desired, state)
                }
                Look::State(state) if state == before => continue,
                Look::State(state) => Event::Source(state),
            };
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// How often a fleet wants its branch to be looked at.
pub(crate) fn interval_of(desired: &Desired) -> Duration {
    desired.config.fleet.value.spec.interval.to_std()
}

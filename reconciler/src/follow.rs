//! Follows the branch of the fleet repo and prepares each new commit. Never takes a failure for a change: what cannot
//! be read, or may not be followed, is told as trouble, and the last good commit stays in force.

use std::sync::Arc;
use std::time::Duration;

use kcp_api::{Reason, RecordTarget};
use kcp_core::world::Desired;
use kcp_git::{Change, CommitId, GitError, Head, Snapshot, Source, SourceError};
use tokio::sync::mpsc;

use crate::before::desired_before;
use crate::clock::Clock;
use crate::event::Event;
use crate::prepare::Preparer;
use crate::record::{FleetRecord, SourceState, SourceTrouble};

/// A commit cannot be followed so quickly that the disk does nothing else.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);
/// How often a mirror is tidied: each fetch leaves a pack behind, each status a few objects.
const MAINTAIN_EVERY: Duration = Duration::from_secs(6 * 3600);
/// How long tidying may hold up the next look at the branch.
const MAINTAIN: Duration = Duration::from_secs(300);

/// One branch, followed.
pub(crate) struct Follower {
    source: Source,
    preparer: Preparer,
    state: SourceState,
    /// The id of the fleet, once a commit was in force.
    fleet: Option<String>,
    /// What the record says of an earlier run.
    recorded: FleetRecord,
    /// What was in force before the first commit of this run.
    before: Option<Arc<Desired>>,
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
        Self {
            source,
            preparer: Preparer::new(),
            state,
            fleet: None,
            recorded: FleetRecord::default(),
            before: None,
            accept_history,
            clock,
        }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// What an earlier run had in force, also for sources that do not remember it themselves: a history that was
    /// rewritten meanwhile is noticed.
    pub(crate) fn assume(&mut self, recorded: FleetRecord) {
        if self.source.accepted().is_none()
            && let Ok(commit) = recorded.source.commit.parse::<CommitId>()
        {
            self.source.assume_accepted(commit);
        }
        self.recorded = recorded;
    }

    /// What was in force before the first commit that this run took.
    pub(crate) fn before(&self) -> Option<Arc<Desired>> {
        self.before.clone()
    }

    /// What the fleet document says of the record, if it can be read: in the commit accepted last or, where none is known,
    /// at the head of the branch. Accepts nothing.
    pub(crate) async fn peek(&self) -> Option<RecordTarget> {
        let commit = match self.source.accepted() {
            Some(accepted) => accepted,
            None => self.source.poll().await.ok()?.commit,
        };
        let snapshot = self.source.snapshot(commit).ok()?;
        kcp_core::config::load(&snapshot).ok().map(|config| config.fleet.value.spec.status)
    }

    /// The commit that an earlier run had in force, for a start at which the branch gives none: the trouble that it
    /// gives instead stays told.
    pub(crate) async fn fall_back(&mut self) -> Option<(Desired, SourceState)> {
        let from = self.source.accepted()?;
        let trouble = self.state.trouble.clone();
        let look = self.prepare(from, from.to_string()).await;
        self.state.trouble = trouble;
        match look {
            Look::Desired(desired, _) => Some((*desired, self.state.clone())),
            Look::State(_) => None,
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
        match self.read(snapshot, commit).await {
            Err(message) => self.trouble(Reason::InvalidRepo, message, Some(id)),
            Ok(desired) => {
                let fleet = &desired.config.fleet.value.spec.id;
                if let Some(known) = self.fleet.as_ref().filter(|known| *known != fleet) {
                    let message = format!(
                        "spec.id of the Fleet is {fleet} now and was {known}: it is part of every ownership mark on the \
                         clusters and must never change; put it back"
                    );
                    return self.trouble(Reason::InvalidRepo, message, Some(id));
                }
                self.fleet = Some(fleet.clone());
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
    async fn read(&mut self, snapshot: Snapshot, commit: CommitId) -> Result<Desired, String> {
        let mut preparer = std::mem::take(&mut self.preparer);
        // Later the engine knows by itself what was in force before.
        let is_first = self.state.commit.is_empty();
        let repo = if is_first { self.source.repo().ok() } else { None };
        let recorded = self.recorded.clone();
        let work = tokio::task::spawn_blocking(move || {
            let before = repo.and_then(|repo| desired_before(&mut preparer, &repo, &recorded, Some(commit)));
            let outcome = preparer.prepare(&commit.to_string(), &snapshot);
            (preparer, before, outcome)
        });
        let (preparer, before, outcome) =
            work.await.map_err(|error| format!("rendering ended early: {error}"))?;
        self.preparer = preparer;
        if is_first {
            self.before = before.map(Arc::new);
        }
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
        let mut maintain = tokio::time::Instant::now();
        loop {
            // A daemon that is restarted often must tidy as well, so the first time is now.
            if tokio::time::Instant::now() >= maintain {
                maintain += MAINTAIN_EVERY;
                if let Err(error) = self.source.maintain(MAINTAIN).await {
                    tracing::warn!(%error, "the mirror of the fleet repo could not be tidied; it only grows meanwhile");
                }
            }
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kcp_git::{GitCommand, SourceSpec};

    use super::*;
    use crate::clock::SystemClock;

    fn commit(repo: &Path, fleet: &str) -> String {
        std::fs::write(repo.join("kcp.yaml"), fleet).unwrap();
        git(repo, &["add", "."]);
        git(repo, &["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "one"]);
        git(repo, &["rev-parse", "HEAD"])
    }

    fn git(repo: &Path, args: &[&str]) -> String {
        let output = std::process::Command::new("git").arg("-C").arg(repo).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn follower(repo: &Path) -> Follower {
        let spec = SourceSpec {
            url_or_path: repo.to_str().unwrap().into(),
            branch: "main".into(),
            mirror_dir: None,
            deadline: Duration::from_secs(60),
        };
        let source = Source::open(spec, Arc::new(GitCommand::new())).unwrap();
        Follower::new(source, None, Arc::new(SystemClock))
    }

    #[tokio::test]
    async fn after_a_restart_what_was_in_force_stays_where_the_branch_gives_nothing_better() {
        let directory = tempfile::tempdir().unwrap();
        let repo = directory.path();
        git(repo, &["init", "--quiet", "-b", "main"]);
        let fleet = "apiVersion: kcp.dev/v1alpha1\nkind: Fleet\nmetadata: {name: acme}\nspec: {id: f1, status: {branch: kcp/other}}\n";
        let good = commit(repo, fleet);
        assert_eq!(follower(repo).peek().await.map(|target| target.branch), Some("kcp/other".into()));
        commit(repo, "kind: Nonsense\n");
        let mut restarted = follower(repo);
        assert!(restarted.fall_back().await.is_none(), "nothing is known of an earlier run");
        let source = SourceState { commit: good.clone(), ..SourceState::default() };
        restarted.assume(FleetRecord { source, ..FleetRecord::default() });
        let Look::State(state) = restarted.look().await else { panic!("the head cannot be in force") };
        assert_eq!(state.trouble.map(|trouble| trouble.reason), Some(Reason::InvalidRepo));
        let (desired, state) = restarted.fall_back().await.unwrap();
        assert_eq!((desired.commit.as_str(), state.commit.as_str()), (good.as_str(), good.as_str()));
        assert_eq!(state.trouble.map(|trouble| trouble.reason), Some(Reason::InvalidRepo), "and says why");
        commit(repo, &fleet.replace("id: f1", "id: f2"));
        let Look::State(state) = restarted.look().await else { panic!("another fleet must not be followed") };
        assert!(state.trouble.unwrap().message.contains("must never change"));
        git(repo, &["checkout", "--quiet", "--detach"]);
        git(repo, &["branch", "-D", "main"]);
        let Look::State(state) = restarted.look().await else { panic!("the branch is gone") };
        assert_eq!((state.trouble.unwrap().reason, state.commit), (Reason::BranchMissing, good));
    }
}

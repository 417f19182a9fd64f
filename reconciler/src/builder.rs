//! How a reconciler is set up: from settings to everything that the loop needs.

use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use kcp_cluster::{ConnectOptions, Connector};
use kcp_core::planner::Scope;
use kcp_git::{GitCommand, Repo, Source, SourceSpec, Transport};

use crate::acts::ActFile;
use crate::clock::{Clock, SystemClock, rfc3339};
use crate::engine::Engine;
use crate::follow::{Follower, Look};
use crate::halt::HaltFile;
use crate::http::{Report, SharedReport};
use crate::lock::{FleetLock, check_writer};
use crate::publish::{PublishError, Publisher, writer};
use crate::record::{FleetRecord, Record};
use crate::run::{Once, RunError, Running};

/// How long one fetch may take.
const FETCH: Duration = Duration::from_secs(60);
/// How long a start waits before it looks again for what it cannot do without.
const RETRY: Duration = Duration::from_secs(10);

/// How to run. See the crate's page for an example.
#[derive(Debug, Clone)]
pub struct Builder {
    repo: String,
    branch: Option<String>,
    state_dir: PathBuf,
    connector: Arc<Connector>,
    transport: Arc<dyn Transport>,
    id: String,
    listen: Option<SocketAddr>,
    take_over: bool,
    accept_history: Option<String>,
    scope: Scope,
}

impl Builder {
    pub(crate) fn new(repo: impl Into<String>, state_dir: impl Into<PathBuf>) -> Self {
        Self {
            repo: repo.into(),
            branch: None,
            state_dir: state_dir.into(),
            connector: Arc::new(Connector::new(ConnectOptions::default())),
            transport: Arc::new(GitCommand::new()),
            id: "kcp-reconciler".into(),
            listen: None,
            take_over: false,
            accept_history: None,
            scope: Scope::Daemon,
        }
    }

    /// The branch to follow; without it, the one that HEAD of a local repo is on, or `main`.
    #[must_use]
    pub fn branch(mut self, branch: impl Into<String>) -> Self {
        self.branch = Some(branch.into());
        self
    }

    /// Where contexts are looked up, and what is allowed of them.
    #[must_use]
    pub fn connect(self, options: ConnectOptions) -> Self {
        self.connector(Connector::new(options))
    }

    /// How clusters are connected to: for a program that embeds the reconciler and has clusters of its own.
    #[must_use]
    pub fn connector(mut self, connector: Connector) -> Self {
        self.connector = Arc::new(connector);
        self
    }

    /// How commits are fetched and pushed, where not by the `git` program as it is on the search path: a git with other
    /// settings, or a program's own transport.
    #[must_use]
    pub fn transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = transport;
        self
    }

    /// The stable name of this reconciler: what another one is told, and what may follow itself after a crash.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Serves `/healthz`, `/readyz` and `/metrics` there. Off unless given.
    #[must_use]
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Follows another reconciler that is gone for good.
    #[must_use]
    pub fn take_over(mut self, take_over: bool) -> Self {
        self.take_over = take_over;
        self
    }

    /// A commit (or at least 7 digits of it) whose history need not contain the commit in force.
    #[must_use]
    pub fn accept_history(mut self, commit: Option<String>) -> Self {
        self.accept_history = commit;
        self
    }

    /// Which clusters to work with.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Runs until `shutdown` is ready.
    ///
    /// # Errors
    /// It could not start, or another reconciler took over. Whatever else goes wrong while it runs is status, not an
    /// error.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), RunError> {
        let mut shutdown = std::pin::pin!(shutdown);
        let started = tokio::select! {
            started = self.start(true) => started?,
            () = &mut shutdown => return Ok(()),
        };
        started.work(shutdown, None).await?;
        Ok(())
    }

    /// One pass: until every cluster was read or given up and nothing is left that can be done now, or until `limit`.
    ///
    /// # Errors
    /// It could not start, or another reconciler took over.
    pub async fn run_once(
        self,
        limit: Duration,
        shutdown: impl Future<Output = ()>,
    ) -> Result<Once, RunError> {
        let started = self.start(false).await?;
        let (engine, settled) = started.work(shutdown, Some(limit)).await?;
        Ok(Once { engine, settled })
    }

    /// Opens the source, waits for the first commit that can be in force, takes the lock, reads the record.
    async fn start(self, patient: bool) -> Result<Running, RunError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let report = SharedReport::default();
        if let Some(address) = self.listen {
            let address = crate::http::serve(address, report.clone())
                .await
                .map_err(|source| RunError::Listen { address, source })?;
            tracing::info!(%address, "serving /healthz, /readyz and /metrics");
        }
        let transport = self.transport.clone();
        let (source, local) = self.open(&transport)?;
        let mut follower = Follower::new(source, self.accept_history.clone(), clock.clone());
        follower.assume(self.recorded(&follower, transport.as_ref()).await?);
        let (desired, state) = loop {
            match follower.look().await {
                Look::Desired(desired, state) => break (*desired, state),
                Look::State(state) => {
                    let message = state.trouble.map_or_else(String::new, |trouble| trouble.message);
                    if !patient {
                        return Err(RunError::NothingInForce { message });
                    }
                    if let Some(last_good) = follower.fall_back().await {
                        tracing::warn!("the commit that was in force before stays: {message}");
                        break last_good;
                    }
                    wait(&report, format!("nothing is in force yet: {message}")).await;
                }
            }
        };
        if let Scope::Cluster(name) = &self.scope
            && !desired.config.clusters.contains_key(name)
        {
            let known = desired.config.clusters.keys().cloned().collect::<Vec<_>>().join(", ");
            return Err(RunError::UnknownCluster { name: name.clone(), known });
        }
        let fleet = desired.config.fleet.value.spec.id.clone();
        let holder = format!("{}, process {}, since {}", self.id, std::process::id(), rfc3339(clock.now()));
        let lock = FleetLock::take(&self.state_dir, &fleet, &holder)?;
        let remote =
            follower.source().is_mirrored().then(|| (transport.clone(), follower.source().url().clone()));
        let target = &desired.config.fleet.value.spec.status;
        let mut publisher = Publisher::new(
            follower.source().repo()?,
            target,
            remote,
            writer(&self.id, clock.as_ref()),
            clock.clone(),
        )?;
        let published = match &mut publisher {
            Some(publisher) => loop {
                match publisher.read().await {
                    Ok(published) => break published,
                    // Who else writes for this fleet cannot be known: nothing is done until it is.
                    Err(error @ PublishError::Transport(_)) if patient => {
                        wait(
                            &report,
                            format!("{error}; nothing is done until it says who writes for this fleet"),
                        )
                        .await;
                    }
                    Err(error) => return Err(error.into()),
                }
            },
            None => crate::publish::Published::default(),
        };
        for damaged in &published.damaged {
            tracing::warn!("status branch: {damaged}; it is rebuilt from the clusters");
        }
        check_writer(published.writer.as_ref(), &self.id, self.take_over)?;
        // A record of another fleet on the same branch says nothing of this one.
        let ours = published.record.fleet.id == fleet;
        let record = if ours { published.record } else { Record::default() };
        if let Some(publisher) = &publisher {
            match publisher.claim().await {
                Err(error @ PublishError::Rival { .. }) => return Err(error.into()),
                Err(error) => tracing::warn!(%error, "the status branch does not name this reconciler yet"),
                Ok(()) => {}
            }
        }
        let recorded = record.fleet.source.commit.clone();
        let mut engine = Engine::new(desired, state, record, self.scope.clone(), clock.now());
        if !ours || !published.damaged.is_empty() {
            engine.remembers_nothing();
        }
        engine.follows(follower.before(), &recorded);
        let acts = ActFile::new(&self.state_dir, &fleet);
        match acts.read() {
            Ok(known) => engine.remember(known),
            Err(error) => {
                tracing::warn!(%error, "what was deleted within the last hour is known from the record only")
            }
        }
        Ok(Running {
            halt: HaltFile::new(&self.state_dir, &fleet),
            acts,
            connector: self.connector.clone(),
            engine,
            follower,
            publisher,
            clock,
            report,
            local,
            fleet,
            _lock: lock,
        })
    }

    /// A local repo is read directly; a remote one through a bare mirror of our own.
    fn open(&self, transport: &Arc<dyn Transport>) -> Result<(Source, Option<PathBuf>), RunError> {
        let local = Path::new(&self.repo).is_dir().then(|| PathBuf::from(&self.repo));
        let branch = match (&self.branch, &local) {
            (Some(branch), _) => branch.clone(),
            (None, Some(path)) => Repo::open(path)?.head_branch()?.unwrap_or_else(|| "main".into()),
            (None, None) => "main".into(),
        };
        let mirror_dir = match local {
            Some(_) => None,
            None => Some(self.state_dir.join("mirrors").join(mirror_name(&self.repo))),
        };
        let spec = SourceSpec { url_or_path: self.repo.clone(), branch, mirror_dir, deadline: FETCH };
        Ok((Source::open(spec, transport.clone())?, local))
    }

    /// What was in force when the record was last published: where that record is, the fleet document says.
    async fn recorded(
        &self,
        follower: &Follower,
        transport: &dyn Transport,
    ) -> Result<FleetRecord, RunError> {
        let source = follower.source();
        let target = follower.peek().await.unwrap_or_default();
        let branch = kcp_git::StatusBranch::new(source.repo()?, &target.branch)?;
        if source.is_mirrored() && target.mode != kcp_api::RecordMode::Disabled {
            // A mirror that was made anew has only the branch that is followed.
            let pulled = branch.pull(transport, source.url(), FETCH, false).await;
            if source.accepted().is_none() {
                pulled.map_err(PublishError::from)?;
            }
        }
        let recorded = crate::publish::read_branch(&branch)?.record.fleet;
        let is_of_it = recorded.source.branch == source.branch();
        Ok(if is_of_it { recorded } else { FleetRecord::default() })
    }
}

/// Says what the start waits for, and waits a little.
async fn wait(report: &SharedReport, message: String) {
    tracing::error!("{message}");
    *report.write().unwrap_or_else(PoisonError::into_inner) = Report::waiting(message);
    tokio::time::sleep(RETRY).await;
}

/// A folder name for the mirror of a location: readable, and one for each.
fn mirror_name(location: &str) -> String {
    let readable: String =
        location.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    let hash = kcp_core::object::ContentHash::of_bytes(location.as_bytes()).to_string();
    let tail: String = readable.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{}-{}", tail.trim_matches('-'), &hash[..8])
}

//! Several clusters that share one etcd, one folder and one kubeconfig. One fleet runs at a time in a process.
//! A fleet must never outlive its value: dropping it kills every program and removes every file.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures::future::try_join_all;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::cluster::{Cluster, Surroundings};
use crate::credentials::KubeconfigFile;
use crate::process::{Process, Reaper};
use crate::{BuildError, Kubernetes, Programs, control_planes, ports, services, wait_until};

/// Tests run in parallel, but two cores carry one fleet at a time.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// What a cluster of a fleet is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSpec {
    /// Also the name of its context. Lower case letters, digits and `-`.
    pub name: String,
    /// Of its node: `topology.kubernetes.io/region`.
    pub region: String,
    /// Of its node: `topology.kubernetes.io/zone`.
    pub zone: String,
    /// Whether kube-controller-manager, kwok and the binder of pods run; without them objects are only kept.
    pub controllers: bool,
    /// Its version, for a fleet with a skew; `None`: that of [`Fleet::programs`].
    pub kubernetes: Option<Kubernetes>,
}

impl ClusterSpec {
    /// With controllers. Region and zone come from the name: `eu-2` is in region `eu`, zone `eu-2`; a name without `-` is
    /// its own region, with the zone `NAME-1`.
    pub fn new(name: &str) -> Self {
        let (region, zone) = match name.rsplit_once('-') {
            Some((region, _)) => (region.to_owned(), name.to_owned()),
            None => (name.to_owned(), format!("{name}-1")),
        };
        Self { name: name.to_owned(), region, zone, controllers: true, kubernetes: None }
    }
}

/// Makes a [`Fleet`].
#[derive(Debug, Clone)]
pub struct FleetBuilder {
    clusters: Vec<ClusterSpec>,
}

impl FleetBuilder {
    /// Changes one cluster, by name.
    ///
    /// # Panics
    /// When there is none of that name.
    #[must_use]
    pub fn with(mut self, name: &str, change: impl FnOnce(&mut ClusterSpec)) -> Self {
        let cluster = self.clusters.iter_mut().find(|cluster| cluster.name == name);
        change(cluster.unwrap_or_else(|| panic!("there is no cluster {name} in this fleet")));
        self
    }

    /// Turns the controllers of all clusters off or on (default): see [`ClusterSpec::controllers`].
    #[must_use]
    pub fn controllers(mut self, on: bool) -> Self {
        for cluster in &mut self.clusters {
            cluster.controllers = on;
        }
        self
    }

    /// Waits for its turn, builds the programs when needed, starts all clusters and waits until their API is ready.
    ///
    /// # Errors
    /// A [`crate::BuildError`] inside when there are no programs; else what did not start, with the end of its log.
    pub async fn start(self) -> anyhow::Result<Fleet> {
        let turn = ONE_AT_A_TIME.acquire().await.context("the lock of the fleets is closed")?;
        let programs = built(control_planes::build).await?;
        let directory =
            tempfile::Builder::new().prefix("kcp-fleet-").tempdir().context("cannot create a folder")?;
        let reaper = Reaper::start(directory.path())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("fleet")
            .enable_all()
            .build()
            .context("cannot start the runtime of a fleet")?;
        let runtime = Background(Some(runtime));
        let (etcd_port, peer_port) = (ports::free_port()?, ports::free_port()?);
        let command = services::etcd(&programs, &directory.path().join("etcd"), etcd_port, peer_port);
        let mut etcd = Process::start("etcd", command, directory.path(), reaper.group())?;
        let kubeconfig = Arc::new(KubeconfigFile::new(directory.path().join("kubeconfig")));
        wait_for_port(&mut etcd, etcd_port).await?;
        let around = Surroundings {
            programs: programs.clone(),
            directory: directory.path().to_owned(),
            etcd_port,
            group: reaper.group(),
            runtime: runtime.handle(),
            kubeconfig: kubeconfig.clone(),
        };
        let mut starts = Vec::new();
        for spec in self.clusters {
            let mut around = around.clone();
            if let Some(version) = spec.kubernetes {
                around.programs = built(move || control_planes::build_of(version)).await?;
            }
            starts.push(Cluster::start(spec, around));
        }
        let clusters = try_join_all(starts).await?;
        Ok(Fleet {
            clusters,
            _etcd: etcd,
            _runtime: runtime,
            kubeconfig,
            programs,
            directory,
            _reaper: reaper,
            _turn: turn,
        })
    }
}

/// Running clusters. Use it on the runtime that started it.
pub struct Fleet {
    // Dropped from top to bottom: what uses something goes before it.
    clusters: Vec<Cluster>,
    _etcd: Process,
    _runtime: Background,
    kubeconfig: Arc<KubeconfigFile>,
    programs: Programs,
    directory: TempDir,
    _reaper: Reaper,
    _turn: SemaphorePermit<'static>,
}

impl Fleet {
    /// `count` clusters with all controllers, named `c1`, `c2` and so on.
    ///
    /// # Errors
    /// As [`FleetBuilder::start`].
    pub async fn start(count: usize) -> anyhow::Result<Self> {
        Self::builder((1..=count).map(|number| format!("c{number}"))).start().await
    }

    /// A fleet of clusters with these names.
    pub fn builder<I, S>(names: I) -> FleetBuilder
    where
        I: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        FleetBuilder { clusters: names.into_iter().map(|name| ClusterSpec::new(name.as_ref())).collect() }
    }

    /// A cluster by its name.
    ///
    /// # Panics
    /// When there is none of that name.
    pub fn cluster(&self, name: &str) -> &Cluster {
        let cluster = self.clusters.iter().find(|cluster| cluster.name() == name);
        cluster.unwrap_or_else(|| panic!("there is no cluster {name} in this fleet"))
    }

    /// All clusters, in the order of the builder.
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// The kubeconfig for the reconciler: one context per cluster, with its name, cluster-admin by a bound token,
    /// through a proxy.
    pub fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig.path().to_owned()
    }

    /// A folder for a test's own files, removed with the fleet.
    pub fn directory(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    /// The programs that the fleet runs, but for clusters with a version of their own.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Rewrites the kubeconfig so that `context` leads to the cluster `name`.
    ///
    /// # Errors
    /// When the file cannot be written.
    ///
    /// # Panics
    /// When there is no such cluster.
    pub fn point_context(&self, context: &str, name: &str) -> anyhow::Result<()> {
        self.kubeconfig.set(context, self.cluster(name).access())
    }
}

/// A runtime that may be dropped inside another one.
struct Background(Option<Runtime>);

impl Background {
    fn handle(&self) -> tokio::runtime::Handle {
        self.0.as_ref().map(|runtime| runtime.handle().clone()).expect("taken only by drop")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A build may take minutes: it must not block the runtime.
async fn built(
    build: impl FnOnce() -> Result<Programs, BuildError> + Send + 'static,
) -> anyhow::Result<Programs> {
    Ok(tokio::task::spawn_blocking(build).await.context("the build panicked")??)
}

async fn wait_for_port(etcd: &mut Process, port: u16) -> anyhow::Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listens = wait_until("etcd to listen", Duration::from_secs(60), async || {
        TcpStream::connect_timeout(&address, Duration::from_secs(1)).map(drop)
    });
    match listens.await {
        Ok(()) => Ok(()),
        Err(error) => {
            etcd.check()?;
            Err(error.context(etcd.log_tail()))
        }
    }
}

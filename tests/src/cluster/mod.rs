//! One cluster of a fleet: its processes, what a test does to it, and what a test asks it.
//! Faults must never touch another cluster of the fleet.

mod ask;
mod startup;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, DeleteParams};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

pub use self::ask::Output;
use crate::credentials::{self, Access, KubeconfigFile, NAMESPACE};
use crate::process::Process;
use crate::proxy::Proxy;
use crate::{ClusterSpec, Mark, Programs, Request, audit};

/// The audit line of a request is written just after its answer.
const AUDIT_LAG: Duration = Duration::from_millis(150);

/// What a cluster needs from its fleet.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) programs: Programs,
    pub(crate) directory: PathBuf,
    pub(crate) etcd_port: u16,
    pub(crate) group: i32,
    /// Runs proxies and binders, so that a test which blocks its own runtime does not stop them.
    pub(crate) runtime: Handle,
    pub(crate) kubeconfig: Arc<KubeconfigFile>,
}

/// A running (or killed) cluster.
pub struct Cluster {
    spec: ClusterSpec,
    around: Surroundings,
    directory: PathBuf,
    port: u16,
    proxy: Proxy,
    authority: String,
    client: Client,
    uid: String,
    running: Mutex<Running>,
    token: Mutex<Token>,
}

/// Dropping it kills the processes.
#[derive(Default)]
struct Running {
    processes: Vec<Process>,
    binder: Option<AbortHandle>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(binder) = &self.binder {
            binder.abort();
        }
    }
}

/// The present token of the reconciler.
struct Token {
    number: u32,
    value: String,
}

impl Token {
    fn secret(number: u32) -> String {
        format!("reconciler-token-{number}")
    }
}

impl Cluster {
    /// Its name, which is also that of its context.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The UID of its kube-system namespace.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// A client of the fixture's own administrator: past the proxy, never counted in [`Cluster::requests`].
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The kubeconfig of that administrator, for programs.
    pub fn admin_kubeconfig(&self) -> PathBuf {
        self.directory.join("admin.kubeconfig")
    }

    /// The proxy that the fleet's kubeconfig goes through, for faults without a method here, and its byte counts.
    pub fn proxy(&self) -> &Proxy {
        &self.proxy
    }

    /// Kills the kube-apiserver, its controllers and kwok, without warning: the region is out. Its data stays.
    pub fn kill(&self) {
        *self.running() = Running::default();
    }

    /// Starts what [`Cluster::kill`] killed, with the same data, keys, port and tokens, and waits until it is ready.
    ///
    /// # Errors
    /// When the cluster does not get ready.
    pub async fn restart(&self) -> anyhow::Result<()> {
        self.kill();
        self.start_again().await.with_context(|| format!("cluster {} did not restart", self.spec.name))
    }

    /// Cuts the network: connections are closed, new ones refused. The cluster itself goes on.
    pub fn cut(&self) {
        self.proxy.cut();
    }

    /// Lets nothing pass, but keeps connections open: requests hang until a deadline of their sender.
    pub fn hang(&self) {
        self.proxy.hang();
    }

    /// Adds `latency` to what passes, in each direction.
    pub fn slow(&self, latency: Duration) {
        self.proxy.slow(latency);
    }

    /// Ends [`Cluster::cut`], [`Cluster::hang`] and [`Cluster::slow`].
    pub fn heal(&self) {
        self.proxy.heal();
    }

    /// Makes the present token invalid. kube-apiserver remembers for up to 10 s that it was valid, and lets running
    /// watches go on: close them by [`Proxy::drop_connections`].
    ///
    /// # Errors
    /// When the cluster cannot be reached.
    pub async fn revoke_token(&self) -> anyhow::Result<()> {
        let secret = Token::secret(self.token().number);
        Api::<Secret>::namespaced(self.client(), NAMESPACE)
            .delete(&secret, &DeleteParams::default())
            .await
            .with_context(|| format!("cannot delete Secret {NAMESPACE}/{secret}"))?;
        Ok(())
    }

    /// Writes a new token into the fleet's kubeconfig, then revokes the one before (if that was not done yet).
    ///
    /// # Errors
    /// When the cluster cannot be reached or the kubeconfig cannot be written.
    pub async fn rotate_token(&self) -> anyhow::Result<()> {
        let old = self.token().number;
        let value = credentials::issue_token(&self.client, &Token::secret(old + 1)).await?;
        *self.token() = Token { number: old + 1, value };
        self.around.kubeconfig.set(&self.spec.name, self.access())?;
        let secrets = Api::<Secret>::namespaced(self.client(), NAMESPACE);
        match secrets.delete(&Token::secret(old), &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => Err(error).context("cannot delete the Secret of the old token"),
            Ok(_) => Ok(()),
        }
    }

    /// This moment, for [`Cluster::requests`]: what was answered before the call does not count any more.
    pub async fn mark(&self) -> Mark {
        tokio::time::sleep(AUDIT_LAG).await;
        // Before the first request there is no file.
        Mark(std::fs::metadata(self.audit_log()).map_or(0, |file| file.len()))
    }

    /// All requests since `mark` that came with the reconciler's token, in the order of their answers (watches: of
    /// their start). Refused tokens are not in it.
    ///
    /// # Errors
    /// When the audit log cannot be read.
    pub async fn requests(&self, mark: Mark) -> anyhow::Result<Vec<Request>> {
        tokio::time::sleep(AUDIT_LAG).await;
        let path = self.audit_log();
        let log = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            other => other.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let start = usize::try_from(mark.0).unwrap_or(usize::MAX);
        audit::parse(&String::from_utf8_lossy(log.get(start..).unwrap_or_default()))
    }

    /// Those of [`Cluster::requests`] that change something.
    ///
    /// # Errors
    /// As there.
    pub async fn writes(&self, mark: Mark) -> anyhow::Result<Vec<Request>> {
        Ok(self.requests(mark).await?.into_iter().filter(Request::is_write).collect())
    }

    /// The reconciler's way in: through the proxy, with its present token.
    pub(crate) fn access(&self) -> Access {
        let token = self.token().value.clone();
        Access { port: self.proxy.port(), authority: self.authority.clone(), token }
    }

    fn audit_log(&self) -> PathBuf {
        self.directory.join("audit.log")
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().expect("nothing panics while it is held")
    }

    fn token(&self) -> MutexGuard<'_, Token> {
        self.token.lock().expect("nothing panics while it is held")
    }
}

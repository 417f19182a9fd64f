//! From a kubeconfig context to a connection.
//!
//! Which kubeconfig is used, and whether it may run programs or skip checks, is said by whoever starts us; nothing
//! of it ever comes from the repo. Credentials are kept by the client only and never shown.

use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use kcp_api::Reason;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};

use crate::call::{Cluster, chain};
use crate::metrics::Metrics;
use crate::timing::Timing;

/// The context that means the service account of the pod we run in.
const IN_CLUSTER: &str = "in-cluster";
/// How long a credential program may take; a person may have to answer it.
const EXEC_DEADLINE: Duration = Duration::from_secs(60);

/// What may be used to connect.
#[derive(Debug, Clone, Default)]
pub struct ConnectOptions {
    /// The kubeconfig file. Without it: what kubectl would use (`KUBECONFIG`, then the one in the home directory).
    pub kubeconfig: Option<PathBuf>,
    /// Programs named by the kubeconfig may be run for credentials: only where the kubeconfig is the user's own.
    pub allow_exec: bool,
    /// Connections that do not check the server's certificate are allowed.
    pub allow_insecure: bool,
    /// The context `in-cluster` means the service account of the pod we run in.
    pub in_cluster: bool,
}

/// There is no connection to be had by this context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be read.
    #[error("the kubeconfig{} cannot be used: {message}", at(.path.as_deref()))]
    Kubeconfig {
        /// The file, where one was named.
        path: Option<PathBuf>,
        /// Why.
        message: String,
    },
    /// The kubeconfig has no such context.
    #[error("the kubeconfig has no context `{context}`; it has {}", list(.known))]
    NoContext {
        /// The context.
        context: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The connection would not check the server.
    #[error("context `{context}` {what}: give it the certificate authority, or allow insecure clusters")]
    Insecure {
        /// The context.
        context: String,
        /// What it does not check.
        what: &'static str,
    },
    /// The context wants a program to be run.
    #[error("context `{context}` gets its credentials from a program, which is not allowed here")]
    ExecNotAllowed {
        /// The context.
        context: String,
    },
    /// The client cannot be set up: a certificate, a proxy, a credential program.
    #[error("context `{context}` cannot be used: {message}")]
    Setup {
        /// The context.
        context: String,
        /// Why.
        message: String,
    },
}

impl ConnectError {
    /// The kind of error, if it stays until a person changes something; `None` if it may pass by itself.
    #[must_use]
    pub fn refusal(&self) -> Option<Reason> {
        match self {
            Self::Insecure { .. } => Some(Reason::InsecureConnection),
            Self::NoContext { .. } | Self::ExecNotAllowed { .. } => Some(Reason::ConnectionRefused),
            Self::Kubeconfig { .. } | Self::Setup { .. } => None,
        }
    }
}

fn at(path: Option<&Path>) -> String {
    path.map(|path| format!(" {}", path.display())).unwrap_or_default()
}

fn list(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

type FromContext = dyn Fn(&str) -> Result<Cluster, ConnectError> + Send + Sync;

/// Makes connections.
pub struct Connector {
    source: Source,
}

enum Source {
    Kubeconfig { options: ConnectOptions, cache: Mutex<Option<Cached>> },
    Given(Box<FromContext>),
}

/// A kubeconfig as it was read, with what tells whether the file changed since.
struct Cached {
    stamp: (SystemTime, u64),
    kubeconfig: Arc<Kubeconfig>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Kubeconfig { options, .. } => f.debug_tuple("Connector").field(options).finish(),
            Source::Given(_) => f.write_str("Connector(given)"),
        }
    }
}

/// A connection, and a mark that changes when its credentials or address do.
pub(crate) struct Connected {
    pub(crate) cluster: Cluster,
    pub(crate) mark: u64,
}

impl Connector {
    /// A connector by kubeconfig.
    #[must_use]
    pub fn new(options: ConnectOptions) -> Self {
        Self { source: Source::Kubeconfig { options, cache: Mutex::new(None) } }
    }

    /// A connector that asks `find` for the cluster of a context: for simulated clusters.
    pub fn from_fn(find: impl Fn(&str) -> Result<Cluster, ConnectError> + Send + Sync + 'static) -> Self {
        Self { source: Source::Given(Box::new(find)) }
    }

    /// Connects by a context. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ConnectError`] if the context is missing, not allowed, or its client cannot be set up.
    pub async fn connect(&self, context: &str) -> Result<Cluster, ConnectError> {
        let connected =
            self.connect_counted(context, Arc::new(Metrics::default()), Timing::default().request).await?;
        Ok(connected.cluster)
    }

    /// The contexts of the kubeconfig, and its current one.
    ///
    /// # Errors
    /// [`ConnectError::Kubeconfig`] if it cannot be read.
    pub fn contexts(&self) -> Result<(Vec<String>, Option<String>), ConnectError> {
        match &self.source {
            Source::Kubeconfig { options, cache } => {
                let kubeconfig = load(options, cache)?;
                let names = kubeconfig.contexts.iter().map(|context| context.name.clone()).collect();
                Ok((names, kubeconfig.current_context.clone()))
            }
            Source::Given(_) => Ok((Vec::new(), None)),
        }
    }

    pub(crate) async fn connect_counted(
        &self,
        context: &str,
        metrics: Arc<Metrics>,
        deadline: Duration,
    ) -> Result<Connected, ConnectError> {
        let (options, cache) = match &self.source {
            Source::Given(find) => {
                return Ok(Connected { cluster: find(context)?.with(metrics, deadline), mark: 0 });
            }
            Source::Kubeconfig { options, cache } => (options, cache),
        };
        let setup = |message| ConnectError::Setup { context: context.to_owned(), message };
        let (mut config, mark) = if options.in_cluster && context == IN_CLUSTER {
            // The client reads its token and authority files again by itself.
            (kube::Config::incluster().map_err(|error| setup(chain(&error)))?, 0)
        } else {
            let kubeconfig = load(options, cache)?;
            let own_proxy = check(&kubeconfig, context, options)?;
            let mark = mark_of(&kubeconfig, context);
            let wanted = KubeConfigOptions { context: Some(context.to_owned()), cluster: None, user: None };
            let loaded = kube::Config::from_custom_kubeconfig((*kubeconfig).clone(), &wanted).await;
            let mut config = loaded.map_err(|error| setup(describe(&error)))?;
            if !own_proxy {
                // Only a proxy that the kubeconfig itself names: the environment's would also catch local clusters.
                config.proxy_url = None;
            }
            (config, mark)
        };
        // Who asked decides about trying again, with its own waiting times.
        config.default_retry = false;
        config.connect_timeout = Some(deadline.min(Duration::from_secs(10)));
        config.read_timeout = None;
        // A credential program is run while the client is made.
        let made = tokio::task::spawn_blocking(move || kube::Client::try_from(config));
        let client = match tokio::time::timeout(EXEC_DEADLINE, made).await {
            Ok(Ok(Ok(client))) => client,
            Ok(Ok(Err(error))) => return Err(setup(chain(&error))),
            Ok(Err(_)) => return Err(setup("setting up the client failed".to_owned())),
            Err(_) => return Err(setup("its credential program did not end within 60 s".to_owned())),
        };
        Ok(Connected { cluster: Cluster::new(context, client, metrics, deadline), mark })
    }

    /// The mark of a context as it is now; `None` if it cannot be told.
    pub(crate) fn mark(&self, context: &str) -> Option<u64> {
        match &self.source {
            Source::Given(_) => Some(0),
            Source::Kubeconfig { options, .. } if options.in_cluster && context == IN_CLUSTER => Some(0),
            Source::Kubeconfig { options, cache } => {
                load(options, cache).ok().map(|kubeconfig| mark_of(&kubeconfig, context))
            }
        }
    }
}

/// Reads the kubeconfig, or gives the one read before if the file is the same.
fn load(options: &ConnectOptions, cache: &Mutex<Option<Cached>>) -> Result<Arc<Kubeconfig>, ConnectError> {
    let failed = |message| ConnectError::Kubeconfig { path: options.kubeconfig.clone(), message };
    let Some(path) = &options.kubeconfig else {
        return Kubeconfig::read().map(Arc::new).map_err(|error| failed(describe(&error)));
    };
    let metadata = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    let stamp = (metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), metadata.len());
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    // A file that was written a moment ago may be written again without a new time.
    let settled = stamp.0.elapsed().is_ok_and(|age| age > Duration::from_secs(2));
    if let Some(cached) = cache.as_ref().filter(|cached| cached.stamp == stamp && settled) {
        return Ok(Arc::clone(&cached.kubeconfig));
    }
    let kubeconfig = Arc::new(Kubeconfig::read_from(path).map_err(|error| failed(describe(&error)))?);
    *cache = Some(Cached { stamp, kubeconfig: Arc::clone(&kubeconfig) });
    Ok(kubeconfig)
}

/// A parser's message may quote the text it failed on, and that text is full of secrets.
fn describe(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(_) => "it is not the YAML of a kubeconfig".to_owned(),
        KubeconfigError::ReadConfig(error, _) => error.to_string(),
        other => chain(other),
    }
}

/// Checks what a context may do, and says whether it names a proxy of its own.
fn check(kubeconfig: &Kubeconfig, context: &str, options: &ConnectOptions) -> Result<bool, ConnectError> {
    let named = kubeconfig.contexts.iter().find(|named| named.name == context);
    let Some(entry) = named.and_then(|named| named.context.as_ref()) else {
        let known = kubeconfig.contexts.iter().map(|named| named.name.clone()).collect();
        return Err(ConnectError::NoContext { context: context.to_owned(), known });
    };
    let cluster = kubeconfig.clusters.iter().find(|named| named.name == entry.cluster);
    let cluster = cluster.and_then(|named| named.cluster.as_ref());
    let insecure = |what| Err(ConnectError::Insecure { context: context.to_owned(), what });
    if let Some(cluster) = cluster.filter(|_| !options.allow_insecure) {
        if cluster.insecure_skip_tls_verify == Some(true) {
            return insecure("does not verify the server's certificate (insecure-skip-tls-verify)");
        }
        if cluster
            .server
            .as_deref()
            .is_some_and(|server| !server.to_ascii_lowercase().starts_with("https://"))
        {
            return insecure("sends everything in the clear (no https)");
        }
    }
    let user =
        entry.user.as_ref().and_then(|user| kubeconfig.auth_infos.iter().find(|named| named.name == *user));
    let user = user.and_then(|named| named.auth_info.as_ref());
    if !options.allow_exec && user.is_some_and(|user| user.exec.is_some() || user.auth_provider.is_some()) {
        return Err(ConnectError::ExecNotAllowed { context: context.to_owned() });
    }
    Ok(cluster.and_then(|cluster| cluster.proxy_url.as_deref()).is_some_and(|proxy| !proxy.is_empty()))
}

/// A hash over everything that a connection by this context is made of, files included.
fn mark_of(kubeconfig: &Kubeconfig, context: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Some(named) = kubeconfig.contexts.iter().find(|named| named.name == context) else { return 0 };
    let Some(entry) = &named.context else { return 0 };
    let mut files = Vec::new();
    if let Some(cluster) = kubeconfig.clusters.iter().find(|named| named.name == entry.cluster)
        && let Some(cluster) = &cluster.cluster
    {
        serde_json::to_string(cluster).unwrap_or_default().hash(&mut hasher);
        files.extend(cluster.certificate_authority.clone());
    }
    if let Some(user) = kubeconfig.auth_infos.iter().find(|named| Some(&named.name) == entry.user.as_ref())
        && let Some(user) = &user.auth_info
    {
        serde_json::to_string(user).unwrap_or_default().hash(&mut hasher);
        files.extend(
            [&user.client_certificate, &user.client_key, &user.token_file].into_iter().flatten().cloned(),
        );
    }
    for file in files {
        std::fs::read(file).unwrap_or_default().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;

//! A way to the clusters that stops at a chosen write, so that a reconciler can be killed right before or after it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use kcp_cluster::{Cluster, ConnectError, Connector};
use kcp_tests::Fleet;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::sync::Notify;

/// On which side of the write it stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The request is never sent.
    Before,
    /// The request is done by the cluster, and the answer never arrives.
    After,
}

/// Counts writes to all clusters, and lets none pass from the chosen one on.
#[derive(Debug)]
pub(crate) struct CrashPoint {
    number: usize,
    side: Side,
    seen: AtomicUsize,
    reached: Notify,
}

impl CrashPoint {
    /// Stops at the write with this number, counted from 1.
    pub(crate) fn at(number: usize, side: Side) -> Arc<Self> {
        Arc::new(Self { number, side, seen: AtomicUsize::new(0), reached: Notify::new() })
    }

    /// How many writes there were.
    pub(crate) fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }

    /// Waits until the chosen write was reached.
    pub(crate) async fn reached(&self) {
        self.reached.notified().await;
    }

    /// Connections to the clusters of a fleet that go through this point.
    pub(crate) async fn connector(self: &Arc<Self>, fleet: &Fleet) -> anyhow::Result<Connector> {
        let kubeconfig = Kubeconfig::read_from(fleet.kubeconfig())?;
        let mut configs = BTreeMap::new();
        for cluster in fleet.clusters() {
            let options =
                KubeConfigOptions { context: Some(cluster.name().into()), ..KubeConfigOptions::default() };
            let mut config = Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await?;
            config.default_retry = false;
            config.read_timeout = None;
            configs.insert(cluster.name().to_owned(), config);
        }
        let point = self.clone();
        Ok(Connector::from_fn(move |context| {
            let missing = || ConnectError::NoContext { context: context.into(), known: Vec::new() };
            let config = configs.get(context).ok_or_else(missing)?.clone();
            let client = Client::try_from(config).map_err(|error| ConnectError::Setup {
                context: context.into(),
                message: error.to_string(),
            })?;
            let point = point.clone();
            let service = tower::service_fn(move |request: http::Request<Body>| {
                let (client, point) = (client.clone(), point.clone());
                async move {
                    let number =
                        if is_write(&request) { point.seen.fetch_add(1, Ordering::SeqCst) + 1 } else { 0 };
                    if number > point.number || (number == point.number && point.side == Side::Before) {
                        point.stop().await;
                    }
                    let answer = client.send(request).await;
                    if number == point.number {
                        point.stop().await;
                    }
                    answer
                }
            });
            Ok(Cluster::from_service(service, context))
        }))
    }

    async fn stop(&self) {
        self.reached.notify_one();
        std::future::pending().await
    }
}

/// As the audit log counts: what changes something that is kept.
fn is_write(request: &http::Request<Body>) -> bool {
    let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
    let changes = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE].contains(request.method());
    changes && !query.contains("dryRun=") && !path.starts_with("/apis/auth")
}

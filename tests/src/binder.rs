//! Puts pods on the fake node, in place of a kube-scheduler: 75 MB and a CPU share less per cluster.
//! It must never touch a pod that is bound already, and knows nothing of resources, taints or volumes.

use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Binding, ObjectReference, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::Client;
use kube::api::{Api, ObjectMeta, PartialObjectMeta, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};

/// A pod that stays unbound makes no further event: without another try it would stay so.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(200);

/// Binds each pod without a node to `node`, until the task is aborted.
pub(crate) async fn bind_pods(client: Client, node: String) {
    let unbound = watcher::Config::default().fields("spec.nodeName=");
    let pods = Api::<PartialObjectMeta<Pod>>::all(client.clone());
    let pods = watcher(pods, unbound).default_backoff().applied_objects();
    let mut pods = std::pin::pin!(pods);
    while let Some(pod) = pods.next().await {
        match pod {
            Ok(pod) if pod.metadata.deletion_timestamp.is_none() => bind(&client, pod.metadata, &node).await,
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "watching pods failed; it is tried again"),
        }
    }
}

async fn bind(client: &Client, pod: ObjectMeta, node: &str) {
    let name = pod.name.clone().unwrap_or_default();
    let namespace = pod.namespace.clone().unwrap_or_default();
    let binding = Binding {
        // With the UID, a new pod of the same name is not bound by mistake: it gets an event of its own.
        metadata: ObjectMeta {
            name: pod.name,
            namespace: pod.namespace,
            uid: pod.uid,
            ..ObjectMeta::default()
        },
        target: ObjectReference {
            kind: Some("Node".into()),
            name: Some(node.into()),
            ..ObjectReference::default()
        },
    };
    let pods = Api::<Pod>::namespaced(client.clone(), &namespace);
    for _ in 0..TRIES {
        let bound: kube::Result<Status> =
            pods.create_subresource("binding", &name, &PostParams::default(), &binding).await;
        match bound {
            // Gone, or bound by someone else.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => return,
            Err(error) => tracing::debug!(%error, namespace, name, "a pod was not bound"),
            Ok(_) => return,
        }
        tokio::time::sleep(PAUSE).await;
    }
}

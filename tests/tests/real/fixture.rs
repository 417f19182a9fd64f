//! What every other test with real control planes stands on: the fleet itself.

use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kcp_tests::{Cluster, Fleet, Kubernetes, fleet_or_skip, wait_until};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

const SOON: Duration = Duration::from_secs(60);

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
";

/// The way that a user of the fleet's kubeconfig goes.
async fn connect(fleet: &Fleet, context: &str) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::read_from(fleet.kubeconfig())?;
    let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    // A test asks once: retries would hide the faults.
    config.read_timeout = Some(Duration::from_secs(5));
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

async fn read(client: &Client) -> kube::Result<usize> {
    let all = Api::<ConfigMap>::namespaced(client.clone(), "default").list(&ListParams::default()).await?;
    Ok(all.items.len())
}

async fn deploy(cluster: &Cluster) -> anyhow::Result<()> {
    let applied = cluster.kubectl_with_input(&["apply", "-f", "-"], WEB).await?;
    anyhow::ensure!(applied.success, "{}: {}", cluster.name(), applied.stderr);
    cluster.wait_for_deployment("default", "web", SOON).await
}

#[tokio::test(flavor = "multi_thread")]
async fn three_clusters_run_workloads_and_one_dies_and_comes_back_alone() -> anyhow::Result<()> {
    let builder = Fleet::builder(["eu-1", "eu-2", "us-1"]);
    let Some(fleet) = fleet_or_skip("three_clusters", builder).await else { return Ok(()) };
    futures::future::try_join_all(fleet.clusters().iter().map(deploy)).await?;
    let node = fleet.cluster("us-1").get("v1", "Node", "", "fake-0").await?.context("no node")?;
    assert_eq!(node["metadata"]["labels"]["topology.kubernetes.io/region"], "us");

    let (dead, alive) = (connect(&fleet, "eu-1").await?, connect(&fleet, "eu-2").await?);
    fleet.cluster("eu-1").kill();
    assert!(read(&dead).await.is_err());
    read(&alive).await?;
    fleet.cluster("eu-1").restart().await?;
    read(&dead).await?;
    // Its controllers came back as well: a new image needs new pods.
    let scaled = fleet.cluster("eu-1").kubectl(&["set", "image", "deployment/web", "web=web:2"]).await?;
    assert!(scaled.success, "{}", scaled.stderr);
    fleet.cluster("eu-1").wait_for_deployment("default", "web", SOON).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_network_fails_for_the_kubeconfig_only() -> anyhow::Result<()> {
    let builder = Fleet::builder(["eu-1", "eu-2"]).controllers(false);
    let Some(fleet) = fleet_or_skip("the_network", builder).await else { return Ok(()) };
    let cluster = fleet.cluster("eu-1");
    let (cut, other) = (connect(&fleet, "eu-1").await?, connect(&fleet, "eu-2").await?);
    for fault in [Cluster::cut, Cluster::hang] {
        read(&cut).await?;
        fault(cluster);
        assert!(read(&cut).await.is_err());
        read(&cluster.client()).await?;
        read(&other).await?;
        cluster.heal();
        wait_until("the network to heal", SOON, || read(&cut)).await?;
    }
    fleet.point_context("eu-1", "eu-2")?;
    let mark = fleet.cluster("eu-2").mark().await;
    read(&connect(&fleet, "eu-1").await?).await?;
    assert_eq!(fleet.cluster("eu-2").requests(mark).await?.len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_the_reconciler_are_counted_and_only_those() -> anyhow::Result<()> {
    let builder = Fleet::builder(["eu-1"]).controllers(false);
    let Some(fleet) = fleet_or_skip("requests", builder).await else { return Ok(()) };
    let cluster = fleet.cluster("eu-1");
    let api = Api::<ConfigMap>::namespaced(connect(&fleet, "eu-1").await?, "default");
    let map = Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let mark = cluster.mark().await;
    api.patch("a", &PatchParams::apply("kcp").dry_run(), &map).await?;
    api.patch("a", &PatchParams::apply("kcp"), &map).await?;
    api.get("a").await?;
    // The administrator's are not counted.
    Api::<ConfigMap>::namespaced(cluster.client(), "default").get("a").await?;

    let requests = cluster.requests(mark).await?;
    let seen: Vec<_> = requests.iter().map(|r| (r.verb.as_str(), r.name.as_str(), r.dry_run)).collect();
    assert_eq!(seen, [("patch", "a", true), ("patch", "a", false), ("get", "a", false)]);
    assert_eq!(cluster.writes(mark).await?.len(), 1);
    assert_eq!(cluster.requests(cluster.mark().await).await?, []);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_refused_and_a_new_one_is_in_the_kubeconfig() -> anyhow::Result<()> {
    let builder = Fleet::builder(["eu-1"]).controllers(false);
    let Some(fleet) = fleet_or_skip("a_revoked_token", builder).await else { return Ok(()) };
    let cluster = fleet.cluster("eu-1");
    let old = connect(&fleet, "eu-1").await?;
    read(&old).await?;
    cluster.revoke_token().await?;
    wait_until("the token to be refused", SOON, async || match read(&old).await {
        Err(kube::Error::Api(status)) if status.code == 401 => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await?;
    cluster.rotate_token().await?;
    read(&connect(&fleet, "eu-1").await?).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long: .ci/run --long"]
async fn one_fleet_has_clusters_of_two_versions() -> anyhow::Result<()> {
    let builder = Fleet::builder(["old-1", "new-1"])
        .with("old-1", |cluster| cluster.kubernetes = Some(Kubernetes::V1_34))
        .with("new-1", |cluster| cluster.kubernetes = Some(Kubernetes::V1_36));
    let Some(fleet) = fleet_or_skip("two_versions", builder).await else { return Ok(()) };
    for (name, minor) in [("old-1", "34"), ("new-1", "36")] {
        let cluster = fleet.cluster(name);
        assert_eq!(cluster.client().apiserver_version().await?.minor, minor);
        deploy(cluster).await?;
        // What died comes back as the version it was.
        cluster.restart().await?;
        assert_eq!(cluster.client().apiserver_version().await?.minor, minor);
    }
    Ok(())
}

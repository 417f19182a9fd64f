//! Our inventory is the convention's (KEP-3659): real kubectl knows the parent, leaves it to us, and would write the same.

use anyhow::Context as _;
use kcp_core::applyset::{
    GROUP_KINDS_ANNOTATION, ID_LABEL, NAMESPACES_ANNOTATION, PART_OF_LABEL, parent_name,
};
use kcp_tests::{Cluster, Fleet, Output, fleet_or_skip};
use serde_json::Value;
use tokio::process::Command;

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, Setup, map};

const ROLE: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kcp-tests-sets}
rules: []
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: sets}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
";

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_recognises_our_parent_and_would_write_the_same() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("applyset", builder).await else { return Ok(()) };
    // Nothing is deleted or moved here.
    let setup = Setup::new(&fleet, "sets", NOTHING)?;
    let manifests = format!(
        "{}---\n{}---\n{}",
        ROLE,
        map("a", "1").replace("{name: a}", "{name: a, namespace: sets}"),
        map("b", "1").replace("{name: b}", "{name: b, namespace: sets-more}")
    );
    setup.workspace("sets", &[("all.yaml", manifests.clone())])?;
    setup.place("sets", "clusters: {exactly: 1}, clusterSelector: {matchLabels: {name: eu-1}}")?;
    setup.commit("three kinds in two namespaces")?;
    let daemon = Daemon::start(&setup)?;
    setup.wait_for_map(&["eu-1"], "sets-more", "b", Some("1")).await?;
    setup.quiet().await?;
    let name = parent_name("sets", "sets");
    let (ours, theirs) = (setup.cluster("eu-1"), setup.cluster("eu-2"));

    // kubectl finds the parent, reads whose it is, and stops.
    let refused =
        kubectl(&setup, ours, &name, &map("c", "1").replace("{name: c}", "{name: c, namespace: sets}"))
            .await?;
    assert!(
        !refused.success && refused.stderr.contains("managed by tooling \"kcp\""),
        "{}{}",
        refused.stdout,
        refused.stderr
    );
    assert_eq!(setup.map("eu-1", "sets", "c").await?, None);

    // The same manifests, applied by kubectl with a parent of the same name on another cluster. The namespaces that we
    // make are part of our set.
    let namespaces = "
apiVersion: v1
kind: Namespace
metadata: {name: sets}
---
apiVersion: v1
kind: Namespace
metadata: {name: sets-more}
---
apiVersion: v1
kind: Namespace
metadata: {name: kcp-system}
";
    let made = theirs.kubectl_with_input(&["apply", "-f", "-"], namespaces).await?;
    anyhow::ensure!(made.success, "{}", made.stderr);
    let members = namespaces.replace("metadata: {name: kcp-system}", "metadata: {name: sets-more}");
    let applied = kubectl(&setup, theirs, &name, &format!("{members}---\n{manifests}")).await?;
    anyhow::ensure!(applied.success, "{}", applied.stderr);
    let (ours, theirs) = (parent(ours, &name).await?, parent(theirs, &name).await?);
    for annotation in [GROUP_KINDS_ANNOTATION, NAMESPACES_ANNOTATION] {
        let of = |parent: &Value| parent["metadata"]["annotations"][annotation].as_str().map(str::to_owned);
        assert!(
            of(&ours).is_some() && of(&ours) == of(&theirs),
            "{annotation}: {:?}, kubectl: {:?}",
            of(&ours),
            of(&theirs)
        );
    }
    let id = |parent: &Value| parent["metadata"]["labels"][ID_LABEL].clone();
    assert_eq!(id(&ours), id(&theirs));
    let member = setup.cluster("eu-1").get("v1", "ConfigMap", "sets", "a").await?.unwrap_or_default();
    assert_eq!(member["metadata"]["labels"][PART_OF_LABEL], id(&ours));
    daemon.stop().await
}

async fn parent(cluster: &Cluster, name: &str) -> anyhow::Result<Value> {
    cluster.get("v1", "Secret", "kcp-system", name).await?.context("there is no parent")
}

/// `kubectl apply --prune` with an ApplySet, which it does only when an environment variable says so.
async fn kubectl(
    setup: &Setup<'_>,
    cluster: &Cluster,
    parent: &str,
    manifests: &str,
) -> anyhow::Result<Output> {
    let file = setup.repo().with_file_name("manifests.yaml");
    std::fs::write(&file, manifests)?;
    let output = Command::new(setup.fleet.programs().program("kubectl"))
        .arg("--kubeconfig")
        .arg(cluster.admin_kubeconfig())
        .arg("--cache-dir")
        .arg(file.with_file_name("kubectl-cache"))
        .args(["apply", "--prune", "-n", "kcp-system", &format!("--applyset=secret/{parent}"), "-f"])
        .arg(&file)
        .env("KUBECTL_APPLYSET", "true")
        .kill_on_drop(true)
        .output()
        .await?;
    Ok(Output {
        success: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

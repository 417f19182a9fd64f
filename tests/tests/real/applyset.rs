//! Our inventory is the convention's (KEP-3659): real kubectl knows the parent, leaves it to us, and would write the same.

use anyhow::Context as _;
use kcp_core::applyset::{
    GROUP_KINDS_ANNOTATION, ID_LABEL, NAMESPACES_ANNOTATION, PART_OF_LABEL, TOOLING_ANNOTATION, id as id_of,
    parent_name,
};
use kcp_core::object::GroupKind;
use kcp_tests::{Fleet, Output, fleet_or_skip};
use serde_json::Value;
use tokio::process::Command;

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, Setup, map};

/// A set in the namespace of its parent, as kubectl wants it for a Secret: without namespaces at all.
const CLUSTER_SCOPED: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kcp-tests-sets}
rules: []
";

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: sets}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
";

const NAMESPACES: &str = "
apiVersion: v1
kind: Namespace
metadata: {name: sets}
---
apiVersion: v1
kind: Namespace
metadata: {name: sets-more}
";

/// A kind whose objects kubectl takes as parents.
const PARENTS: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: parents.tests.kcp.invalid
  labels: {applyset.kubernetes.io/is-parent-type: \"true\"}
spec:
  group: tests.kcp.invalid
  scope: Cluster
  names: {kind: Parent, listKind: ParentList, plural: parents, singular: parent}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
";

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_recognises_our_parent_and_would_write_the_same() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("applyset", builder).await else { return Ok(()) };
    // Nothing is deleted or moved here.
    let setup = Setup::new(&fleet, "sets", NOTHING)?;
    let manifests = format!(
        "{CLUSTER_SCOPED}---{DEPLOYMENT}---\n{}---\n{}",
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

    // kubectl finds the parent, reads whose it is, and stops.
    let secret = ["-n", "kcp-system", "--applyset", &format!("secret/{name}")].map(str::to_owned);
    let refused = kubectl(&setup, "eu-1", &secret, CLUSTER_SCOPED).await?;
    assert!(!refused.success && refused.stderr.contains("managed by tooling \"kcp\""), "{}", refused.stderr);

    // Elsewhere, where it may, it makes a parent of the same name: with the same id.
    by_hand(&setup, "us-1", "apiVersion: v1\nkind: Namespace\nmetadata: {name: kcp-system}\n").await?;
    let applied = kubectl(&setup, "us-1", &secret, CLUSTER_SCOPED).await?;
    anyhow::ensure!(applied.success, "{}", applied.stderr);
    let ours = parent(&setup, "eu-1", ("v1", "Secret", "kcp-system"), &name).await?;
    let theirs = parent(&setup, "us-1", ("v1", "Secret", "kcp-system"), &name).await?;
    let id = |parent: &Value| parent["metadata"]["labels"][ID_LABEL].as_str().map(str::to_owned);
    assert!(id(&ours).is_some() && id(&ours) == id(&theirs), "{:?}, kubectl: {:?}", id(&ours), id(&theirs));

    // The same set, applied by kubectl. It takes members of several namespaces only under a cluster-scoped parent. The
    // namespaces that we make are part of our set.
    by_hand(&setup, "eu-2", PARENTS).await?;
    let served = ["wait", "--for=condition=Established", "--timeout=60s", "crd/parents.tests.kcp.invalid"];
    anyhow::ensure!(setup.cluster("eu-2").kubectl(&served).await?.success, "the CRD is not served");
    // kubectl compares the id of a parent that it finds with its own.
    let set = id_of(&name, "", &GroupKind::new("tests.kcp.invalid", "Parent"));
    let kinds = format!("{GROUP_KINDS_ANNOTATION}: Namespace");
    let annotations = format!("annotations: {{{TOOLING_ANNOTATION}: kubectl/v1.0.0, {kinds}}}");
    let marks = format!("labels: {{{ID_LABEL}: {set}}}, {annotations}");
    let one =
        format!("apiVersion: tests.kcp.invalid/v1\nkind: Parent\nmetadata: {{name: {name}, {marks}}}\n");
    by_hand(&setup, "eu-2", &format!("{one}---\n{NAMESPACES}")).await?;
    let custom = ["--applyset".to_owned(), format!("parents.tests.kcp.invalid/{name}")];
    let applied = kubectl(&setup, "eu-2", &custom, &format!("{NAMESPACES}---\n{manifests}")).await?;
    anyhow::ensure!(applied.success, "{}", applied.stderr);
    let theirs = parent(&setup, "eu-2", ("tests.kcp.invalid/v1", "Parent", ""), &name).await?;
    for annotation in [GROUP_KINDS_ANNOTATION, NAMESPACES_ANNOTATION] {
        let of = |parent: &Value| parent["metadata"]["annotations"][annotation].as_str().map(str::to_owned);
        let (ours, theirs) = (of(&ours), of(&theirs));
        assert!(ours.is_some() && ours == theirs, "{annotation}: {ours:?}, kubectl: {theirs:?}");
    }
    let member = setup.cluster("eu-1").get("v1", "ConfigMap", "sets", "a").await?.unwrap_or_default();
    assert_eq!(member["metadata"]["labels"][PART_OF_LABEL].as_str().map(str::to_owned), id(&ours));
    daemon.stop().await
}

async fn parent(
    setup: &Setup<'_>,
    cluster: &str,
    (version, kind, namespace): (&str, &str, &str),
    name: &str,
) -> anyhow::Result<Value> {
    setup.cluster(cluster).get(version, kind, namespace, name).await?.context("there is no parent")
}

async fn by_hand(setup: &Setup<'_>, cluster: &str, manifests: &str) -> anyhow::Result<()> {
    let made = setup.cluster(cluster).kubectl_with_input(&["apply", "-f", "-"], manifests).await?;
    anyhow::ensure!(made.success, "{}", made.stderr);
    Ok(())
}

/// `kubectl apply --prune` with an ApplySet, which it does only when an environment variable says so.
async fn kubectl(
    setup: &Setup<'_>,
    cluster: &str,
    set: &[String],
    manifests: &str,
) -> anyhow::Result<Output> {
    let file = setup.repo().with_file_name("manifests.yaml");
    std::fs::write(&file, manifests)?;
    let output = Command::new(setup.fleet.programs().program("kubectl"))
        .arg("--kubeconfig")
        .arg(setup.cluster(cluster).admin_kubeconfig())
        .arg("--cache-dir")
        .arg(file.with_file_name(format!("kubectl-cache-{cluster}")))
        .args(["apply", "--prune"])
        .args(set)
        .arg("-f")
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

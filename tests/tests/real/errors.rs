//! One object that cannot be applied keeps nothing else back, and the error is on that object.

use kcp_api::Reason;
use kcp_core::plan::Problem;
use kcp_reconciler::record::Record;
use kcp_tests::{Fleet, fleet_or_skip, wait_until};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, SOON, Setup, map};

/// Valid YAML that no API server accepts.
const INVALID: &str = "
apiVersion: v1
kind: Service
metadata: {name: bad}
spec: {ports: [{port: 70000}]}
";

const WIDGET: &str = "
apiVersion: tests.kcp.invalid/v1
kind: Widget
metadata: {name: w}
spec: {size: 1}
";

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.tests.kcp.invalid}
spec:
  group: tests.kcp.invalid
  scope: Namespaced
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
";

async fn install(setup: &Setup<'_>, cluster: &str) -> anyhow::Result<()> {
    let cluster = setup.cluster(cluster);
    let applied = cluster.kubectl_with_input(&["apply", "-f", "-"], CRD).await?;
    anyhow::ensure!(applied.success, "{}", applied.stderr);
    let served = ["wait", "--for=condition=Established", "--timeout=60s", "crd/widgets.tests.kcp.invalid"];
    anyhow::ensure!(cluster.kubectl(&served).await?.success, "the CRD is not served");
    Ok(())
}

async fn wait_for_widget(setup: &Setup<'_>, cluster: &str) -> anyhow::Result<()> {
    wait_until(&format!("the widget on {cluster}"), SOON, async || {
        let widget = setup.cluster(cluster).get("tests.kcp.invalid/v1", "Widget", "errors", "w").await?;
        anyhow::ensure!(widget.is_some(), "it is not there");
        anyhow::Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_cannot_be_applied_keeps_nothing_else_back() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("errors", builder).await else { return Ok(()) };
    // Nothing is deleted or moved here.
    let setup = Setup::new(&fleet, "errors", NOTHING)?;
    for cluster in ["eu-1", "eu-2"] {
        install(&setup, cluster).await?;
    }
    let objects = [
        ("a.yaml", map("a", "1")),
        ("bad.yaml", INVALID.to_owned()),
        ("widget.yaml", WIDGET.to_owned()),
        ("z.yaml", map("z", "1")),
    ];
    setup.workspace("errors", &objects)?;
    setup.place("errors", "clusters: {all: true}")?;
    setup.commit("two that cannot be applied")?;
    let daemon = Daemon::start(&setup)?;
    for name in ["a", "z"] {
        setup.wait_for_map(&CLUSTERS, "errors", name, Some("1")).await?;
    }
    for cluster in ["eu-1", "eu-2"] {
        wait_for_widget(&setup, cluster).await?;
    }
    let said = |record: &Record, reason, cluster: &str, object: &str| {
        let is = |it: &Problem| {
            it.reason == reason
                && it.cluster.as_deref() == Some(cluster)
                && it.object.as_ref().is_some_and(|key| key.to_string() == object)
                && it.origin.is_some()
                && !it.message.is_empty()
        };
        record.workspaces.get("errors").is_some_and(|it| it.problems.iter().any(is))
    };
    // Where nobody knows the kind, nobody knows whether it is in a namespace.
    let all_is_said = |record: &Record| {
        CLUSTERS.iter().all(|cluster| said(record, Reason::InvalidObject, cluster, "Service errors/bad"))
            && said(record, Reason::KindMissing, "us-1", "Widget.tests.kcp.invalid w")
    };
    let record = setup.wait_for_record("each error, on its object", all_is_said).await?;
    assert_eq!(record.workspaces["errors"].problems.len(), 4, "{:?}", record.workspaces["errors"].problems);

    // The kind comes, and nobody has to say so.
    install(&setup, "us-1").await?;
    wait_for_widget(&setup, "us-1").await?;
    daemon.stop().await
}

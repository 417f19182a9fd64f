//! Whose object it is: what was there before us, what only looks like ours, and what two workspaces want.

use std::time::Duration;

use anyhow::Context as _;
use kcp_api::Reason;
use kcp_core::plan::Problem;
use kcp_reconciler::record::Record;
use kcp_tests::{Fleet, fleet_or_skip, wait_until};

use super::daemon::Daemon;
use super::harness::{ANYTHING, CLUSTERS, SOON, Setup, document, map, once};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_ours_is_left_alone_and_what_changes_hands_is_not_deleted() -> anyhow::Result<()> {
    // One cluster has the controller that copies labels of Services to EndpointSlices.
    let builder = Fleet::builder(CLUSTERS).controllers(false).with("eu-1", |eu| eu.controllers = true);
    let Some(fleet) = fleet_or_skip("ownership", builder).await else { return Ok(()) };
    // The budgets would allow every delete: it is not they that keep anything here.
    let setup = Setup::new(&fleet, "owner", ANYTHING)?;
    foreign_objects_are_not_taken_over(&setup).await?;
    let daemon = Daemon::start(&setup)?;
    foreign_objects_are_reported(&setup).await?;
    copied_labels_are_never_pruned(&setup).await?;
    two_claims_are_an_error_on_both(&setup).await?;
    an_object_is_handed_over(&setup).await?;
    daemon.stop().await
}

fn problem(record: &Record, workspace: &str, reason: Reason) -> Option<Problem> {
    let problems = &record.workspaces.get(workspace)?.problems;
    problems.iter().find(|it| it.reason == reason).cloned()
}

async fn foreign_objects_are_not_taken_over(setup: &Setup<'_>) -> anyhow::Result<()> {
    let theirs =
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: guests}}\n---\n{}", map("theirs", "0"));
    let theirs = theirs.replace("{name: theirs}", "{name: theirs, namespace: guests}");
    let made = setup.cluster("eu-1").kubectl_with_input(&["apply", "-f", "-"], &theirs).await?;
    anyhow::ensure!(made.success, "{}", made.stderr);
    setup.workspace("guests", &[("a.yaml", map("a", "1")), ("theirs.yaml", map("theirs", "1"))])?;
    setup.place("guests", "clusters: {all: true}")?;
    setup.commit("a name that is taken")?;
    Ok(())
}

async fn foreign_objects_are_reported(setup: &Setup<'_>) -> anyhow::Result<()> {
    setup.wait_for_map(&CLUSTERS, "guests", "a", Some("1")).await?;
    setup.wait_for_map(&["eu-2", "us-1"], "guests", "theirs", Some("1")).await?;
    let record = setup
        .wait_for_record("whose it is", |record| problem(record, "guests", Reason::ForeignObject).is_some())
        .await?;
    let problem = problem(&record, "guests", Reason::ForeignObject).context("it is not said")?;
    assert_eq!(problem.cluster.as_deref(), Some("eu-1"));
    assert!(problem.message.contains("kubectl"), "its owner is not named: {}", problem.message);
    let object = problem.object.context("no object is named")?;
    assert_eq!(object.to_string(), "ConfigMap guests/theirs");
    assert_eq!(setup.map("eu-1", "guests", "theirs").await?.as_deref(), Some("0"));

    // It is not deleted either, when ours goes from git.
    let mark = setup.mark().await;
    setup.remove("workspaces/guests/theirs.yaml")?;
    setup.commit("without the taken name")?;
    setup.wait_for_map(&["eu-2", "us-1"], "guests", "theirs", None).await?;
    setup.quiet().await?;
    let objects = mark.objects().await?;
    assert_eq!(objects["eu-1"], once([]));
    assert_eq!(setup.map("eu-1", "guests", "theirs").await?.as_deref(), Some("0"));
    Ok(())
}

async fn copied_labels_are_never_pruned(setup: &Setup<'_>) -> anyhow::Result<()> {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}\n";
    // Also a slice of our own, so that the kind belongs to the set.
    let slice = "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: ours}\naddressType: IPv4\nendpoints: []\nports: []\n";
    setup.write("workspaces/guests/web.yaml", service)?;
    setup.write("workspaces/guests/slice.yaml", slice)?;
    setup.commit("a service")?;
    let eu = setup.cluster("eu-1");
    let generated = async || -> anyhow::Result<Vec<String>> {
        let api = eu.api("discovery.k8s.io/v1", "EndpointSlice", "guests").await?;
        let labelled = kube::api::ListParams::default().labels("applyset.kubernetes.io/part-of");
        let names = api.list(&labelled).await?.items.into_iter().filter_map(|it| it.metadata.name);
        Ok(names.collect())
    };
    wait_until("the generated slice with our label, and our own", SOON, async || {
        let found = generated().await?;
        anyhow::ensure!(found.len() == 2, "{found:?}");
        anyhow::Ok(())
    })
    .await?;
    setup.quiet().await?;
    let mark = setup.mark().await;
    setup.remove("workspaces/guests/slice.yaml")?;
    setup.commit("without our slice")?;
    wait_until("our slice to go", SOON, async || {
        let found = generated().await?;
        anyhow::ensure!(!found.contains(&"ours".to_owned()), "{found:?}");
        anyhow::Ok(())
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    setup.quiet().await?;
    assert_eq!(mark.objects().await?["eu-1"], once(["delete endpointslices guests/ours"]));
    assert_eq!(generated().await?.len(), 1, "the generated slice is gone");
    Ok(())
}

/// A ConfigMap in the namespace that two workspaces share.
fn shared(value: &str) -> String {
    map("x", value).replace("{name: x}", "{name: x, namespace: shared}")
}

async fn two_claims_are_an_error_on_both(setup: &Setup<'_>) -> anyhow::Result<()> {
    for name in ["first", "second"] {
        let spec = "{defaultNamespace: shared, createNamespaces: true}";
        setup.write(&format!("workspaces/{name}/workspace.yaml"), &document("Workspace", name, spec))?;
        setup.place(name, "clusters: {all: true}")?;
        let own = map(name, "1");
        setup.write(&format!("workspaces/{name}/own.yaml"), &own)?;
    }
    setup.write("workspaces/first/x.yaml", &shared("first"))?;
    setup.commit("one has it")?;
    setup.wait_for_map(&CLUSTERS, "shared", "x", Some("first")).await?;
    setup.wait_for_map(&CLUSTERS, "shared", "second", Some("1")).await?;
    setup.quiet().await?;

    let mark = setup.mark().await;
    setup.write("workspaces/second/x.yaml", &shared("second"))?;
    setup.commit("two want it")?;
    let both = |record: &Record| {
        ["first", "second"].iter().all(|name| problem(record, name, Reason::TwoClaims).is_some())
    };
    let record = setup.wait_for_record("both claims", both).await?;
    for (name, other) in [("first", "second"), ("second", "first")] {
        let problem = problem(&record, name, Reason::TwoClaims).context("it is not said")?;
        assert!(problem.message.contains(&format!("workspace {other}")), "{}", problem.message);
    }
    setup.quiet().await?;
    for (cluster, objects) in mark.objects().await? {
        assert_eq!(objects, once([]), "{cluster}");
    }
    Ok(())
}

async fn an_object_is_handed_over(setup: &Setup<'_>) -> anyhow::Result<()> {
    let uids = async || -> anyhow::Result<Vec<String>> {
        let mut uids = Vec::new();
        for cluster in CLUSTERS {
            let map = setup.cluster(cluster).get("v1", "ConfigMap", "shared", "x").await?;
            let map = map.with_context(|| format!("it is gone from {cluster}"))?;
            uids.push(map["metadata"]["uid"].as_str().unwrap_or_default().to_owned());
        }
        Ok(uids)
    };
    let before = uids().await?;
    let mark = setup.mark().await;
    setup.remove("workspaces/first/x.yaml")?;
    setup.commit("it leaves one and stays in the other")?;
    setup.wait_for_map(&CLUSTERS, "shared", "x", Some("second")).await?;
    // Back again, in one commit.
    setup.rename("workspaces/second/x.yaml", "workspaces/first/x.yaml")?;
    setup.write("workspaces/first/x.yaml", &shared("third"))?;
    setup.commit("it moves in one commit")?;
    setup.wait_for_map(&CLUSTERS, "shared", "x", Some("third")).await?;
    setup.quiet().await?;
    assert_eq!(uids().await?, before, "it was made anew");
    assert_eq!(mark.deletes().await?, Vec::<String>::new());
    for cluster in CLUSTERS {
        let map = setup.cluster(cluster).get("v1", "ConfigMap", "shared", "x").await?.unwrap_or_default();
        assert_eq!(map["metadata"]["annotations"]["kcp.dev/workspace"], "first", "{cluster}");
    }
    Ok(())
}

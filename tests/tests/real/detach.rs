//! What leaves the repo: a cluster is let go, a workspace or its placement waits for a person. And one reconciler is enough.

use std::collections::BTreeSet;

use anyhow::Context as _;
use kcp_api::Reason;
use kcp_tests::{Fleet, fleet_or_skip};

use super::daemon::Daemon;
use super::harness::{ANYTHING, CLUSTERS, Setup, map, once};

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_detached_and_a_workspace_goes_only_when_approved() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("detach", builder).await else { return Ok(()) };
    // The budgets would allow every delete: it is not they that keep anything here.
    let setup = Setup::new(&fleet, "detach", ANYTHING)?;
    for name in ["leaves", "loses"] {
        setup.workspace(name, &[("a.yaml", map("a", "1")), ("b.yaml", map("b", "1"))])?;
        setup.place(name, "clusters: {all: true}")?;
    }
    setup.commit("two workspaces")?;
    let daemon = Daemon::start(&setup)?;
    for name in ["leaves", "loses"] {
        setup.wait_for_map(&CLUSTERS, name, "b", Some("1")).await?;
    }
    daemon.ready().await?;
    setup.quiet().await?;

    a_second_reconciler_refuses_to_act(&setup).await?;
    a_removed_cluster_document_changes_nothing_there(&setup, &daemon).await?;
    removed_from_git_is_held_until_approved(&setup, &daemon).await?;
    daemon.stop().await
}

async fn a_second_reconciler_refuses_to_act(setup: &Setup<'_>) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    // On the same machine, by its lock; on another one, by the name in the status branch.
    let here = Daemon::start_with(setup, |builder| builder.id("other"))?.refusal().await?;
    assert!(here.contains("another reconciler") && here.contains("test"), "{here}");
    setup.wait_for_record("it wrote its name", |record| !record.clusters.is_empty()).await?;
    let elsewhere = setup.repo().with_file_name("elsewhere").to_string_lossy().into_owned();
    let repo = setup.repo().to_string_lossy().into_owned();
    let connect = kcp_reconciler::ConnectOptions {
        kubeconfig: Some(setup.fleet.kubeconfig()),
        ..kcp_reconciler::ConnectOptions::default()
    };
    let there = Daemon::start_with(setup, |_| {
        kcp_reconciler::Reconciler::builder(repo, elsewhere).connect(connect).id("other")
    })?
    .refusal()
    .await?;
    assert!(
        there.contains("another reconciler") && there.contains("test") && there.contains("--take-over"),
        "{there}"
    );
    for (cluster, writes) in mark.writes().await? {
        assert_eq!(writes, once([]), "{cluster}");
    }
    Ok(())
}

async fn a_removed_cluster_document_changes_nothing_there(
    setup: &Setup<'_>,
    daemon: &Daemon,
) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    setup.remove("clusters/eu-2.yaml")?;
    setup.write("workspaces/leaves/a.yaml", &map("a", "2"))?;
    daemon.in_force(&setup.commit("without eu-2")?).await?;
    setup.wait_for_map(&["eu-1", "us-1"], "leaves", "a", Some("2")).await?;
    setup.quiet().await?;
    assert_eq!(mark.writes().await?["eu-2"], once([]));
    assert_eq!(mark.deletes().await?, Vec::<String>::new());
    assert_eq!(setup.map("eu-2", "leaves", "a").await?.as_deref(), Some("1"));
    Ok(())
}

async fn removed_from_git_is_held_until_approved(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    setup.remove("workspaces/leaves")?;
    setup.remove("placements/leaves.yaml")?;
    setup.remove("placements/loses.yaml")?;
    setup.commit("one workspace less, and a placement less")?;
    daemon.holds("WorkspaceRemoved").await?;
    daemon.holds("PlacementRemoved").await?;
    setup.quiet().await?;
    assert_eq!(mark.deletes().await?, Vec::<String>::new());

    let record = setup.wait_for_record("both holds", |record| record.fleet.holds.len() == 2).await?;
    let hold = record.fleet.holds.iter().find(|it| it.reason == Reason::WorkspaceRemoved);
    let hold = hold.context("it is not held")?;
    assert_eq!((hold.subject.as_str(), hold.actions.len()), ("workspace leaves", 4), "{hold:?}");
    let done = setup.kcp(&["approve", &hold.id])?;
    anyhow::ensure!(done.success, "{}{}", done.stdout, done.stderr);
    setup.wait_for_map(&["eu-1", "us-1"], "leaves", "a", None).await?;
    setup.wait_for_map(&["eu-1", "us-1"], "leaves", "b", None).await?;
    setup.quiet().await?;
    let objects = mark.objects().await?;
    let approved = once(["delete configmaps leaves/a", "delete configmaps leaves/b"]);
    assert_eq!((&objects["eu-1"], &objects["us-1"], &objects["eu-2"]), (&approved, &approved, &once([])));
    // The other one waits on, and the cluster that was let go keeps all.
    assert_eq!(setup.maps("eu-1", "loses").await?.len(), 2);
    assert_eq!(setup.maps("eu-2", "leaves").await?, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    Ok(())
}

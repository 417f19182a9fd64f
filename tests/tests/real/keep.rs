//! Nothing is deleted by mistake: what cannot be read is not empty, and what is empty waits for a person.

use std::collections::BTreeSet;

use kcp_api::{ConditionStatus, ConditionType, Reason};
use kcp_core::plan::Hold;
use kcp_reconciler::record::Record;
use kcp_tests::{Fleet, fleet_or_skip};

use super::daemon::Daemon;
use super::harness::{ANYTHING, CLUSTERS, Setup, map, once};

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_file_is_pruned_and_nothing_else_ever_is() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("keep", builder).await else { return Ok(()) };
    // The budgets would allow every delete: it is not they that keep anything here.
    let setup = Setup::new(&fleet, "keep", ANYTHING)?;
    let maps = [("a.yaml", map("a", "1")), ("b.yaml", map("b", "1")), ("c.yaml", map("c", "1"))];
    setup.workspace("keep", &maps)?;
    setup.place("keep", "clusters: {all: true}")?;
    setup.commit("three maps")?;
    let daemon = Daemon::start(&setup)?;
    setup.wait_for_map(&CLUSTERS, "keep", "c", Some("1")).await?;
    setup.quiet().await?;

    a_removed_file_is_pruned(&setup, &daemon).await?;
    let mark = setup.mark().await;
    an_emptied_workspace_is_held(&setup, &daemon).await?;
    broken_yaml_of_a_workspace_keeps_it(&setup).await?;
    a_broken_fleet_document_keeps_all(&setup, &daemon).await?;
    a_folder_that_is_gone_is_an_error_of_its_placement(&setup, &daemon).await?;
    a_branch_that_is_gone_keeps_all(&setup, &daemon).await?;
    a_repo_that_is_gone_keeps_all(&setup, &daemon).await?;
    assert_eq!(mark.deletes().await?, Vec::<String>::new());

    // And it still works.
    setup.write("workspaces/keep/a.yaml", &map("a", "2"))?;
    setup.commit("go on")?;
    setup.wait_for_map(&CLUSTERS, "keep", "a", Some("2")).await?;
    for cluster in CLUSTERS {
        assert_eq!(setup.maps(cluster, "keep").await?, BTreeSet::from(["a".to_owned(), "c".to_owned()]));
    }
    daemon.stop().await
}

async fn a_removed_file_is_pruned(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    setup.remove("workspaces/keep/b.yaml")?;
    daemon.in_force(&setup.commit("without b")?).await?;
    setup.wait_for_map(&CLUSTERS, "keep", "b", None).await?;
    setup.quiet().await?;
    for (cluster, objects) in mark.objects().await? {
        assert_eq!(objects, once(["delete configmaps keep/b"]), "{cluster}");
    }
    Ok(())
}

async fn an_emptied_workspace_is_held(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    setup.remove("workspaces/keep/a.yaml")?;
    setup.remove("workspaces/keep/c.yaml")?;
    setup.commit("no object at all")?;
    daemon.holds("EmptyWorkspace").await?;
    let held = |hold: &&Hold| hold.reason == Reason::EmptyWorkspace && hold.subject == "workspace keep";
    let record =
        setup.wait_for_record("it is held", |record| record.fleet.holds.iter().any(|it| held(&it))).await?;
    let hold = record.fleet.holds.iter().find(held);
    assert!(
        hold.is_some_and(|hold| hold.message.contains(&format!("kubectl kcp approve {}", hold.id))),
        "{hold:?}"
    );
    let since = record.workspaces["keep"].status.holds.iter().find(|it| it.reason == Reason::EmptyWorkspace);
    assert!(since.is_some_and(|hold| hold.since.epoch_seconds() > 0), "since when is not said");
    restore(setup)?;
    daemon.holds_nothing().await
}

async fn broken_yaml_of_a_workspace_keeps_it(setup: &Setup<'_>) -> anyhow::Result<()> {
    setup.write("workspaces/keep/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: [}\n")?;
    setup.commit("broken")?;
    let stalled = |record: &Record| {
        record.workspaces["keep"].status.conditions.iter().any(|it| {
            it.condition_type == ConditionType::Stalled
                && it.status == ConditionStatus::True
                && it.reason == Reason::WorkspaceFailedToRender
                && it.message.contains("workspaces/keep/a.yaml:3")
                && it.last_transition_time.epoch_seconds() > 0
        })
    };
    setup.wait_for_record("the workspace cannot be rendered", stalled).await?;
    restore(setup)?;
    Ok(())
}

async fn a_broken_fleet_document_keeps_all(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    setup.edit("placements/keep.yaml", "clusters:", "clusterz:")?;
    setup.remove("workspaces/keep/a.yaml")?;
    setup.commit("a typo, and a file less")?;
    daemon.not_ready(&["InvalidRepo", "placements/keep.yaml:4", "clusters"]).await?;
    setup.edit("placements/keep.yaml", "clusterz:", "clusters:")?;
    restore(setup)?;
    daemon.ready().await
}

async fn a_folder_that_is_gone_is_an_error_of_its_placement(
    setup: &Setup<'_>,
    daemon: &Daemon,
) -> anyhow::Result<()> {
    setup.remove("workspaces/keep")?;
    setup.commit("no folder")?;
    daemon.not_ready(&["InvalidRepo", "placements/keep.yaml", "there is no workspace `keep`"]).await?;
    restore(setup)?;
    daemon.ready().await
}

async fn a_branch_that_is_gone_keeps_all(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    let commit = setup.git(&["rev-parse", "HEAD"])?;
    setup.git(&["update-ref", "-d", "refs/heads/main"])?;
    daemon.not_ready(&["BranchMissing", "main"]).await?;
    let trouble = |record: &Record| {
        record.fleet.source.trouble.as_ref().is_some_and(|it| it.reason == Reason::BranchMissing)
    };
    let record = setup.wait_for_record("the branch is missing", trouble).await?;
    assert!(record.fleet.source.trouble.is_some_and(|trouble| trouble.since > 0));
    assert_eq!(record.fleet.source.commit, commit.trim(), "the last good commit stays in force");
    setup.git(&["update-ref", "refs/heads/main", commit.trim()])?;
    daemon.ready().await
}

async fn a_repo_that_is_gone_keeps_all(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    setup.rename(".git", "away")?;
    daemon.not_ready(&["FetchFailed", "the last good commit stays in force"]).await?;
    let (_, metrics) = daemon.page("/metrics").await?;
    let since = metrics.lines().find_map(|line| line.strip_prefix("kcp_source_trouble_since_seconds "));
    assert!(since.is_some_and(|since| since != "0"), "since when is not said: {metrics}");
    setup.rename("away", ".git")?;
    daemon.ready().await
}

/// The workspace as it was after its file was pruned.
fn restore(setup: &Setup<'_>) -> anyhow::Result<String> {
    setup.workspace("keep", &[("a.yaml", map("a", "1")), ("c.yaml", map("c", "1"))])?;
    setup.commit("as before")
}

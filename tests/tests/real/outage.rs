//! A cluster dies: the others go on as if nothing was, and it catches up alone when it is back.

use kcp_api::Reason;
use kcp_reconciler::record::Record;
use kcp_tests::{Fleet, fleet_or_skip};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, Setup, map, once};

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_cluster_costs_the_others_nothing_and_catches_up_alone() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("outage", builder).await else { return Ok(()) };
    // A lost cluster is no reason to delete or move anything.
    let setup = Setup::new(&fleet, "outage", NOTHING)?;
    setup.workspace("outage", &[("a.yaml", map("a", "1")), ("b.yaml", map("b", "1"))])?;
    setup.place("outage", "clusters: {all: true}")?;
    setup.commit("two maps")?;
    let daemon = Daemon::start(&setup)?;
    setup.wait_for_map(&CLUSTERS, "outage", "b", Some("1")).await?;
    daemon.ready().await?;
    setup.quiet().await?;

    let mark = setup.mark().await;
    let dead = setup.cluster("eu-1");
    dead.kill();
    daemon.not_ready(&["cluster eu-1: "]).await?;
    setup.write("workspaces/outage/a.yaml", &map("a", "2"))?;
    setup.commit("while one is dead")?;
    // They converge while it is dead: they do not wait for it.
    setup.wait_for_map(&["eu-2", "us-1"], "outage", "a", Some("2")).await?;
    let unreachable = |record: &Record| {
        record.clusters.get("eu-1").is_some_and(|it| {
            let said = it.status.conditions.iter().any(|it| it.reason == Reason::ClusterUnreachable);
            !it.status.reachable && said && it.status.reachable_since.is_some()
        })
    };
    let record = setup.wait_for_record("eu-1 cannot be reached", unreachable).await?;
    assert!(record.clusters["eu-2"].status.reachable && record.clusters["us-1"].status.reachable);
    setup.quiet().await?;

    let others = setup.mark().await;
    dead.restart().await?;
    setup.wait_for_map(&["eu-1"], "outage", "a", Some("2")).await?;
    daemon.ready().await?;
    setup.quiet().await?;
    for (cluster, objects) in mark.objects().await? {
        assert_eq!(objects, once(["patch configmaps outage/a"]), "{cluster}");
    }
    let others = others.writes().await?;
    assert_eq!((&others["eu-2"], &others["us-1"]), (&once([]), &once([])), "it did not catch up alone");

    // One that hangs instead of dying is lost as well, and holds nobody up.
    dead.hang();
    setup.write("workspaces/outage/b.yaml", &map("b", "2"))?;
    setup.commit("while one hangs")?;
    setup.wait_for_map(&["eu-2", "us-1"], "outage", "b", Some("2")).await?;
    daemon.not_ready(&["cluster eu-1: "]).await?;
    dead.heal();
    setup.wait_for_map(&["eu-1"], "outage", "b", Some("2")).await?;
    daemon.ready().await?;
    daemon.stop().await
}

//! Credentials that end, and contexts that lead elsewhere.

use kcp_api::Reason;
use kcp_reconciler::record::Record;
use kcp_tests::{Fleet, fleet_or_skip};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, Setup, map, once};

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_token_is_picked_up_and_a_context_that_leads_elsewhere_is_held() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("credentials", builder).await else { return Ok(()) };
    // Nothing is deleted or moved here.
    let setup = Setup::new(&fleet, "creds", NOTHING)?;
    setup.workspace("creds", &[("a.yaml", map("a", "1"))])?;
    setup.place("creds", "clusters: {all: true}")?;
    setup.commit("a map")?;
    let daemon = Daemon::start(&setup)?;
    setup.wait_for_map(&CLUSTERS, "creds", "a", Some("1")).await?;
    daemon.ready().await?;

    a_revoked_token_is_noticed_and_a_new_one_picked_up(&setup, &daemon).await?;
    a_context_that_leads_elsewhere_is_held(&setup, daemon).await
}

async fn a_revoked_token_is_noticed_and_a_new_one_picked_up(
    setup: &Setup<'_>,
    daemon: &Daemon,
) -> anyhow::Result<()> {
    let cluster = setup.cluster("eu-2");
    cluster.revoke_token().await?;
    cluster.proxy().drop_connections();
    daemon.not_ready(&["cluster eu-2: "]).await?;
    setup.write("workspaces/creds/a.yaml", &map("a", "2"))?;
    setup.commit("while one is locked")?;
    setup.wait_for_map(&["eu-1", "us-1"], "creds", "a", Some("2")).await?;
    assert_eq!(setup.map("eu-2", "creds", "a").await?.as_deref(), Some("1"));
    cluster.rotate_token().await?;
    setup.wait_for_map(&["eu-2"], "creds", "a", Some("2")).await?;
    daemon.ready().await?;
    let logs = daemon.logs();
    assert!(!logs.contains("eyJ"), "a token is in the log");
    Ok(())
}

async fn a_context_that_leads_elsewhere_is_held(setup: &Setup<'_>, daemon: Daemon) -> anyhow::Result<()> {
    setup.quiet().await?;
    daemon.stop().await?;
    setup.fleet.point_context("eu-2", "us-1")?;
    let mark = setup.mark().await;
    let daemon = Daemon::start(setup)?;
    daemon.not_ready(&["cluster eu-2: ", setup.cluster("us-1").uid()]).await?;
    setup.write("workspaces/creds/a.yaml", &map("a", "3"))?;
    setup.commit("while one leads elsewhere")?;
    setup.wait_for_map(&["eu-1", "us-1"], "creds", "a", Some("3")).await?;
    let held = |record: &Record| {
        let conditions = record.clusters.get("eu-2").map(|it| it.status.conditions.as_slice());
        conditions.unwrap_or_default().iter().any(|it| it.reason == Reason::ClusterIdentityChanged)
    };
    setup.wait_for_record("eu-2 is another cluster", held).await?;
    setup.quiet().await?;
    let (objects, changed) = (mark.objects().await?, once(["patch configmaps creds/a"]));
    // The other cluster gets what its own document says, once, and nothing in the name of the misled one.
    assert_eq!((&objects["eu-1"], &objects["us-1"], &objects["eu-2"]), (&changed, &changed, &once([])));

    setup.fleet.point_context("eu-2", "eu-2")?;
    setup.wait_for_map(&["eu-2"], "creds", "a", Some("3")).await?;
    daemon.ready().await?;
    daemon.stop().await
}

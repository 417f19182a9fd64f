//! Cordons, taints and renames: what moves, in which order, and what stays where it is.

use std::collections::BTreeMap;

use kcp_api::Reason;
use kcp_reconciler::record::Record;
use kcp_tests::{Fleet, Request, fleet_or_skip, wait_until};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, SOON, Setup, map, once};

#[tokio::test(flavor = "multi_thread")]
async fn a_cordon_keeps_a_taint_moves_and_a_rename_does_nothing() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("moves", builder).await else { return Ok(()) };
    // Neither a delete nor a voluntary move is allowed. A taint's move is not voluntary, and what goes after its
    // hand-over is part of it.
    let setup = Setup::new(&fleet, "moves", NOTHING)?;
    setup.workspace("roam", &[("a.yaml", map("a", "1")), ("b.yaml", map("b", "1"))])?;
    setup.place("roam", "clusters: {exactly: 1}")?;
    setup.commit("one copy")?;
    let daemon = Daemon::start(&setup)?;
    let home = wait_until("a copy somewhere", SOON, || home(&setup)).await?;
    setup.quiet().await?;

    a_cordoned_cluster_keeps_what_it_has(&setup, &daemon, home).await?;
    let home = a_taint_moves_make_before_break(&setup, &daemon, home).await?;
    renames_do_nothing(&setup, &daemon, home).await?;
    daemon.stop().await
}

/// The one cluster that has the whole workspace.
async fn home(setup: &Setup<'_>) -> anyhow::Result<&'static str> {
    let mut found = Vec::new();
    for cluster in CLUSTERS {
        if setup.maps(cluster, "roam").await?.len() == 2 {
            found.push(cluster);
        }
    }
    anyhow::ensure!(found.len() == 1, "it is on {found:?}");
    Ok(found[0])
}

async fn a_cordoned_cluster_keeps_what_it_has(
    setup: &Setup<'_>,
    daemon: &Daemon,
    home: &str,
) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    setup.cluster_document(home, "unschedulable: true")?;
    daemon.in_force(&setup.commit("cordon")?).await?;
    setup.quiet().await?;
    for (cluster, writes) in mark.writes().await? {
        assert_eq!(writes, once([]), "{cluster}");
    }
    Ok(())
}

async fn a_taint_moves_make_before_break(
    setup: &Setup<'_>,
    daemon: &Daemon,
    home: &'static str,
) -> anyhow::Result<&'static str> {
    let mut marks = BTreeMap::new();
    for cluster in CLUSTERS {
        marks.insert(cluster, setup.cluster(cluster).mark().await);
    }
    let mark = setup.mark().await;
    setup.cluster_document(home, "taints: [{key: maintenance, effect: NoExecute}]")?;
    daemon.in_force(&setup.commit("taint")?).await?;
    let next = wait_until("the copy to be elsewhere only", SOON, async || {
        let next = self::home(setup).await?;
        anyhow::ensure!(next != home && setup.maps(home, "roam").await?.is_empty(), "it is still on {home}");
        anyhow::Ok(next)
    })
    .await?;
    setup.quiet().await?;
    let objects = mark.objects().await?;
    assert_eq!(objects[home], once(["delete configmaps roam/a", "delete configmaps roam/b"]));
    let made = once(["patch namespaces roam", "patch configmaps roam/a", "patch configmaps roam/b"]);
    assert_eq!(objects[next], made);
    let third = CLUSTERS.into_iter().find(|it| *it != home && *it != next).unwrap_or_default();
    assert_eq!(mark.writes().await?[third], once([]));

    // Every object was written on the new cluster before the first one went from the old.
    let of = |requests: Vec<Request>, verb: &str| -> Vec<String> {
        let wanted = requests.into_iter().filter(|it| it.verb == verb && it.resource == "configmaps");
        wanted.map(|it| it.received).collect()
    };
    let made = of(setup.cluster(next).writes(marks[next]).await?, "patch").into_iter().max();
    let gone = of(setup.cluster(home).writes(marks[home]).await?, "delete").into_iter().min();
    assert!(made.is_some() && made < gone, "made at {made:?}, gone at {gone:?}");
    Ok(next)
}

async fn renames_do_nothing(setup: &Setup<'_>, daemon: &Daemon, home: &str) -> anyhow::Result<()> {
    let epoch = |record: &Record| record.workspaces["roam"].decision.as_ref().map(|it| it.epoch);
    let before = setup.record()?;
    let mark = setup.mark().await;
    setup.rename("workspaces/roam/a.yaml", "workspaces/roam/first.yaml")?;
    daemon.in_force(&setup.commit("rename a file")?).await?;
    setup.quiet().await?;

    setup.remove(&format!("clusters/{home}.yaml"))?;
    setup.write("clusters/renamed.yaml", &setup.cluster_text("renamed", home, ""))?;
    daemon.in_force(&setup.commit("rename a cluster")?).await?;
    daemon.ready().await?;
    setup.quiet().await?;

    setup.rename("placements/roam.yaml", "placements/other.yaml")?;
    setup.edit("placements/other.yaml", "name: roam}", "name: other}")?;
    daemon.in_force(&setup.commit("rename a placement")?).await?;
    setup.quiet().await?;
    for (cluster, writes) in mark.writes().await? {
        assert_eq!(writes, once([]), "{cluster}");
    }
    assert_eq!(self::home(setup).await?, home);
    let record = setup
        .wait_for_record("the new names", |record| {
            let roam = &record.workspaces["roam"].status;
            roam.placement.as_deref() == Some("other") && record.clusters.contains_key("renamed")
        })
        .await?;
    assert!(epoch(&before).is_some_and(|epoch| epoch > 0) && epoch(&record) >= epoch(&before));
    assert_eq!(record.fleet.holds, []);
    let placed = &record.workspaces["roam"].verdicts["renamed"];
    assert_eq!(placed.reason, Reason::StaysPut, "{}", placed.message);
    Ok(())
}

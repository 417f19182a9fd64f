//! A commit reaches all clusters, is reported, and is then left in peace; a change reaches what it is about.

use std::time::Duration;

use anyhow::Context as _;
use kcp_api::{ConditionStatus, ConditionType};
use kcp_reconciler::record::Record;
use kcp_tests::{Fleet, fleet_or_skip, wait_until};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, SOON, Setup, once, root};

/// All of a shop on three clusters, with the pods of its Deployments.
const LONG: Duration = Duration::from_secs(180);

#[tokio::test(flavor = "multi_thread")]
async fn the_shop_is_applied_reported_and_changed_only_where_it_changed() -> anyhow::Result<()> {
    let Some(fleet) = fleet_or_skip("sync", Fleet::builder(CLUSTERS)).await else { return Ok(()) };
    // Nothing is deleted or moved in these steps: the budgets allow nothing.
    let setup = Setup::new(&fleet, "sync", NOTHING)?;
    setup.sample_shop()?;
    setup.place("shop", "clusters: {all: true}")?;
    let commit = setup.commit("the shop")?;
    let daemon = Daemon::start(&setup)?;

    all_is_applied_and_ready(&setup, &commit).await?;
    let daemon = a_second_loop_writes_nothing(&setup, daemon).await?;
    one_image_is_changed_where_it_is_used(&setup, &daemon).await?;
    daemon.stop().await
}

async fn all_is_applied_and_ready(setup: &Setup<'_>, commit: &str) -> anyhow::Result<()> {
    for cluster in CLUSTERS {
        let cluster = setup.cluster(cluster);
        for deployment in ["api", "cart", "checkout", "web", "worker"] {
            cluster.wait_for_deployment("shop", deployment, LONG).await?;
        }
    }
    let ready = |record: &Record| {
        let shop = record.workspaces.get("shop").map(|shop| &shop.status);
        shop.is_some_and(|shop| {
            let said = |wanted| shop.conditions.iter().find(|it| it.condition_type == wanted);
            said(ConditionType::Ready).is_some_and(|it| it.status == ConditionStatus::True)
                && said(ConditionType::Synced).is_some_and(|it| it.status == ConditionStatus::True)
        })
    };
    let record = setup.wait_for_record("the shop is ready", ready).await?;
    assert_eq!(record.fleet.source.commit, commit);
    assert_eq!(record.fleet.problems, []);
    let shop = &record.workspaces["shop"].status;
    assert_eq!(shop.clusters.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), CLUSTERS);
    for copy in &shop.clusters {
        // kubectl finds every object of the overlay that this cluster is to get, and the record counts the same.
        let overlay = if copy.name == "us-1" { "staging" } else { "prod" };
        let overlay = root().join("manifests/samples/shop/overlays").join(overlay);
        let there = setup
            .cluster(&copy.name)
            .kubectl(&["get", "-o", "name", "-k", &overlay.to_string_lossy()])
            .await?;
        assert!(there.success, "{}: {}", copy.name, there.stderr);
        let count = u64::try_from(there.stdout.lines().count())?;
        assert!(count >= 25, "the sample has only {count} objects");
        // The namespace is made for the workspace and is in no file.
        assert_eq!(
            (copy.objects, copy.current),
            (count + 1, count + 1),
            "{}: {:?}",
            copy.name,
            copy.not_current
        );
    }
    Ok(())
}

async fn a_second_loop_writes_nothing(setup: &Setup<'_>, daemon: Daemon) -> anyhow::Result<Daemon> {
    setup.quiet().await?;
    let mark = setup.mark().await;
    // A commit that changes nothing, and a reconciler that has to read everything anew.
    daemon.in_force(&setup.commit("nothing")?).await?;
    daemon.stop().await?;
    let daemon = Daemon::start(setup)?;
    daemon.ready().await?;
    setup.quiet().await?;
    for (cluster, writes) in mark.writes().await? {
        assert_eq!(writes, once([]), "{cluster}");
    }
    Ok(daemon)
}

async fn one_image_is_changed_where_it_is_used(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    setup.edit("workspaces/shop/overlays/prod/kustomization.yaml", "newTag: 1.8.4", "newTag: 1.8.5")?;
    daemon.in_force(&setup.commit("a newer web")?).await?;
    for cluster in ["eu-1", "eu-2"] {
        wait_until(&format!("the new image on {cluster}"), SOON, async || {
            let web = setup.cluster(cluster).get("apps/v1", "Deployment", "shop", "web").await?;
            let web = web.context("it is gone")?;
            let image = web["spec"]["template"]["spec"]["containers"][0]["image"].as_str();
            anyhow::ensure!(image == Some("shop/web:1.8.5"), "it is {image:?}");
            anyhow::Ok(())
        })
        .await?;
    }
    setup.quiet().await?;
    let web = once(["patch deployments shop/web"]);
    let objects = mark.objects().await?;
    assert_eq!((&objects["eu-1"], &objects["eu-2"], &objects["us-1"]), (&web, &web, &once([])));
    // Where nothing of it changed, not even the parent is touched.
    assert_eq!(mark.writes().await?["us-1"], once([]));
    Ok(())
}

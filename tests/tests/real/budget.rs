//! More than the budget is held, and `kubectl kcp approve` lets exactly that through.

use std::collections::BTreeSet;

use kcp_api::Reason;
use kcp_core::plan::Hold;
use kcp_tests::{Fleet, fleet_or_skip, wait_until};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, SOON, Setup, map, once};

/// Two deletes an hour for each workspace, and no voluntary move.
const TIGHT: &str = "{maxDelete: {percent: 0, floor: 2}, maxMove: {percent: 0, floor: 0}}";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_above_the_budget_waits_for_its_approval() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("budget", builder).await else { return Ok(()) };
    let setup = Setup::new(&fleet, "budget", TIGHT)?;
    for workspace in ["many", "calm"] {
        for name in ["a", "b", "c", "d", "e"] {
            setup.workspace(workspace, &[])?;
            setup.write(&format!("workspaces/{workspace}/{name}.yaml"), &map(name, "1"))?;
        }
        setup.place(workspace, "clusters: {exactly: 1}, clusterSelector: {matchLabels: {name: eu-1}}")?;
    }
    setup.commit("two workspaces")?;
    let daemon = Daemon::start(&setup)?;
    for workspace in ["many", "calm"] {
        setup.wait_for_map(&["eu-1"], workspace, "e", Some("1")).await?;
    }
    setup.quiet().await?;

    deletes_above_the_budget(&setup, &daemon).await?;
    a_move_above_the_budget(&setup, &daemon).await?;
    daemon.stop().await
}

/// The one hold there is, once it is about `subject`.
async fn held(setup: &Setup<'_>, subject: &str) -> anyhow::Result<Hold> {
    let is_held = |hold: &Hold| hold.reason == Reason::BudgetExceeded && hold.subject == subject;
    let record = setup.wait_for_record("it is held", |record| record.fleet.holds.iter().any(is_held)).await?;
    assert_eq!(record.fleet.holds.len(), 1, "{:?}", record.fleet.holds);
    Ok(record.fleet.holds[0].clone())
}

fn approve(setup: &Setup<'_>, hold: &Hold) -> anyhow::Result<()> {
    let done = setup.kcp(&["approve", &hold.id])?;
    anyhow::ensure!(done.success, "approve {}: {}{}", hold.id, done.stdout, done.stderr);
    Ok(())
}

async fn deletes_above_the_budget(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    for name in ["a", "b", "c"] {
        setup.remove(&format!("workspaces/many/{name}.yaml"))?;
    }
    // Within its own budget, at the same time.
    setup.remove("workspaces/calm/a.yaml")?;
    setup.write("workspaces/many/d.yaml", &map("d", "2"))?;
    setup.commit("three files less")?;
    daemon.holds("BudgetExceeded").await?;
    setup.wait_for_map(&["eu-1"], "calm", "a", None).await?;
    // Changes go on while deletes wait.
    setup.wait_for_map(&["eu-1"], "many", "d", Some("2")).await?;
    setup.quiet().await?;
    assert_eq!(mark.deletes().await?, ["eu-1: delete configmaps calm/a"]);
    let hold = held(setup, "workspace many").await?;
    let names: Vec<&str> = hold.actions.iter().map(|it| it.object.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);

    let mark = setup.mark().await;
    approve(setup, &hold)?;
    setup.wait_for_map(&["eu-1"], "many", "c", None).await?;
    daemon.holds_nothing().await?;
    setup.quiet().await?;
    let objects = mark.objects().await?;
    let approved = once(["delete configmaps many/a", "delete configmaps many/b", "delete configmaps many/c"]);
    assert_eq!((&objects["eu-1"], &objects["eu-2"], &objects["us-1"]), (&approved, &once([]), &once([])));
    assert_eq!(setup.maps("eu-1", "many").await?, BTreeSet::from(["d".to_owned(), "e".to_owned()]));
    Ok(())
}

async fn a_move_above_the_budget(setup: &Setup<'_>, daemon: &Daemon) -> anyhow::Result<()> {
    let mark = setup.mark().await;
    setup.edit("placements/calm.yaml", "name: eu-1", "name: us-1")?;
    daemon.in_force(&setup.commit("to another cluster")?).await?;
    daemon.holds("BudgetExceeded").await?;
    setup.quiet().await?;
    for (cluster, objects) in mark.objects().await? {
        assert_eq!(objects, once([]), "{cluster}");
    }
    let hold = held(setup, "fleet").await?;
    let words = hold.actions.iter().map(|it| format!("{} {} from {}", it.verb, it.object.name, it.cluster));
    assert_eq!(words.collect::<Vec<_>>(), ["move calm from eu-1"]);
    approve(setup, &hold)?;
    wait_until("the copy to be on us-1 only", SOON, async || {
        let (old, new) = (setup.maps("eu-1", "calm").await?, setup.maps("us-1", "calm").await?);
        anyhow::ensure!(old.is_empty() && new.len() == 4, "{old:?} on eu-1, {new:?} on us-1");
        anyhow::Ok(())
    })
    .await
}

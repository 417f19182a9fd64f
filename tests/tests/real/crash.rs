//! The reconciler is killed before and after its writes, one write after the other: whatever it leaves behind, the next
//! start completes it, leaves no orphan and deletes nothing twice.

use std::collections::{BTreeMap, BTreeSet};

use kcp_tests::{Fleet, fleet_or_skip, wait_until};

use super::crash_point::{CrashPoint, Side};
use super::daemon::Daemon;
use super::harness::{ANYTHING, SOON, Setup, map};

/// Two clusters are enough: one move needs no more.
const PAIR: [&str; 2] = ["eu-1", "eu-2"];

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_some_writes_it_converges_after_the_restart() -> anyhow::Result<()> {
    sweep("crash", |number, last| number == 1 || number == last || number % 7 == 0).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long: .ci/run --long"]
async fn killed_at_any_write_it_converges_after_the_restart() -> anyhow::Result<()> {
    sweep("every crash", |_, _| true).await
}

async fn sweep(test: &str, wanted: impl Fn(usize, usize) -> bool) -> anyhow::Result<()> {
    let Some(fleet) = fleet_or_skip(test, Fleet::builder(PAIR).controllers(false)).await else {
        return Ok(());
    };
    // All that is to go may go: what is counted here is how often it goes.
    let setup = Setup::new(&fleet, "crash", ANYTHING)?;
    let mut state = State { step: 0 };
    state.write(&setup)?;
    setup.commit("the first state")?;
    let daemon = Daemon::start(&setup)?;
    state.reached(&setup).await?;
    setup.quiet().await?;
    daemon.stop().await?;

    // Once without a crash, to know how many writes a step takes.
    let last = step(&setup, &mut state, CrashPoint::at(usize::MAX, Side::Before)).await?;
    anyhow::ensure!(last > 10, "a step takes only {last} writes: it does not change enough");
    for number in (1..=last).filter(|number| wanted(*number, last)) {
        for side in [Side::Before, Side::After] {
            let point = CrashPoint::at(number, side);
            let done = step(&setup, &mut state, point).await;
            done.map_err(|error| error.context(format!("killed {side:?} write {number} of {last}")))?;
        }
    }
    Ok(())
}

/// From one state to the next, with a reconciler that dies on the way and one that completes it.
async fn step(
    setup: &Setup<'_>,
    state: &mut State,
    point: std::sync::Arc<CrashPoint>,
) -> anyhow::Result<usize> {
    let mark = setup.mark().await;
    let connector = point.connector(setup.fleet).await?;
    let dying = Daemon::start_with(setup, |builder| builder.connector(connector))?;
    dying.ready().await?;
    anyhow::ensure!(point.seen() == 0, "it writes before anything changed");
    let doomed = state.next();
    state.write(setup)?;
    setup.commit(&format!("state {}", state.step))?;
    tokio::select! {
        () = point.reached() => {}
        // A step that took fewer writes this time ends before the chosen one.
        ended = async {
            state.reached(setup).await?;
            setup.quiet().await
        } => ended?,
    }
    let seen = point.seen();
    dying.kill().await;

    let daemon = Daemon::start(setup)?;
    daemon.ready().await?;
    state.reached(setup).await?;
    setup.quiet().await?;
    state.is_exact(setup).await?;
    let mut deletes = mark.deletes().await?;
    deletes.retain(|delete| !delete.contains(" kcp-system/"));
    // That they are gone was looked at above. A delete that was under way when the reconciler was killed may have been
    // done without a success in the audit log, as nobody took its answer.
    let once: BTreeSet<&String> = deletes.iter().collect();
    assert_eq!(once.len(), deletes.len(), "nothing goes twice: {deletes:?}");
    assert!(deletes.iter().all(|delete| doomed.contains(delete)), "{deletes:?} instead of {doomed:?}");
    daemon.stop().await?;
    Ok(seen)
}

/// What the repo asks for after so many steps. Each step changes, adds and removes an object, moves a workspace, and
/// brings a new one.
struct State {
    step: usize,
}

impl State {
    fn is_even(&self) -> bool {
        self.step.is_multiple_of(2)
    }

    /// The cluster of the workspace that moves, and the other one.
    fn home(&self) -> (&'static str, &'static str) {
        if self.is_even() { ("eu-1", "eu-2") } else { ("eu-2", "eu-1") }
    }

    /// Goes on, and says what is to be deleted on the way.
    fn next(&mut self) -> BTreeSet<String> {
        let (home, _) = self.home();
        let only = if self.is_even() { "even" } else { "odd" };
        let mut doomed: BTreeSet<String> =
            ["p", "q"].iter().map(|name| format!("{home}: delete configmaps roam/{name}")).collect();
        doomed.insert(format!("eu-1: delete configmaps stay/{only}"));
        self.step += 1;
        doomed
    }

    /// ConfigMaps with their values, by cluster and namespace.
    fn maps(&self) -> BTreeMap<(&'static str, String), BTreeMap<String, String>> {
        let value = self.step.to_string();
        let only = if self.is_even() { "even" } else { "odd" };
        let of = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), value.clone())).collect();
        let (home, other) = self.home();
        let mut all = BTreeMap::from([
            (("eu-1", "stay".to_owned()), of(&["changes", only])),
            ((home, "roam".to_owned()), of(&["p", "q"])),
            ((other, "roam".to_owned()), BTreeMap::new()),
        ]);
        for step in 0..=self.step {
            all.insert(
                ("eu-2", format!("new-{step}")),
                BTreeMap::from([("new".to_owned(), step.to_string())]),
            );
        }
        all
    }

    fn write(&self, setup: &Setup<'_>) -> anyhow::Result<()> {
        let value = self.step.to_string();
        let (only, not) = if self.is_even() { ("even", "odd") } else { ("odd", "even") };
        let on = |cluster: &str| {
            format!("clusters: {{exactly: 1}}, clusterSelector: {{matchLabels: {{name: {cluster}}}}}")
        };
        setup.workspace("stay", &[("changes.yaml", map("changes", &value))])?;
        setup.write(&format!("workspaces/stay/{only}.yaml"), &map(only, &value))?;
        if self.step > 0 {
            setup.remove(&format!("workspaces/stay/{not}.yaml"))?;
        }
        setup.place("stay", &on("eu-1"))?;
        setup.workspace("roam", &[("p.yaml", map("p", &value)), ("q.yaml", map("q", &value))])?;
        setup.place("roam", &on(self.home().0))?;
        let new = format!("new-{}", self.step);
        setup.workspace(&new, &[("new.yaml", map("new", &value))])?;
        setup.place(&new, &on("eu-2"))
    }

    async fn reached(&self, setup: &Setup<'_>) -> anyhow::Result<()> {
        wait_until(&format!("state {}", self.step), SOON, async || self.is_exact(setup).await).await
    }

    /// Exactly these objects are there: none is missing, old, or left behind.
    async fn is_exact(&self, setup: &Setup<'_>) -> anyhow::Result<()> {
        for ((cluster, namespace), wanted) in self.maps() {
            let mut found = BTreeMap::new();
            for name in setup.maps(cluster, &namespace).await? {
                let value = setup.map(cluster, &namespace, &name).await?.unwrap_or_default();
                found.insert(name, value);
            }
            anyhow::ensure!(found == wanted, "{namespace} on {cluster} has {found:?}, not {wanted:?}");
        }
        Ok(())
    }
}

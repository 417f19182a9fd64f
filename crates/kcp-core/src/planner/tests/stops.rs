//! Stops on purpose: nothing is written, all of it is visible, and it ends by itself.

use kcp_api::{Reason, Suspension, Timestamp};

use super::fixture::*;
use crate::planner::plan;
use crate::world::{Halt, World};

fn suspension(clusters: &[&str], until: i64) -> Suspension {
    Suspension {
        clusters: clusters.iter().map(|it| (*it).to_owned()).collect(),
        reason: Some("release freeze".to_owned()),
        until: Timestamp::from_epoch_seconds(until),
    }
}

fn changed() -> World {
    let mut world = world(&["a", "b"], &[("shop", &["web", "old"], 2)]);
    settle(&mut world);
    write(&mut world, "shop", &["web=1", "new"]);
    world
}

#[test]
fn a_halt_stops_everything_until_it_ends() {
    let mut world = changed();
    world.halted = Some(Halt { until: NOW + 60, reason: "what is going on".to_owned() });
    let it = plan(&world);
    assert!(it.is_quiet() && it.acts.is_empty());
    assert_eq!(hold(&it).reason, Reason::Halted);
    assert!(hold(&it).message.contains("what is going on"));
    assert_eq!(it.clusters["a"].stopped.as_ref().map(|it| it.0), Some(Reason::Halted));
    world.now += 60;
    let it = plan(&world);
    assert_eq!((it.holds.len(), writes(&it).len(), deletes(&it).len()), (0, 4, 2));
}

#[test]
fn suspensions_stop_what_they_cover() {
    let mut world = changed();
    let all = suspension(&[], NOW + 60);
    let one = suspension(&["a"], NOW + 60);
    config(&mut world).fleet.value.spec.suspend = vec![all.clone()];
    assert!(plan(&world).is_quiet());
    config(&mut world).fleet.value.spec.suspend = vec![one.clone()];
    let only_b = |world: &World| {
        let it = plan(world);
        assert!(hold(&it).message.contains("release freeze"));
        assert!(hold(&it).id.is_empty());
        assert_eq!(it.acts.len(), 1, "what is not done is not counted");
        assert_eq!(
            (writes(&it), deletes(&it)),
            (vec!["b create new".into(), "b update web".into()], vec!["b old".into()])
        );
    };
    only_b(&world);
    config(&mut world).fleet.value.spec.suspend.clear();
    cluster(&mut world, "a").spec.suspend = vec![all.clone()];
    only_b(&world);
    cluster(&mut world, "a").spec.suspend.clear();
    placement(&mut world, "shop").suspend = vec![one];
    only_b(&world);
    placement(&mut world, "shop").suspend = vec![all];
    assert!(plan(&world).is_quiet());
    placement(&mut world, "shop").suspend = vec![suspension(&[], NOW)];
    assert_eq!((plan(&world).holds.len(), writes(&plan(&world)).len()), (0, 4), "an expired one is none");
}

#[test]
fn decisions_stand_still_meanwhile() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    let before = decision(&plan(&world), "shop");
    let home = only_home(&world, "shop");
    select(&mut world, "shop", if home == "a" { "b" } else { "a" });
    placement(&mut world, "shop").suspend = vec![suspension(&[], NOW + 60)];
    let it = plan(&world);
    assert_eq!(decision(&it, "shop"), before);
    assert!(it.acts.is_empty());
    world.now += 60;
    assert_eq!(decision(&plan(&world), "shop").map(|it| (it.epoch, it.since)), Some((2, NOW + 60)));
}

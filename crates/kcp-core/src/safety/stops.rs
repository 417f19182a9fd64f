//! Work that is stopped on purpose: the break-glass halt, and what documents suspend. Only ever reduces what is done,
//! always has an end, and is always visible as a hold.

use kcp_api::{Cluster, Placement, Reason, Suspension, Timestamp};

use crate::plan::Hold;
use crate::world::World;

/// Whether everything is halted now.
pub(crate) fn is_halted(world: &World) -> bool {
    world.halted.as_ref().is_some_and(|halt| halt.until > world.now)
}

/// Why nothing is written on a cluster, by the halt, the fleet's document or its own.
pub(crate) fn on_cluster(world: &World, name: &str, document: &Cluster) -> Option<(Reason, String)> {
    if let Some(halt) = world.halted.as_ref().filter(|halt| halt.until > world.now) {
        let until = Timestamp::from_epoch_seconds(halt.until);
        return Some((Reason::Halted, format!("halted until {}: {}", until.as_str(), halt.reason)));
    }
    let fleet = &world.desired.config.fleet.value.spec.suspend;
    let suspension = fleet.iter().chain(&document.spec.suspend).find(|it| it.covers(name, world.now))?;
    Some((Reason::Suspended, text(suspension)))
}

/// Why nothing of a placement is written on a cluster.
pub(crate) fn on_placement(placement: &Placement, cluster: &str, now: i64) -> Option<(Reason, String)> {
    let suspension = placement.spec.suspend.iter().find(|it| it.covers(cluster, now))?;
    Some((Reason::Suspended, text(suspension)))
}

/// Whether decisions stand still: nothing could be done about a new one, and its time limits would run.
pub(crate) fn freezes(world: &World, placement: &Placement) -> bool {
    let whole = |it: &Suspension| it.clusters.is_empty() && world.now < it.until.epoch_seconds();
    is_halted(world)
        || world.desired.config.fleet.value.spec.suspend.iter().any(whole)
        || placement.spec.suspend.iter().any(whole)
}

/// One hold for the halt and for each suspension that is in force.
pub(crate) fn holds(world: &World) -> Vec<Hold> {
    let mut found = Vec::new();
    let mut hold = |reason, subject: String, message| {
        found.push(Hold { id: String::new(), reason, subject, message, actions: Vec::new() });
    };
    if let Some(halt) = world.halted.as_ref().filter(|halt| halt.until > world.now) {
        let until = Timestamp::from_epoch_seconds(halt.until);
        let message = format!("nothing is written until {}: {}", until.as_str(), halt.reason);
        hold(Reason::Halted, "fleet".to_owned(), message);
    }
    let config = &world.desired.config;
    let mut suspended = |subject: String, list: &[Suspension]| {
        for it in list.iter().filter(|it| world.now < it.until.epoch_seconds()) {
            let which = if it.clusters.is_empty() {
                String::new()
            } else {
                format!(" on {}", it.clusters.join(", "))
            };
            hold(Reason::Suspended, subject.clone(), format!("nothing is written{which}: {}", text(it)));
        }
    };
    suspended("fleet".to_owned(), &config.fleet.value.spec.suspend);
    for (name, cluster) in &config.clusters {
        suspended(format!("cluster {name}"), &cluster.value.spec.suspend);
    }
    for (name, placement) in &config.placements {
        suspended(format!("placement {name}"), &placement.value.spec.suspend);
    }
    found
}

fn text(suspension: &Suspension) -> String {
    let reason = suspension.reason.as_deref().unwrap_or("no reason was given");
    format!("suspended until {}: {reason}", suspension.until.as_str())
}

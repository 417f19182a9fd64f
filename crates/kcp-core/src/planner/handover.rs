//! When a unit may leave: only when every object of it is there, as wanted and healthy, on all clusters it goes to.

use kcp_api::Reason;

use super::bundles::{Bundles, Content};
use super::decide::Decided;
use super::fleet::{Access, Fleet, Member};
use super::objects::is_settled;
use super::unit::Unit;
use crate::plan::{Hold, Movement};
use crate::world::{HealthStatus, ObservedObject, World};

/// So many of what is waited for are named.
const NAMED: usize = 5;

/// How a unit's move stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandOver {
    /// Nothing is left behind.
    None,
    /// The new copies are healthy: the old ones may go.
    Ready,
    /// Not yet, and what is waited for.
    Waiting(Vec<String>),
}

/// Judges the move of one unit.
pub(crate) fn judge<'w>(
    fleet: &Fleet<'w>,
    bundles: &mut Bundles<'w, '_>,
    unit: &Unit<'w>,
    decided: &Decided,
) -> HandOver {
    let Some(decision) = decided.decision.as_ref().filter(|_| !decided.leaving.is_empty()) else {
        return HandOver::None;
    };
    let whole = unit.placed().is_some_and(|placed| placed.is_whole);
    if !whole {
        return HandOver::Waiting(vec!["the workspace could not be rendered".to_owned()]);
    }
    let mut missing = Vec::new();
    let mut unseen = Vec::new();
    let mut seen = false;
    for uid in &decision.targets {
        match fleet.by_uid(uid) {
            // Its document is gone, or bears a name that is not known yet: nothing can be said of that copy.
            None => unseen.push(format!("{uid} cannot be seen")),
            Some(member) if member.access == Access::Open && member.fresh => {
                match bundles.content(unit, member) {
                    Some(content) => {
                        seen = true;
                        unready(unit, member, &content, &mut missing);
                    }
                    None => missing.push(format!("no variant of it fits {}", member.name)),
                }
            }
            // One cluster that is lost keeps no copy on another from leaving, if its own was healthy.
            Some(member) if was_healthy(unit, member, bundles.content(unit, member).as_ref()) => {
                unseen.push(format!("{} cannot be seen", member.name));
            }
            Some(member) => missing.push(format!("{} cannot be seen", member.name)),
        }
    }
    // But the copies that nobody can see replace nothing.
    if !seen {
        missing.append(&mut unseen);
    }
    if missing.is_empty() { HandOver::Ready } else { HandOver::Waiting(missing) }
}

/// Whether a cluster is lost and had every object of the unit, healthy, when it was seen last. What changed in git
/// since does not count: it could not get there.
fn was_healthy(unit: &Unit<'_>, member: &Member<'_>, content: Option<&Content<'_>>) -> bool {
    let (Access::Lost(_), Some(content)) = (&member.access, content) else { return false };
    let Some(set) = member.view.sets.get(unit.name) else { return false };
    let mut objects =
        content.bundle.objects.iter().filter(|it| !content.bundle.implied.contains(&it.key)).peekable();
    objects.peek().is_some()
        && objects.all(|object| set.objects.get(&object.key).is_some_and(|seen| is_healthy(unit, seen)))
}

fn is_healthy(unit: &Unit<'_>, seen: &ObservedObject) -> bool {
    let current = seen.health.status == HealthStatus::Current && !seen.terminating;
    current && seen.workspace.as_deref() == Some(unit.name)
}

fn unready(unit: &Unit<'_>, member: &Member<'_>, content: &Content<'_>, missing: &mut Vec<String>) {
    let (name, bundle) = (member.name, &content.bundle);
    if bundle.objects.is_empty() {
        missing.push(format!("it has no objects on {name}"));
    }
    missing.extend(
        bundle.problems.iter().filter_map(|it| it.object.as_ref()).map(|key| format!("{key} on {name}")),
    );
    let set = member.view.sets.get(unit.name);
    // A namespace that another workspace brings is there all the same.
    for object in bundle.objects.iter().filter(|object| !bundle.implied.contains(&object.key)) {
        let ready = set
            .zip(set.and_then(|set| set.objects.get(&object.key)))
            .is_some_and(|(set, seen)| is_healthy(unit, seen) && is_settled(unit.policy, set, object, seen));
        if !ready {
            missing.push(format!("{} on {name}", object.key));
        }
    }
}

/// The move in words; and a hold, if it takes longer than it may.
pub(crate) fn describe(
    world: &World,
    fleet: &Fleet<'_>,
    unit: &Unit<'_>,
    decided: &Decided,
    state: &HandOver,
) -> (Option<Movement>, Option<Hold>) {
    let (Some(decision), Some(placed)) = (&decided.decision, unit.placed()) else { return (None, None) };
    let Some(leave) = decided.leaving.values().next() else { return (None, None) };
    let from: Vec<String> = decision.leaving.iter().map(|uid| fleet.name_of(uid)).collect();
    let new = decision.targets.iter().filter(|uid| !unit.copies.contains(*uid));
    let to: Vec<String> = new.map(|uid| fleet.name_of(uid)).collect();
    let message = match state {
        HandOver::Waiting(missing) => format!("{}; waits for {}", leave.message, listed(missing)),
        HandOver::None | HandOver::Ready => format!("{}; its other copies are healthy", leave.message),
    };
    let movement = Movement { from: from.clone(), to, reason: leave.reason, message };
    let limit = i64::try_from(placed.placement.spec.movement.health_timeout.as_secs()).unwrap_or(i64::MAX);
    let hold = match state {
        HandOver::Waiting(missing)
            if placed.is_whole && world.now >= decision.since.saturating_add(limit) =>
        {
            Some(Hold {
                id: String::new(),
                reason: Reason::HandOverTimeout,
                subject: format!("workspace {}", unit.name),
                message: format!(
                    "its copy on {} stays: after {limit} s (movement.healthTimeout) these are not ready: {}",
                    from.join(", "),
                    listed(missing)
                ),
                actions: Vec::new(),
            })
        }
        _ => None,
    };
    (Some(movement), hold)
}

fn listed(items: &[String]) -> String {
    let named = items.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if items.len() > NAMED { format!("{named} and {} more", items.len() - NAMED) } else { named }
}

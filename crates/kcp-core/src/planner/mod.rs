//! From a [`World`] to a [`Plan`]: decides where each workspace goes, then compares what is wanted with what was seen.
//!
//! Deterministic: the same world gives the same bytes. Never reads a clock, never assumes that what was not seen is
//! not there, and lists as an action only what is safe to do now.

mod bundles;
mod changes;
mod claims;
mod decide;
pub(crate) mod fleet;
mod handover;
mod joined;
mod objects;
mod prune;
mod sets;
#[cfg(test)]
mod tests;
mod unit;

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::Reason;

use crate::plan::{ClusterPlan, Plan, Problem, SetPlan, UnitPlan};
use crate::safety::approval::Approvals;
use crate::safety::budget::{self, Ruling, object_id};
use crate::safety::{limit, stops};
use crate::world::{ActKind, ObservedSet, UnitId, World};
use bundles::{Bundles, Content};
pub use bundles::{Memo, recall_secrets};
use claims::Claims;
use decide::Decided;
use fleet::{Access, Fleet, Member};
use handover::HandOver;
use joined::Joined;
use objects::{Site, Work};
use prune::Survey;
use sets::{Part, Parts};
use unit::{Unit, is_ours};

/// What a plan is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    /// All that the daemon takes care of: clusters of mode None are left alone.
    #[default]
    Daemon,
    /// One run on one cluster, by the name of its document, whatever its mode; nothing is written on the others.
    Cluster(String),
}

impl Scope {
    /// Whether this is a run for exactly this cluster.
    fn names(&self, cluster: &str) -> bool {
        matches!(self, Self::Cluster(name) if name == cluster)
    }
}

/// The plan of the daemon.
#[must_use]
pub fn plan(world: &World) -> Plan {
    plan_for(world, &Scope::Daemon)
}

/// The plan within a scope.
#[must_use]
pub fn plan_for(world: &World, scope: &Scope) -> Plan {
    plan_with(world, scope, &mut Memo::default())
}

/// The plan within a scope, by a process that keeps what it made for the last one.
#[must_use]
pub fn plan_with(world: &World, scope: &Scope, memo: &mut Memo) -> Plan {
    let fleet = Fleet::new(world, scope);
    let approvals = Approvals::new(&world.desired.config, world.now);
    let units = unit::all(world, &fleet);
    let mut plan = Plan {
        commit: world.desired.commit.clone(),
        holds: stops::holds(world),
        judged_by: limit::judged_by(world),
        ..Plan::default()
    };
    let decided = decide::decide(world, &fleet, &approvals, &units, &mut plan);
    let mut made = Bundles::new(world, &fleet, memo);
    let contents = contents(&fleet, &units, &decided, &mut made, &mut plan);
    let moves: BTreeMap<&str, HandOver> = units
        .iter()
        .filter_map(|(name, unit)| {
            Some((*name, handover::judge(&fleet, &mut made, unit, decided.get(name)?)))
        })
        .collect();
    let claims: BTreeMap<&str, Claims<'_>> = fleet
        .members
        .values()
        .map(|member| (member.name, claims(member, &units, &decided, &contents, &moves)))
        .collect();

    for member in fleet.members.values() {
        let cluster = ClusterPlan { sets: BTreeMap::new(), stopped: member.stopped() };
        plan.clusters.insert(member.name.to_owned(), cluster);
    }
    for (name, unit) in &units {
        let (Some(decided), Some(state)) = (decided.get(name), moves.get(name)) else { continue };
        let (fleet, approvals, claims, contents, made) = (&fleet, &approvals, &claims, &contents, &made);
        Step { world, fleet, approvals, claims, contents, made, unit, decided, state }.run(&mut plan);
        let (movement, late) = handover::describe(world, fleet, unit, decided, state);
        plan.holds.extend(late);
        plan.units.insert(
            UnitId::workspace(*name),
            UnitPlan {
                placement: unit.placed().map(|placed| placed.placement.metadata.name.clone()),
                decision: decided.decision.clone(),
                verdicts: decided.verdicts.clone(),
                unplaced: decided.unplaced.clone(),
                movement,
            },
        );
    }
    made.keep();
    narrow(&mut plan, scope, &fleet);
    let order =
        |hold: &crate::plan::Hold| (hold.subject.clone(), hold.reason, hold.id.clone(), hold.message.clone());
    plan.holds.sort_by_cached_key(order);
    plan.problems.sort();
    plan.problems.dedup();
    plan
}

/// Contents by workspace and cluster.
type Contents<'w> = BTreeMap<(&'w str, &'w str), Content<'w>>;

/// What each target gets.
fn contents<'w>(
    fleet: &Fleet<'w>,
    units: &BTreeMap<&'w str, Unit<'w>>,
    decided: &BTreeMap<&str, Decided>,
    made: &mut Bundles<'w, '_>,
    plan: &mut Plan,
) -> Contents<'w> {
    let mut contents = BTreeMap::new();
    for (name, unit) in units {
        let Some(placed) = unit.placed() else { continue };
        for member in fleet.members.values() {
            if !decided.get(name).is_some_and(|it| it.targets(member.uid.as_ref())) {
                continue;
            }
            match made.content(unit, member) {
                Some(content) => {
                    if matches!(member.access, Access::Open | Access::Partial) {
                        let cluster = Some(member.name.to_owned());
                        let said = content.bundle.problems.iter();
                        plan.problems.extend(said.map(|it| Problem { cluster: cluster.clone(), ..it.clone() }));
                    }
                    contents.insert((*name, member.name), content);
                }
                None if placed.rendered.is_some() => plan.problems.push(Problem {
                    reason: Reason::NoVariantFits,
                    workspace: Some((*name).to_owned()),
                    cluster: Some(member.name.to_owned()),
                    object: None,
                    origin: Some(placed.workspace.origin()),
                    message: "no variant of the workspace fits the labels of this cluster, so nothing is changed there"
                        .to_owned(),
                }),
                None => {}
            }
        }
    }
    contents
}

/// Who wants and who has what on one cluster.
fn claims<'a>(
    member: &Member<'a>,
    units: &'a BTreeMap<&'a str, Unit<'a>>,
    decided: &BTreeMap<&str, Decided>,
    contents: &'a Contents<'a>,
    moves: &BTreeMap<&str, HandOver>,
) -> Claims<'a> {
    let parties = || {
        units.iter().filter_map(|(name, unit)| {
            let content = contents.get(&(*name, member.name));
            let set = member.view.sets.get(*name).filter(|_| member.has_own_view());
            (content.is_some() || set.is_some()).then_some((*name, unit, content, set))
        })
    };
    let mut claims = Claims::default();
    // Alone, nobody meets anybody.
    if parties().nth(1).is_none() {
        return claims;
    }
    for (name, _, content, set) in parties() {
        let wanted = content.into_iter().flat_map(|it| it.keys.keys().chain(&it.bundle.withheld));
        claims.meet(name, wanted);
        claims.meet(name, set.into_iter().flat_map(|set| set.objects.keys()));
    }
    if !claims.can_meet() {
        return claims;
    }
    for (name, unit, content, set) in parties() {
        if let Some(content) = content {
            content.keys.keys().chain(&content.bundle.withheld).for_each(|key| claims.want(name, key));
        }
        let Some(set) = set else { continue };
        let waits = member.uid.as_ref().is_some_and(|uid| {
            decided.get(name).is_some_and(|it| it.leaving.contains_key(uid))
                && !matches!(moves.get(name), Some(HandOver::Ready))
        });
        // What could not be rendered, and what must stay until its successors are healthy, is still wanted.
        let untold = content.is_none() && decided.get(name).is_some_and(|it| it.targets(member.uid.as_ref()));
        let unread = untold || unit.placed().is_some_and(|placed| !placed.is_whole);
        for (key, seen) in &set.objects {
            if is_ours(seen, name) {
                claims.has(name, key);
                if waits || unread {
                    claims.want(name, key);
                }
            }
        }
    }
    claims
}

/// One unit and all that its plan depends on.
struct Step<'a, 'w> {
    world: &'w World,
    fleet: &'a Fleet<'w>,
    approvals: &'a Approvals<'w>,
    claims: &'a BTreeMap<&'a str, Claims<'a>>,
    contents: &'a Contents<'w>,
    made: &'a Bundles<'w, 'a>,
    unit: &'a Unit<'w>,
    decided: &'a Decided,
    state: &'a HandOver,
}

impl<'a, 'w> Step<'a, 'w> {
    /// Plans all sets of the unit, and rules on its deletes as a whole.
    fn run(&self, plan: &mut Plan) {
        let mut surveys: BTreeMap<&str, (Survey, Joined<'_>)> = BTreeMap::new();
        let mut doomed = Vec::new();
        for member in self.fleet.members.values() {
            let Some(set) = self.set(member) else { continue };
            let Some(claims) = self.claims.get(member.name) else { continue };
            let part = self.part(member);
            let content = if let Part::Target(content) = part { Some(content) } else { None };
            let (fate, joined) = (part.fate(self.unit), Joined::of(content, Some(set)));
            let mut survey = prune::survey(self.unit, member, (set, &joined), fate, claims, self.world.now);
            if self.is_stopped(member) {
                survey.doomed.clear();
            }
            plan.problems.append(&mut survey.problems);
            doomed.extend(survey.doomed.iter().cloned());
            surveys.insert(member.name, (survey, joined));
        }
        let members = if doomed.is_empty() { BTreeSet::new() } else { self.members() };
        let mut ruling = budget::deletes(self.world, self.approvals, self.unit.name, &members, doomed);
        plan.holds.append(&mut ruling.holds);
        plan.acts.append(&mut ruling.acts);
        for member in self.fleet.members.values() {
            if self.set(member).is_none() && !self.decided.targets(member.uid.as_ref()) {
                continue;
            }
            let surveyed = surveys.remove(member.name).unwrap_or_default();
            let set_plan = self.set_plan(member, surveyed, &ruling, &mut plan.problems);
            if let Some(cluster) = plan.clusters.get_mut(member.name) {
                cluster.sets.insert(self.unit.name.to_owned(), set_plan);
            }
        }
    }

    fn set_plan(
        &self,
        member: &Member<'w>,
        (survey, joined): (Survey, Joined<'_>),
        ruling: &Ruling,
        problems: &mut Vec<Problem>,
    ) -> SetPlan {
        let (unit, decided, set, part) = (self.unit, self.decided, self.set(member), self.part(member));
        let earlier = || self.made.earlier(unit, member);
        let mut work = match (part, self.claims.get(member.name)) {
            (Part::Target(content), Some(claims)) if member.has_own_view() => objects::work(&Site {
                workspace: unit.name,
                member,
                set,
                seen: &joined.seen,
                content,
                before: self.made.before(unit, member),
                earlier: &earlier,
                claims,
                policy: unit.policy,
                now: self.world.now,
            }),
            _ => Work::default(),
        };
        // What was seen long ago may not be so any more.
        if matches!(member.access, Access::Open | Access::Partial) {
            problems.append(&mut work.problems);
        }
        let is_stopped = self.is_stopped(member);
        let joined = &joined;
        sets::assemble(Parts { unit, member, decided, set, joined, part, work, survey, ruling, is_stopped })
    }

    fn set(&self, member: &Member<'w>) -> Option<&'w ObservedSet> {
        member.view.sets.get(self.unit.name).filter(|_| member.has_own_view())
    }

    fn part(&self, member: &Member<'w>) -> Part<'a> {
        let content = self.contents.get(&(self.unit.name, member.name));
        Part::of(self.unit, member, self.decided, content, self.state)
    }

    fn is_stopped(&self, member: &Member<'_>) -> bool {
        let placed = self.unit.placed();
        let suspended = placed.and_then(|it| stops::on_placement(it.placement, member.name, self.world.now));
        !member.is_writable() || suspended.is_some()
    }

    /// All objects of the unit, on all clusters: what its budget is a share of.
    fn members(&self) -> BTreeSet<String> {
        let mut members = BTreeSet::new();
        for member in self.fleet.members.values() {
            if let (Some(set), Some(uid)) = (self.set(member), &member.uid) {
                let ours = set.objects.iter().filter(|(_, seen)| is_ours(seen, self.unit.name));
                members.extend(ours.map(|(key, _)| object_id(uid, key)));
            }
        }
        members
    }
}

/// Leaves only what a run on one cluster does.
fn narrow(plan: &mut Plan, scope: &Scope, fleet: &Fleet<'_>) {
    let Scope::Cluster(name) = scope else { return };
    plan.clusters.retain(|cluster, _| cluster == name);
    let uid = fleet.members.get(name.as_str()).and_then(|member| member.uid.clone());
    let prefix = uid.map(|uid| format!("{uid} "));
    plan.acts.retain(|act| {
        act.kind != ActKind::Delete
            || prefix.as_ref().is_some_and(|prefix| act.id.starts_with(prefix.as_str()))
    });
}

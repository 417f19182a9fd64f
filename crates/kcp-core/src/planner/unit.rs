//! What moves together, what git says of it, and what was decided and seen of it before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kcp_api::{Placement, SyncPolicySpec};

use super::fleet::Fleet;
use crate::config::{DEFAULT_POLICY, Located, WorkspaceConfig};
use crate::render::Rendered;
use crate::world::{ClusterUid, Decision, ObservedObject, ObservedSet, UnitId, WorkspaceState, World};

/// What git says of a unit.
#[derive(Debug, Clone)]
pub(crate) enum Desire<'w> {
    /// A placement claims it.
    Placed(Placed<'w>),
    /// It is in git and no placement claims it.
    Unplaced,
    /// Git no longer has it.
    Gone,
}

/// A unit that a placement claims.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'w> {
    /// The placement.
    pub(crate) placement: &'w Placement,
    /// The workspace's folder and document.
    pub(crate) workspace: &'w WorkspaceConfig,
    /// What to keep up: of this commit, or the last that could be rendered; `None` if there is nothing.
    pub(crate) rendered: Option<&'w Arc<Rendered>>,
    /// Rendered whole from this very commit. Only then may anything be deleted or decided anew.
    pub(crate) is_whole: bool,
    /// What is wrong, if it is not whole.
    pub(crate) errors: &'w [String],
}

/// One unit.
#[derive(Debug, Clone)]
pub(crate) struct Unit<'w> {
    /// Name of its workspace.
    pub(crate) name: &'w str,
    /// What git says.
    pub(crate) desire: Desire<'w>,
    /// The rules of its pipeline.
    pub(crate) policy: &'w SyncPolicySpec,
    /// What was decided last.
    pub(crate) previous: Option<Decision>,
    /// Clusters where a copy was seen: something of it that could move.
    pub(crate) copies: BTreeSet<ClusterUid>,
}

impl<'w> Unit<'w> {
    /// Its placement and content, if it has one.
    pub(crate) fn placed(&self) -> Option<&Placed<'w>> {
        if let Desire::Placed(placed) = &self.desire { Some(placed) } else { None }
    }
}

/// All units: those of git, and those that git no longer has and clusters still do.
pub(crate) fn all<'w>(world: &'w World, fleet: &Fleet<'w>) -> BTreeMap<&'w str, Unit<'w>> {
    let mut names: BTreeSet<&str> = world.desired.config.workspaces.keys().map(String::as_str).collect();
    for member in fleet.members.values().filter(|member| member.has_own_view()) {
        names.extend(member.view.sets.keys().map(String::as_str));
    }
    names.into_iter().map(|name| (name, unit(world, fleet, name))).collect()
}

fn unit<'w>(world: &'w World, fleet: &Fleet<'w>, name: &'w str) -> Unit<'w> {
    let config = &world.desired.config;
    let placement = config.placement_of(name);
    let policy = config.policy(placement.map_or(DEFAULT_POLICY, |it| it.value.spec.policy_name.as_str()));
    let desire = match (config.workspaces.get(name), placement) {
        (None, _) => Desire::Gone,
        (Some(_), None) => Desire::Unplaced,
        (Some(workspace), Some(placement)) => Desire::Placed(placed(world, workspace, placement)),
    };
    let mut unit =
        Unit { name, desire, policy, previous: latest(world, fleet, name), copies: BTreeSet::new() };
    for member in fleet.members.values().filter(|member| member.has_own_view()) {
        if let (Some(uid), Some(set)) = (&member.uid, member.view.sets.get(name))
            && has_copy(&unit, set)
        {
            unit.copies.insert(uid.clone());
        }
    }
    unit
}

fn placed<'w>(
    world: &'w World,
    workspace: &'w WorkspaceConfig,
    placement: &'w Located<Placement>,
) -> Placed<'w> {
    let placement = &placement.value;
    let (rendered, is_whole, errors) = match world.desired.workspaces.get(&workspace.name) {
        Some(WorkspaceState::Rendered(rendered)) => (Some(rendered), true, [].as_slice()),
        Some(WorkspaceState::Failed { errors, last_good }) => (last_good.as_ref(), false, errors.as_slice()),
        None => (None, false, [].as_slice()),
    };
    Placed { placement, workspace, rendered, is_whole, errors }
}

/// The decision that counts: the highest epoch of all that clusters and memory know.
fn latest(world: &World, fleet: &Fleet<'_>, name: &str) -> Option<Decision> {
    let remembered = world.memory.get(&UnitId::workspace(name));
    let members = fleet.members.values().filter(|member| member.has_own_view());
    let recorded = members.filter_map(|member| member.view.sets.get(name)?.parent.decision.as_ref());
    let age = |it: &&Decision| (it.epoch, it.since);
    // The content breaks ties only so that the result does not depend on names.
    remembered
        .into_iter()
        .chain(recorded)
        .max_by(|a, b| {
            age(a).cmp(&age(b)).then_with(|| (&a.targets, &a.leaving).cmp(&(&b.targets, &b.leaving)))
        })
        .cloned()
}

/// Whether anything there could move: kinds that are always kept (a namespace) are no copy.
fn has_copy(unit: &Unit<'_>, set: &ObservedSet) -> bool {
    set.objects
        .iter()
        .any(|(key, object)| is_ours(object, unit.name) && !unit.policy.delete.keeps(&key.group, &key.kind))
}

/// Whether a member of a set is an object of that workspace that we made: labels get copied to other objects.
pub(crate) fn is_ours(object: &ObservedObject, workspace: &str) -> bool {
    object.managed && !object.controlled && object.workspace.as_deref() == Some(workspace)
}

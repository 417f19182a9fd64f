//! How much may be deleted or moved by itself: counted over a sliding hour, above it the whole of a workspace's deletes
//! (or of the plan's moves) is held as one thing to approve.

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::{GROUP, Reason};

use super::approval::{Approvals, hold_id};
use super::limit::Limit;
use crate::object::ObjectKey;
use crate::plan::{HeldAction, Hold};
use crate::world::{Act, ActKind, ClusterUid, UnixSeconds, World};

/// The window of the budgets, in seconds.
const HOUR: i64 = 3600;

/// Why an object would be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// Git no longer has it.
    Pruned,
    /// The workspace has no objects any more.
    Emptied,
    /// The workspace's folder is gone.
    WorkspaceGone,
    /// No placement is about the workspace any more.
    PlacementGone,
    /// It is wanted on no cluster any more.
    LastCopy,
    /// It is healthy elsewhere.
    HandedOver,
}

impl Cause {
    /// In words.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Pruned => "gone from git",
            Self::Emptied => "the workspace has no objects any more",
            Self::WorkspaceGone => "the workspace is gone from git",
            Self::PlacementGone => "no placement is about the workspace any more",
            Self::LastCopy => "the workspace is wanted on no cluster any more",
            Self::HandedOver => "moved: its copies elsewhere are healthy",
        }
    }

    /// The reason of a hold that no budget can lift.
    fn always_held(self) -> Option<Reason> {
        match self {
            Self::Pruned | Self::HandedOver => None,
            Self::Emptied => Some(Reason::EmptyWorkspace),
            Self::WorkspaceGone => Some(Reason::WorkspaceRemoved),
            Self::PlacementGone => Some(Reason::PlacementRemoved),
            Self::LastCopy => Some(Reason::LastCopy),
        }
    }
}

/// One object that would be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doomed {
    /// What an approval would name.
    pub(crate) action: HeldAction,
    /// Why.
    pub(crate) cause: Cause,
}

/// What the budgets made of the wishes of one kind.
#[derive(Debug, Default)]
pub(crate) struct Ruling {
    /// What may be done now, by cluster document and object.
    pub(crate) allowed: BTreeSet<(String, ObjectKey)>,
    /// What waits for approval.
    pub(crate) holds: Vec<Hold>,
    /// What of it counts.
    pub(crate) acts: Vec<Act>,
}

/// Rules on all deletes of one workspace. `members` are its objects on all clusters, as ids of acts.
pub(crate) fn deletes(
    world: &World,
    approvals: &Approvals<'_>,
    workspace: &str,
    members: &BTreeSet<String>,
    doomed: Vec<Doomed>,
) -> Ruling {
    let mut ruling = Ruling::default();
    let mut held: BTreeMap<Reason, Vec<HeldAction>> = BTreeMap::new();
    let mut counted: Vec<HeldAction> = Vec::new();
    for Doomed { action, cause } in doomed {
        if cause == Cause::HandedOver || approvals.cover(&action) {
            ruling.allowed.insert((action.cluster.clone(), action.object.clone()));
        } else if let Some(reason) = cause.always_held() {
            held.entry(reason).or_default().push(action);
        } else {
            counted.push(action);
        }
    }
    let recent = recent(world, ActKind::Delete, |act| act.workspace == workspace);
    let now: BTreeSet<String> = counted.iter().map(delete_id).collect();
    let count = recent.union(&now).count();
    let total = members.union(&recent).count();
    let exceeded = Limit::of_deletes(world).exceeded(count, total);
    if exceeded.is_none() {
        for action in counted {
            ruling.acts.push(act(world.now, workspace, ActKind::Delete, delete_id(&action)));
            ruling.allowed.insert((action.cluster.clone(), action.object));
        }
    } else if !counted.is_empty() {
        held.insert(Reason::BudgetExceeded, counted);
    }
    for (reason, actions) in held {
        let number = actions.len();
        let what = format!("{number} of {} to delete", plural(total, "object"));
        let why = match reason {
            Reason::BudgetExceeded => format!(
                "{count} deletes within an hour are more than {}",
                exceeded.as_deref().unwrap_or_default()
            ),
            Reason::EmptyWorkspace => Cause::Emptied.text().to_owned(),
            Reason::WorkspaceRemoved => Cause::WorkspaceGone.text().to_owned(),
            Reason::PlacementRemoved => Cause::PlacementGone.text().to_owned(),
            _ => Cause::LastCopy.text().to_owned(),
        };
        ruling.holds.push(hold(reason, format!("workspace {workspace}"), &format!("{what}: {why}"), actions));
    }
    ruling
}

/// A unit that would leave clusters for a voluntary reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mover {
    /// Its workspace.
    pub(crate) workspace: String,
    /// A name for this move: what it leaves and in which epoch.
    pub(crate) id: String,
    /// One for each cluster that it leaves.
    pub(crate) actions: Vec<HeldAction>,
}

/// Rules on all voluntary moves that would begin now. Returns the workspaces that may not, with the hold.
pub(crate) fn moves(
    world: &World,
    approvals: &Approvals<'_>,
    units: usize,
    movers: Vec<Mover>,
) -> (BTreeSet<String>, Ruling) {
    let mut ruling = Ruling::default();
    let covered = |mover: &Mover| mover.actions.iter().all(|action| approvals.cover(action));
    let counted: Vec<Mover> = movers.into_iter().filter(|mover| !covered(mover)).collect();
    let recent = recent(world, ActKind::Move, |_| true);
    let now: BTreeSet<String> = counted.iter().map(|mover| mover.id.clone()).collect();
    let count = recent.union(&now).count();
    let exceeded = Limit::of_moves(world).exceeded(count, units).filter(|_| !counted.is_empty());
    let Some(exceeded) = exceeded else {
        let acts = counted.into_iter().map(|mover| act(world.now, &mover.workspace, ActKind::Move, mover.id));
        ruling.acts.extend(acts);
        return (BTreeSet::new(), ruling);
    };
    let message = format!(
        "{} of {} to move: {count} moves within an hour are more than {exceeded}",
        counted.len(),
        plural(units, "workspace"),
    );
    let names = counted.iter().map(|mover| mover.workspace.clone()).collect();
    let actions = counted.into_iter().flat_map(|mover| mover.actions).collect();
    ruling.holds.push(hold(Reason::BudgetExceeded, "fleet".to_owned(), &message, actions));
    (names, ruling)
}

/// A hold that can be approved; its message ends with the command.
pub(crate) fn hold(reason: Reason, subject: String, message: &str, mut actions: Vec<HeldAction>) -> Hold {
    actions.sort();
    let id = hold_id(&actions);
    let message = format!("{message}; to go on: `kubectl kcp approve {id}`");
    Hold { id, reason, subject, message, actions }
}

/// The object that stands for a whole workspace in a held move.
pub(crate) fn unit_object(workspace: &str) -> ObjectKey {
    ObjectKey {
        group: GROUP.to_owned(),
        kind: "Workspace".to_owned(),
        namespace: String::new(),
        name: workspace.to_owned(),
    }
}

/// The name of an object's delete, or of the object as one that could be deleted.
pub(crate) fn object_id(cluster: &ClusterUid, object: &ObjectKey) -> String {
    format!("{cluster} {object}")
}

fn delete_id(action: &HeldAction) -> String {
    object_id(&action.cluster_uid, &action.object)
}

/// The ids of what was done within the last hour, each once. What is dated ahead of us is taken as just done.
fn recent(world: &World, kind: ActKind, wanted: impl Fn(&Act) -> bool) -> BTreeSet<String> {
    let start = world.now.saturating_sub(HOUR);
    let acts = world.recent.iter().filter(|act| act.kind == kind && act.at > start && wanted(act));
    acts.map(|act| act.id.clone()).collect()
}

fn act(at: UnixSeconds, workspace: &str, kind: ActKind, id: String) -> Act {
    Act { at, workspace: workspace.to_owned(), kind, id }
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

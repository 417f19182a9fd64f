//! What is to be done: the planner's only result. The daemon executes it, `plan` prints it, `why` explains it.
//!
//! Whatever is listed as an action is safe to do now; what must wait is listed as a hold or a move in progress.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kcp_api::{Action, Reason, Verb};
use serde::{Deserialize, Serialize};

use crate::object::{ContentHash, GroupKind, Object, ObjectKey, Origin};
use crate::world::{Act, ClusterUid, Decision, UnitId, UnixSeconds};

/// The plan for the whole fleet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// The commit it was made from.
    pub commit: String,
    /// Where each unit shall be, with a verdict for every cluster.
    pub units: BTreeMap<UnitId, UnitPlan>,
    /// What to write where, by the name of the Cluster document.
    pub clusters: BTreeMap<String, ClusterPlan>,
    /// What was stopped on purpose and waits for a person or a time.
    pub holds: Vec<Hold>,
    /// What is wrong, each with its place; all else goes on.
    pub problems: Vec<Problem>,
    /// What of this plan counts against a budget: record it before it is done. Approved and moved deletes are not in.
    pub acts: Vec<Act>,
    /// The commit loosens `safety`, which counts from the next one on.
    pub judged_by: Option<JudgedBy>,
}

/// Whose `safety` judges a commit that loosens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgedBy {
    /// The commit in force before.
    pub commit: String,
    /// The commit that is judged.
    pub loosened_in: String,
}

impl fmt::Display for JudgedBy {
    /// One line, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "judged by the safety of commit {}: {} loosens it in kcp.yaml, which counts from the next commit on",
            brief(&self.commit),
            brief(&self.loosened_in)
        )
    }
}

/// The beginning of a commit id; any other name whole.
pub(crate) fn brief(commit: &str) -> &str {
    let is_id = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { &commit[..12] } else { commit }
}

impl Plan {
    /// Whether there is anything to write.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.clusters.values().all(|cluster| cluster.sets.values().all(SetPlan::is_quiet))
    }

    /// What to add to `World::recent` when the plan is executed at `now`: deletes and voluntary moves that count.
    #[must_use]
    pub fn acts(&self, now: UnixSeconds) -> Vec<Act> {
        self.acts.iter().map(|act| Act { at: now, ..act.clone() }).collect()
    }
}

/// Where one unit shall be and why.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitPlan {
    /// Name of the placement, if one claims it.
    pub placement: Option<String>,
    /// The decision, to be remembered; `None` where nothing can be decided (no placement, unknown, never placed).
    pub decision: Option<Decision>,
    /// A verdict for each cluster of the fleet, by the name of its document.
    pub verdicts: BTreeMap<String, Verdict>,
    /// One line, like kube-scheduler's, when fewer clusters were found than asked for.
    pub unplaced: Option<String>,
    /// The move in progress, if any.
    pub movement: Option<Movement>,
}

/// Whether one unit goes to one cluster, and the rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// What the cluster is to the unit.
    pub role: Role,
    /// The deciding rule.
    pub reason: Reason,
    /// The rule in words, as in `had untolerated taint {maintenance: NoExecute}`.
    pub message: String,
}

/// What a cluster is to a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    /// It has it or gets it.
    Chosen,
    /// It has a copy that goes once the new ones are healthy.
    Leaving,
    /// It could have it and others were preferred.
    NotNeeded,
    /// It may not have it.
    Excluded,
}

/// A unit on its way from some clusters to others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    /// Clusters it leaves, by document name.
    pub from: Vec<String>,
    /// Clusters that are new to it.
    pub to: Vec<String>,
    /// Why it moves.
    pub reason: Reason,
    /// In words; also what is waited for.
    pub message: String,
}

/// What to write on one cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClusterPlan {
    /// One set for each workspace that has or gets objects there.
    pub sets: BTreeMap<String, SetPlan>,
    /// Nothing is written there at all, and why.
    pub stopped: Option<(Reason, String)>,
}

/// What to write for one workspace on one cluster, in this order: widen the parent, `apply`, `delete`, narrow the
/// parent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetPlan {
    /// The decision to write into the parent; its epoch fences writers.
    pub decision: Option<Decision>,
    /// Group-kinds of all members, also of those that are being deleted: the next plan leaves them out, once they
    /// were seen to be gone.
    pub group_kinds: BTreeSet<GroupKind>,
    /// Namespaces of the same members.
    pub namespaces: BTreeSet<String>,
    /// Objects to create or change, in the order to do it.
    pub apply: Vec<ApplyAction>,
    /// Objects to delete, in the order to do it.
    pub delete: Vec<DeleteAction>,
    /// Members that are as they should be.
    pub unchanged: usize,
    /// Members that git no longer has and that are kept by rule.
    pub retained: BTreeSet<ObjectKey>,
    /// Content of the members once the plan is done, by object: for the parent, whenever it is written. Empty where
    /// nothing is.
    pub applied: BTreeMap<String, ContentHash>,
    /// The parent itself is to be written (decision changed, or its lists do).
    pub write_parent: bool,
    /// No member is left or wanted: the parent goes.
    pub remove_parent: bool,
}

impl SetPlan {
    /// Whether nothing is to be written.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.apply.is_empty() && self.delete.is_empty() && !self.write_parent && !self.remove_parent
    }
}

/// One object to create or change.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplyAction {
    /// What is done.
    pub verb: ApplyVerb,
    /// The object as it shall be.
    pub object: Object,
    /// The content last applied there, if known: its fields are ours and may be forced.
    pub before: Option<ContentHash>,
    /// That content itself, where the commit before is at hand and its hash proves that it is the one: only for an
    /// update. Each field of it was ours.
    pub earlier: Option<Object>,
    /// What the policy allows.
    pub rules: ApplyRules,
    /// Fields that change, where the earlier content is at hand; empty otherwise.
    pub changes: Vec<FieldChange>,
    /// Why, in words: `new`, `changed in git`, `changed on the cluster`.
    pub why: String,
}

/// What an apply does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApplyVerb {
    /// It is not there yet. If it turns out to be there and not ours, it is left alone.
    Create,
    /// It is ours and changes.
    Update,
    /// It was changed on the cluster and goes back to what git says.
    Correct,
    /// It belongs to another workspace and comes to this one.
    HandOver {
        /// The workspace that had it.
        from: String,
    },
    /// It belongs to nobody or to a named manager, and the policy says to take it.
    TakeOver {
        /// Who had it.
        from: String,
    },
}

/// How a policy wants objects applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyRules {
    /// Which conflicts are forced.
    pub conflicts: kcp_api::Conflicts,
    /// Fields to leave alone, as dotted paths.
    pub ignore: Vec<String>,
    /// Never changed once created (annotation `create-only`).
    pub create_only: bool,
}

/// A field that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldChange {
    /// Dotted path.
    pub path: String,
    /// The value before, as JSON text; `None` if it is added, masked in a Secret.
    pub from: Option<String>,
    /// The value after; `None` if it goes.
    pub to: Option<String>,
}

/// One object to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteAction {
    /// Which.
    pub key: ObjectKey,
    /// API version to use.
    pub version: String,
    /// Precondition: the very object that was judged.
    pub uid: String,
    /// How dependants go.
    pub propagation: kcp_api::Propagation,
    /// It leaves after a hand-over: part of a move, not counted as a delete.
    pub moved: bool,
    /// Why, in words.
    pub why: String,
}

/// What is held, as one thing to approve or to wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hold {
    /// Hash of the sorted held actions: the same actions give the same id, whatever commit or time. Empty where
    /// nothing can be approved (suspended, waiting).
    pub id: String,
    /// Why it is held.
    pub reason: Reason,
    /// The workspace, cluster or fleet it concerns, in words.
    pub subject: String,
    /// In words: what, why, and the command to go on.
    pub message: String,
    /// What would be done.
    pub actions: Vec<HeldAction>,
}

/// One held action, named so that an approval can cover it and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldAction {
    /// `delete`, `move`, ...
    pub verb: String,
    /// The cluster it would happen on.
    pub cluster_uid: ClusterUid,
    /// Its document name, for people; not part of the id.
    pub cluster: String,
    /// The object; for a move the unit, as kind `Workspace`.
    pub object: ObjectKey,
    /// UID of the live object: an approval is good for this one only; not part of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl HeldAction {
    /// As an Approval names it; `None` for a verb that this version does not know.
    #[must_use]
    pub fn action(&self) -> Option<Action> {
        let verb = match self.verb.as_str() {
            "create" => Verb::Create,
            "update" => Verb::Update,
            "delete" => Verb::Delete,
            "move" => Verb::Move,
            _ => return None,
        };
        let ObjectKey { group, kind, namespace, name } = self.object.clone();
        Some(Action {
            verb,
            cluster_uid: self.cluster_uid.0.clone(),
            group,
            kind,
            namespace,
            name,
            uid: self.uid.clone(),
        })
    }
}

/// Something is wrong with one object, workspace or cluster; everything else goes on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The kind of problem.
    pub reason: Reason,
    /// The workspace, if it concerns one.
    pub workspace: Option<String>,
    /// The cluster's document name, if it concerns one.
    pub cluster: Option<String>,
    /// The object, if it concerns one.
    pub object: Option<ObjectKey>,
    /// Where it was written, if it was.
    pub origin: Option<Origin>,
    /// What is wrong and what to do.
    pub message: String,
}

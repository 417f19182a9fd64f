//! What comes back from clusters, and how it changes the view of one: a pure reducer.
//!
//! Events of one cluster are applied in the order they were sent. Nothing here decides what is to be done; a view
//! only says what was seen.

use std::collections::BTreeMap;

use kcp_api::Reason;

use crate::object::{ContentHash, GroupKind, ObjectKey};
use crate::world::{
    ApiFacts, ClusterUid, ClusterView, Contact, Failure, Foreign, ObservedObject, ObservedSet, ParentFacts,
    UnixSeconds,
};

/// Corrections of one object within the window of the worker from which on somebody is fighting us over it.
pub const FIGHT_CORRECTIONS: u32 = 5;

/// One thing seen on a cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// It can, or cannot, be worked with.
    Contact(Contact),
    /// Who it is and what it serves.
    Facts {
        /// UID of its kube-system namespace.
        uid: ClusterUid,
        /// Kubernetes version.
        version: String,
        /// What its API serves.
        api: ApiFacts,
    },
    /// Everything of this fleet was listed. Contact, foreign objects and failures of the given view do not count:
    /// what is known of them stays.
    View(Box<ClusterView>),
    /// All members of one kind were listed again, by workspace.
    Listed {
        /// The kind.
        kind: GroupKind,
        /// Its members; a workspace without any may be left out.
        sets: BTreeMap<String, BTreeMap<ObjectKey, ObservedObject>>,
    },
    /// One kind cannot be listed or watched any more: its members are unknown.
    Unlisted {
        /// The kind.
        kind: GroupKind,
        /// Why.
        message: String,
    },
    /// One object changed, came or went.
    Object {
        /// The workspace whose label it has; `None` if it is gone.
        workspace: Option<String>,
        /// Which.
        key: ObjectKey,
        /// How it is now; `None` if it is gone or no member any more.
        object: Option<Box<ObservedObject>>,
    },
    /// A parent was written, by us or by somebody, or is gone.
    Parent {
        /// Its workspace.
        workspace: String,
        /// What it says now.
        parent: Option<Box<ParentFacts>>,
    },
    /// A parent says something that we would not write: what is in its set is unknown.
    ParentUnreadable {
        /// Its workspace, or its name where it does not tell.
        workspace: String,
        /// What is wrong with it.
        message: String,
    },
    /// One action of a plan is done or failed.
    Outcome {
        /// The workspace of the action.
        workspace: String,
        /// The object.
        key: ObjectKey,
        /// The content that was sent; `None` for a delete.
        hash: Option<ContentHash>,
        /// Number of this outcome in the worker's own count.
        number: u64,
        /// What came of it.
        outcome: Outcome,
    },
    /// An object that was in the way was looked at again; `None` if it is gone.
    Foreign {
        /// Which.
        key: ObjectKey,
        /// Who has it now.
        foreign: Option<Foreign>,
    },
    /// The plan of one workspace was worked off.
    SetDone {
        /// The workspace.
        workspace: String,
        /// Every action went well and the parent says exactly what is there.
        whole: bool,
        /// Why the parent could not be written, if so: then nothing else was.
        error: Option<(Reason, String)>,
    },
}

/// What came of one action.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It is there as asked.
    Applied {
        /// How the server gave it back.
        object: Box<ObservedObject>,
        /// Something was changed by it; `false` if it was as asked already.
        changed: bool,
        /// Managers whose fields were taken back.
        forced_from: Vec<String>,
        /// How often it was corrected within the worker's window, this time included.
        corrections: u32,
    },
    /// It is deleted.
    Deleted {
        /// It is still there and waits for its finalizers.
        remaining: Option<Box<ObservedObject>>,
    },
    /// It is not the object that was judged any more: nothing was done.
    Replaced,
    /// An object of that name is there and not ours: nothing was written.
    Foreign(Foreign),
    /// Fields are owned by others and the policy does not force them: nothing was written.
    Conflict {
        /// The fields, as the server writes them.
        fields: Vec<String>,
        /// Their managers.
        managers: Vec<String>,
    },
    /// The server refused it, or did not answer.
    Failed {
        /// The kind of failure.
        reason: Reason,
        /// What was said; never values of a Secret.
        message: String,
    },
}

/// The key of the entry in [`ParentFacts::applied`] that tells how the server stored an object, where that is not how
/// it was sent. With it a restart knows that such an object is as it should be.
#[must_use]
pub fn stored_key(key: &ObjectKey) -> String {
    stored_name(&key.to_string())
}

/// The same for the text of a key.
#[must_use]
pub fn stored_name(key: &str) -> String {
    format!("stored {key}")
}

impl ClusterView {
    /// Takes in one observation, made at `now` at the latest.
    pub fn apply(&mut self, observation: Observation, now: UnixSeconds) {
        let had_gaps = self.has_gaps();
        self.take(observation, now);
        if had_gaps && !self.has_gaps() {
            // What was unreadable can be read by now, and all else was listed before.
            self.complete = true;
        }
    }

    fn take(&mut self, observation: Observation, now: UnixSeconds) {
        match observation {
            Observation::Contact(contact) => self.contact = contact,
            Observation::Facts { uid, version, api } => {
                self.uid = Some(uid);
                self.version = Some(version);
                self.api = api;
            }
            Observation::View(view) => self.replace(*view),
            Observation::Listed { kind, sets } => self.listed(&kind, sets),
            Observation::Unlisted { kind, message } => {
                for set in self.sets.values_mut().filter(|set| set.parent.group_kinds.contains(&kind)) {
                    set.unlisted.insert(kind.to_string(), message.clone());
                    self.complete = false;
                }
            }
            Observation::Object { workspace, key, object } => match (workspace, object) {
                (Some(workspace), Some(object)) => self.put(&workspace, key, *object),
                _ => self.remove(&key),
            },
            Observation::Parent { workspace, parent: Some(parent) } => {
                self.parent_errors.remove(&workspace);
                self.sets.entry(workspace).or_default().parent = *parent;
            }
            Observation::ParentUnreadable { workspace, message } => {
                self.parent_errors.insert(workspace, message);
                self.complete = false;
            }
            Observation::Parent { workspace, parent: None } => {
                self.parent_errors.remove(&workspace);
                // Members without a parent stay known: whoever deleted it did not delete them.
                if let Some(set) = self.sets.get_mut(&workspace) {
                    set.parent = ParentFacts::default();
                    if set.objects.is_empty() {
                        self.sets.remove(&workspace);
                    }
                }
            }
            Observation::Outcome { workspace, key, hash, number, outcome } => {
                self.outcomes = self.outcomes.max(number);
                self.outcome(workspace, key, hash, outcome, now);
            }
            Observation::Foreign { key, foreign: Some(foreign) } => {
                self.foreign.insert(key, foreign);
            }
            Observation::Foreign { key, foreign: None } => {
                self.foreign.remove(&key);
            }
            Observation::SetDone { .. } => {}
        }
    }

    fn outcome(
        &mut self,
        workspace: String,
        key: ObjectKey,
        hash: Option<ContentHash>,
        outcome: Outcome,
        now: UnixSeconds,
    ) {
        match outcome {
            Outcome::Applied { object, forced_from, corrections, .. } => {
                self.foreign.remove(&key);
                if corrections < FIGHT_CORRECTIONS {
                    self.failures.remove(&key);
                } else {
                    let whom =
                        if forced_from.is_empty() { "somebody".to_owned() } else { forced_from.join(", ") };
                    let message =
                        format!("{whom} changes it back: corrected {corrections} times, waiting now");
                    self.fail(workspace.clone(), key.clone(), hash, Reason::Fighting, message, now);
                }
                self.put(&workspace, key, *object);
            }
            Outcome::Deleted { remaining } => {
                self.failures.remove(&key);
                match remaining {
                    Some(object) => self.put(&workspace, key, *object),
                    None => self.remove(&key),
                }
            }
            // The watch tells what is there now.
            Outcome::Replaced => self.remove(&key),
            Outcome::Foreign(foreign) => {
                self.failures.remove(&key);
                if let Some(set) = self.sets.get_mut(&workspace) {
                    set.objects.remove(&key);
                }
                self.foreign.insert(key, foreign);
            }
            Outcome::Conflict { fields, managers } => {
                let message = format!(
                    "{} owned by {}; leave them out by the policy's ignoreFields, or set apply.conflicts: Force",
                    fields.join(", "),
                    managers.join(", ")
                );
                self.fail(workspace, key, hash, Reason::FieldConflict, message, now);
            }
            Outcome::Failed { reason, message } => self.fail(workspace, key, hash, reason, message, now),
        }
    }

    fn fail(
        &mut self,
        workspace: String,
        key: ObjectKey,
        hash: Option<ContentHash>,
        reason: Reason,
        message: String,
        now: UnixSeconds,
    ) {
        let before =
            self.failures.get(&key).filter(|failure| failure.hash == hash && failure.reason == reason);
        let (since, attempts) =
            before.map_or((now, 1), |failure| (failure.since, failure.attempts.saturating_add(1)));
        let retry_at = now.saturating_add(retry_delay(reason, attempts));
        let failure = Failure { workspace, hash, reason, message, since, retry_at, attempts };
        self.failures.insert(key, failure);
    }

    fn replace(&mut self, view: ClusterView) {
        let before = std::mem::take(&mut self.sets);
        self.uid = view.uid;
        self.version = view.version;
        self.api = view.api;
        self.complete = view.complete;
        self.parent_errors = view.parent_errors;
        self.sets = view.sets;
        for (workspace, set) in &mut self.sets {
            recall(set, before.get(workspace).map(|set| &set.objects));
            self.foreign.retain(|key, _| !set.objects.contains_key(key));
        }
    }

    fn listed(&mut self, kind: &GroupKind, mut sets: BTreeMap<String, BTreeMap<ObjectKey, ObservedObject>>) {
        for (workspace, set) in &mut self.sets {
            let (before, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
                std::mem::take(&mut set.objects).into_iter().partition(|(key, _)| key.group_kind() == *kind);
            set.objects = others;
            set.unlisted.remove(&kind.to_string());
            set.objects.extend(sets.remove(workspace).unwrap_or_default());
            recall(set, Some(&before));
        }
        for (workspace, objects) in sets.into_iter().filter(|(_, objects)| !objects.is_empty()) {
            let set = self.sets.entry(workspace).or_default();
            set.objects = objects;
            recall(set, None);
        }
        self.foreign.retain(|key, _| {
            key.group_kind() != *kind || !self.sets.values().any(|set| set.objects.contains_key(key))
        });
    }

    /// Whether something could not be read.
    fn has_gaps(&self) -> bool {
        !self.parent_errors.is_empty() || self.sets.values().any(|set| !set.unlisted.is_empty())
    }

    fn put(&mut self, workspace: &str, key: ObjectKey, mut object: ObservedObject) {
        for (name, set) in &mut self.sets {
            let Some(known) = set.objects.get(&key) else { continue };
            // A read that was overtaken by a write.
            if known.uid == object.uid && is_older(&object.resource_version, &known.resource_version) {
                return;
            }
            if name != workspace {
                set.objects.remove(&key);
            }
        }
        self.foreign.remove(&key);
        let set = self.sets.entry(workspace.to_owned()).or_default();
        recall_object(&set.parent, &key, &mut object, set.objects.get(&key));
        set.objects.insert(key, object);
    }

    fn remove(&mut self, key: &ObjectKey) {
        self.sets.values_mut().for_each(|set| {
            set.objects.remove(key);
        });
        // A parent that is gone too leaves nothing of its set.
        self.sets.retain(|_, set| !set.objects.is_empty() || !set.parent.uid.is_empty());
    }
}

/// Fills in which content gave what was read, from what was known before and from the parent.
fn recall(set: &mut ObservedSet, before: Option<&BTreeMap<ObjectKey, ObservedObject>>) {
    for (key, object) in &mut set.objects {
        recall_object(&set.parent, key, object, before.and_then(|before| before.get(key)));
    }
}

fn recall_object(
    parent: &ParentFacts,
    key: &ObjectKey,
    object: &mut ObservedObject,
    before: Option<&ObservedObject>,
) {
    if object.applied.is_some() {
        return;
    }
    if let Some(before) = before.filter(|before| before.uid == object.uid && before.own == object.own) {
        object.applied = before.applied;
    }
    if object.applied.is_none() && parent.applied.get(&stored_key(key)) == Some(&object.own) {
        object.applied = parent.applied.get(&key.to_string()).copied();
    }
}

/// Whether a resource version is older than another, where both are numbers.
fn is_older(version: &str, than: &str) -> bool {
    match (version.parse::<u64>(), than.parse::<u64>()) {
        (Ok(version), Ok(than)) => version < than,
        _ => false,
    }
}

/// Seconds to wait after this many attempts: what may pass by itself is tried again soon, what needs a person seldom.
fn retry_delay(reason: Reason, attempts: u32) -> UnixSeconds {
    let (base, most) = match reason {
        Reason::InvalidObject | Reason::Forbidden | Reason::KindMissing => (10, 300),
        Reason::FieldConflict | Reason::Fighting => (30, 600),
        _ => (2, 60),
    };
    let doublings = attempts.saturating_sub(1).min(10);
    (base << doublings).min(most)
}

#[cfg(test)]
mod tests;

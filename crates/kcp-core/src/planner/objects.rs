//! One unit on one cluster: what is to be created or changed, object by object. One object that cannot be done never
//! keeps the others back.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use kcp_api::{ANNOTATION_CREATE_ONLY, Drift, Reason, SyncPolicySpec, TakeOverPolicy};

use super::bundles::{Content, Earlier};
use super::changes;
use super::claims::{Claim, Claims};
use super::fleet::Member;
use crate::object::{ContentHash, GroupKind, Object, ObjectKey};
use crate::plan::{ApplyAction, ApplyRules, ApplyVerb, Problem};
use crate::render::Bundle;
use crate::world::{Foreign, ObservedObject, ObservedSet, UnixSeconds};

/// Field managers of the control plane itself, which write to objects of anybody.
const CONTROL_PLANE: [&str; 4] = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"];

/// What is to be done about the objects of one unit on one cluster.
#[derive(Debug, Default)]
pub(crate) struct Work<'a> {
    /// Objects to write, in the order to do it.
    pub(crate) apply: Vec<ApplyAction>,
    /// How many are as they should be.
    pub(crate) unchanged: usize,
    /// The content of all, once it is done, as far as known.
    pub(crate) applied: Vec<(&'a ObjectKey, ContentHash)>,
    /// What is wrong with any.
    pub(crate) problems: Vec<Problem>,
}

/// What the work depends on.
pub(crate) struct Site<'a> {
    pub(crate) workspace: &'a str,
    pub(crate) member: &'a Member<'a>,
    pub(crate) set: Option<&'a ObservedSet>,
    /// What is there of each object of the content, by its index.
    pub(crate) seen: &'a [Option<&'a ObservedObject>],
    pub(crate) content: &'a Content<'a>,
    pub(crate) before: Option<Bundle>,
    /// What was there by the commit before; costs something where it is asked for.
    pub(crate) earlier: &'a dyn Fn() -> Option<Earlier>,
    pub(crate) claims: &'a Claims<'a>,
    pub(crate) policy: &'a SyncPolicySpec,
    pub(crate) now: UnixSeconds,
}

/// What one object needs.
enum Need {
    Nothing,
    /// Left as it is, on purpose or because another set has it: nothing to say.
    Leave,
    Write(ApplyVerb, &'static str),
    Stuck(Reason, String),
}

/// Compares what is wanted with what was seen.
pub(crate) fn work<'a>(site: &Site<'a>) -> Work<'a> {
    let mut work = Work::default();
    let shown = site.before.iter().flat_map(|bundle| &bundle.objects);
    let shown: BTreeMap<&ObjectKey, &Object> = shown.map(|it| (&it.key, it)).collect();
    let earlier = LazyCell::new(|| (site.earlier)());
    let content: &'a Content<'a> = site.content;
    let mut kind = KindNeed::default();
    for (index, object) in content.bundle.objects.iter().enumerate() {
        let seen = site.seen.get(index).copied().flatten();
        let before = last_applied(site, &object.key, seen);
        kind.turn_to(site, &object.key);
        let (need, warning) = need(site, &kind, object, seen, before);
        work.problems.extend(warning.map(|(reason, message)| problem(site, object, reason, message)));
        match need {
            Need::Nothing => {
                work.unchanged += 1;
                work.applied.push((&object.key, object.hash));
            }
            Need::Leave => work.applied.extend(before.map(|hash| (&object.key, hash))),
            Need::Stuck(reason, message) => {
                work.applied.extend(before.map(|hash| (&object.key, hash)));
                work.problems.push(problem(site, object, reason, message));
            }
            Need::Write(verb, why) => {
                let (waits, failed) = failure(site, object);
                work.problems.extend(failed);
                if waits {
                    work.applied.extend(before.map(|hash| (&object.key, hash)));
                    continue;
                }
                work.applied.push((&object.key, object.hash));
                let changes = shown.get(&object.key).map_or_else(Vec::new, |it| changes::of(it, object));
                let rules = rules(site.policy, object);
                // Only a hash proves what was applied: what the commit says need not have got there.
                let earlier = before
                    .filter(|_| verb == ApplyVerb::Update)
                    .and_then(|hash| earlier.as_ref().and_then(|it| it.object(&object.key, hash)).cloned());
                work.apply.push(ApplyAction {
                    verb,
                    object: object.clone(),
                    before,
                    earlier,
                    rules,
                    changes,
                    why: why.to_owned(),
                });
            }
        }
    }
    work
}

/// Whether an object needs nothing more: it is there as wanted, or stays as it is by rule.
pub(crate) fn is_settled(
    policy: &SyncPolicySpec,
    set: &ObservedSet,
    object: &Object,
    seen: &ObservedObject,
) -> bool {
    let known = seen.applied.or_else(|| set.parent.applied.get(&object.key.to_string()).copied());
    seen.is(object.hash)
        || is_create_only(object)
        || (policy.apply.drift != Drift::Correct && known == Some(object.hash))
}

fn is_create_only(object: &Object) -> bool {
    object.annotation(ANNOTATION_CREATE_ONLY) == Some("true")
}

fn rules(policy: &SyncPolicySpec, object: &Object) -> ApplyRules {
    let key = &object.key;
    let ignoring = policy.apply.ignore_fields.iter();
    let ignoring = ignoring.filter(|rule| rule.matches(&key.group, &key.kind, &key.namespace, &key.name));
    ApplyRules {
        conflicts: policy.apply.conflicts,
        ignore: ignoring.flat_map(|rule| rule.paths.iter().cloned()).collect(),
        create_only: is_create_only(object),
    }
}

/// The content that was applied last, by what the process or the parent knows.
fn last_applied(site: &Site<'_>, key: &ObjectKey, seen: Option<&ObservedObject>) -> Option<ContentHash> {
    let applied = seen.and_then(|object| object.applied);
    applied.or_else(|| site.set?.parent.applied.get(&key.to_string()).copied())
}

/// What is to be known of a kind. Objects come sorted, so it is asked once for many.
#[derive(Default)]
struct KindNeed<'a> {
    kind: Option<GroupKind>,
    /// The cluster does not serve it.
    is_lacking: bool,
    /// Why it could not be listed.
    unlisted: Option<&'a str>,
}

impl<'a> KindNeed<'a> {
    fn turn_to(&mut self, site: &Site<'a>, key: &ObjectKey) {
        if self.kind.as_ref().is_some_and(|it| it.kind == key.kind && it.group == key.group) {
            return;
        }
        let kind = key.group_kind();
        self.is_lacking = site.content.lacks(&site.member.view.api, &kind);
        self.unlisted = site.set.and_then(|set| set.unlisted.get(&kind.to_string())).map(String::as_str);
        self.kind = Some(kind);
    }
}

fn need(
    site: &Site<'_>,
    of: &KindNeed<'_>,
    object: &Object,
    seen: Option<&ObservedObject>,
    before: Option<ContentHash>,
) -> (Need, Option<(Reason, String)>) {
    if of.is_lacking {
        let kind = object.key.group_kind();
        let message = format!(
            "the cluster does not serve {kind}, and no CRD of this workspace defines it; install its CRD, or place \
             the workspace elsewhere"
        );
        return (Need::Stuck(Reason::KindMissing, message), None);
    }
    if let Some(error) = of.unlisted {
        let kind = object.key.group_kind();
        let message = format!("{kind} could not be listed, so whether it is there is unknown: {error}");
        return (Need::Stuck(Reason::InventoryIncomplete, message), None);
    }
    match seen {
        Some(seen) => present(site, object, seen, before),
        None => (absent(site, object), None),
    }
}

/// It is in our set: is it ours, and as it should be?
fn present(
    site: &Site<'_>,
    object: &Object,
    seen: &ObservedObject,
    before: Option<ContentHash>,
) -> (Need, Option<(Reason, String)>) {
    let foreign = match seen.workspace.as_deref() {
        _ if seen.controlled => Some("a controller that copied our label to it".to_owned()),
        Some(other) if other != site.workspace => Some(format!("workspace {other}, by its annotation")),
        None if !seen.managed => Some("somebody who copied our label to it".to_owned()),
        _ => None,
    };
    if let Some(owner) = foreign {
        return (Need::Stuck(Reason::ForeignObject, foreign_text(&owner)), None);
    }
    let contested = match site.claims.of(site.workspace, &object.key) {
        Claim::Contested(others) if !may_share(object) => Some((Reason::TwoClaims, contested_text(&others))),
        _ => None,
    };
    let need = if seen.terminating {
        let message = "it is being deleted on the cluster; it is created again once it is gone".to_owned();
        Need::Stuck(Reason::NotReady, message)
    } else if seen.is(object.hash) {
        Need::Nothing
    } else if is_create_only(object) {
        Need::Leave
    } else if before.is_none() && seen.own == ContentHash::WITHHELD {
        Need::Write(ApplyVerb::Update, "may have changed: the record does not tell the content of Secrets")
    } else if before != Some(object.hash) {
        Need::Write(ApplyVerb::Update, "changed in git")
    } else {
        match site.policy.apply.drift {
            Drift::Correct => Need::Write(ApplyVerb::Correct, "changed on the cluster"),
            Drift::Ignore => Need::Leave,
            Drift::Report => {
                let message = "it was changed on the cluster; the policy says to report that only (apply.drift: Report)";
                Need::Stuck(Reason::Drifted, message.to_owned())
            }
        }
    };
    (need, contested)
}

/// It is not in our set: may it be made, or taken from who has it?
fn absent(site: &Site<'_>, object: &Object) -> Need {
    match site.claims.of(site.workspace, &object.key) {
        Claim::Released(from) if site.member.is_whole() => Need::Write(
            ApplyVerb::HandOver { from: from.to_owned() },
            "left another workspace and entered this one",
        ),
        Claim::Released(from) => {
            let message =
                format!("workspace {from} has it; it is handed over once the cluster was read whole");
            Need::Stuck(Reason::InventoryIncomplete, message)
        }
        // A namespace that several workspaces use is made by one of them.
        Claim::Taken(_) if may_share(object) => Need::Leave,
        Claim::Taken(owner) => Need::Stuck(Reason::TwoClaims, taken_text(owner)),
        Claim::Disputed(others)
            if may_share(object) && others.iter().any(|other| *other < site.workspace) =>
        {
            Need::Leave
        }
        Claim::Disputed(others) if !may_share(object) => {
            Need::Stuck(Reason::TwoClaims, disputed_text(&others))
        }
        Claim::Sole | Claim::Contested(_) | Claim::Disputed(_) => {
            match site.member.view.foreign.get(&object.key) {
                None => Need::Write(ApplyVerb::Create, "new"),
                Some(_) if site.content.bundle.implied.contains(&object.key) => Need::Leave,
                Some(foreign) if takes(site.policy, foreign) => Need::Write(
                    ApplyVerb::TakeOver { from: owner_text(foreign) },
                    "taken over, as the policy says",
                ),
                Some(foreign) => Need::Stuck(Reason::ForeignObject, foreign_text(&owner_text(foreign))),
            }
        }
    }
}

/// Namespaces are shared; every other object has one owner.
fn may_share(object: &Object) -> bool {
    object.key.group.is_empty() && object.key.kind == "Namespace"
}

fn takes(policy: &SyncPolicySpec, foreign: &Foreign) -> bool {
    match policy.apply.take_over.policy {
        TakeOverPolicy::Never => false,
        TakeOverPolicy::IfUnowned => foreign.owner.is_empty(),
        TakeOverPolicy::FromManagers => {
            let mut managers =
                foreign.managers.iter().filter(|name| !CONTROL_PLANE.contains(&name.as_str())).peekable();
            managers.peek().is_some() && managers.all(|name| policy.apply.take_over.managers.contains(name))
        }
    }
}

fn owner_text(foreign: &Foreign) -> String {
    match (foreign.owner.as_str(), foreign.managers.as_slice()) {
        ("", []) => "nobody who says so".to_owned(),
        ("", managers) => managers.join(", "),
        (owner, _) => owner.to_owned(),
    }
}

fn foreign_text(owner: &str) -> String {
    format!(
        "an object of this name is there and belongs to {owner}; it is left alone. Rename ours, remove theirs, or allow \
         it with apply.takeOver in the sync policy"
    )
}

fn taken_text(owner: &str) -> String {
    format!(
        "workspace {owner} has it and wants it too, and keeps it; remove it from one of the two, or rename one"
    )
}

fn disputed_text(others: &[&str]) -> String {
    format!(
        "workspace {} wants it too, so nobody creates it; remove it from all but one, or rename",
        others.join(", ")
    )
}

fn contested_text(others: &[&str]) -> String {
    format!(
        "workspace {} wants it too; this one has it and keeps it; remove it from all but one",
        others.join(", ")
    )
}

/// Whether to wait before the same content is sent again, and what went wrong.
fn failure(site: &Site<'_>, object: &Object) -> (bool, Option<Problem>) {
    let Some(failure) = site.member.view.failures.get(&object.key) else { return (false, None) };
    if failure.workspace != site.workspace || failure.hash != Some(object.hash) {
        return (false, None);
    }
    let said = problem(site, object, failure.reason, failure.message.clone());
    (failure.waits(site.now), Some(said))
}

fn problem(site: &Site<'_>, object: &Object, reason: Reason, message: String) -> Problem {
    Problem {
        reason,
        workspace: Some(site.workspace.to_owned()),
        cluster: Some(site.member.name.to_owned()),
        object: Some(object.key.clone()),
        origin: Some(object.origin.clone()),
        message,
    }
}

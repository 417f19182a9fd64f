//! What each observation leaves in the view.

use std::collections::BTreeMap;

use kcp_api::Reason;

use super::{FIGHT_CORRECTIONS, Observation, Outcome, stored_key};
use crate::object::{ContentHash, GroupKind, ObjectKey};
use crate::world::{
    ClusterView, Contact, Foreign, Health, HealthStatus, ObservedObject, ObservedSet, ParentFacts,
};

fn hash(text: &str) -> ContentHash {
    ContentHash::of_bytes(text.as_bytes())
}

fn key(name: &str) -> ObjectKey {
    ObjectKey { group: String::new(), kind: "ConfigMap".into(), namespace: "shop".into(), name: name.into() }
}

fn object(version: &str, own: &str) -> ObservedObject {
    ObservedObject {
        uid: "u".into(),
        resource_version: version.into(),
        own: hash(own),
        applied: None,
        managed: true,
        workspace: Some("shop".into()),
        controlled: false,
        terminating: false,
        commit: None,
        health: Health { status: HealthStatus::Current, message: String::new() },
    }
}

fn seen(workspace: &str, name: &str, object: ObservedObject) -> Observation {
    Observation::Object { workspace: Some(workspace.into()), key: key(name), object: Some(Box::new(object)) }
}

fn outcome(name: &str, number: u64, outcome: Outcome) -> Observation {
    Observation::Outcome {
        workspace: "shop".into(),
        key: key(name),
        hash: Some(hash("new")),
        number,
        outcome,
    }
}

fn applied(object: ObservedObject, corrections: u32) -> Outcome {
    let object = Box::new(ObservedObject { applied: Some(hash("new")), ..object });
    Outcome::Applied { object, changed: true, forced_from: vec!["someone".into()], corrections }
}

#[test]
fn what_was_applied_is_remembered_while_our_fields_stay() {
    let mut view = ClusterView::default();
    view.apply(outcome("a", 1, applied(object("5", "stored"), 0)), 0);
    let is_as_sent = |view: &ClusterView| view.sets["shop"].objects[&key("a")].is(hash("new"));
    assert!(is_as_sent(&view));
    assert_eq!(view.outcomes, 1);
    view.apply(seen("shop", "a", object("6", "stored")), 0);
    assert!(is_as_sent(&view), "its status changed, ours did not");
    view.apply(seen("shop", "a", object("5", "older")), 0);
    assert!(is_as_sent(&view), "a read that was overtaken does not count");
    view.apply(seen("shop", "a", object("7", "edited")), 0);
    assert!(!is_as_sent(&view));
}

#[test]
fn a_restart_learns_it_from_the_parent() {
    let applied = BTreeMap::from([
        (key("a").to_string(), hash("new")),
        (stored_key(&key("a")), hash("stored")),
        (key("b").to_string(), hash("new")),
        (stored_key(&key("b")), hash("stored")),
    ]);
    let set = ObservedSet {
        parent: ParentFacts { uid: "p".into(), applied, ..ParentFacts::default() },
        objects: BTreeMap::from([(key("a"), object("1", "stored")), (key("b"), object("1", "edited"))]),
        unlisted: BTreeMap::new(),
    };
    let listed = ClusterView {
        sets: BTreeMap::from([("shop".into(), set)]),
        complete: true,
        ..ClusterView::default()
    };
    let mut view = ClusterView::default();
    view.apply(Observation::Contact(Contact::Live { since: 3 }), 3);
    view.apply(Observation::View(Box::new(listed)), 3);
    assert!(view.complete && view.contact == Contact::Live { since: 3 });
    assert!(view.sets["shop"].objects[&key("a")].is(hash("new")));
    assert!(!view.sets["shop"].objects[&key("b")].is(hash("new")));
}

#[test]
fn an_object_is_in_one_set_and_goes_with_its_last_trace() {
    let mut view = ClusterView::default();
    view.apply(seen("shop", "a", object("1", "x")), 0);
    view.apply(seen("other", "a", object("2", "x")), 0);
    assert!(view.sets["shop"].objects.is_empty() && view.sets["other"].objects.len() == 1);
    view.apply(Observation::Object { workspace: None, key: key("a"), object: None }, 0);
    assert!(view.sets.is_empty());
}

#[test]
fn a_relist_replaces_one_kind_only() {
    let mut view = ClusterView::default();
    let kind = GroupKind::new("", "ConfigMap");
    let secret = ObjectKey { kind: "Secret".into(), ..key("s") };
    view.apply(
        Observation::Parent {
            workspace: "shop".into(),
            parent: Some(Box::new(ParentFacts {
                group_kinds: [kind.clone()].into(),
                uid: "p".into(),
                ..ParentFacts::default()
            })),
        },
        0,
    );
    view.apply(seen("shop", "gone", object("1", "x")), 0);
    view.apply(
        Observation::Object {
            workspace: Some("shop".into()),
            key: secret.clone(),
            object: Some(Box::new(object("1", "x"))),
        },
        0,
    );
    view.complete = true;
    view.apply(Observation::Unlisted { kind: kind.clone(), message: "503".into() }, 0);
    assert!(!view.complete && view.sets["shop"].objects.contains_key(&key("gone")), "unknown is not gone");
    let members = BTreeMap::from([(key("new"), object("2", "x"))]);
    view.apply(Observation::Listed { kind, sets: BTreeMap::from([("shop".into(), members)]) }, 0);
    assert_eq!(view.sets["shop"].objects.keys().collect::<Vec<_>>(), [&key("new"), &secret]);
    assert!(view.sets["shop"].unlisted.is_empty() && view.complete, "all is known again");
    view.apply(Observation::ParentUnreadable { workspace: "shop".into(), message: "hostile".into() }, 0);
    assert!(!view.complete);
}

#[test]
fn failures_back_off_and_end_with_success_or_other_content() {
    let mut view = ClusterView::default();
    let failed = || Outcome::Failed { reason: Reason::InvalidObject, message: "no".into() };
    view.apply(outcome("a", 1, failed()), 100);
    view.apply(outcome("a", 2, failed()), 110);
    let failure = &view.failures[&key("a")];
    assert_eq!((failure.since, failure.attempts, failure.retry_at), (100, 2, 130));
    for _ in 0..200 {
        view.apply(outcome("a", 3, failed()), 1000);
    }
    assert_eq!(view.failures[&key("a")].retry_at, 1300, "never more than 5 minutes");
    view.apply(outcome("a", 4, applied(object("1", "x"), 0)), 1001);
    assert!(view.failures.is_empty());
    view.apply(outcome("a", 5, applied(object("2", "x"), FIGHT_CORRECTIONS)), 1002);
    let fight = &view.failures[&key("a")];
    assert!(fight.reason == Reason::Fighting && fight.message.contains("someone") && fight.retry_at > 1002);
}

#[test]
fn foreign_objects_are_no_members() {
    let mut view = ClusterView::default();
    let foreign = Foreign { uid: "f".into(), owner: "helm".into(), managers: vec![] };
    view.apply(outcome("a", 1, Outcome::Foreign(foreign)), 0);
    assert!(view.foreign.contains_key(&key("a")) && view.sets.is_empty());
    view.apply(Observation::Foreign { key: key("a"), foreign: None }, 0);
    assert!(view.foreign.is_empty());
}

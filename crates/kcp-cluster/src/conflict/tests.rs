//! Which conflicts are forced.

use std::sync::Arc;

use kcp_api::Conflicts;
use kcp_core::object::{ContentHash, Object, ObjectKey, Origin};
use kcp_core::plan::{ApplyAction, ApplyRules, ApplyVerb};
use serde_json::json;

use super::Conflict;
use crate::call::StatusError;

fn status(causes: &[(&str, &str, &str)]) -> StatusError {
    let causes = causes.iter().map(|(a, b, c)| ((*a).into(), (*b).into(), (*c).into())).collect();
    StatusError { code: 409, reason: "Conflict".into(), causes, ..StatusError::default() }
}

fn action(verb: ApplyVerb, conflicts: Conflicts, before: &str) -> ApplyAction {
    let hash = |text: &str| ContentHash::of_bytes(text.as_bytes());
    ApplyAction {
        verb,
        object: Object {
            key: ObjectKey {
                group: String::new(),
                kind: "A".into(),
                namespace: "n".into(),
                name: "a".into(),
            },
            version: "v1".into(),
            body: Arc::new(json!({})),
            hash: hash("new"),
            origin: Origin { file: "a.yaml".into(), line: 1 },
        },
        before: Some(hash(before)),
        earlier: None,
        rules: ApplyRules { conflicts, ignore: vec![], create_only: false },
        changes: vec![],
        why: String::new(),
    }
}

#[test]
fn fields_and_managers_are_read() {
    let conflict = Conflict::read(&status(&[
        ("FieldManagerConflict", ".spec.replicas", "conflict with \"kubectl-edit\" using apps/v1"),
        ("FieldManagerConflict", ".spec.paused", "conflict with \"kubectl-edit\" with subresource \"x\""),
        ("Other", ".x", "y"),
    ]))
    .expect("a conflict");
    assert_eq!(conflict.fields, [".spec.replicas", ".spec.paused"]);
    assert_eq!(conflict.managers, ["kubectl-edit"]);
    assert_eq!(Conflict::read(&status(&[])), None, "a UID that does not fit is no conflict of fields");
}

#[test]
fn only_what_was_ours_is_forced_unless_told() {
    let conflict = Conflict { fields: vec![".a".into(), ".b".into()], managers: vec!["x".into()] };
    let may = |verb, conflicts, before, ours: &[&str]| {
        conflict.may_force(&action(verb, conflicts, before), |field| ours.contains(&field))
    };
    assert!(may(ApplyVerb::Correct, Conflicts::Owned, "old", &[]));
    assert!(may(ApplyVerb::Update, Conflicts::Owned, "new", &[]), "all that is sent was sent before");
    assert!(may(ApplyVerb::Update, Conflicts::Owned, "old", &[".a", ".b"]));
    assert!(!may(ApplyVerb::Update, Conflicts::Owned, "old", &[".a"]));
    assert!(!may(ApplyVerb::Create, Conflicts::Owned, "old", &[]));
    assert!(may(ApplyVerb::Update, Conflicts::Force, "old", &[]));
    assert!(!may(ApplyVerb::Correct, Conflicts::Abort, "new", &[".a", ".b"]));
    // After a restart, what was applied before says it.
    let mut update = action(ApplyVerb::Update, Conflicts::Owned, "old");
    let earlier = |body| Some(Object { body: Arc::new(body), ..update.object.clone() });
    let (whole, part) = (earlier(json!({"a": 1, "b": 2})), earlier(json!({"a": 1})));
    update.earlier = whole;
    assert!(conflict.may_force(&update, |_| false));
    update.earlier = part;
    assert!(!conflict.may_force(&update, |_| false), "`b` never was ours");
    assert!(may(ApplyVerb::HandOver { from: "x".into() }, Conflicts::Abort, "old", &[]));
}

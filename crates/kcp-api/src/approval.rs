//! `kind: Approval`: a person's yes to held actions.

use serde::{Deserialize, Serialize};

use crate::{DocumentStatus, Timestamp, document::document, validate};

document! {
    /// A person's yes to held actions: any subset of them, once, for 24 hours.
    Approval, ApprovalSpec, DocumentStatus, validate::approval
}

/// What is approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovalSpec {
    /// Id of the hold, as the plan and the status show it: a hash of its sorted actions.
    pub hold: String,
    /// The actions of the hold.
    pub actions: Vec<Action>,
    /// Why it is all right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When it was given; it counts from then on for 24 hours.
    pub at: Timestamp,
    /// Who gave it. With signed commits the signer counts, not this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl ApprovalSpec {
    /// How long an approval counts, in seconds.
    pub const VALID_SECONDS: i64 = 24 * 60 * 60;

    /// Whether it counts at this time (seconds since the epoch): from `at` on, for 24 hours.
    pub fn is_valid_at(&self, now: i64) -> bool {
        let age = now.saturating_sub(self.at.epoch_seconds());
        (0..Self::VALID_SECONDS).contains(&age)
    }

    /// Whether this action is approved at this time (seconds since the epoch). That it is used only once is for the
    /// caller to see to.
    pub fn covers(&self, action: &Action, now: i64) -> bool {
        self.is_valid_at(now) && self.actions.iter().any(|approved| approved.covers(action))
    }
}

/// One action on one object of one cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// What is done.
    pub verb: Verb,
    /// UID of the cluster.
    pub cluster_uid: String,
    /// API group of the object; the core group is the empty text.
    #[serde(default)]
    pub group: String,
    /// Kind of the object; for a move, that of the unit.
    pub kind: String,
    /// Namespace of the object; left out for objects without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// UID of the object, so that no later object of the same name is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

impl Action {
    /// Whether approving `self` approves `other`: the same, where an approval without object UID is for any.
    fn covers(&self, other: &Self) -> bool {
        self.verb == other.verb
            && self.cluster_uid == other.cluster_uid
            && self.group == other.group
            && self.kind == other.kind
            && self.namespace == other.namespace
            && self.name == other.name
            && (self.uid.is_none() || self.uid == other.uid)
    }
}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verb {
    /// Makes an object that is not there.
    Create,
    /// Changes an object.
    Update,
    /// Removes an object.
    Delete,
    /// Takes a unit away from a cluster, to another one.
    Move,
}

impl Verb {
    /// The word in documents and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Update => "Update",
            Self::Delete => "Delete",
            Self::Move => "Move",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, ApprovalSpec, Verb};
    use crate::Timestamp;

    fn action(name: &str, uid: Option<&str>) -> Action {
        Action {
            verb: Verb::Delete,
            cluster_uid: "c1".into(),
            group: "apps".into(),
            kind: "Deployment".into(),
            namespace: "shop".into(),
            name: name.into(),
            uid: uid.map(str::to_owned),
        }
    }

    #[test]
    fn covers_its_actions_for_a_day_and_nothing_else() {
        let approval = ApprovalSpec {
            hold: "1".into(),
            actions: vec![action("web", None), action("api", Some("u1"))],
            reason: None,
            at: Timestamp::from_epoch_seconds(1_000),
            by: None,
        };
        let end = 1_000 + ApprovalSpec::VALID_SECONDS;
        assert!(approval.covers(&action("web", Some("any")), 1_000));
        assert!(approval.covers(&action("api", Some("u1")), end - 1));
        assert!(!approval.covers(&action("api", Some("u2")), 1_000), "another object of that name");
        assert!(!approval.covers(&action("api", None), 1_000), "an object whose UID is not known");
        assert!(!approval.covers(&action("db", None), 1_000));
        assert!(!approval.covers(&Action { verb: Verb::Move, ..action("web", None) }, 1_000));
        assert!(!approval.covers(&Action { cluster_uid: "c2".into(), ..action("web", None) }, 1_000));
        assert!(!approval.covers(&action("web", None), end), "a day later");
        assert!(!approval.covers(&action("web", None), 999), "before it was given");
    }
}

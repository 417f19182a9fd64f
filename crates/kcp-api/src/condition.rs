//! Conditions: what is said about a document, a cluster or a workspace.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Reason, Timestamp};

/// What a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConditionType {
    /// Everything wanted is there and works.
    Ready,
    /// Work is going on.
    Reconciling,
    /// Work cannot go on by itself.
    Stalled,
    /// There are as many clusters as wanted.
    Placed,
    /// The clusters have what the commit says.
    Synced,
    /// The chosen clusters accept and keep every field in use.
    ApisCompatible,
    /// The copies spread as wanted.
    SpreadSatisfied,
    /// Some work is stopped on purpose and waits for a person.
    Held,
}

impl ConditionType {
    /// All types, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Ready,
        Self::Reconciling,
        Self::Stalled,
        Self::Placed,
        Self::Synced,
        Self::ApisCompatible,
        Self::SpreadSatisfied,
        Self::Held,
    ];

    /// The word in documents and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Reconciling => "Reconciling",
            Self::Stalled => "Stalled",
            Self::Placed => "Placed",
            Self::Synced => "Synced",
            Self::ApisCompatible => "ApisCompatible",
            Self::SpreadSatisfied => "SpreadSatisfied",
            Self::Held => "Held",
        }
    }
}

impl fmt::Display for ConditionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody knows.
    #[default]
    Unknown,
}

impl ConditionStatus {
    /// The word in documents and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is said, with its reason and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about; one condition of each type.
    #[serde(rename = "type")]
    pub condition_type: ConditionType,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, in one word for programs.
    pub reason: Reason,
    /// Why, for people: what, where and what to do next.
    #[serde(default)]
    pub message: String,
    /// Since when `status` is what it is.
    pub last_transition_time: Timestamp,
    /// Generation of the document that was looked at; 0 where documents have none, as in git.
    #[serde(default)]
    pub observed_generation: i64,
}

impl Condition {
    /// Puts this condition into a list, in place of the one of its type. While `status` stays the same, so does the
    /// time of the old one. Whether anything but that changed is the answer.
    pub fn put_into(mut self, conditions: &mut Vec<Self>) -> bool {
        let Some(old) = conditions.iter_mut().find(|old| old.condition_type == self.condition_type) else {
            conditions.push(self);
            conditions.sort_by_key(|condition| condition.condition_type);
            return true;
        };
        if old.status == self.status {
            self.last_transition_time = old.last_transition_time.clone();
        }
        let changed = *old != self;
        *old = self;
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, ConditionStatus, ConditionType};
    use crate::{Reason, Timestamp};

    fn ready(status: ConditionStatus, reason: Reason, seconds: i64) -> Condition {
        Condition {
            condition_type: ConditionType::Ready,
            status,
            reason,
            message: String::new(),
            last_transition_time: Timestamp::from_epoch_seconds(seconds),
            observed_generation: 0,
        }
    }

    #[test]
    fn the_time_is_that_of_the_last_change_of_status() {
        let mut list = Vec::new();
        assert!(ready(ConditionStatus::False, Reason::NotReady, 1).put_into(&mut list));
        assert!(!ready(ConditionStatus::False, Reason::NotReady, 2).put_into(&mut list), "a quiet tick");
        assert!(ready(ConditionStatus::False, Reason::InvalidObject, 3).put_into(&mut list));
        assert_eq!(list[0].last_transition_time.epoch_seconds(), 1);
        assert!(ready(ConditionStatus::True, Reason::Succeeded, 4).put_into(&mut list));
        assert_eq!((list.len(), list[0].last_transition_time.epoch_seconds()), (1, 4));
    }

    #[test]
    fn words_in_json_are_the_words_of_as_str() {
        for condition_type in ConditionType::ALL {
            assert_eq!(serde_json::to_value(condition_type).unwrap(), condition_type.as_str());
        }
        for status in [ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown] {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}

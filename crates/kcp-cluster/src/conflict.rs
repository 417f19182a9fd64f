//! Conflicts of server-side apply: which fields, whose, and whether they were ours before.

use kcp_api::Conflicts;
use kcp_core::plan::{ApplyAction, ApplyVerb};

use crate::call::StatusError;
use crate::field;

/// Fields that others own and that we wanted to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// As the server writes them.
    pub(crate) fields: Vec<String>,
    /// Each once.
    pub(crate) managers: Vec<String>,
}

impl Conflict {
    /// Reads a 409 answer; `None` if it is about something else (a UID or version that does not fit).
    pub(crate) fn read(status: &StatusError) -> Option<Self> {
        if status.code != 409 {
            return None;
        }
        let causes: Vec<_> =
            status.causes.iter().filter(|(reason, ..)| reason == "FieldManagerConflict").collect();
        if causes.is_empty() {
            return None;
        }
        let mut managers: Vec<_> = causes.iter().map(|(_, _, message)| manager(message)).collect();
        managers.sort();
        managers.dedup();
        Some(Self { fields: causes.iter().map(|(_, field, _)| field.clone()).collect(), managers })
    }

    /// Whether the action may take these fields, given what else says of each that it was ours.
    pub(crate) fn may_force(&self, action: &ApplyAction, was_ours: impl Fn(&str) -> bool) -> bool {
        match action.verb {
            // The present manager is ourselves, or the policy said to take the object.
            ApplyVerb::HandOver { .. } | ApplyVerb::TakeOver { .. } => return true,
            ApplyVerb::Create | ApplyVerb::Update | ApplyVerb::Correct => {}
        }
        // What goes back to what we applied last was ours, all of it.
        let same_content = action.verb == ApplyVerb::Correct || action.before == Some(action.object.hash);
        match action.rules.conflicts {
            Conflicts::Force => true,
            Conflicts::Abort => false,
            Conflicts::Owned => {
                let applied = |field: &str| {
                    action.earlier.as_ref().is_some_and(|earlier| field::has(&earlier.body, field))
                };
                same_content || self.fields.iter().all(|field| applied(field) || was_ours(field))
            }
        }
    }
}

/// `conflict with "kubectl-edit" using apps/v1` names the manager in quotes.
fn manager(message: &str) -> String {
    message.split('"').nth(1).unwrap_or("an unknown manager").to_owned()
}

#[cfg(test)]
mod tests;

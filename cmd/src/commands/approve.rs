//! `kubectl kcp approve`: a person's yes to what is held, as a document of the repo.

use clap::Args;
use kcp_api::{Action, ApprovalSpec, Kind, Timestamp};
use kcp_core::plan::{HeldAction, Hold};
use kcp_git::Edits;
use serde_json::json;

use super::Context;
use crate::documents;
use crate::edit::{Edit, EditArgs, apply};
use crate::error::{CommandError, Exit, Outcome};
use crate::recorded::Recorded;
use crate::when;

/// Digits of an id that are enough to name it.
const MIN_DIGITS: usize = 4;

/// Let through what is held: exactly its actions, once, for 24 hours
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  kubectl kcp approve 3f9a1c20b7de --reason 'the old shop is gone for good'\n  kubectl kcp approve --list"
)]
pub(crate) struct ApproveArgs {
    /// Id of what is held, as `plan` and `status` show it; its first digits will do
    #[arg(required_unless_present = "list")]
    id: Option<String>,
    /// Only list what waits
    #[arg(long, conflicts_with = "id")]
    list: bool,
    /// Why it is all right
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) async fn run(context: &Context, args: ApproveArgs) -> Outcome {
    args.edit.check()?;
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let spec = &config.fleet.value.spec;
    let recorded = Recorded::read(&fleet.repo, &spec.status, Some(&spec.id), None)?;
    let holds = &recorded.record.fleet.holds;
    let Some(id) = &args.id else { return Ok(list(context, holds)) };
    let hold = find(holds, id)?;
    let mut actions = Vec::new();
    for held in &hold.actions {
        actions.push(action(held)?);
    }
    let approval = ApprovalSpec {
        hold: hold.id.clone(),
        actions,
        reason: args.reason,
        at: Timestamp::from_epoch_seconds(when::now()),
        by: None,
    };
    for action in &hold.actions {
        context.ui.note(format!("  {} {} on {}", action.verb, action.object, action.cluster));
    }
    let text = documents::text(Kind::Approval, json!({ "name": hold.id }), json!(approval));
    let edit = Edit {
        files: Edits::from([(format!("{}/{}.yaml", spec.paths.approvals, hold.id), Some(text))]),
        subject: format!("approve {}: {}", hold.id, hold.subject),
        unchanged: String::new(),
        next: vec!["the reconciler does it once it has this commit; see: kubectl kcp status".into()],
    };
    apply(context, &fleet, &args.edit, edit).await
}

/// What waits for a person, a line each; the answer to "does anything wait?" is the exit code of `status`.
fn list(context: &Context, holds: &[Hold]) -> Exit {
    for hold in holds.iter().filter(|hold| !hold.id.is_empty()) {
        context.ui.line(format!("{}  {}: {}", hold.id, hold.subject, hold.message));
    }
    Exit::Yes
}

/// The hold of this id, or of the only one that begins so.
fn find<'a>(holds: &'a [Hold], id: &str) -> Result<&'a Hold, CommandError> {
    let open = || holds.iter().filter(|hold| !hold.id.is_empty());
    if let Some(exact) = open().find(|hold| hold.id == id) {
        return Ok(exact);
    }
    let begin: Vec<&Hold> = open().filter(|hold| id.len() >= MIN_DIGITS && hold.id.starts_with(id)).collect();
    match begin.as_slice() {
        [only] => Ok(only),
        [] => {
            let list: Vec<String> =
                open().map(|hold| format!("{}  {}: {}", hold.id, hold.subject, hold.message)).collect();
            let error = CommandError::failure(format!("nothing that waits has the id {id}"));
            Err(if list.is_empty() {
                error.hint("nothing waits for an approval; see: kubectl kcp status")
            } else {
                error.details(list).hint("an id changes with what is held: use one of those above")
            })
        }
        several => {
            Err(CommandError::failure(format!("{id} begins {} ids", several.len())).hint("give more digits"))
        }
    }
}

/// As an Approval names it.
fn action(held: &HeldAction) -> Result<Action, CommandError> {
    held.action().ok_or_else(|| {
        CommandError::failure(format!(
            "the record holds an action `{}` that this version does not know",
            held.verb
        ))
        .hint("use the version of kubectl kcp that the reconciler has")
    })
}

#[cfg(test)]
mod tests {
    use kcp_api::Reason;

    use super::*;

    fn hold(id: &str) -> Hold {
        Hold {
            id: id.into(),
            reason: Reason::BudgetExceeded,
            subject: "workspace web".into(),
            message: "7 deletes".into(),
            actions: Vec::new(),
        }
    }

    #[test]
    fn a_hold_is_found_by_its_first_digits_if_they_are_enough() {
        let holds = [hold("abcd1111"), hold("abcd2222"), hold("")];
        assert_eq!(find(&holds, "abcd1").unwrap().id, "abcd1111");
        assert!(find(&holds, "abcd").unwrap_err().message.contains("2 ids"));
        let unknown = find(&holds, "ffff0000").unwrap_err();
        assert_eq!(unknown.details.len(), 2, "every open hold is listed, and only those with an id");
        assert!(find(&holds, "").is_err());
    }
}

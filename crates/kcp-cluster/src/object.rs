//! One action of a plan on one object: looked at first where that is needed, applied, or deleted.
//!
//! Writes carry the UID of the very object that was judged: another of the same name is never touched.

use kcp_api::{Conflicts, FIELD_MANAGER, Propagation, Reason};
use kcp_core::applyset;
use kcp_core::object::ObjectKey;
use kcp_core::observe::Outcome;
use kcp_core::plan::{ApplyAction, ApplyVerb, DeleteAction};
use kcp_core::world::Foreign;
use serde_json::{Value, json};

use crate::call::{Call, CallError, JSON, METADATA, StatusError};
use crate::conflict::Conflict;
use crate::foreign;
use crate::metrics::Verb;
use crate::parent::APPLY;
use crate::path::{Endpoint, NotServed, with_query};
use crate::reduce;
use crate::session::{Dirty, Session};

/// How often an action starts over because the object became another one meanwhile.
const ROUNDS: usize = 3;

/// What came of an action, and whether the cluster was lost over it.
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    pub(crate) lost: bool,
}

impl From<Outcome> for Done {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, lost: false }
    }
}

impl From<NotServed> for Done {
    fn from(NotServed { reason, message }: NotServed) -> Self {
        Outcome::Failed { reason, message }.into()
    }
}

/// UID and resource version of the live object.
struct Live {
    uid: String,
    version: String,
}

enum Look {
    Absent,
    Ours(Live),
    Foreign(Foreign),
    Terminating,
}

impl Session {
    /// Creates or changes an object.
    pub(crate) async fn apply(&self, workspace: &str, action: &ApplyAction) -> Done {
        self.try_apply(workspace, action).await.unwrap_or_else(|done| done)
    }

    async fn try_apply(&self, workspace: &str, action: &ApplyAction) -> Result<Done, Done> {
        let key = &action.object.key;
        let endpoint = Endpoint::of(&self.api(), &key.group_kind(), Some(&action.object.version))?;
        let path = endpoint.object(key)?;
        let mut known = match action.verb {
            ApplyVerb::Create | ApplyVerb::TakeOver { .. } => None,
            _ => self.memory.get(key).map(|(uid, version)| Live { uid, version }),
        };
        for _ in 0..ROUNDS {
            let live = match known.take() {
                Some(live) => Some(live),
                None => match self.look(workspace, action, &path).await? {
                    Look::Absent => None,
                    Look::Ours(live) => Some(live),
                    Look::Foreign(foreign) => return Ok(Outcome::Foreign(foreign).into()),
                    Look::Terminating => {
                        let message = "it is being deleted; it is created again once it is gone".to_owned();
                        return Ok(Outcome::Failed { reason: Reason::ApplyFailed, message }.into());
                    }
                },
            };
            let taken = matches!(action.verb, ApplyVerb::TakeOver { .. });
            let conflict = match self.patch(action, &path, live.as_ref(), taken).await {
                Ok(object) => return Ok(self.applied(action, &object, live, Vec::new())),
                Err(error) if starts_over(&error, live.is_some()) => continue,
                Err(CallError::Status(status)) => match Conflict::read(&status) {
                    Some(conflict) => conflict,
                    None => return Err(failed(key, &CallError::Status(status), Reason::ApplyFailed)),
                },
                Err(error) => return Err(failed(key, &error, Reason::ApplyFailed)),
            };
            if !self.may_force(action, &conflict, &path).await {
                let Conflict { fields, managers } = conflict;
                return Ok(Outcome::Conflict { fields, managers }.into());
            }
            match self.patch(action, &path, live.as_ref(), true).await {
                Ok(object) => return Ok(self.applied(action, &object, live, conflict.managers)),
                Err(error) if starts_over(&error, live.is_some()) => {}
                Err(error) => return Err(failed(key, &error, Reason::ApplyFailed)),
            }
        }
        let message = "it became another object each time it was to be written".to_owned();
        Ok(Outcome::Failed { reason: Reason::ApplyFailed, message }.into())
    }

    /// Looks at the metadata of what is there.
    async fn look(&self, workspace: &str, action: &ApplyAction, path: &str) -> Result<Look, Done> {
        let key = &action.object.key;
        let object = match self.cluster.call(Call::get(Verb::Get, path, METADATA)).await {
            Ok(object) => object,
            Err(error) if error.code() == Some(404) => return Ok(Look::Absent),
            Err(error) => return Err(failed(key, &error, Reason::ApplyFailed)),
        };
        let may_write = match &action.verb {
            ApplyVerb::TakeOver { .. } => true,
            ApplyVerb::HandOver { from } => self.is_ours(from, &object) || self.is_ours(workspace, &object),
            _ => self.is_ours(workspace, &object),
        };
        if !may_write {
            return Ok(Look::Foreign(foreign::of(&object)));
        }
        if reduce::is_terminating(&object) {
            return Ok(Look::Terminating);
        }
        Ok(Look::Ours(Live { uid: reduce::uid(&object), version: reduce::resource_version(&object) }))
    }

    /// Whether an object was applied by us for this workspace. Its label may have been taken off by hand, but not
    /// name another set; labels alone prove nothing, they are copied to generated objects.
    fn is_ours(&self, workspace: &str, object: &Value) -> bool {
        let id = applyset::set_id(&self.fleet_id, workspace);
        reduce::is_managed(object)
            && reduce::workspace(object) == Some(workspace)
            && reduce::part_of(object).is_none_or(|part_of| part_of == id)
    }

    async fn patch(
        &self,
        action: &ApplyAction,
        path: &str,
        live: Option<&Live>,
        force: bool,
    ) -> Result<Value, CallError> {
        let mut body = (*action.object.body).clone();
        if let (Some(live), Some(Value::Object(metadata))) = (live, body.get_mut("metadata")) {
            metadata.insert("uid".to_owned(), json!(live.uid));
        }
        let force = if force { "true" } else { "false" };
        let parameters = [("fieldManager", FIELD_MANAGER), ("force", force), ("fieldValidation", "Strict")];
        let path = with_query(path, &parameters);
        self.cluster.call(Call::send(Verb::Apply, http::Method::PATCH, path, APPLY, &body)).await
    }

    async fn may_force(&self, action: &ApplyAction, conflict: &Conflict, path: &str) -> bool {
        let key = &action.object.key;
        if conflict.may_force(action, |field| self.written.owned(key, field)) {
            return true;
        }
        if action.rules.conflicts != Conflicts::Owned {
            return false;
        }
        // A field that we share with somebody is ours too: what is on the object says so, also after a restart.
        let Ok(object) = self.cluster.call(Call::get(Verb::Get, path, METADATA)).await else { return false };
        let shared = paths(&object);
        conflict.may_force(action, |field| {
            self.written.owned(key, field) || shared.iter().any(|path| path == field)
        })
    }

    fn applied(
        &self,
        action: &ApplyAction,
        object: &Value,
        live: Option<Live>,
        forced_from: Vec<String>,
    ) -> Done {
        let key = &action.object.key;
        let mut seen = reduce::reduce(object);
        seen.applied = Some(action.object.hash);
        self.memory.saw(key, &seen);
        self.written.owns(key, &paths(object));
        let changed = live.is_none_or(|live| live.version != seen.resource_version);
        let corrections = match action.verb {
            ApplyVerb::Correct if changed => self.written.corrected(key, (self.clock)()),
            _ => 0,
        };
        Outcome::Applied { object: Box::new(seen), changed, forced_from, corrections }.into()
    }

    /// Deletes an object, if it is still the one that was judged and still ours.
    pub(crate) async fn delete(&self, workspace: &str, action: &DeleteAction) -> Done {
        self.try_delete(workspace, action).await.unwrap_or_else(|done| done)
    }

    async fn try_delete(&self, workspace: &str, action: &DeleteAction) -> Result<Done, Done> {
        let key = &action.key;
        let endpoint = Endpoint::of(&self.api(), &key.group_kind(), Some(&action.version))
            .or_else(|_| Endpoint::of(&self.api(), &key.group_kind(), None))?;
        let path = endpoint.object(key)?;
        let object = match self.cluster.call(Call::get(Verb::Get, path.clone(), METADATA)).await {
            Ok(object) => object,
            Err(error) if error.code() == Some(404) => return Ok(self.gone(key, &action.uid)),
            Err(error) => return Err(failed(key, &error, Reason::DeleteFailed)),
        };
        // A mark may have gone since the plan was made: then it is somebody else's by now.
        if reduce::uid(&object) != action.uid
            || !self.is_ours(workspace, &object)
            || reduce::part_of(&object).is_none()
            || reduce::reduce(&object).controlled
        {
            let applied_version = reduce::applied_version(&object).map(str::to_owned);
            self.mark_dirty(key.clone(), Dirty { applied_version, version: String::new() });
            return Ok(Outcome::Replaced.into());
        }
        let propagation = match action.propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": action.uid},
            "propagationPolicy": propagation,
        });
        match self.cluster.call(Call::send(Verb::Delete, http::Method::DELETE, path, JSON, &options)).await {
            Ok(answer) if reduce::is_terminating(&answer) => {
                let remaining = reduce::reduce(&answer);
                self.memory.saw(key, &remaining);
                Ok(Outcome::Deleted { remaining: Some(Box::new(remaining)) }.into())
            }
            Ok(_) => Ok(self.gone(key, &action.uid)),
            Err(error) if error.code() == Some(404) => Ok(self.gone(key, &action.uid)),
            Err(CallError::Status(status)) if status.code == 409 && status.message.contains("UID") => {
                Ok(Outcome::Replaced.into())
            }
            Err(error) => Err(failed(key, &error, Reason::DeleteFailed)),
        }
    }

    fn gone(&self, key: &ObjectKey, uid: &str) -> Done {
        self.memory.forget(key, uid);
        self.written.forget(key);
        Outcome::Deleted { remaining: None }.into()
    }
}

/// The paths of the fields that we own.
fn paths(object: &Value) -> Vec<String> {
    let fields = kcp_merge::applied_fields(object, FIELD_MANAGER);
    fields.ok().flatten().map(|fields| fields.paths()).unwrap_or_default()
}

/// Whether the object that was known is not there any more, or another one is.
fn starts_over(error: &CallError, was_known: bool) -> bool {
    match error {
        CallError::Status(status) => match status.code {
            404 => was_known,
            409 => Conflict::read(status).is_none(),
            _ => false,
        },
        _ => false,
    }
}

/// What a failed request means for an object.
fn failed(key: &ObjectKey, error: &CallError, otherwise: Reason) -> Done {
    let (reason, message) = match error {
        CallError::Status(status) => (reason(status, otherwise), message(key, status)),
        other => (otherwise, other.to_string()),
    };
    Done { outcome: Outcome::Failed { reason, message }, lost: error.is_loss() }
}

fn reason(status: &StatusError, otherwise: Reason) -> Reason {
    let terminating = status.causes.iter().any(|(reason, ..)| reason == "NamespaceTerminating");
    match status.code {
        401 => Reason::Unauthorized,
        403 if !terminating => Reason::Forbidden,
        // Without a kind in its details, it is the path itself that is not served.
        404 if status.about.is_empty() => Reason::KindMissing,
        400 | 413 | 422 => Reason::InvalidObject,
        // Fields that are not in the schema are reported as if the server had failed.
        500 if status.message.contains("failed to create typed patch object") => Reason::InvalidObject,
        _ => otherwise,
    }
}

/// The server's words; of a Secret only which fields it complained about, for it may quote their values.
fn message(key: &ObjectKey, status: &StatusError) -> String {
    if !(key.group.is_empty() && key.kind == "Secret") {
        return status.to_string();
    }
    let fields: Vec<_> =
        status.causes.iter().map(|(_, field, _)| field.as_str()).filter(|field| !field.is_empty()).collect();
    let what = if status.reason.is_empty() { status.code.to_string() } else { status.reason.clone() };
    match fields.as_slice() {
        [] => format!("the API server refused it: {what}"),
        fields => format!("the API server refused it: {what} ({})", fields.join(", ")),
    }
}

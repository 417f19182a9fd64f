//! The ApplySet parent of one workspace: read, widened before the first write, narrowed after the last.
//!
//! Each write of it is a compare-and-swap on its resource version: two writers never both believe that they won.

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::{FIELD_MANAGER, Reason};
use kcp_core::applyset::{self, PARENT_NAMESPACE};
use kcp_core::object::{ContentHash, GroupKind};
use kcp_core::plan::SetPlan;
use kcp_core::world::{Decision, ParentFacts};
use serde_json::{Value, json};

use crate::call::{Call, CallError, Cluster, JSON};
use crate::metrics::Verb;
use crate::path::{segment, with_query};

pub(crate) const APPLY: &str = "application/apply-patch+yaml";
/// How often a write is tried again after another writer was faster.
const RACES: usize = 3;

/// The parent could not be read or written, so nothing of its set is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum ParentError {
    /// A newer decision was made by somebody.
    #[error("the cluster has a decision of epoch {found}, newer than {ours}: another reconciler works here")]
    Newer { found: u64, ours: u64 },
    /// The same epoch with another decision.
    #[error("another reconciler decided otherwise in epoch {epoch}")]
    Rival { epoch: u64 },
    /// It is not a parent of this fleet.
    #[error("Secret {PARENT_NAMESPACE}/{name} is not this fleet's parent: {message}")]
    NotOurs { name: String, message: String },
    /// Somebody writes it all the time.
    #[error("the parent was changed by somebody else each time it was to be written")]
    Races,
    /// The request failed.
    #[error("the parent cannot be read or written: {0}")]
    Call(#[from] CallError),
}

impl ParentError {
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::Newer { .. } => Reason::NewerEpoch,
            Self::Rival { .. } | Self::Races => Reason::SecondReconciler,
            Self::NotOurs { .. } => Reason::ForeignObject,
            Self::Call(error) if error.code() == Some(403) => Reason::Forbidden,
            Self::Call(error) if error.code() == Some(401) => Reason::Unauthorized,
            Self::Call(_) => Reason::ApplyFailed,
        }
    }
}

/// What the parent shall say.
#[derive(Debug, Clone, PartialEq)]
struct Content {
    decision: Option<Decision>,
    group_kinds: BTreeSet<GroupKind>,
    namespaces: BTreeSet<String>,
    applied: BTreeMap<String, ContentHash>,
}

impl Content {
    fn is(&self, facts: &ParentFacts) -> bool {
        self.decision == facts.decision
            && self.group_kinds == facts.group_kinds
            && self.namespaces == facts.namespaces
            && self.applied == facts.applied
    }
}

/// The parent of one workspace on one cluster.
pub(crate) struct Parent<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) fleet_id: &'a str,
    pub(crate) workspace: &'a str,
}

impl Parent<'_> {
    fn name(&self) -> String {
        applyset::parent_name(self.fleet_id, self.workspace)
    }

    fn path(&self) -> String {
        format!("/api/v1/namespaces/{PARENT_NAMESPACE}/secrets/{}", segment(&self.name()))
    }

    /// Reads it; `None` if it is not there.
    pub(crate) async fn read(&self) -> Result<Option<ParentFacts>, ParentError> {
        match self.cluster.call(Call::get(Verb::Get, self.path(), JSON)).await {
            Ok(parent) => self.facts(&parent).map(Some),
            Err(error) if error.code() == Some(404) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn facts(&self, parent: &Value) -> Result<ParentFacts, ParentError> {
        let not_ours = |message: String| ParentError::NotOurs { name: self.name(), message };
        let labels = parent.get("metadata").and_then(|metadata| metadata.get("labels"));
        let fleet = labels.and_then(|labels| labels.get(applyset::fleet_label())).and_then(Value::as_str);
        if fleet != Some(self.fleet_id) {
            return Err(not_ours(format!("its fleet is {}", fleet.unwrap_or("not named"))));
        }
        let (workspace, facts) = applyset::parse_parent(parent).map_err(not_ours)?;
        if workspace != self.workspace {
            return Err(not_ours(format!("its workspace is {workspace}")));
        }
        Ok(facts)
    }

    /// Refuses to go on where a newer decision is there.
    fn fence(plan: &SetPlan, facts: &ParentFacts) -> Result<(), ParentError> {
        let (Some(found), Some(ours)) = (&facts.decision, &plan.decision) else { return Ok(()) };
        if found.epoch > ours.epoch {
            return Err(ParentError::Newer { found: found.epoch, ours: ours.epoch });
        }
        // Who leaves and since when may be told anew within an epoch; where it shall be may not.
        if found.epoch == ours.epoch && found.targets != ours.targets {
            return Err(ParentError::Rival { epoch: ours.epoch });
        }
        Ok(())
    }

    /// Makes it cover what is there and what comes, before anything is written. Gives what it says then, and whether
    /// it had to be written.
    pub(crate) async fn widen(&self, plan: &SetPlan) -> Result<(ParentFacts, bool), ParentError> {
        for _ in 0..RACES {
            let live = match self.read().await? {
                Some(live) => live,
                None => match self.create().await? {
                    Some(created) => created,
                    None => continue,
                },
            };
            Self::fence(plan, &live)?;
            let content = Content {
                decision: plan.decision.clone().or_else(|| live.decision.clone()),
                group_kinds: live.group_kinds.union(&plan.group_kinds).cloned().collect(),
                namespaces: live.namespaces.union(&plan.namespaces).cloned().collect(),
                applied: live.applied.clone(),
            };
            if content.is(&live) {
                return Ok((live, false));
            }
            if let Some(written) = self.write(&live, &content).await? {
                return Ok((written, true));
            }
        }
        Err(ParentError::Races)
    }

    /// Makes it say exactly what the plan says is there, or only records what was applied where not everything went
    /// well. `None` if it says so already.
    pub(crate) async fn settle(
        &self,
        plan: &SetPlan,
        live: &ParentFacts,
        applied: BTreeMap<String, ContentHash>,
        narrow: bool,
    ) -> Result<Option<ParentFacts>, ParentError> {
        let content = Content {
            decision: plan.decision.clone().or_else(|| live.decision.clone()),
            group_kinds: if narrow { plan.group_kinds.clone() } else { live.group_kinds.clone() },
            namespaces: if narrow { plan.namespaces.clone() } else { live.namespaces.clone() },
            applied,
        };
        if content.is(live) {
            return Ok(None);
        }
        // Whoever wrote it since has seen more than we did: the next plan settles it.
        self.write(live, &content).await?.map(Some).ok_or(ParentError::Races)
    }

    /// Deletes it, if it is still as it was.
    pub(crate) async fn remove(&self, live: &ParentFacts) -> Result<(), ParentError> {
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": live.uid, "resourceVersion": live.resource_version},
        });
        let call = Call::send(Verb::Delete, http::Method::DELETE, self.path(), JSON, &options);
        match self.cluster.call(call).await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(404) => Ok(()),
            Err(error) if error.code() == Some(409) => Err(ParentError::Races),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates it, saying nothing yet but whose it is; `None` if somebody else just did.
    async fn create(&self) -> Result<Option<ParentFacts>, ParentError> {
        let nothing = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        let body =
            applyset::parent_body(self.fleet_id, self.workspace, None, &nothing.0, &nothing.1, &nothing.2);
        let path = format!("/api/v1/namespaces/{PARENT_NAMESPACE}/secrets");
        let create = || {
            let path = with_query(&path, &[("fieldManager", FIELD_MANAGER)]);
            self.cluster.call(Call::send(Verb::Create, http::Method::POST, path, JSON, &body))
        };
        let mut answer = create().await;
        if answer.as_ref().is_err_and(|error| error.code() == Some(404)) {
            self.create_namespace().await?;
            answer = create().await;
        }
        match answer {
            Ok(parent) => self.facts(&parent).map(Some),
            Err(CallError::Status(status)) if status.code == 409 => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn create_namespace(&self) -> Result<(), ParentError> {
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PARENT_NAMESPACE}});
        let path = with_query("/api/v1/namespaces", &[("fieldManager", FIELD_MANAGER)]);
        match self.cluster.call(Call::send(Verb::Create, http::Method::POST, path, JSON, &body)).await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(409) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes it over the version that was read; `None` if that is not the present one any more.
    async fn write(&self, live: &ParentFacts, content: &Content) -> Result<Option<ParentFacts>, ParentError> {
        let mut body = applyset::parent_body(
            self.fleet_id,
            self.workspace,
            content.decision.as_ref(),
            &content.group_kinds,
            &content.namespaces,
            &content.applied,
        );
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            metadata.insert("uid".to_owned(), json!(live.uid));
            metadata.insert("resourceVersion".to_owned(), json!(live.resource_version));
        }
        let path = with_query(&self.path(), &[("fieldManager", FIELD_MANAGER), ("force", "true")]);
        match self.cluster.call(Call::send(Verb::Apply, http::Method::PATCH, path, APPLY, &body)).await {
            Ok(parent) => self.facts(&parent).map(Some),
            Err(error) if matches!(error.code(), Some(404 | 409)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

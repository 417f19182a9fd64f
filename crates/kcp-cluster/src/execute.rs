//! The plan of one workspace on one cluster, carried out: parent first, objects by phases, deletes, parent last.
//!
//! One bad object never stops the others. Whoever runs it may change its mind before each step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kcp_core::object::{ContentHash, GroupKind, ObjectKey};
use kcp_core::observe::{Observation, Outcome, stored_key, stored_name};
use kcp_core::plan::{ApplyAction, DeleteAction, SetPlan};
use kcp_core::render::phase;
use kcp_core::world::ParentFacts;
use serde_json::Value;

use crate::call::{Call, JSON};
use crate::discovery;
use crate::metrics::Verb;
use crate::object::Done;
use crate::parent::{Parent, ParentError};
use crate::path::Endpoint;
use crate::session::Session;

/// Objects of one phase at once; the cluster's own limit counts too.
const AT_ONCE: usize = 16;
/// How often a new CRD is looked at.
const CRD_POLL: Duration = Duration::from_millis(200);

/// One action, before it is done.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    Apply(&'a ApplyAction),
    Delete(&'a DeleteAction),
}

impl Step<'_> {
    fn key(&self) -> &ObjectKey {
        match self {
            Self::Apply(action) => &action.object.key,
            Self::Delete(action) => &action.key,
        }
    }

    fn hash(&self) -> Option<ContentHash> {
        match self {
            Self::Apply(action) => Some(action.object.hash),
            Self::Delete(_) => None,
        }
    }
}

/// Whoever may change its mind before a step is done.
pub(crate) trait Wants: Send + Sync {
    /// Whether the step is still wanted.
    fn wants(&self, workspace: &str, step: Step<'_>) -> bool;
}

/// How far a run has come.
struct Run<'a> {
    workspace: &'a str,
    /// Outcomes that the planner knew of.
    seen: u64,
    wanted: &'a dyn Wants,
    lost: AtomicBool,
}

impl Session {
    /// Carries out the plan of one workspace. `false` if the cluster was lost over it.
    pub(crate) async fn run_set(
        &self,
        workspace: &str,
        plan: &SetPlan,
        seen: u64,
        wanted: &dyn Wants,
    ) -> bool {
        if plan.is_quiet() {
            return true;
        }
        let run = Run { workspace, seen, wanted, lost: AtomicBool::new(false) };
        let (whole, error) = match self.steps(&run, plan).await {
            Ok(whole) => (whole, None),
            Err(error) => {
                if matches!(&error, ParentError::Call(error) if error.is_loss()) {
                    run.lost.store(true, Ordering::Relaxed);
                }
                tracing::warn!(cluster = self.cluster.name(), workspace, %error, "the parent stops this workspace");
                (false, Some((error.reason(), error.to_string())))
            }
        };
        self.sink.send(Observation::SetDone { workspace: workspace.to_owned(), whole, error }).await;
        !run.lost.load(Ordering::Relaxed)
    }

    async fn steps(&self, run: &Run<'_>, plan: &SetPlan) -> Result<bool, ParentError> {
        let parent = Parent { cluster: &self.cluster, fleet_id: &self.fleet_id, workspace: run.workspace };
        self.knows_workspace(run.workspace);
        let (live, written) = if plan.apply.is_empty() && plan.delete.is_empty() && plan.remove_parent {
            match parent.read().await? {
                Some(live) => (live, false),
                None => {
                    self.tell_parent(run.workspace, None).await;
                    return Ok(true);
                }
            }
        } else {
            parent.widen(plan).await?
        };
        if written {
            self.tell_parent(run.workspace, Some(live.clone())).await;
        }
        let mut applied = known(plan, &live);
        let mut whole = true;
        for actions in plan.apply.chunk_by(|a, b| phase_of(&a.object.key) == phase_of(&b.object.key)) {
            let done = self.phase(run, actions.iter().map(Step::Apply).collect()).await;
            whole &= note(&mut applied, &done, actions.len());
            let crds = done.iter().filter_map(|(step, outcome)| match (step, outcome) {
                (Step::Apply(action), Outcome::Applied { .. }) => {
                    is_crd(&action.object.key).then_some(*action)
                }
                _ => None,
            });
            let crds: Vec<_> = crds.collect();
            if !crds.is_empty() && !run.lost.load(Ordering::Relaxed) {
                self.await_crds(&crds).await;
            }
        }
        for actions in plan.delete.chunk_by(|a, b| phase_of(&a.key) == phase_of(&b.key)) {
            let done = self.phase(run, actions.iter().map(Step::Delete).collect()).await;
            whole &= note(&mut applied, &done, actions.len());
        }
        if run.lost.load(Ordering::Relaxed) {
            return Ok(false);
        }
        if whole && plan.remove_parent {
            parent.remove(&live).await?;
            self.tell_parent(run.workspace, None).await;
        } else if let Some(facts) = parent.settle(plan, &live, applied, whole).await? {
            self.tell_parent(run.workspace, Some(facts)).await;
        }
        Ok(whole)
    }

    /// Does the steps of one phase, many at once. Gives those that were done.
    async fn phase<'a>(&self, run: &Run<'_>, steps: Vec<Step<'a>>) -> Vec<(Step<'a>, Outcome)> {
        let mut waiting = steps.into_iter();
        let mut running = FuturesUnordered::new();
        let mut done = Vec::new();
        loop {
            running.extend(waiting.by_ref().take(AT_ONCE - running.len()).map(|step| self.step(run, step)));
            match running.next().await {
                Some(step) => done.extend(step),
                None => return done,
            }
        }
    }

    /// Does one step, unless it is not wanted any more, and tells what came of it.
    async fn step<'a>(&self, run: &Run<'_>, step: Step<'a>) -> Option<(Step<'a>, Outcome)> {
        let is_stale = self.written.is_newer(step.key(), run.seen);
        if run.lost.load(Ordering::Relaxed) || is_stale || !run.wanted.wants(run.workspace, step) {
            return None;
        }
        let Done { outcome, lost } = match step {
            Step::Apply(action) => self.apply(run.workspace, action).await,
            Step::Delete(action) => self.delete(run.workspace, action).await,
        };
        if lost {
            run.lost.store(true, Ordering::Relaxed);
        }
        match &outcome {
            Outcome::Foreign(_) => self.written.is_in_the_way(step.key()),
            _ => self.written.is_out_of_the_way(step.key()),
        }
        self.tell_outcome(run.workspace, step.key(), step.hash(), outcome.clone()).await;
        Some((step, outcome))
    }

    /// Waits until new CRDs are established and their kinds are discovered; what is not by then fails by itself.
    async fn await_crds(&self, crds: &[&ApplyAction]) {
        let wait = async {
            for action in crds {
                while !self.is_established(&action.object.key).await {
                    tokio::time::sleep(CRD_POLL).await;
                }
            }
            let is_served = |action: &&ApplyAction| {
                let text =
                    |path: &str| action.object.body.pointer(path).and_then(Value::as_str).unwrap_or_default();
                self.api().kind(&GroupKind::new(text("/spec/group"), text("/spec/names/kind"))).is_some()
            };
            loop {
                if let Ok(api) = discovery::discover(&self.cluster).await {
                    self.set_api(api).await;
                }
                if crds.iter().all(is_served) {
                    return;
                }
                tokio::time::sleep(CRD_POLL).await;
            }
        };
        if tokio::time::timeout(self.timing.established, wait).await.is_err() {
            tracing::warn!(cluster = self.cluster.name(), "a CRD was not established in time");
        }
    }

    /// Whether a CRD is served, or will never be.
    async fn is_established(&self, key: &ObjectKey) -> bool {
        let path =
            Endpoint::of(&self.api(), &key.group_kind(), None).and_then(|endpoint| endpoint.object(key));
        let Ok(path) = path else { return true };
        match self.cluster.call(Call::get(Verb::Get, path, JSON)).await {
            Ok(crd) => {
                let conditions = crd.pointer("/status/conditions").and_then(Value::as_array);
                let is = |kind: &str, status: &str| {
                    conditions.into_iter().flatten().any(|condition| {
                        condition.get("type").and_then(Value::as_str) == Some(kind)
                            && condition.get("status").and_then(Value::as_str) == Some(status)
                    })
                };
                is("Established", "True") || is("NamesAccepted", "False")
            }
            // Its own outcome says why it is not there.
            Err(error) => error.code() == Some(404) || error.is_loss(),
        }
    }
}

fn phase_of(key: &ObjectKey) -> u8 {
    phase(&key.group_kind())
}

fn is_crd(key: &ObjectKey) -> bool {
    key.group == "apiextensions.k8s.io" && key.kind == "CustomResourceDefinition"
}

/// What is recorded before anything is done: what the parent says, without objects that the plan does not know any
/// more, and with those that are as they should be and were not recorded.
fn known(plan: &SetPlan, live: &ParentFacts) -> BTreeMap<String, ContentHash> {
    if plan.applied.is_empty() {
        return live.applied.clone();
    }
    let changing: BTreeSet<String> = plan.apply.iter().map(|action| action.object.key.to_string()).collect();
    let mut known = BTreeMap::new();
    for (name, hash) in &plan.applied {
        let before = live.applied.get(name);
        let Some(hash) = (if changing.contains(name) { before } else { Some(hash) }) else { continue };
        known.insert(name.clone(), *hash);
        let stored = stored_name(name);
        if let Some(own) = live.applied.get(&stored).filter(|_| before == Some(hash)) {
            known.insert(stored, *own);
        }
    }
    known
}

/// Records what was applied and deleted; whether each of `wanted` steps is done for good.
fn note(applied: &mut BTreeMap<String, ContentHash>, done: &[(Step<'_>, Outcome)], wanted: usize) -> bool {
    let mut good = 0;
    for (step, outcome) in done {
        let name = step.key().to_string();
        match (outcome, step.hash()) {
            (Outcome::Applied { object, .. }, Some(hash)) => {
                applied.insert(name, hash);
                if object.own == hash {
                    applied.remove(&stored_key(step.key()));
                } else {
                    applied.insert(stored_key(step.key()), object.own);
                }
                good += 1;
            }
            (Outcome::Deleted { remaining: None } | Outcome::Replaced, _) => {
                applied.remove(&name);
                applied.remove(&stored_key(step.key()));
                good += 1;
            }
            _ => {}
        }
    }
    good == wanted
}

#[cfg(test)]
pub(crate) mod tests;

//! The reconciler without its IO: events change the world, the planner makes a plan, effects leave.
//!
//! Synchronous and without a clock, so that a test feeds it events and reads what comes out. It has no rules of its own
//! but one: which worker is to be told what, and when.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kcp_core::object::ObjectKey;
use kcp_core::observe::Observation;
use kcp_core::plan::{ApplyAction, ClusterPlan, DeleteAction, Plan, SetPlan};
use kcp_core::planner::{self, Memo, Scope};
use kcp_core::status::{self, Statuses};
use kcp_core::world::{ClusterUid, ClusterView, Contact, Desired, Halt, UnixSeconds, World};

use crate::record::{Record, SourceState};

/// How long the first record may wait for clusters that do not answer, in seconds.
const FIRST_LOOK: UnixSeconds = 15;

/// What the shell is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Start the worker of a cluster.
    Connect(Target),
    /// Stop it: its document is gone, or says something else.
    Disconnect {
        /// Name of the document.
        cluster: String,
    },
    /// Hand a plan to a worker; it replaces what the worker still has.
    Execute {
        /// Name of the document.
        cluster: String,
        /// What to do there.
        plan: Arc<ClusterPlan>,
        /// How many outcomes of the worker the plan knows of: what it did since is not done twice.
        seen: u64,
    },
    /// The record changed: publish it.
    Publish(Box<Record>),
}

/// A cluster to work with, as its document names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name of the document.
    pub cluster: String,
    /// The kubeconfig context.
    pub context: String,
    /// The identity that it must have.
    pub expected_uid: Option<ClusterUid>,
}

/// The state of the loop.
#[derive(Debug)]
pub struct Engine {
    world: World,
    scope: Scope,
    /// Bundles of the last plan: there is a plan for each batch of events.
    memo: Memo,
    source: SourceState,
    workers: BTreeMap<String, Worker>,
    plan: Plan,
    statuses: Statuses,
    published: Option<Record>,
    requests: BTreeMap<String, u64>,
    started: UnixSeconds,
}

#[derive(Debug)]
struct Worker {
    target: Target,
    /// What it was handed and has not said to have finished.
    working_on: Option<Order>,
}

/// What a worker was told to do.
#[derive(Debug)]
struct Order {
    plan: Arc<ClusterPlan>,
    /// Workspaces whose part is not done.
    open: BTreeSet<String>,
}

impl Order {
    fn new(plan: Arc<ClusterPlan>) -> Self {
        let open =
            plan.sets.iter().filter(|(_, set)| !set.is_quiet()).map(|(name, _)| name.clone()).collect();
        Self { plan, open }
    }
}

impl Engine {
    /// Starts from the first good commit and from what was recorded before.
    #[must_use]
    pub fn new(
        desired: Desired,
        source: SourceState,
        record: Record,
        scope: Scope,
        now: UnixSeconds,
    ) -> Self {
        let statuses = record.statuses();
        let world = record.into_world(now, desired);
        let mut engine = Self {
            world,
            scope,
            memo: Memo::default(),
            source,
            workers: BTreeMap::new(),
            plan: Plan::default(),
            statuses,
            published: None,
            requests: BTreeMap::new(),
            started: now,
        };
        // What was recorded is what was last known, not what is: no cluster is live before it was read. Clusters that
        // this one does not work with keep what another run recorded.
        for name in engine.targets().into_keys() {
            if let Some(view) = engine.world.clusters.get_mut(&name) {
                view.contact = Contact::Pending;
                view.complete = false;
            }
        }
        engine
    }

    /// A new commit was read whole.
    pub fn desire(&mut self, desired: Desired, source: SourceState) {
        self.world.desired = desired;
        self.source = source;
    }

    /// The state of the source changed: a fetch failed, a commit is invalid or held. The last good commit stays.
    pub fn source(&mut self, source: SourceState) {
        self.source = source;
    }

    /// Something was seen or done on a cluster.
    pub fn observe(&mut self, cluster: &str, observation: Observation, now: UnixSeconds) {
        let Some(worker) = self.workers.get_mut(cluster) else {
            return; // It was disconnected meanwhile.
        };
        match &observation {
            // What it had in hand is abandoned when contact is lost.
            Observation::Contact(_) => worker.working_on = None,
            Observation::SetDone { workspace, .. } => {
                if let Some(order) = &mut worker.working_on {
                    order.open.remove(workspace);
                    if order.open.is_empty() {
                        worker.working_on = None;
                    }
                }
            }
            _ => {}
        }
        self.world.clusters.entry(cluster.into()).or_default().apply(observation, now);
    }

    /// Break-glass was pulled or ended.
    pub fn halt(&mut self, halt: Option<Halt>) {
        self.world.halted = halt;
    }

    /// The world as it is.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The last plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The status that belongs to the last plan.
    #[must_use]
    pub fn statuses(&self) -> &Statuses {
        &self.statuses
    }

    /// The state of the source.
    #[must_use]
    pub fn source_state(&self) -> &SourceState {
        &self.source
    }

    /// The clusters that are worked with, as they were last seen.
    pub fn connected(&self) -> impl Iterator<Item = (&str, &ClusterView)> {
        self.workers.keys().filter_map(|name| Some((name.as_str(), self.world.clusters.get(name)?)))
    }

    /// Requests sent to each cluster since its worker started.
    pub fn requests(&self) -> impl Iterator<Item = (&str, u64)> {
        self.requests.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// Takes note of the workers' counters.
    pub fn count_requests(&mut self, requests: BTreeMap<String, u64>) {
        self.requests = requests;
    }

    /// Whether every cluster was read or given up, and nothing is left to do now.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.plan.is_quiet()
            && !self.is_reading()
            && self.workers.values().all(|worker| worker.working_on.is_none())
    }

    /// Whether a cluster was neither read nor given up yet.
    fn is_reading(&self) -> bool {
        self.connected().any(|(_, view)| view.contact == Contact::Pending)
    }

    /// Plans anew and says what is to be done.
    pub fn step(&mut self, now: UnixSeconds) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.world.now = now;
        self.connect(&mut effects);
        self.world.recent.retain(|act| act.at > now - 3600);
        self.plan = planner::plan_with(&self.world, &self.scope, &mut self.memo);
        for (unit, plan) in &self.plan.units {
            if let Some(decision) = &plan.decision {
                self.world.memory.insert(unit.clone(), decision.clone());
            }
        }
        self.execute(now, &mut effects);
        self.statuses = status::statuses(&self.world, &self.plan, &self.statuses);
        let record = Record::of(&self.world, &self.plan, &self.statuses, &self.source);
        // Right after the start nothing was seen yet, which is not worth a commit.
        let has_looked = !self.is_reading() || now >= self.started + FIRST_LOOK;
        if has_looked && self.published.as_ref() != Some(&record) {
            self.published = Some(record.clone());
            effects.push(Effect::Publish(Box::new(record)));
        }
        effects
    }

    /// Workers follow the Cluster documents.
    fn connect(&mut self, effects: &mut Vec<Effect>) {
        let wanted = self.targets();
        let views = &mut self.world.clusters;
        self.workers.retain(|name, worker| {
            let stays = wanted.get(name) == Some(&worker.target);
            if !stays {
                effects.push(Effect::Disconnect { cluster: name.clone() });
                views.remove(name);
            }
            stays
        });
        for (name, target) in wanted {
            self.workers.entry(name.clone()).or_insert_with(|| {
                views.entry(name).or_default();
                effects.push(Effect::Connect(target.clone()));
                Worker { target, working_on: None }
            });
        }
        let documents = &self.world.desired.config.clusters;
        views.retain(|name, _| documents.contains_key(name));
    }

    fn targets(&self) -> BTreeMap<String, Target> {
        let documents = &self.world.desired.config.clusters;
        documents
            .iter()
            .filter(|(name, document)| match &self.scope {
                Scope::Daemon => document.value.spec.mode == kcp_api::ClusterMode::Push,
                Scope::Cluster(only) => *name == only,
            })
            .filter_map(|(name, document)| {
                let spec = &document.value.spec;
                let context = spec.connection.context.clone()?;
                let target =
                    Target { cluster: name.clone(), context, expected_uid: spec.uid.clone().map(ClusterUid) };
                Some((name.clone(), target))
            })
            .collect()
    }

    /// Hands each worker its part, unless it already has it in hand.
    fn execute(&mut self, now: UnixSeconds, effects: &mut Vec<Effect>) {
        let mut handed = false;
        for (name, plan) in &self.plan.clusters {
            let Some(worker) = self.workers.get_mut(name) else { continue };
            let Some(view) = self.world.clusters.get(name) else { continue };
            let live = matches!(view.contact, Contact::Live { .. });
            let quiet = plan.sets.values().all(SetPlan::is_quiet);
            let in_hand = worker.working_on.as_ref().is_some_and(|order| is_in_hand(plan, &order.plan, view));
            if !live || in_hand || (quiet && worker.working_on.is_none()) {
                continue;
            }
            let plan = Arc::new(plan.clone());
            worker.working_on = Some(Order::new(plan.clone()));
            handed = true;
            effects.push(Effect::Execute { cluster: name.clone(), plan, seen: view.outcomes });
        }
        if handed {
            for act in self.plan.acts(now) {
                // Counted once, by its name, however often it is planned.
                if !self.world.recent.iter().any(|known| known.kind == act.kind && known.id == act.id) {
                    self.world.recent.push(act);
                }
            }
        }
    }
}

/// Whether a worker that has `sent` in hand gets to where `plan` wants it by itself: all that is asked for was ordered,
/// and all that was ordered is still wanted or is done. A delete that became a hold must be called back.
fn is_in_hand(plan: &ClusterPlan, sent: &ClusterPlan, view: &ClusterView) -> bool {
    if plan.stopped != sent.stopped {
        return false;
    }
    let (now, sent) = (steps(plan), steps(sent));
    let asked = now.iter().all(|(workspace, now)| {
        let Some(before) = sent.get(workspace) else { return now.set.is_quiet() };
        now.set.decision == before.set.decision
            && now.set.apply.iter().all(|action| before.applies(action))
            && now.set.delete.iter().all(|action| before.deletes(action))
    });
    asked
        && sent.iter().all(|(workspace, before)| {
            let now = now.get(workspace);
            let members = view.sets.get(*workspace).map(|set| &set.objects);
            before.set.delete.iter().all(|action| {
                now.is_some_and(|now| now.deletes(action))
                    || members
                        .and_then(|members| members.get(&action.key))
                        .is_none_or(|object| object.uid != action.uid)
            }) && before.set.apply.iter().all(|action| {
                let key = &action.object.key;
                now.is_some_and(|now| now.applies(action))
                    || members
                        .and_then(|members| members.get(key))
                        .is_some_and(|object| object.is(action.object.hash))
                    || view.failures.contains_key(key)
                    || view.foreign.contains_key(key)
            })
        })
}

/// The steps of a set by their object: sets are large, and are compared at every step of the engine.
struct Steps<'a> {
    set: &'a SetPlan,
    apply: HashMap<&'a ObjectKey, &'a ApplyAction>,
    delete: HashMap<&'a ObjectKey, &'a DeleteAction>,
}

fn steps(plan: &ClusterPlan) -> BTreeMap<&str, Steps<'_>> {
    plan.sets.iter().map(|(workspace, set)| (workspace.as_str(), Steps::of(set))).collect()
}

impl<'a> Steps<'a> {
    fn of(set: &'a SetPlan) -> Self {
        let apply = set.apply.iter().map(|action| (&action.object.key, action)).collect();
        let delete = set.delete.iter().map(|action| (&action.key, action)).collect();
        Self { set, apply, delete }
    }

    fn applies(&self, action: &ApplyAction) -> bool {
        let other = self.apply.get(&action.object.key);
        other.is_some_and(|other| other.object == action.object && other.rules == action.rules)
    }

    fn deletes(&self, action: &DeleteAction) -> bool {
        self.delete.get(&action.key).is_some_and(|other| other.uid == action.uid)
    }
}

#[cfg(test)]
mod tests;

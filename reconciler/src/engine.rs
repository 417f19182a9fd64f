//! The reconciler without its IO: events change the world, the planner makes a plan, effects leave.
//!
//! Synchronous and without a clock, so that a test feeds it events and reads what comes out. It has no rules of its own
//! but one: which worker is to be told what, and when.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kcp_api::Reason;
use kcp_core::object::ObjectKey;
use kcp_core::observe::Observation;
use kcp_core::plan::{ApplyAction, ClusterPlan, DeleteAction, Plan, Problem, SetPlan};
use kcp_core::planner::{self, Memo, Scope};
use kcp_core::status::{self, Statuses};
use kcp_core::world::{
    Act, ActKind, ClusterUid, ClusterView, Contact, Desired, Halt, UnitId, UnixSeconds, World,
};

use crate::record::{Record, SourceState};

/// How long the first record may wait for clusters that do not answer, in seconds.
const FIRST_LOOK: UnixSeconds = 15;
/// So often what stops a whole workspace is tried again at once, before there are pauses.
const AT_ONCE: u32 = 2;
/// The longest of these pauses, in seconds.
const LONGEST_PAUSE: UnixSeconds = 300;

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
    /// Keep these on this machine before anything else is done: they count against the budgets, also after a crash.
    Remember(Vec<Act>),
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
    /// Units whose decision is only from the record so far: it says nothing against clusters that can be read.
    recalled: BTreeSet<UnitId>,
    statuses: Statuses,
    /// Views as they were last recorded, shared with the record.
    views: BTreeMap<String, Arc<ClusterView>>,
    published: Option<Record>,
    requests: BTreeMap<String, u64>,
    started: UnixSeconds,
}

#[derive(Debug)]
struct Worker {
    target: Target,
    /// What it was handed and has not said to have finished.
    working_on: Option<Order>,
    /// Workspaces of which nothing can be written there, because their parent cannot be.
    blocked: BTreeMap<String, Blocked>,
}

/// Why nothing of one workspace can be written on one cluster.
#[derive(Debug)]
struct Blocked {
    reason: Reason,
    message: String,
    attempts: u32,
    retry_at: UnixSeconds,
}

impl Blocked {
    /// Whether it is too early to try again; a time too far ahead is from a clock that was wrong.
    fn waits(&self, now: UnixSeconds) -> bool {
        now < self.retry_at && self.retry_at.saturating_sub(now) <= LONGEST_PAUSE
    }
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
        let recalled = world.memory.keys().cloned().collect();
        let mut engine = Self {
            recalled,
            views: BTreeMap::new(),
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

    /// The record could not be read whole: what may be where nobody can look is not placed a second time.
    pub fn remembers_nothing(&mut self) {
        self.world.memory_known = false;
    }

    /// What this machine remembers of the last hour, whatever the record says.
    pub fn remember(&mut self, acts: Vec<Act>) {
        note_acts(&mut self.world.recent, acts);
    }

    /// What was in force before the first commit, and the commit of the record that it started from.
    pub fn follows(&mut self, before: Option<Arc<Desired>>, recorded: &str) {
        let world = &mut self.world;
        world.before = before;
        let known = [Some(&world.desired), world.before.as_deref()];
        if let Some(desired) = known.into_iter().flatten().find(|it| it.commit == recorded) {
            planner::recall_secrets(&mut world.clusters, desired);
        }
    }

    /// A new commit was read whole.
    pub fn desire(&mut self, desired: Desired, source: SourceState) {
        let before = std::mem::replace(&mut self.world.desired, desired);
        if before.commit != self.world.desired.commit {
            self.world.before = Some(Arc::new(before));
        }
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
            Observation::Contact(_) => {
                worker.working_on = None;
                worker.blocked.clear();
            }
            Observation::SetDone { workspace, error, .. } => {
                worker.note_parent(workspace, error.clone(), now);
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
        self.views.remove(cluster);
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
        self.confirm_memory();
        self.world.recent.retain(|act| act.at > now.saturating_sub(3600));
        self.plan = planner::plan_with(&self.world, &self.scope, &mut self.memo);
        self.hold_blocked(now);
        for (unit, plan) in &self.plan.units {
            if let Some(decision) = &plan.decision {
                self.world.memory.insert(unit.clone(), decision.clone());
            }
        }
        self.execute(now, &mut effects);
        self.statuses = status::statuses(&self.world, &self.plan, &self.statuses);
        let record = Record::of(&self.world, &mut self.views, &self.plan, &self.statuses, &self.source);
        // Right after the start nothing was seen yet, which is not worth a commit.
        let has_looked = !self.is_reading() || now >= self.started + FIRST_LOOK;
        if has_looked && self.published.as_ref() != Some(&record) {
            self.published = Some(record.clone());
            effects.push(Effect::Publish(Box::new(record)));
        }
        effects
    }

    /// A decision that is only on the status branch counts for clusters that cannot be read. Once all that it names
    /// were read, what they say counts alone: nothing is moved because a branch says so.
    fn confirm_memory(&mut self) {
        if self.recalled.is_empty() {
            return;
        }
        let read = |view: &&ClusterView| view.complete && matches!(view.contact, Contact::Live { .. });
        let views = self.workers.keys().filter_map(|name| self.world.clusters.get(name)).filter(read);
        let read: BTreeSet<&ClusterUid> = views.filter_map(|view| view.uid.as_ref()).collect();
        let memory = &mut self.world.memory;
        self.recalled.retain(|unit| {
            let Some(decision) = memory.get(unit) else { return false };
            let waits = decision.targets.union(&decision.leaving).any(|uid| !read.contains(uid));
            if !waits {
                memory.remove(unit);
            }
            waits
        });
    }

    /// What cannot be written because of its parent is a problem, and is tried again with pauses only.
    fn hold_blocked(&mut self, now: UnixSeconds) {
        for (cluster, worker) in &self.workers {
            for (workspace, blocked) in &worker.blocked {
                let sets = self.plan.clusters.get_mut(cluster).map(|plan| &mut plan.sets);
                let Some(set) = sets.and_then(|sets| sets.get_mut(workspace)) else { continue };
                if set.is_quiet() {
                    continue;
                }
                self.plan.problems.push(Problem {
                    reason: blocked.reason,
                    workspace: Some(workspace.clone()),
                    cluster: Some(cluster.clone()),
                    object: None,
                    origin: None,
                    message: format!("nothing of it can be written there: {}", blocked.message),
                });
                if blocked.waits(now) {
                    set.apply.clear();
                    set.delete.clear();
                    (set.write_parent, set.remove_parent) = (false, false);
                }
            }
        }
        self.plan.problems.sort();
    }

    /// Workers follow the Cluster documents.
    fn connect(&mut self, effects: &mut Vec<Effect>) {
        let wanted = self.targets();
        let (views, recorded) = (&mut self.world.clusters, &mut self.views);
        self.workers.retain(|name, worker| {
            let stays = wanted.get(name) == Some(&worker.target);
            if !stays {
                effects.push(Effect::Disconnect { cluster: name.clone() });
                views.remove(name);
                recorded.remove(name);
            }
            stays
        });
        for (name, target) in wanted {
            self.workers.entry(name.clone()).or_insert_with(|| {
                views.entry(name).or_default();
                effects.push(Effect::Connect(target.clone()));
                Worker { target, working_on: None, blocked: BTreeMap::new() }
            });
        }
        let documents = &self.world.desired.config.clusters;
        views.retain(|name, _| documents.contains_key(name));
        recorded.retain(|name, _| documents.contains_key(name));
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
        let mut orders = Vec::new();
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
            // A plan that only calls back is not answered.
            worker.working_on = Some(Order::new(plan.clone())).filter(|order| !order.open.is_empty());
            orders.push(Effect::Execute { cluster: name.clone(), plan, seen: view.outcomes });
        }
        // A move begins with its decision, a delete when it is ordered.
        let mut acts = self.plan.acts(now);
        acts.retain(|act| act.kind == ActKind::Move || !orders.is_empty());
        if note_acts(&mut self.world.recent, acts) {
            effects.push(Effect::Remember(self.world.recent.clone()));
        }
        effects.append(&mut orders);
    }
}

impl Worker {
    /// Whether the parent of a workspace could be written.
    fn note_parent(&mut self, workspace: &str, error: Option<(Reason, String)>, now: UnixSeconds) {
        let Some((reason, message)) = error else {
            self.blocked.remove(workspace);
            return;
        };
        let attempts = self.blocked.get(workspace).map_or(1, |known| known.attempts.saturating_add(1));
        let pause = match attempts.saturating_sub(AT_ONCE) {
            0 => 0,
            more => (1 << more.min(16)).min(LONGEST_PAUSE),
        };
        let blocked = Blocked { reason, message, attempts, retry_at: now.saturating_add(pause) };
        self.blocked.insert(workspace.to_owned(), blocked);
    }
}

/// Counts each act once, by its name, however often it is planned. Says whether any is new.
fn note_acts(recent: &mut Vec<Act>, acts: Vec<Act>) -> bool {
    if acts.is_empty() {
        return false;
    }
    let before = recent.len();
    let mut known: BTreeSet<(ActKind, String)> =
        recent.iter().map(|act| (act.kind, act.id.clone())).collect();
    recent.extend(acts.into_iter().filter(|act| known.insert((act.kind, act.id.clone()))));
    recent.len() > before
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

//! Looking ahead: a desired state against what was recorded or is there now. The planner decides; this only puts its
//! world together and says what had to be assumed.

use std::collections::BTreeMap;
use std::sync::Arc;

use kcp_api::{ClusterMode, Condition, ConditionStatus, ConditionType};
use kcp_cluster::{ConnectOptions, Connector};
use kcp_core::config::{self, Config};
use kcp_core::plan::{Plan, Problem};
use kcp_core::planner::{self, Scope};
use kcp_core::render::{self, RenderedVariant};
use kcp_core::world::{ClusterUid, ClusterView, Contact, Desired, WorkspaceState, World};
use kcp_git::{CommitId, GitCommand, Snapshot};
use kcp_reconciler::before::desired_before;
use kcp_reconciler::prepare::Preparer;
use kustomize_rs::Files;
use tokio::task::JoinSet;

use crate::error::CommandError;
use crate::member;
use crate::recorded::Recorded;
use crate::repo::{FleetRepo, unusable};
use crate::when;

/// What to look at.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// Commit or branch with the desired state; `None` is the working tree.
    pub(crate) desired: Option<String>,
    /// Commit that changed fields are shown against; `None` is the one in force.
    pub(crate) from: Option<String>,
    /// Commit of the status branch; `None` is its tip.
    pub(crate) at: Option<String>,
    /// Look at the clusters themselves.
    pub(crate) live: Option<ConnectOptions>,
    /// What the plan is for.
    pub(crate) scope: Scope,
}

/// The plan, and what it was made from.
#[derive(Debug)]
pub(crate) struct Ahead {
    /// All that the planner was told.
    pub(crate) world: World,
    /// What it says.
    pub(crate) plan: Plan,
    /// What was assumed, one line each.
    pub(crate) notes: Vec<String>,
    /// Errors of workspaces that cannot be rendered, with their places.
    pub(crate) errors: Vec<String>,
    /// What the desired state was taken from, for people.
    pub(crate) source: String,
    /// The record.
    pub(crate) recorded: Recorded,
}

impl Ahead {
    /// Problems that are findings; what only says how far things are is none.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Problem> {
        use kcp_api::Reason;
        let harmless = [
            Reason::NotPlaced,
            Reason::Retained,
            Reason::Progressing,
            Reason::Pending,
            Reason::Moving,
            Reason::Leaving,
            Reason::NotReady,
            // Told with its file and line, as an error.
            Reason::WorkspaceFailedToRender,
        ];
        self.plan.problems.iter().filter(move |problem| !harmless.contains(&problem.reason))
    }

    /// Workspaces that found too few clusters, and why; not those of which a finding says so.
    pub(crate) fn unplaced(&self) -> impl Iterator<Item = (&str, &str)> {
        self.plan.units.iter().filter_map(|(unit, plan)| {
            let name = unit.workspace.as_str();
            let is_told =
                self.findings().any(|it| it.workspace.as_deref() == Some(name) && it.object.is_none());
            Some((name, plan.unplaced.as_deref()?)).filter(|_| !is_told)
        })
    }
}

/// Looks ahead from the working tree or a commit.
///
/// # Errors
/// Every error of the fleet's documents, or whatever cannot be read.
pub(crate) async fn look(fleet: &FleetRepo, request: &Request) -> Result<Ahead, CommandError> {
    match &request.desired {
        Some(rev) => {
            let snapshot = fleet.repo.snapshot(rev)?;
            let config = config::load(&snapshot).map_err(|found| unusable(&found))?;
            let name = format!("commit {}", snapshot.commit.short());
            let place = Place { name: &name, commit: Some(snapshot.commit) };
            look_at(fleet, &snapshot, place, &config, request).await
        }
        None => {
            let files = fleet.files()?;
            let config = config::load(&files).map_err(|found| unusable(&found))?;
            let place = Place { name: "working tree", commit: committed(fleet).await };
            look_at(fleet, &files, place, &config, request).await
        }
    }
}

/// The commit that has exactly the files on disk, if one has.
async fn committed(fleet: &FleetRepo) -> Option<CommitId> {
    let dirty = GitCommand::new().dirty(&fleet.repo, &[".".to_owned()]).await.ok()?;
    let head = fleet.repo.ref_commit("HEAD").ok()?;
    head.filter(|_| dirty.is_empty())
}

/// Where a desired state comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// For people.
    pub(crate) name: &'a str,
    /// The commit that it is; `None` for what is not committed yet.
    pub(crate) commit: Option<CommitId>,
}

/// Looks ahead from any tree whose documents are valid.
pub(crate) async fn look_at(
    fleet: &FleetRepo,
    files: &dyn Files,
    place: Place<'_>,
    config: &Config,
    request: &Request,
) -> Result<Ahead, CommandError> {
    let spec = &config.fleet.value.spec;
    let recorded = Recorded::read(&fleet.repo, &spec.status, Some(&spec.id), request.at.as_deref())?;
    let mut preparer = Preparer::new();
    let before = desired_before(&mut preparer, &fleet.repo, &recorded.record.fleet, place.commit);
    let desired = preparer.prepare(place.name, files).map_err(|found| unusable(&found))?;
    let mut notes: Vec<String> = recorded
        .damaged
        .iter()
        .map(|file| format!("the record has a file that cannot be read: {file}"))
        .collect();
    let mut world = recorded.record.clone().into_world(when::now(), desired);
    let in_force = &recorded.record.fleet.source.commit;
    let is_in_force = place.commit.is_some_and(|commit| commit.to_string() == *in_force);
    let known =
        if is_in_force { Some(&world.desired) } else { before.as_ref().filter(|it| it.commit == *in_force) };
    if let Some(known) = known {
        planner::recall_secrets(&mut world.clusters, known);
    }
    world.before = before.map(Arc::new);
    assume(&mut world, &recorded, request.live.is_some(), &mut notes);
    if let Some(options) = &request.live {
        observe(&mut world, options).await;
    }
    world.baseline = baseline(fleet, &world.desired, &recorded, request.from.as_deref(), &mut notes)?;
    let plan = planner::plan_for(&world, &request.scope);
    let mut errors: Vec<String> = Vec::new();
    for state in world.desired.workspaces.values() {
        if let WorkspaceState::Failed { errors: found, .. } = state {
            errors.extend(found.iter().cloned());
        }
    }
    Ok(Ahead { world, plan, notes, errors, source: place.name.to_owned(), recorded })
}

/// What nobody saw yet is taken as reachable and empty, and that is said.
fn assume(world: &mut World, recorded: &Recorded, live: bool, notes: &mut Vec<String>) {
    let config = world.desired.config.clone();
    let mut assumed = Vec::new();
    for (name, cluster) in &config.clusters {
        if world.clusters.contains_key(name) {
            continue;
        }
        let uid = cluster.value.spec.uid.clone().unwrap_or_else(|| format!("unknown-{name}"));
        let view = ClusterView {
            contact: Contact::Live { since: world.now },
            uid: Some(ClusterUid(uid)),
            complete: true,
            ..ClusterView::default()
        };
        world.clusters.insert(name.clone(), view);
        assumed.push(name.as_str());
    }
    if live {
        return;
    }
    if !recorded.exists() {
        notes.push("nothing was recorded yet: the clusters are assumed to be reachable and empty, and their kinds are unknown".into());
    } else if !assumed.is_empty() {
        notes
            .push(format!("not in the record, so assumed to be reachable and empty: {}", assumed.join(", ")));
    }
}

/// Reads all clusters at once; one that does not answer holds up no other.
async fn observe(world: &mut World, options: &ConnectOptions) {
    let fleet = world.desired.config.fleet.value.spec.id.clone();
    let mut looks = JoinSet::new();
    for (name, cluster) in &world.desired.config.clusters {
        let Some(context) = cluster.value.spec.connection.context.clone() else { continue };
        if cluster.value.spec.mode == ClusterMode::Pull {
            continue;
        }
        let expected = cluster.value.spec.uid.clone().map(ClusterUid);
        let (name, fleet, options) = (name.clone(), fleet.clone(), options.clone());
        looks.spawn(async move {
            let view = member::observe(&Connector::new(options), &context, &fleet, expected.as_ref()).await;
            (name, view)
        });
    }
    while let Some(seen) = looks.join_next().await {
        let Ok((name, mut view)) = seen else { continue };
        if let (Contact::Lost { .. }, Some(known)) = (&view.contact, world.clusters.get(&name)) {
            // What was last known of it is still the best that is known.
            view = ClusterView { contact: view.contact, complete: false, ..known.clone() };
        }
        world.clusters.insert(name, view);
    }
}

type Baseline = BTreeMap<(String, String), Arc<RenderedVariant>>;

/// What each cluster has of each workspace, as far as commits say it: only to show which fields change.
fn baseline(
    fleet: &FleetRepo,
    desired: &Desired,
    recorded: &Recorded,
    from: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Baseline, CommandError> {
    let recorded_commit = &recorded.record.fleet.source.commit;
    let rev = match from {
        Some(rev) => rev,
        None if recorded_commit.is_empty() => return Ok(Baseline::new()),
        None => recorded_commit,
    };
    let snapshot: Snapshot = match fleet.repo.snapshot(rev) {
        Ok(snapshot) => snapshot,
        Err(error) if from.is_some() => return Err(error.into()),
        Err(_) => {
            notes.push(format!("changed fields are not shown: commit {} is not in this clone", brief(rev)));
            return Ok(Baseline::new());
        }
    };
    let Ok(config) = config::load(&snapshot) else {
        notes.push(format!(
            "changed fields are not shown: the documents of commit {} have errors",
            brief(rev)
        ));
        return Ok(Baseline::new());
    };
    let mut baseline = Baseline::new();
    for name in config.workspaces.keys() {
        let Ok(rendered) = render::render(&snapshot, &config, name) else { continue };
        for (cluster, document) in &desired.config.clusters {
            let before = config.clusters.get(cluster).unwrap_or(document);
            if let Some(variant) = rendered.for_cluster(&before.value.metadata.labels) {
                baseline.insert((cluster.clone(), name.clone()), variant.clone());
            }
        }
    }
    Ok(baseline)
}

/// The beginning of a commit id.
pub(crate) fn brief(commit: &str) -> &str {
    let is_id = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { &commit[..12] } else { commit }
}

/// A condition of a list.
pub(crate) fn condition(conditions: &[Condition], which: ConditionType) -> Option<&Condition> {
    conditions.iter().find(|condition| condition.condition_type == which)
}

/// Whether a condition of a list is true.
pub(crate) fn holds(conditions: &[Condition], which: ConditionType) -> bool {
    condition(conditions, which).is_some_and(|it| it.status == ConditionStatus::True)
}

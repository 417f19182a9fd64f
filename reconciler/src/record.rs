//! What the status branch holds: the record from which a laptop plans and a restarted reconciler remembers.
//!
//! A cache, never a permission: what can be read from a live cluster wins. Only transitions are in it, no ages, so
//! that an unchanged fleet writes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use kcp_api::{ClusterStatus, WorkspaceStatus};
use kcp_core::plan::{Hold, JudgedBy, Movement, Plan, Problem, Verdict};
use kcp_core::status::Statuses;
use kcp_core::world::{Act, ClusterView, Decision, Desired, UnitId, UnixSeconds, World};
use kustomize_rs::{EntryKind, Files, FilesError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::lock::Writer;

/// Everything on the status branch but the writer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// The fleet as a whole.
    pub fleet: FleetRecord,
    /// One for each cluster, by document name.
    pub clusters: BTreeMap<String, ClusterRecord>,
    /// One for each workspace.
    pub workspaces: BTreeMap<String, WorkspaceRecord>,
    /// Deletes and moves of the last hour.
    pub history: Vec<Act>,
}

/// `fleet.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FleetRecord {
    /// `Fleet.metadata.name`.
    pub name: String,
    /// `Fleet.spec.id`.
    pub id: String,
    /// Where the desired state comes from and whether it can be read.
    pub source: SourceState,
    /// The commit that was in force before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whose `safety` judges the commit in force, if that loosens it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_by: Option<JudgedBy>,
    /// What waits for a person or a time.
    pub holds: Vec<Hold>,
    /// What is wrong and concerns no single workspace or cluster.
    pub problems: Vec<Problem>,
}

/// Where the desired state comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceState {
    /// Path or URL, without credentials.
    pub repo: String,
    /// Branch that is followed.
    pub branch: String,
    /// The commit in force: the last one that was read whole.
    pub commit: String,
    /// Why a newer state is not in force, if one is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<SourceTrouble>,
}

/// The source cannot be read, or may not be followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceTrouble {
    /// The kind of trouble.
    pub reason: kcp_api::Reason,
    /// What is wrong, with file and line where there is one, and what to do.
    pub message: String,
    /// Since when.
    pub since: UnixSeconds,
    /// The commit that is not in force, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// `clusters/<name>.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRecord {
    /// For people.
    pub status: ClusterStatus,
    /// For the planner.
    pub view: Arc<ClusterView>,
}

/// `workspaces/<name>.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRecord {
    /// For people.
    pub status: WorkspaceStatus,
    /// For the planner.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<Decision>,
    /// Why, for each cluster.
    #[serde(default)]
    pub verdicts: BTreeMap<String, Verdict>,
    /// The move in progress.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub movement: Option<Movement>,
    /// What is wrong with it.
    #[serde(default)]
    pub problems: Vec<Problem>,
}

impl Record {
    /// The record of a planned world.
    ///
    /// `views` are those of earlier records: what is in it is taken as it is, what is not is added. The caller takes
    /// out what changed, so that a record costs what changed and not what there is.
    #[must_use]
    pub fn of(
        world: &World,
        views: &mut BTreeMap<String, Arc<ClusterView>>,
        plan: &Plan,
        statuses: &Statuses,
        source: &SourceState,
    ) -> Self {
        let fleet = &world.desired.config.fleet.value;
        let mut problems: BTreeMap<&str, Vec<Problem>> = BTreeMap::new();
        for problem in &plan.problems {
            if let Some(workspace) = &problem.workspace {
                problems.entry(workspace).or_default().push(problem.clone());
            }
        }
        Self {
            fleet: FleetRecord {
                name: fleet.metadata.name.clone(),
                id: fleet.spec.id.clone(),
                source: source.clone(),
                before: world.before.as_ref().map(|before| before.commit.clone()),
                judged_by: plan.judged_by.clone(),
                holds: plan.holds.clone(),
                problems: plan
                    .problems
                    .iter()
                    .filter(|problem| problem.workspace.is_none())
                    .cloned()
                    .collect(),
            },
            clusters: statuses
                .clusters
                .iter()
                .map(|(name, status)| {
                    let view = views.entry(name.clone()).or_insert_with(|| {
                        let view = world.clusters.get(name).cloned().unwrap_or_default();
                        Arc::new(view.withholding_secrets())
                    });
                    (name.clone(), ClusterRecord { status: status.clone(), view: view.clone() })
                })
                .collect(),
            workspaces: statuses
                .workspaces
                .iter()
                .map(|(name, status)| {
                    let unit = plan.units.get(&UnitId::workspace(name));
                    let record = WorkspaceRecord {
                        status: status.clone(),
                        decision: unit.and_then(|unit| unit.decision.clone()),
                        verdicts: unit.map(|unit| unit.verdicts.clone()).unwrap_or_default(),
                        movement: unit.and_then(|unit| unit.movement.clone()),
                        problems: problems.remove(name.as_str()).unwrap_or_default(),
                    };
                    (name.clone(), record)
                })
                .collect(),
            history: world.recent.clone(),
        }
    }

    /// The files of the status branch, as JSON with a final newline.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        files.insert("fleet.json".into(), json(&self.fleet));
        files.insert("history.json".into(), json(&self.history));
        files.extend(
            self.clusters.iter().map(|(name, record)| (format!("clusters/{name}.json"), json(record))),
        );
        files.extend(
            self.workspaces.iter().map(|(name, record)| (format!("workspaces/{name}.json"), json(record))),
        );
        files
    }

    /// Reads what a status branch holds. What cannot be understood is left out and named: it is rebuilt from the
    /// clusters, and a fact that is missing can only hold an action.
    #[must_use]
    pub fn read(files: &BTreeMap<String, Vec<u8>>) -> (Self, Vec<String>) {
        let mut record = Self::default();
        let mut damaged = Vec::new();
        for (path, bytes) in files {
            let name = |folder: &str| path.strip_prefix(folder)?.strip_suffix(".json").map(String::from);
            if path == "fleet.json" {
                record.fleet = parse(path, bytes, &mut damaged).unwrap_or_default();
            } else if path == "history.json" {
                record.history = parse(path, bytes, &mut damaged).unwrap_or_default();
            } else if let Some(name) = name("clusters/") {
                record.clusters.extend(parse(path, bytes, &mut damaged).map(|cluster| (name, cluster)));
            } else if let Some(name) = name("workspaces/") {
                record.workspaces.extend(parse(path, bytes, &mut damaged).map(|workspace| (name, workspace)));
            }
        }
        (record, damaged)
    }

    /// The statuses as they were recorded.
    #[must_use]
    pub fn statuses(&self) -> Statuses {
        Statuses {
            workspaces: self
                .workspaces
                .iter()
                .map(|(name, record)| (name.clone(), record.status.clone()))
                .collect(),
            clusters: self
                .clusters
                .iter()
                .map(|(name, record)| (name.clone(), record.status.clone()))
                .collect(),
            ..Statuses::default()
        }
    }

    /// The recorded world with another desired state, at `now`.
    #[must_use]
    pub fn into_world(self, now: UnixSeconds, desired: Desired) -> World {
        let mut world = World::new(now, desired);
        world.clusters = self
            .clusters
            .into_iter()
            .map(|(name, record)| (name, Arc::unwrap_or_clone(record.view)))
            .collect();
        world.memory = self
            .workspaces
            .into_iter()
            .filter_map(|(name, record)| Some((UnitId::workspace(name), record.decision?)))
            .collect();
        world.recent = self.history;
        world
    }
}

/// The files of a record, as a status branch has them.
///
/// # Errors
/// One of them cannot be read.
pub fn read_files(tree: &dyn Files) -> Result<BTreeMap<String, Vec<u8>>, FilesError> {
    let mut files = BTreeMap::new();
    for folder in ["", "clusters", "workspaces"] {
        if tree.entry(folder)? != Some(EntryKind::Directory) {
            continue;
        }
        for entry in tree.list(folder)?.into_iter().filter(|entry| entry.kind == EntryKind::File) {
            let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
            let content = tree.read(&path)?.to_vec();
            files.insert(path, content);
        }
    }
    Ok(files)
}

/// The writer that a status branch names.
#[must_use]
pub fn read_writer(files: &BTreeMap<String, Vec<u8>>) -> Option<Writer> {
    serde_json::from_slice(files.get("writer.json")?).ok()
}

/// The file that names the writer.
#[must_use]
pub fn writer_file(writer: &Writer) -> (String, Vec<u8>) {
    ("writer.json".into(), json(writer))
}

fn json<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes =
        serde_json::to_vec_pretty(value).expect("our own records have string keys and no failing parts");
    bytes.push(b'\n');
    bytes
}

fn parse<T: DeserializeOwned>(path: &str, bytes: &[u8], damaged: &mut Vec<String>) -> Option<T> {
    serde_json::from_slice(bytes).map_err(|error| damaged.push(format!("{path}: {error}"))).ok()
}

#[cfg(test)]
mod tests {
    use kcp_core::object::ObjectKey;
    use kcp_core::world::{Contact, Failure, Foreign, ObservedSet};

    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_damage_is_named() {
        let key = |name: &str| ObjectKey {
            group: "rbac.authorization.k8s.io".into(),
            kind: "ClusterRole".into(),
            namespace: String::new(),
            name: name.into(),
        };
        let mut view = ClusterView { contact: Contact::Live { since: 7 }, ..ClusterView::default() };
        view.sets.insert("shop".into(), ObservedSet::default());
        let foreign = Foreign { uid: "u".into(), owner: "flux".into(), managers: vec!["flux".into()] };
        view.foreign.insert(key("system:reader"), foreign);
        let mut record = Record::default();
        record
            .clusters
            .insert("eu-1".into(), ClusterRecord { status: ClusterStatus::default(), view: Arc::new(view) });
        let mut files = record.files();
        assert_eq!(Record::read(&files), (record.clone(), vec![]));
        assert_eq!(with_attempts(1), with_attempts(2), "another attempt is nothing to publish");
        files.insert("clusters/eu-1.json".into(), b"{".to_vec());
        let (read, damaged) = Record::read(&files);
        assert!(read.clusters.is_empty());
        assert!(damaged[0].starts_with("clusters/eu-1.json: "), "{damaged:?}");
    }

    /// The files of a record in which one object failed so many times.
    fn with_attempts(attempts: u32) -> BTreeMap<String, Vec<u8>> {
        let failure = Failure {
            workspace: "shop".into(),
            hash: None,
            reason: kcp_api::Reason::Forbidden,
            message: "no".into(),
            since: 1,
            retry_at: i64::from(attempts),
            attempts,
        };
        let key =
            ObjectKey { group: String::new(), kind: "Pod".into(), namespace: "a".into(), name: "b".into() };
        let view = ClusterView { failures: [(key, failure)].into(), ..ClusterView::default() };
        let cluster = ClusterRecord { status: ClusterStatus::default(), view: Arc::new(view) };
        Record { clusters: [("eu-1".into(), cluster)].into(), ..Record::default() }.files()
    }
}

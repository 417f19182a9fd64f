//! The fleet's own documents: read from the repo, checked one by one and against each other, with all errors at once.
//!
//! A [`Config`] exists only if everything in it is valid, so nobody after this checks again. Reads through
//! [`Files`] only.

mod check;
mod read;
#[cfg(test)]
mod tests;
mod workspace;

/// An error of the fleet's documents, with its place.
pub use yaml_span::Diagnostic;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use kcp_api::{Approval, Cluster, Fleet, Placement, SyncPolicy, SyncPolicySpec, Tenant};
use kustomize_rs::Files;

use crate::object::Origin;
pub use workspace::{WORKSPACE_FILE, WorkspaceConfig};

/// The file that makes a repo a fleet.
pub const FLEET_FILE: &str = "kcp.yaml";

/// The policy that applies where none is named.
pub const DEFAULT_POLICY: &str = "default";

/// A document and the place where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// The document.
    pub value: T,
    /// Path in the repo.
    pub file: String,
    /// Line of its first field, from 1.
    pub line: u32,
}

impl<T> Located<T> {
    /// The place, for a plan.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin { file: self.file.clone(), line: self.line }
    }
}

/// All documents of one commit, by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The fleet.
    pub fleet: Located<Fleet>,
    /// Clusters by the name of their document.
    pub clusters: BTreeMap<String, Located<Cluster>>,
    /// Workspaces by the name of their folder.
    pub workspaces: BTreeMap<String, WorkspaceConfig>,
    /// Placements by name. No workspace is claimed by two of them.
    pub placements: BTreeMap<String, Located<Placement>>,
    /// Sync policies by name; ask with [`Config::policy`].
    pub policies: BTreeMap<String, Located<SyncPolicy>>,
    /// Approvals by name.
    pub approvals: BTreeMap<String, Located<Approval>>,
    /// Tenants by name.
    pub tenants: BTreeMap<String, Located<Tenant>>,
}

static BUILT_IN_POLICY: LazyLock<SyncPolicySpec> = LazyLock::new(SyncPolicySpec::default);

impl Config {
    /// The rules of a sync policy. A name that no document has gives the defaults; [`load`] makes sure that this
    /// can only be `default`.
    #[must_use]
    pub fn policy(&self, name: &str) -> &SyncPolicySpec {
        self.policies.get(name).map_or(&BUILT_IN_POLICY, |policy| &policy.value.spec)
    }

    /// The placement that claims a workspace, by name or by its labels.
    #[must_use]
    pub fn placement_of(&self, workspace: &str) -> Option<&Located<Placement>> {
        let workspace = self.workspaces.get(workspace)?;
        self.placements.values().find(|it| claims(&it.value, &workspace.name, workspace.labels()))
    }
}

/// Whether a placement names a workspace or selects its labels.
fn claims(placement: &Placement, workspace: &str, labels: &BTreeMap<String, String>) -> bool {
    let wanted = &placement.spec.workspaces;
    wanted.names.iter().any(|name| name == workspace)
        || wanted.selector.as_ref().is_some_and(|selector| selector.matches(labels))
}

/// Reads and checks all documents of a repo.
///
/// # Errors
/// Everything that is wrong in any of them, in the order of files and lines: text that is not YAML, unknown fields,
/// wrong values, duplicate names, references to what is not there, two claims on one workspace or cluster.
pub fn load(files: &dyn Files) -> Result<Config, Vec<Diagnostic>> {
    let mut found = Vec::new();
    let read = read::read(files, &mut found);
    let config = read.and_then(|read| {
        check::check(files, &read, &mut found);
        read.into_config()
    });
    let mut seen = BTreeSet::new();
    found.retain(|it: &Diagnostic| seen.insert((it.file.clone(), it.line, it.column, it.to_string())));
    found.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    match config {
        Some(config) if found.is_empty() => Ok(config),
        _ => Err(found),
    }
}

//! What is known of a workspace before it is rendered: its folder, and its document if it has one.

use std::collections::BTreeMap;

use kcp_api::{Variant, Workspace};

use super::Located;
use crate::object::Origin;

/// The file of a workspace's folder that holds its document.
pub const WORKSPACE_FILE: &str = "workspace.yaml";

/// One folder of manifests.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceConfig {
    /// Name of the folder, and of the workspace.
    pub name: String,
    /// The folder, as in `workspaces/shop`.
    pub dir: String,
    /// Its `workspace.yaml`, if there is one.
    pub document: Option<Located<Workspace>>,
}

static NO_LABELS: BTreeMap<String, String> = BTreeMap::new();

impl WorkspaceConfig {
    /// Its labels; none without a document.
    #[must_use]
    pub fn labels(&self) -> &BTreeMap<String, String> {
        self.document.as_ref().map_or(&NO_LABELS, |it| &it.value.metadata.labels)
    }

    /// The namespace of objects that name none; `None` makes such objects an error.
    #[must_use]
    pub fn default_namespace(&self) -> Option<&str> {
        self.document.as_ref()?.value.spec.default_namespace.as_deref().filter(|name| !name.is_empty())
    }

    /// Whether the namespaces in use are made where the manifests do not.
    #[must_use]
    pub fn create_namespaces(&self) -> bool {
        self.document.as_ref().is_some_and(|it| it.value.spec.create_namespaces)
    }

    /// What is rendered for which cluster, first fit first; empty means the folder as it is, for all.
    #[must_use]
    pub fn variants(&self) -> &[Variant] {
        self.document.as_ref().map_or(&[], |it| &it.value.spec.variants)
    }

    /// Where it is described: its document, or else its folder.
    #[must_use]
    pub fn origin(&self) -> Origin {
        match &self.document {
            Some(document) => document.origin(),
            None => Origin { file: self.dir.clone(), line: 0 },
        }
    }
}

//! From a workspace's folder to the objects that each cluster gets.
//!
//! [`render`] builds each variant once per commit; [`bundle`] makes of it what one cluster gets, by the rules for
//! namespaces, marks and order. Pure: reads only through [`Files`].

mod bundle;
mod ignore;
mod normalise;
mod order;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use kcp_api::LabelSelector;
use kustomize_rs::{Files, Options, build, is_kustomization, load_plain};
use serde_json::Value;
use yaml_span::Diagnostic;

use crate::config::Config;
use crate::object::{GroupKind, Origin};
pub use bundle::{Bundle, bundle};
pub use order::{LAST_PHASE, phase};

/// A workspace, rendered whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rendered {
    /// Name of the workspace.
    pub workspace: String,
    /// Variants by name; one called `""` where the workspace has none.
    pub variants: BTreeMap<String, Arc<RenderedVariant>>,
    /// Which variant goes to which cluster: the first that fits.
    pub choices: Vec<Choice>,
}

/// One rule of [`Rendered::for_cluster`].
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Which clusters; `None` fits all.
    pub selector: Option<LabelSelector>,
    /// Name of the variant.
    pub variant: String,
}

impl Rendered {
    /// The variant for a cluster with these labels: the first that fits. `None` means that the workspace has nothing
    /// for such a cluster, which is a problem to report, not an empty set.
    #[must_use]
    pub fn for_cluster(&self, labels: &BTreeMap<String, String>) -> Option<&Arc<RenderedVariant>> {
        let fits =
            |choice: &&Choice| choice.selector.as_ref().is_none_or(|selector| selector.matches(labels));
        self.variants.get(&self.choices.iter().find(fits)?.variant)
    }
}

/// The objects of one variant, normalised, in the order of the files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderedVariant {
    /// Its name; `""` where the workspace has no variants.
    pub name: String,
    /// The objects.
    pub objects: Vec<RenderedObject>,
    /// Kinds that CRDs of this very set define: whether they are namespaced.
    pub crds: BTreeMap<GroupKind, bool>,
    /// Built by kustomize, which writes `namespace` into cluster-scoped objects of unknown kinds.
    pub kustomized: bool,
}

/// One object as it was rendered, before it is made for a cluster.
#[derive(Clone, PartialEq)]
pub struct RenderedObject {
    /// API group; empty for the core group.
    pub group: String,
    /// Version without the group.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Namespace as written, if any.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// The whole object.
    pub body: Arc<Value>,
    /// Where it was written.
    pub origin: Origin,
}

impl std::fmt::Debug for RenderedObject {
    /// Identity and place only: the body may be a Secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = GroupKind::new(&self.group, &self.kind);
        write!(f, "{kind} {}/{} ({})", self.namespace.as_deref().unwrap_or_default(), self.name, self.origin)
    }
}

/// Renders all variants of a workspace.
///
/// # Errors
/// Everything that is wrong in its manifests, each with its place; also a name that the config does not have. Nothing
/// is rendered in part: what is on clusters stays as it is until the whole of it can be read.
pub fn render(files: &dyn Files, config: &Config, workspace: &str) -> Result<Rendered, Vec<Diagnostic>> {
    let Some(workspace) = config.workspaces.get(workspace) else {
        let message = format!("there is no workspace `{workspace}`");
        return Err(vec![whole_file(&config.fleet.value.spec.paths.workspaces, message)]);
    };
    let mut rendered = Rendered { workspace: workspace.name.clone(), ..Rendered::default() };
    let mut found = Vec::new();
    let mut add = |name: &str, dir: &str, selector: Option<&LabelSelector>| {
        match variant(files, name, dir) {
            Ok(variant) => drop(rendered.variants.insert(name.to_owned(), Arc::new(variant))),
            Err(errors) => found.extend(errors),
        }
        rendered.choices.push(Choice { selector: selector.cloned(), variant: name.to_owned() });
    };
    if workspace.variants().is_empty() {
        add("", &workspace.dir, None);
    }
    for it in workspace.variants() {
        add(&it.name, &variant_dir(&workspace.dir, it.path.as_deref()), it.cluster_selector.as_ref());
    }
    // Variants share files: one mistake in a base is told once.
    let mut told = std::collections::BTreeSet::new();
    found.retain(|it| told.insert(it.to_string()));
    if found.is_empty() { Ok(rendered) } else { Err(found) }
}

/// The folder of a variant.
pub(crate) fn variant_dir(dir: &str, path: Option<&str>) -> String {
    let names = path.unwrap_or_default().split('/').filter(|name| !matches!(*name, "" | "."));
    names.fold(dir.to_owned(), |dir, name| format!("{dir}/{name}"))
}

fn variant(files: &dyn Files, name: &str, dir: &str) -> Result<RenderedVariant, Vec<Diagnostic>> {
    let options = Options::default();
    let kustomized = is_kustomization(files, dir).map_err(located)?;
    let built = if kustomized { build(files, dir, &options) } else { load_plain(files, dir, &options) };
    let (mut objects, mut crds, mut found) = (Vec::new(), BTreeMap::new(), Vec::new());
    for resource in built.map_err(located)? {
        let origin = Origin { file: resource.origin.file, line: resource.origin.line };
        match normalise::normalise(Arc::unwrap_or_clone(resource.value), origin) {
            Ok(object) => {
                crds.extend(normalise::defined_kind(&object));
                objects.push(object);
            }
            Err(errors) => found.extend(errors),
        }
    }
    if !found.is_empty() {
        return Err(found);
    }
    Ok(RenderedVariant { name: name.to_owned(), objects, crds, kustomized })
}

/// Problems of kustomize-rs in the form that all errors of a repo have.
fn located(error: kustomize_rs::Error) -> Vec<Diagnostic> {
    let problems = error.problems.into_iter();
    problems
        .map(|problem| Diagnostic {
            line: problem.line.max(1) as usize,
            column: problem.column.max(1) as usize,
            ..whole_file(&problem.file, problem.message)
        })
        .collect()
}

/// A finding about a file or folder as a whole.
pub(crate) fn whole_file(file: &str, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        file: file.to_owned(),
        line: 1,
        column: 1,
        path: String::new(),
        message: message.into(),
        help: None,
    }
}

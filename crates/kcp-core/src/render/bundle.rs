//! What one cluster gets of a rendered variant: namespaces settled, marked as ours, in the order of applying.
//!
//! An object that cannot be made is a problem and is withheld; the others go on. What is withheld is still desired:
//! whatever of it is on a cluster stays there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kcp_api::{
    ANNOTATION_COMMIT, ANNOTATION_IGNORE, ANNOTATION_PLACEMENT, ANNOTATION_SOURCE, ANNOTATION_WORKSPACE,
    Reason, SyncPolicySpec,
};
use serde_json::{Map, Value, json};

use super::{RenderedObject, RenderedVariant, ignore, phase};
use crate::applyset::{PARENT_NAMESPACE, PART_OF_LABEL};
use crate::config::WorkspaceConfig;
use crate::object::{ContentHash, GroupKind, Object, ObjectKey, Origin};
use crate::plan::Problem;
use crate::scopes;

/// There in every cluster, made by its control plane: never ours to create.
const ALWAYS_THERE: [&str; 4] = ["default", "kube-system", "kube-public", "kube-node-lease"];

/// The objects of one workspace for one cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bundle {
    /// The objects, in the order of applying; no two have one key.
    pub objects: Vec<Object>,
    /// Namespaces among `objects` that no manifest has: made because `createNamespaces` says so. Workspaces may
    /// share them.
    pub implied: BTreeSet<ObjectKey>,
    /// What could not be made, each with its place. The cluster's name is for the caller to fill in.
    pub problems: Vec<Problem>,
    /// Desired objects that are not in `objects`: with a problem, or marked to be ignored. Their namespace is empty
    /// where it is not known.
    pub withheld: BTreeSet<ObjectKey>,
}

impl Bundle {
    /// Whether an object on a cluster may be one that git still has and that could not be made or is to be ignored:
    /// such an object is never deleted.
    #[must_use]
    pub fn withholds(&self, key: &ObjectKey) -> bool {
        self.withheld.contains(key)
            || self.withheld.contains(&ObjectKey { namespace: String::new(), ..key.clone() })
    }
}

/// Makes the bundle of one workspace for one cluster.
///
/// `scopes` says what is known of a kind on that cluster: namespaced or not, `None` for not known. `part_of` is the id
/// of the set ([`set_id`](crate::applyset::set_id)).
#[must_use]
pub fn bundle(
    variant: &RenderedVariant,
    workspace: &WorkspaceConfig,
    placement: &str,
    policy: &SyncPolicySpec,
    scopes: &dyn Fn(&GroupKind) -> Option<bool>,
    part_of: &str,
    commit: &str,
) -> Bundle {
    let maker = Maker { variant, workspace, placement, policy, scopes, part_of, commit };
    let mut out = Bundle::default();
    let mut made: BTreeMap<ObjectKey, Vec<&RenderedObject>> = BTreeMap::new();
    for object in &variant.objects {
        let ignored = annotation(&object.body, ANNOTATION_IGNORE) == Some("true");
        match maker.key(object) {
            Ok(key) if ignored => drop(out.withheld.insert(key)),
            Ok(key) => made.entry(key).or_default().push(object),
            Err(_) if ignored => drop(out.withheld.insert(as_written(object))),
            Err((reason, message)) => {
                out.withheld.insert(as_written(object));
                out.problems.push(maker.problem(reason, as_written(object), &object.origin, message));
            }
        }
    }
    for (key, objects) in made {
        if let [object] = objects.as_slice() {
            out.objects.push(maker.object(
                key,
                object.version.clone(),
                (*object.body).clone(),
                object.origin.clone(),
            ));
            continue;
        }
        // Which of them is meant is not ours to guess.
        out.withheld.insert(key.clone());
        for (index, object) in objects.iter().enumerate() {
            let others: Vec<String> = objects
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index)
                .map(|(_, other)| other.origin.to_string())
                .collect();
            let message = format!("{key} is also defined at {}; keep one of them", others.join(" and "));
            out.problems.push(maker.problem(Reason::InvalidObject, key.clone(), &object.origin, message));
        }
    }
    if workspace.create_namespaces() {
        maker.add_namespaces(&mut out);
    }
    out.objects.sort_by_cached_key(|object| (phase(&object.key.group_kind()), object.key.clone()));
    out.problems.sort();
    out
}

/// The identity as the manifest has it, where the real one cannot be told.
fn as_written(object: &RenderedObject) -> ObjectKey {
    ObjectKey {
        group: object.group.clone(),
        kind: object.kind.clone(),
        namespace: object.namespace.clone().unwrap_or_default(),
        name: object.name.clone(),
    }
}

fn annotation<'a>(body: &'a Value, name: &str) -> Option<&'a str> {
    body.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

struct Maker<'a> {
    variant: &'a RenderedVariant,
    workspace: &'a WorkspaceConfig,
    placement: &'a str,
    policy: &'a SyncPolicySpec,
    scopes: &'a dyn Fn(&GroupKind) -> Option<bool>,
    part_of: &'a str,
    commit: &'a str,
}

impl Maker<'_> {
    /// The identity that an object has on the cluster, by the rules for namespaces.
    fn key(&self, object: &RenderedObject) -> Result<ObjectKey, (Reason, String)> {
        let kind = GroupKind::new(&object.group, &object.kind);
        let namespaced = (self.scopes)(&kind)
            .or_else(|| self.variant.crds.get(&kind).copied())
            .or_else(|| scopes::built_in(&kind));
        let namespace = match (namespaced, &object.namespace) {
            (None, _) => {
                let message = format!(
                    "the cluster does not serve {kind}, and no CRD of this workspace defines it; install its CRD, or \
                     place the workspace elsewhere"
                );
                return Err((Reason::KindMissing, message));
            }
            (Some(true), Some(namespace)) => namespace.clone(),
            (Some(true), None) => match self.workspace.default_namespace() {
                Some(namespace) => namespace.to_owned(),
                None => {
                    let message = format!(
                        "{kind} {} names no namespace; write metadata.namespace, or spec.defaultNamespace in \
                         {}/workspace.yaml",
                        object.name, self.workspace.dir
                    );
                    return Err((Reason::NamespaceMissing, message));
                }
            },
            // kustomize writes a namespace into kinds it does not know; there it is no sign of a mistake.
            (Some(false), Some(namespace)) if !self.variant.kustomized => {
                let message = format!(
                    "{kind} {} is cluster-scoped and names the namespace {namespace}; remove metadata.namespace",
                    object.name
                );
                return Err((Reason::InvalidObject, message));
            }
            (Some(false), _) => String::new(),
        };
        let (group, kind, name) = (object.group.clone(), object.kind.clone(), object.name.clone());
        if group.is_empty() && kind == "Secret" && namespace == PARENT_NAMESPACE && name.starts_with("kcp-") {
            let message =
                format!("the Secrets kcp-* in namespace {PARENT_NAMESPACE} are our own records; rename it");
            return Err((Reason::InvalidObject, message));
        }
        Ok(ObjectKey { group, kind, namespace, name })
    }

    /// The object as it is sent.
    fn object(&self, key: ObjectKey, version: String, mut body: Value, origin: Origin) -> Object {
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            if key.namespace.is_empty() {
                metadata.remove("namespace");
            } else {
                metadata.insert("namespace".to_owned(), json!(key.namespace));
            }
        }
        ignore::apply(&self.policy.apply.ignore_fields, &key, &mut body);
        mark(&mut body, "labels", PART_OF_LABEL, self.part_of);
        mark(&mut body, "annotations", ANNOTATION_WORKSPACE, &self.workspace.name);
        // The others change without a change of content, so they come after the hash.
        let hash = ContentHash::of_value(&body);
        mark(&mut body, "annotations", ANNOTATION_PLACEMENT, self.placement);
        mark(&mut body, "annotations", ANNOTATION_COMMIT, self.commit);
        mark(&mut body, "annotations", ANNOTATION_SOURCE, &origin.file);
        Object { key, version, body: Arc::new(body), hash, origin }
    }

    /// A Namespace for each namespace in use that the manifests do not have.
    fn add_namespaces(&self, out: &mut Bundle) {
        let used: BTreeSet<String> = out.objects.iter().map(|object| object.key.namespace.clone()).collect();
        for name in used.into_iter().filter(|it| !it.is_empty() && !ALWAYS_THERE.contains(&it.as_str())) {
            let key = ObjectKey {
                group: String::new(),
                kind: "Namespace".to_owned(),
                namespace: String::new(),
                name: name.clone(),
            };
            if out.withheld.contains(&key) || out.objects.iter().any(|object| object.key == key) {
                continue;
            }
            let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
            out.objects.push(self.object(key.clone(), "v1".to_owned(), body, self.workspace.origin()));
            out.implied.insert(key);
        }
    }

    fn problem(&self, reason: Reason, object: ObjectKey, origin: &Origin, message: String) -> Problem {
        Problem {
            reason,
            workspace: Some(self.workspace.name.clone()),
            cluster: None,
            object: Some(object),
            origin: Some(origin.clone()),
            message,
        }
    }
}

/// Writes one label or annotation.
fn mark(body: &mut Value, field: &str, key: &str, value: &str) {
    let Some(Value::Object(metadata)) = body.get_mut("metadata") else { return };
    let entries = metadata.entry(field).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(entries) = entries {
        entries.insert(key.to_owned(), json!(value));
    }
}

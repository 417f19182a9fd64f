//! `namespace`: into every namespaced object, and into the references that follow it.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::field_path::Field;
use crate::item::Item;

const REFERENCES: &[Field<'static>] = &[
    Field {
        group: "apiregistration.k8s.io",
        version: "",
        kind: "APIService",
        path: "spec/service/namespace",
        create: true,
    },
    Field {
        group: "apiextensions.k8s.io",
        version: "",
        kind: "CustomResourceDefinition",
        path: "spec/conversion/webhook/clientConfig/service/namespace",
        create: false,
    },
];

/// Moves an object into the namespace.
pub(crate) fn set(item: &mut Item, namespace: &str) -> Result<(), String> {
    item.remember();
    let resource = &mut item.resource;
    let (group, version, kind) =
        (resource.group().to_owned(), resource.version().to_owned(), resource.kind().to_owned());
    let cluster_scoped = resource.is_cluster_scoped();
    let value = &mut resource.value;
    let text = Value::String(namespace.into());
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        if group.is_empty() && kind == "Namespace" {
            metadata.insert("name".into(), text.clone());
        } else if !cluster_scoped {
            metadata.insert("namespace".into(), text.clone());
        }
    }
    if is_role_binding(&kind) {
        for subject in subjects(value).filter(|subject| subject.get("name") == Some(&Value::from("default")))
        {
            subject.insert("namespace".into(), text.clone());
        }
    }
    for field in REFERENCES.iter().filter(|field| field.applies_to(&group, &version, &kind)) {
        field.visit(value, &text, &mut |found| *found = text.clone()).map_err(|name| {
            format!("{} is not a mapping, on the way to {name}", field.path.replace('/', "."))
        })?;
    }
    Ok(())
}

/// What names another object together with its namespace follows that object to the namespace it has now: subjects of
/// role bindings, services of webhooks.
pub(crate) fn follow(items: &mut [Item]) {
    let moved = Moved::new(items);
    if moved.is_empty() {
        return;
    }
    for item in items {
        let kind = item.resource.kind().to_owned();
        let home = item.resource.namespace().map(str::to_owned);
        let value = &mut item.resource.value;
        if is_role_binding(&kind) {
            for subject in subjects(value) {
                if subject.get("kind").is_none_or(|kind| kind == "ServiceAccount") {
                    moved.follow("ServiceAccount", subject, home.as_deref());
                }
            }
        } else if matches!(kind.as_str(), "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") {
            let path = "webhooks/clientConfig/service";
            let field = Field { group: "", version: "", kind: "", path, create: false };
            // A webhook without a service is reached by its URL.
            let _ = field.visit(value, &Value::Null, &mut |service| {
                if let Value::Object(service) = service {
                    moved.follow("Service", service, None);
                }
            });
        }
    }
}

/// Where objects that can be followed were at first and are now, by kind and name.
struct Moved(HashMap<(&'static str, String), Vec<(String, String)>>);

impl Moved {
    /// Only objects that a kustomization moved, or might have: what stayed where it was written needs no following.
    fn new(items: &[Item]) -> Self {
        let mut moved: HashMap<_, Vec<_>> = HashMap::new();
        for item in items {
            let kind = match (item.resource.group(), item.resource.kind()) {
                ("", "ServiceAccount") => "ServiceAccount",
                ("", "Service") => "Service",
                _ => continue,
            };
            let (Some(first), Some(now)) = (item.previous.first(), item.resource.namespace()) else {
                continue;
            };
            let key = (kind, item.resource.name().to_owned());
            moved.entry(key).or_default().push((first.namespace.clone(), now.to_owned()));
        }
        Self(moved)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A reference with a namespace means the object that was there at first; one without means the one beside it, or,
    /// from outside namespaces, the only one there is.
    fn follow(&self, kind: &'static str, reference: &mut Map<String, Value>, home: Option<&str>) {
        let Some(name) = reference.get("name").and_then(Value::as_str) else { return };
        let Some(candidates) = self.0.get(&(kind, name.to_owned())) else { return };
        let written = reference.get("namespace").and_then(Value::as_str);
        let meant = |(first, now): &&(String, String)| match (written, home) {
            (Some(written), _) => first == written,
            (None, Some(home)) => now == home,
            (None, None) => true,
        };
        let mut found = candidates.iter().filter(meant);
        if let (Some((_, now)), None) = (found.next(), found.next()) {
            reference.insert("namespace".into(), Value::String(now.clone()));
        }
    }
}

fn is_role_binding(kind: &str) -> bool {
    matches!(kind, "RoleBinding" | "ClusterRoleBinding")
}

fn subjects(value: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let subjects = value.get_mut("subjects").and_then(Value::as_array_mut).map(Vec::as_mut_slice);
    subjects.unwrap_or_default().iter_mut().filter_map(Value::as_object_mut)
}

//! `namespace`: into every namespaced object, and into the few fields that always go with it. References to objects
//! follow later, in [`crate::references`].

use serde_json::{Map, Value};

use crate::field_path::Field;
use crate::item::Item;

/// Which subjects of role bindings are moved as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Subjects {
    /// Those named `default`.
    #[default]
    Default,
    /// All service accounts.
    All,
    /// None.
    Untouched,
}

/// Where objects are moved to, and how.
#[derive(Debug)]
pub(crate) struct Move<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) fields: &'a [Field],
    pub(crate) subjects: Subjects,
    /// Leaves alone what has a namespace already.
    pub(crate) unset_only: bool,
}

impl Move<'_> {
    /// Moves an object into the namespace.
    pub(crate) fn apply(&self, item: &mut Item) -> Result<(), String> {
        item.remember();
        self.put_in(item)
    }

    /// The same, where nothing is to remember that the object was elsewhere.
    pub(crate) fn put_in(&self, item: &mut Item) -> Result<(), String> {
        let resource = &mut item.resource;
        let cluster_scoped = resource.is_cluster_scoped();
        let core = resource.api_version() == "v1";
        let binding = matches!(resource.kind(), "RoleBinding" | "ClusterRoleBinding");
        let fields: Vec<&Field> = self.fields.iter().filter(|field| field.is_of(resource)).collect();
        if cluster_scoped && !binding && fields.is_empty() {
            return Ok(());
        }
        let value = resource.value_mut();
        if !cluster_scoped && let Some(Value::Object(metadata)) = value.get_mut("metadata") {
            self.set_in(metadata);
        }
        if binding {
            self.subjects(value)?;
        }
        let empty = Value::String(String::new());
        for field in fields {
            let own = field.path == "metadata/namespace" || (field.path == "metadata/name" && !core);
            if own || (binding && field.path == "subjects/namespace") {
                continue;
            }
            let visited = field.visit(value, Some(&empty), &mut |found| match found {
                Value::Object(_) | Value::Array(_) => Err("not a single value".into()),
                found => {
                    self.set(found);
                    Ok(())
                }
            });
            visited.map_err(|why| format!("{}: {why}", field.path.replace('/', ".")))?;
        }
        Ok(())
    }

    fn set(&self, found: &mut Value) {
        let is_set = !found.is_null() && found.as_str() != Some("");
        if !(self.unset_only && is_set) {
            *found = Value::String(self.namespace.into());
        }
    }

    fn set_in(&self, map: &mut Map<String, Value>) {
        self.set(map.entry("namespace").or_insert(Value::Null));
    }

    fn subjects(&self, value: &mut Value) -> Result<(), String> {
        if self.subjects == Subjects::Untouched {
            return Ok(());
        }
        let subjects = match value.get_mut("subjects") {
            Some(Value::Array(subjects)) => subjects,
            None | Some(Value::Null) => return Ok(()),
            Some(_) => return Err("subjects: not a list".into()),
        };
        for subject in subjects {
            let Value::Object(subject) = subject else {
                return Err("subjects: an item that is not a mapping".into());
            };
            let moved = match self.subjects {
                Subjects::All => subject.get("kind") == Some(&Value::from("ServiceAccount")),
                _ => subject.get("name") == Some(&Value::from("default")),
            };
            if moved {
                self.set_in(subject);
            }
        }
        Ok(())
    }
}

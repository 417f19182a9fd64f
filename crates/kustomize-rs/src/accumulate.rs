//! Objects put together: each identity once, and generated objects taken into those that are there already.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::Problem;
use crate::config::Config;
use crate::item::{Id, Item};
use crate::kustomization::Behavior;
use crate::marks::{Marks, Place};
use crate::vars::Brought;

/// What a directory gives to the one that includes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accumulated {
    pub(crate) items: Vec<Item>,
    /// `None` while nothing was said.
    pub(crate) config: Option<Arc<Config>>,
    pub(crate) vars: Vec<Brought>,
    /// What is no error and should be told.
    pub(crate) warnings: Vec<Problem>,
}

/// Why a generated object cannot be taken in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AbsorbError {
    /// `behavior` is merge or replace, and nothing is there.
    Nothing,
    /// `behavior` is create, and something is there.
    Exists {
        /// Where it was written.
        place: String,
    },
    /// Several are or were called so.
    Several,
}

/// Which objects have or had an identity.
pub(crate) struct Index {
    by_id: HashMap<Id, Vec<usize>>,
}

impl Index {
    pub(crate) fn of(items: &[Item]) -> Self {
        let mut index = Self { by_id: HashMap::with_capacity(items.len()) };
        for (position, item) in items.iter().enumerate() {
            index.add(position, item);
        }
        index
    }

    fn add(&mut self, position: usize, item: &Item) {
        for id in item.all_ids() {
            let found = self.by_id.entry(id).or_default();
            if found.last() != Some(&position) {
                found.push(position);
            }
        }
    }

    /// Takes a generated object in, as its behavior says.
    pub(crate) fn absorb(&mut self, items: &mut Vec<Item>, item: Item, dir: &str) -> Result<(), AbsorbError> {
        let found = self.by_id.get(&item.id()).map(Vec::as_slice).unwrap_or_default();
        match (found, item.behavior) {
            ([], Behavior::Create) => {
                self.add(items.len(), &item);
                items.push(item);
                Ok(())
            }
            ([], _) => Err(AbsorbError::Nothing),
            ([position], Behavior::Create) => Err(AbsorbError::Exists {
                place: items.get(*position).map(|it| it.place(dir)).unwrap_or_default(),
            }),
            ([position], behavior) => {
                let position = *position;
                if let Some(old) = items.get_mut(position) {
                    take_over(old, item, behavior == Behavior::Merge);
                    self.add(position, old);
                }
                Ok(())
            }
            _ => Err(AbsorbError::Several),
        }
    }
}

/// Puts a generated object in the place of `old`, which keeps its name, namespace and history.
fn take_over(old: &mut Item, new: Item, merge: bool) {
    let Item { mut resource, hashed, marks, mut history, .. } = new;
    history.succeed(&old.history, merge);
    old.history = history;
    let before = old.resource.value.clone();
    let part = |value: &Value, field: &str| value.get("metadata").and_then(|it| it.get(field)).cloned();
    let (name, namespace) = (part(&before, "name"), part(&before, "namespace"));
    let metadata = Place::ROOT.key("metadata");
    let union = |field: &str, own: &Value| {
        let mut both = strings(part(&before, field).as_ref(), metadata.key(field), &old.marks);
        both.extend(strings(part(own, field).as_ref(), metadata.key(field), &marks));
        both
    };
    let (labels, annotations) = (union("labels", &resource.value), union("annotations", &resource.value));
    let value = resource.value_mut();
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        for (field, content) in [("labels", labels), ("annotations", annotations)] {
            set_or_clear(metadata, field, content);
        }
        for (field, text) in [("name", name), ("namespace", namespace)] {
            match text.filter(|text| !text.is_null()) {
                Some(text) => drop(metadata.insert(field.into(), text)),
                None => drop(metadata.shift_remove(field)),
            }
        }
    }
    if merge && let Value::Object(object) = value {
        for field in ["data", "binaryData"] {
            let mut both = strings(before.get(field), Place::ROOT.key(field), &old.marks);
            both.extend(strings(object.get(field), Place::ROOT.key(field), &marks));
            set_or_clear(object, field, both);
        }
    }
    if merge {
        resource.origin = old.resource.origin.clone();
    }
    old.resource = resource;
    old.marks = marks;
    // A hash only where both want one.
    old.hashed &= hashed;
}

/// A mapping as the reference reads labels and data: all values are text, as they were written.
fn strings(map: Option<&Value>, place: Place, marks: &Marks) -> Map<String, Value> {
    let text = |key: &str, value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Object(_) | Value::Array(_) => String::new(),
        other => marks.text(place.key(key), other),
    };
    let map = map.and_then(Value::as_object).into_iter().flatten();
    map.map(|(key, value)| (key.clone(), Value::String(text(key, value)))).collect()
}

fn set_or_clear(object: &mut Map<String, Value>, field: &str, content: Map<String, Value>) {
    if content.is_empty() {
        object.shift_remove(field);
    } else {
        object.insert(field.into(), Value::Object(content));
    }
}

//! Pruning: which fields an API server drops without a word.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{Additional, Node, ObjectPath, Schema, Step};

/// The fields of every object, which no schema needs to name.
pub(super) const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops from `value` what `schema` does not describe and returns where, nulls not counted. With `resource`, the value is a
/// whole object: apiVersion, kind and metadata stay as they are.
///
/// Not for values nested deeper than some hundred levels: inside `additionalProperties: true` it follows the value.
pub fn prune(value: &mut Value, schema: &Schema, resource: bool) -> Vec<ObjectPath> {
    let mut pruner = Pruner { path: Vec::new(), dropped: Vec::new() };
    if schema.preserve_unknown {
        pruner.keep_unknown(value, schema, resource);
    } else {
        pruner.known_only(value, schema, resource);
    }
    pruner.dropped
}

struct Pruner {
    path: Vec<Step>,
    dropped: Vec<ObjectPath>,
}

impl Pruner {
    fn within(&mut self, step: Step, work: impl FnOnce(&mut Self)) {
        self.path.push(step);
        work(self);
        self.path.pop();
    }

    fn drop_field(&mut self, key: &str, value: &Value) {
        if !value.is_null() {
            let mut path = self.path.clone();
            path.push(Step::Field(Arc::from(key)));
            self.dropped.push(ObjectPath(path));
        }
    }

    fn value(&mut self, value: &mut Value, node: &Node) {
        if node.preserve_unknown {
            self.keep_unknown(value, node, node.embedded);
        } else {
            self.known_only(value, node, node.embedded);
        }
    }

    /// Only what is described stays.
    fn known_only(&mut self, value: &mut Value, node: &Node, resource: bool) {
        match value {
            Value::Object(map) => {
                map.retain(|key, inner| {
                    if resource && OBJECT_FIELDS.contains(&key.as_str()) {
                        return true;
                    }
                    if let Some((name, schema)) = node.properties.get_key_value(key.as_str()) {
                        self.within(Step::Field(name.clone()), |pruner| pruner.value(inner, schema));
                        return true;
                    }
                    match &node.additional {
                        Additional::None => {
                            self.drop_field(key, inner);
                            false
                        }
                        Additional::Any => {
                            let step = Step::Key(Arc::from(key.as_str()));
                            self.within(step, |pruner| pruner.undescribed(inner));
                            true
                        }
                        Additional::Schema(schema) => {
                            let step = Step::Key(Arc::from(key.as_str()));
                            self.within(step, |pruner| pruner.value(inner, schema));
                            true
                        }
                    }
                });
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.within(Step::Index(index), |pruner| match &node.items {
                        Some(schema) => pruner.value(item, schema),
                        None => pruner.undescribed(item),
                    });
                }
            }
            _ => {}
        }
    }

    /// A value without a schema: mappings are emptied, lists keep their items.
    fn undescribed(&mut self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, inner) in std::mem::take(map) {
                    self.drop_field(&key, &inner);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.within(Step::Index(index), |pruner| pruner.undescribed(item));
                }
            }
            _ => {}
        }
    }

    /// Everything stays; what is described is pruned in itself.
    fn keep_unknown(&mut self, value: &mut Value, node: &Node, resource: bool) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map.iter_mut() {
                    if resource && OBJECT_FIELDS.contains(&key.as_str()) {
                        continue;
                    }
                    if let Some((name, schema)) = node.properties.get_key_value(key.as_str()) {
                        self.within(Step::Field(name.clone()), |pruner| pruner.value(inner, schema));
                    } else {
                        let step = Step::Key(Arc::from(key.as_str()));
                        match &node.additional {
                            Additional::None => {}
                            Additional::Any => self.within(step, |pruner| pruner.undescribed(inner)),
                            Additional::Schema(schema) => {
                                self.within(step, |pruner| pruner.value(inner, schema));
                            }
                        }
                    }
                }
            }
            Value::Array(items) => {
                let Some(schema) = &node.items else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    // The items of an open list are open too.
                    self.within(Step::Index(index), |pruner| {
                        pruner.keep_unknown(item, schema, schema.embedded)
                    });
                }
            }
            _ => {}
        }
    }
}

//! The plugin ValueAddTransformer: one value put into fields of several objects, whole or as a part of a path.

use serde_json::{Map, Value};
use yaml_span::Node;

use crate::error::Position;
use crate::item::Item;
use crate::kustomization::{Fields, Selector};
use crate::namespace::{Move, Subjects};
use crate::patch;

/// One entry of `targets`.
#[derive(Debug)]
pub(crate) struct Target {
    /// `None` means all objects.
    selector: Option<Selector>,
    field_path: String,
    /// Where in a path the value is put, from 1; 0 replaces the whole.
    position: usize,
    pub(crate) at: Position,
}

impl Target {
    pub(crate) fn read(fields: &mut Fields<'_>, item: &Node) -> Option<Self> {
        let at = crate::read::position(item);
        let mut out = Self { selector: None, field_path: String::new(), position: 0, at };
        let known = ["selector", "fieldPath", "filePathPosition"];
        for (field, _, value) in fields.entries(item, "a target", &known, &[]) {
            match field {
                "selector" => out.selector = fields.selector(value),
                "fieldPath" => out.field_path = fields.string(value, field).unwrap_or_default(),
                _ => match usize::try_from(fields.integer(value, field)) {
                    Ok(position) => out.position = position,
                    Err(_) => {
                        let message = "filePathPosition must not be negative";
                        fields.wrong(value, crate::ProblemKind::Invalid, message);
                    }
                },
            }
        }
        if out.field_path.is_empty() {
            fields.wrong(item, crate::ProblemKind::Invalid, "a target needs a fieldPath");
        }
        Some(out)
    }

    /// Puts the value into the objects that are meant.
    pub(crate) fn apply(&self, items: &mut [Item], value: &str) -> Result<(), String> {
        let chosen = match &self.selector {
            Some(selector) => patch::selected(items, selector),
            None => (0..items.len()).collect(),
        };
        for index in chosen {
            let Some(item) = items.get_mut(index) else { continue };
            let id = item.resource.id();
            let done = if self.field_path == "metadata/namespace" {
                let change =
                    Move { namespace: value, fields: &[], subjects: Subjects::Default, unset_only: false };
                change.put_in(item)
            } else {
                self.put(item.resource.value_mut(), value)
            };
            done.map_err(|why| format!("{id}: {}: {why}", self.field_path))?;
        }
        Ok(())
    }

    fn put(&self, object: &mut Value, text: &str) -> Result<(), String> {
        let mut found = object;
        let escaped = self.field_path.replace("\\/", "\0");
        for name in escaped.split('/').map(|name| name.replace('\0', "/")) {
            found = match found {
                Value::Array(items) => {
                    let index = name.parse::<usize>().ok().filter(|index| *index < items.len());
                    &mut items[index.ok_or("not a place in the list")?]
                }
                other => {
                    if other.is_null() {
                        *other = Value::Object(Map::new());
                    }
                    let Value::Object(map) = other else {
                        return Err("a single value where the path goes on".into());
                    };
                    map.entry(name).or_insert(Value::Null)
                }
            };
        }
        let old = match &*found {
            Value::Object(_) | Value::Array(_) => return Err("not a single value".into()),
            other => crate::names::scalar_text(other).unwrap_or_default(),
        };
        let new = match self.position {
            0 => text.to_owned(),
            position => insert(&old, position - 1, text),
        };
        *found = Value::String(new);
        Ok(())
    }
}

/// Puts a name into a path; too large a position is the end.
fn insert(path: &str, position: usize, name: &str) -> String {
    let (root, rest) = match path.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => ("", path),
    };
    let mut parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    parts.insert(position.min(parts.len()), name);
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::insert;

    #[test]
    fn a_name_is_put_into_a_path() {
        let at = |path, position| insert(path, position, "x");
        assert_eq!([at("", 0), at("/", 3), at("a", 0), at("/a", 0)], ["x", "/x", "x/a", "/x/a"]);
        assert_eq!([at("a/b", 1), at("/a/b", 9)], ["a/x/b", "/a/b/x"]);
    }
}

//! Sets of fields in the FieldsV1 format of server-side apply: `f:` a field, `k:` a list item by its keys, `v:` an
//! item of a set, `i:` an item by index, `.` the thing itself.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Deepest nesting that is read; deeper than any object an API server accepts.
const MAX_DEPTH: usize = 128;

/// A text that is not FieldsV1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldsError {
    /// A node is not a JSON object.
    #[error("fieldsV1 at `{path}` is not an object")]
    NotAnObject {
        /// Where, as the keys so far.
        path: String,
    },
    /// A key is not one of the five forms.
    #[error("fieldsV1 at `{path}` has the key `{key}`, which is none of `.`, `f:`, `k:`, `v:`, `i:`")]
    Key {
        /// Where, as the keys so far.
        path: String,
        /// The key.
        key: String,
    },
    /// It is nested too deep.
    #[error("fieldsV1 is nested deeper than 128 levels")]
    TooDeep,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum PathElement {
    /// A field of a map or struct.
    Field(String),
    /// An item of a list, by the values of its keys.
    Key(Map<String, Value>),
    /// An item of a set.
    Value(Value),
    /// An item of a list, by position.
    Index(usize),
}

/// A tree of fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldSet {
    /// The thing itself is in the set: a leaf, or a map or item that was written as such.
    pub(crate) member: bool,
    /// What is in the set below it.
    pub(crate) children: Vec<(PathElement, FieldSet)>,
}

impl FieldSet {
    /// Reads a `fieldsV1` value.
    ///
    /// # Errors
    /// [`FieldsError`] if it is not in that format or nested too deep.
    pub fn parse(fields: &Value) -> Result<Self, FieldsError> {
        let mut path = Vec::new();
        let mut set = Self::node(fields, &mut path)?;
        // `{}` below a field is a leaf; at the top it is an empty set.
        set.member = false;
        Ok(set)
    }

    /// Whether nothing is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }

    /// The paths of all members, written as the API server writes them in conflict messages:
    /// `.spec.template.spec.containers[name="web"].image`.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    fn collect(&self, prefix: &str, paths: &mut Vec<String>) {
        if self.member {
            paths.push(prefix.to_owned());
        }
        for (element, child) in &self.children {
            child.collect(&format!("{prefix}{}", element.text()), paths);
        }
    }

    fn node<'a>(value: &'a Value, path: &mut Vec<&'a str>) -> Result<Self, FieldsError> {
        if path.len() > MAX_DEPTH {
            return Err(FieldsError::TooDeep);
        }
        let Value::Object(map) = value else {
            return Err(FieldsError::NotAnObject { path: path.join(" ") });
        };
        let mut set = Self { member: map.is_empty(), children: Vec::with_capacity(map.len()) };
        for (key, below) in map {
            if key == "." {
                set.member = true;
                continue;
            }
            let element = PathElement::parse(key)
                .ok_or_else(|| FieldsError::Key { path: path.join(" "), key: key.clone() })?;
            path.push(key);
            set.children.push((element, Self::node(below, path)?));
            path.pop();
        }
        Ok(set)
    }

    /// Adds the fields of another set.
    pub(crate) fn extend(&mut self, other: Self) {
        self.member |= other.member;
        for (element, child) in other.children {
            match self.children.iter_mut().find(|(known, _)| *known == element) {
                Some((_, known)) => known.extend(child),
                None => self.children.push((element, child)),
            }
        }
    }
}

impl PathElement {
    fn parse(key: &str) -> Option<Self> {
        let (form, rest) = key.split_once(':')?;
        match form {
            "f" => Some(Self::Field(rest.to_owned())),
            "k" => match serde_json::from_str(rest).ok()? {
                Value::Object(keys) if !keys.is_empty() => Some(Self::Key(keys)),
                _ => None,
            },
            "v" => serde_json::from_str(rest).ok().map(Self::Value),
            "i" => rest.parse().ok().map(Self::Index),
            _ => None,
        }
    }

    /// As API servers write it in conflict messages.
    fn text(&self) -> String {
        match self {
            Self::Field(name) => format!(".{name}"),
            Self::Key(keys) => {
                let sorted: BTreeMap<_, _> = keys.iter().collect();
                let pairs: Vec<_> = sorted.iter().map(|(key, value)| format!("{key}={value}")).collect();
                format!("[{}]", pairs.join(","))
            }
            Self::Value(value) => format!("[={value}]"),
            Self::Index(index) => format!("[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{FieldSet, FieldsError};

    #[test]
    fn paths_are_written_as_in_conflict_messages() {
        let set = FieldSet::parse(&json!({
            "f:metadata": {"f:finalizers": {".": {}, "v:\"a/b\"": {}}},
            "f:spec": {
                "f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}}},
                "f:ports": {"k:{\"protocol\":\"TCP\",\"containerPort\":80}": {"f:containerPort": {}}},
                "f:list": {"i:2": {}},
            },
        }))
        .expect("valid");
        assert_eq!(
            set.paths(),
            [
                ".metadata.finalizers",
                ".metadata.finalizers[=\"a/b\"]",
                ".spec.containers[name=\"web\"]",
                ".spec.containers[name=\"web\"].image",
                ".spec.ports[containerPort=80,protocol=\"TCP\"].containerPort",
                ".spec.list[2]",
            ]
        );
    }

    #[test]
    fn what_is_not_fields_is_an_error() {
        let key = |value: Value| matches!(FieldSet::parse(&value), Err(FieldsError::Key { .. }));
        assert!(key(json!({"spec": {}})));
        assert!(key(json!({"k:name": {}})));
        assert!(key(json!({"k:{}": {}})));
        assert!(key(json!({"i:-1": {}})));
        assert!(key(json!({"v:x": {}})));
        assert!(matches!(FieldSet::parse(&json!({"f:a": 1})), Err(FieldsError::NotAnObject { .. })));
        let mut deep = json!({});
        for _ in 0..200 {
            deep = json!({"f:a": deep});
        }
        assert_eq!(FieldSet::parse(&deep), Err(FieldsError::TooDeep));
        assert!(FieldSet::parse(&json!({})).expect("empty").is_empty());
    }

    proptest! {
        #[test]
        fn hostile_keys_never_panic(key in "\\PC{0,20}") {
            let _ = FieldSet::parse(&json!({ key: {} }));
        }
    }
}

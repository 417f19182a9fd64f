//! Changing fields by path: `spec/template/metadata/labels`, through lists (`containers/image` is the image of every
//! container) and, where a rule says so, creating what is missing.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::Resource;
use crate::marks::Step;

/// A path and the kinds of objects that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// `""` is any, here and for version and kind.
    pub(crate) group: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) kind: Cow<'static, str>,
    /// Names joined by `/`; `\/` is a slash in a name; a name that ends with `[]` must be a list.
    pub(crate) path: Cow<'static, str>,
    /// Whether missing fields on the way are made.
    pub(crate) create: bool,
    names: Box<[Name]>,
}

/// One name of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    text: Box<str>,
    /// Written with `[]`: never made.
    list: bool,
}

impl Field {
    pub(crate) fn new(
        group: impl Into<Cow<'static, str>>,
        version: impl Into<Cow<'static, str>>,
        kind: impl Into<Cow<'static, str>>,
        path: impl Into<Cow<'static, str>>,
        create: bool,
    ) -> Self {
        let path = path.into();
        let names = split(&path);
        Self { group: group.into(), version: version.into(), kind: kind.into(), path, create, names }
    }

    /// Whether objects of this kind have the field.
    pub(crate) fn applies_to(&self, group: &str, version: &str, kind: &str) -> bool {
        let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
        fits(&self.kind, kind) && fits(&self.group, group) && fits(&self.version, version)
    }

    /// Whether this object has the field.
    pub(crate) fn is_of(&self, resource: &Resource) -> bool {
        self.applies_to(resource.group(), resource.version(), resource.kind())
    }

    /// Calls `set` for each value at the path. `make` is what a missing last field begins as, where `create` is set;
    /// `None` makes nothing.
    ///
    /// # Errors
    /// What is in the way: a scalar where the path goes on, or what `set` says.
    pub(crate) fn visit(
        &self,
        value: &mut Value,
        make: Option<&Value>,
        set: &mut dyn FnMut(&mut Value) -> Result<(), String>,
    ) -> Result<(), String> {
        descend(value, &self.names, make.filter(|_| self.create), set)
    }

    /// Calls `see` for each value at the path; making nothing.
    ///
    /// # Errors
    /// As [`Field::visit`].
    pub(crate) fn look<'v>(
        &self,
        value: &'v Value,
        see: &mut dyn FnMut(&'v Value) -> Result<(), String>,
    ) -> Result<(), String> {
        look(value, &self.names, see)
    }

    /// Where each value at the path is, in the order in which [`Field::visit`] comes to them.
    pub(crate) fn places(&self, value: &Value) -> Vec<Vec<Step>> {
        let mut found = Vec::new();
        places(value, &self.names, &mut Vec::new(), &mut found);
        found
    }
}

fn places(value: &Value, names: &[Name], path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    let Some((name, rest)) = names.split_first() else { return found.push(path.clone()) };
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                places(item, names, path, found);
                path.pop();
            }
        }
        Value::Object(map) => {
            if let Some(child) = map.get(&*name.text).filter(|child| !child.is_null()) {
                path.push(Step::Key(name.text.to_string()));
                places(child, rest, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

fn descend(
    value: &mut Value,
    names: &[Name],
    make: Option<&Value>,
    set: &mut dyn FnMut(&mut Value) -> Result<(), String>,
) -> Result<(), String> {
    let Some((name, rest)) = names.split_first() else { return set(value) };
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| descend(item, names, make, set)),
        Value::Object(map) => {
            if name.text.is_empty() {
                return Err(EMPTY_NAME.into());
            }
            match map.get_mut(&*name.text) {
                Some(child) if !child.is_null() => descend(child, rest, make, set),
                _ => {
                    let Some(make) = make.filter(|_| !name.list) else { return Ok(()) };
                    let start = if rest.is_empty() { make.clone() } else { Value::Object(Map::new()) };
                    let child = map.entry(&*name.text).or_insert(Value::Null);
                    *child = start;
                    descend(child, rest, Some(make), set)
                }
            }
        }
        Value::Null => Ok(()),
        _ => Err(blocked(name)),
    }
}

fn look<'v>(
    value: &'v Value,
    names: &[Name],
    see: &mut dyn FnMut(&'v Value) -> Result<(), String>,
) -> Result<(), String> {
    let Some((name, rest)) = names.split_first() else { return see(value) };
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| look(item, names, see)),
        Value::Object(map) => {
            if name.text.is_empty() {
                return Err(EMPTY_NAME.into());
            }
            match map.get(&*name.text) {
                Some(child) if !child.is_null() => look(child, rest, see),
                _ => Ok(()),
            }
        }
        Value::Null => Ok(()),
        _ => Err(blocked(name)),
    }
}

const EMPTY_NAME: &str = "an empty name in the path";

fn blocked(name: &Name) -> String {
    format!("a single value where the path goes on to {}", name.text)
}

fn split(path: &str) -> Box<[Name]> {
    let mut parts = path.split('/');
    if path.starts_with('/') {
        parts.next();
    }
    let mut texts: Vec<String> = Vec::new();
    for part in parts {
        match texts.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push('/');
                last.push_str(part);
            }
            _ => texts.push(part.to_owned()),
        }
    }
    let name = |text: String| match text.strip_suffix("[]") {
        Some(text) => Name { text: text.into(), list: true },
        None => Name { text: text.into(), list: false },
    };
    texts.into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Field;

    fn set(path: &'static str, create: bool, mut value: Value) -> Result<Value, String> {
        let field = Field::new("", "", "", path, create);
        field.visit(&mut value, Some(&json!({})), &mut |found| {
            *found = json!("x");
            Ok(())
        })?;
        Ok(value)
    }

    #[test]
    fn paths_go_through_lists_and_create_only_when_told() {
        assert_eq!(set("a/b", true, json!({})), Ok(json!({"a": {"b": "x"}})));
        assert_eq!(set("a/b", false, json!({"a": {}})), Ok(json!({"a": {}})));
        assert_eq!(
            set("a/b", true, json!({"a": [{}, {"b": 1}]})),
            Ok(json!({"a": [{"b": "x"}, {"b": "x"}]}))
        );
        assert_eq!(set("a[]/b", true, json!({})), Ok(json!({})));
        assert_eq!(set(r"a/b\/c", true, json!({"a": {}})), Ok(json!({"a": {"b/c": "x"}})));
        assert!(set("a/b", true, json!({"a": 1})).is_err());
    }
}

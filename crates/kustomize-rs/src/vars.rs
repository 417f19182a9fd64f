//! `vars`: `$(NAME)` in some fields becomes the value of a field of some object. Replaced once, when everything else is
//! done. A value may be secret: no message contains one.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::error::Position;
use crate::field_path::Field;
use crate::item::{Item, effective_namespace};
use crate::kustomization::Var;
use crate::{Problem, ProblemKind};

/// A variable and the file that brought it.
#[derive(Debug, Clone)]
pub(crate) struct Brought {
    pub(crate) var: Var,
    pub(crate) file: Arc<str>,
}

impl Brought {
    fn problem(&self, kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.var.at, kind, message)
    }

    /// Adds this one to others, of which none may have its name.
    pub(crate) fn join(self, others: &mut Vec<Self>) -> Result<(), Problem> {
        if let Some(other) = others.iter().find(|other| other.var.name == self.var.name) {
            let (name, file, line) = (&self.var.name, &other.file, other.var.at.line);
            let message = format!("var {name} is already there, from {file}:{line}: remove one of them");
            return Err(self.problem(ProblemKind::Duplicate, message));
        }
        others.push(self);
        Ok(())
    }

    /// Marks the object that the variable is taken from. None is no error yet: another directory may bring it.
    pub(crate) fn mark(&self, items: &mut [Item]) -> Result<(), Problem> {
        let mut found = items.iter_mut().filter(|item| self.means(item));
        let Some(item) = found.next() else { return Ok(()) };
        item.vars.push(self.var.name.as_str().into());
        if found.next().is_some() {
            let message =
                format!("the objref of var {} fits several objects: add its namespace", self.var.name);
            return Err(self.problem(ProblemKind::Invalid, message));
        }
        Ok(())
    }

    fn means(&self, item: &Item) -> bool {
        let wanted = &self.var.object;
        let resource = &item.resource;
        let is = |kind: &str, name: &str, namespace: &str| {
            kind == wanted.kind
                && name == wanted.name
                && (wanted.namespace.is_empty() || namespace == wanted.namespace)
        };
        resource.group() == wanted.group
            && resource.version() == wanted.version
            && (is(resource.kind(), resource.name(), effective_namespace(resource))
                || item.previous.iter().any(|it| is(&it.kind, &it.name, &it.namespace)))
    }
}

/// Replaces all variables in all objects.
pub(crate) fn resolve(items: &mut [Item], vars: &[Brought], fields: &[Field]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut values: HashMap<&str, Value> = HashMap::with_capacity(vars.len());
    for brought in vars {
        let name = brought.var.name.as_str();
        match items.iter().find(|item| item.vars.iter().any(|it| **it == *name)) {
            None => {
                let message = format!("var {name}: no object is what its objref says");
                problems.push(brought.problem(ProblemKind::Invalid, message));
            }
            Some(item) => match lookup(&item.resource.value, &brought.var.field_path) {
                Some(value) => drop(values.insert(name, value.clone())),
                None => {
                    let path = &brought.var.field_path;
                    let message = format!("var {name}: {} has no field {path}", item.resource.id());
                    problems.push(brought.problem(ProblemKind::Invalid, message));
                }
            },
        }
    }
    if values.is_empty() || !problems.is_empty() {
        return problems;
    }
    for item in items {
        for field in fields {
            if !field.is_of(&item.resource) {
                continue;
            }
            if let Err(why) = expand(item, field, &values) {
                let at = Position { line: item.resource.origin.line, column: 1 };
                let message = format!("{}: {}: {why}", item.resource.id(), field.path.replace('/', "."));
                problems.push(Problem::at(&item.resource.origin.file, at, ProblemKind::Invalid, message));
            }
        }
    }
    problems
}

fn expand(item: &mut Item, field: &Field, values: &HashMap<&str, Value>) -> Result<(), String> {
    let mut needed = false;
    field.look(&item.resource.value, &mut |found| {
        needed |= match found {
            Value::String(text) => text.contains('$'),
            Value::Object(map) => map.values().any(|it| it.as_str().is_some_and(|it| it.contains('$'))),
            Value::Array(items) => {
                if items.iter().any(|it| !it.is_string()) {
                    return Err("an item that is not a string".into());
                }
                items.iter().any(|it| it.as_str().is_some_and(|it| it.contains('$')))
            }
            _ => false,
        };
        Ok(())
    })?;
    if !needed {
        return Ok(());
    }
    field.visit(item.resource.value_mut(), None, &mut |found| {
        match found {
            Value::Object(map) => map.values_mut().for_each(|it| replace(it, values)),
            Value::Array(items) => items.iter_mut().for_each(|it| replace(it, values)),
            scalar => replace(scalar, values),
        }
        Ok(())
    })
}

/// Replaces in a text. What is nothing but one variable takes the type of its value.
fn replace(found: &mut Value, values: &HashMap<&str, Value>) {
    let Value::String(text) = found else { return };
    let whole =
        text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).filter(|name| !name.contains(')'));
    if let Some(value) = whole.and_then(|name| values.get(name)).filter(|value| is_scalar(value)) {
        *found = value.clone();
        return;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            match values.get(name).filter(|value| is_scalar(value)) {
                Some(Value::String(value)) => out.push_str(value),
                Some(value) => out.push_str(&value.to_string()),
                None => {
                    out.push_str("$(");
                    out.push_str(name);
                    out.push(')');
                }
            }
            rest = after;
        } else {
            out.push('$');
            // The character after it is not the beginning of another variable.
            let mut characters = rest.chars();
            out.extend(characters.next());
            rest = characters.as_str();
        }
    }
    out.push_str(rest);
    *text = out;
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// The value at a path: names joined by dots, `name[0]` and `[key=value]` for items of lists.
fn lookup<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let mut value = value;
    for part in steps(path) {
        value = match (value, part.strip_prefix('[').and_then(|part| part.strip_suffix(']'))) {
            (Value::Array(items), Some(condition)) => {
                let (key, wanted) = condition.split_once('=')?;
                items.iter().find(|item| item.get(key).and_then(Value::as_str) == Some(wanted))?
            }
            (Value::Array(items), None) => items.get(part.parse::<usize>().ok()?)?,
            (Value::Object(map), _) => map.get(&part)?,
            _ => return None,
        };
    }
    (!value.is_null()).then_some(value)
}

/// The parts of a path. A dot after a backslash, or inside brackets, belongs to a name.
fn steps(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let (mut bracket, mut escaped) = (false, false);
    for character in path.chars() {
        let starts = parts.last().is_none_or(String::is_empty);
        match character {
            '.' if escaped => {
                if let Some(last) = parts.last_mut() {
                    last.pop();
                    last.push('.');
                }
            }
            '.' if !bracket => parts.push(String::new()),
            _ => {
                bracket = (bracket || (character == '[' && starts)) && character != ']';
                if let Some(last) = parts.last_mut() {
                    last.push(character);
                }
            }
        }
        escaped = character == '\\';
    }
    let mut steps = Vec::with_capacity(parts.len());
    for part in parts {
        let index = part.strip_suffix(']').and_then(|part| part.rsplit_once('['));
        match index.filter(|(_, index)| !index.is_empty() && index.bytes().all(|it| it.is_ascii_digit())) {
            Some((name, index)) => {
                if !name.is_empty() {
                    steps.push(name.to_owned());
                }
                steps.push(index.to_owned());
            }
            // A bracket around a name with dots quotes it.
            None if part.starts_with('[') && !part.contains('=') => {
                steps.push(part.trim_matches(['[', ']']).to_owned());
            }
            None => steps.push(part),
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Value, json};

    use super::{lookup, replace};

    #[test]
    fn variables_are_replaced_once_and_escapes_kept() {
        let values = HashMap::from([("A", json!("x$(B)")), ("N", json!(80)), ("M", json!({}))]);
        let replaced = |text: &str| {
            let mut value = Value::from(text);
            replace(&mut value, &values);
            value
        };
        assert_eq!(replaced("$(N)"), json!(80));
        assert_eq!(replaced("-$(N)-$(A)-"), json!("-80-x$(B)-"));
        for (text, expected) in [
            ("$$(A)", "$(A)"),
            ("$(Z) $(M)", "$(Z) $(M)"),
            ("$A $$A $", "$A $A $"),
            ("$(A", "$(A"),
            ("--$($($(--", "--$($($(--"),
            ("$$$$$(N)", "$$80"),
        ] {
            assert_eq!(replaced(text), json!(expected), "{text}");
        }
    }

    #[test]
    fn paths_lead_through_lists() {
        let object = json!({"a": {"b.c": [{"k": "x", "v": 1}, {"k": "y", "v": 2}]}});
        for path in [r"a.b\.c[1].v", "a.[b.c].1.v", r"a.b\.c.[k=y].v"] {
            assert_eq!(lookup(&object, path), Some(&json!(2)), "{path}");
        }
        assert_eq!(lookup(&object, "a.x"), None);
    }
}

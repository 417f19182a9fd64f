//! Places in an object: paths to its fields, in the words of patches, pointers and replacements.

use serde_json::{Map, Value, json};

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// All places of an object that may be changed without making it another object, with what is there.
pub(super) fn places(object: &Value) -> Vec<(Vec<Step>, Value)> {
    let mut found = Vec::new();
    walk(object, &mut Vec::new(), &mut found);
    found.retain(|(path, _)| {
        !matches!(path.first(), Some(Step::Key(key)) if key == "apiVersion" || key == "kind")
            && !matches!(&path[..], [Step::Key(key)] if key == "metadata")
            && !matches!(&path[..], [Step::Key(first), Step::Key(second), ..]
                if first == "metadata" && (second == "name" || second == "namespace"))
    });
    found
}

fn walk(value: &Value, path: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, Value)>) {
    if !path.is_empty() {
        found.push((path.clone(), value.clone()));
    }
    let mut inside = |step: Step, value: &Value| {
        path.push(step);
        walk(value, path, found);
        path.pop();
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| inside(Step::Key(key.clone()), value)),
        Value::Array(list) => {
            list.iter().take(4).enumerate().for_each(|(index, value)| inside(Step::Index(index), value));
        }
        _ => {}
    }
}

/// `/spec/containers/0`.
pub(super) fn pointer(path: &[Step]) -> String {
    path.iter().fold(String::new(), |text, step| match step {
        Step::Key(key) => format!("{text}/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::Index(index) => format!("{text}/{index}"),
    })
}

/// `spec.containers.[name=main].image`, as replacements write it; items without a name by their index.
pub(super) fn field_path(object: &Value, path: &[Step]) -> String {
    let (mut here, mut parts) = (object, Vec::new());
    for step in path {
        match step {
            Step::Key(key) => {
                parts.push(key.replace('.', "\\."));
                here = &here[key.as_str()];
            }
            Step::Index(index) => {
                here = &here[*index];
                parts.push(match here["name"].as_str() {
                    Some(name) => format!("[name={name}]"),
                    None => index.to_string(),
                });
            }
        }
    }
    parts.join(".")
}

/// The part of a strategic merge patch that puts `value` at a place. Items of lists keep the fields that may identify
/// them; other lists are replaced.
pub(super) fn merge_patch(object: &Value, path: &[Step], value: Value) -> Value {
    let Some((step, rest)) = path.split_first() else { return value };
    match step {
        Step::Key(key) => {
            let mut map = Map::new();
            map.insert(key.clone(), merge_patch(&object[key.as_str()], rest, value));
            Value::Object(map)
        }
        Step::Index(index) => {
            let old = &object[*index];
            let mut new = merge_patch(old, rest, value);
            if let (Some(new), Some(old)) = (new.as_object_mut(), old.as_object()) {
                for key in
                    ["name", "containerPort", "port", "mountPath", "key", "topologyKey", "ip", "protocol"]
                {
                    if let Some(value) = old.get(key) {
                        new.entry(key).or_insert_with(|| value.clone());
                    }
                }
            }
            json!([new])
        }
    }
}

/// Merges maps key by key; anything else of `more` wins.
pub(super) fn union(one: &mut Value, more: Value) {
    match (one, more) {
        (Value::Object(one), Value::Object(more)) => {
            for (key, value) in more {
                union(one.entry(key).or_insert(Value::Null), value);
            }
        }
        (one, more) => *one = more,
    }
}

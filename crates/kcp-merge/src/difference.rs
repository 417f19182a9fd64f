//! The fields in which two objects differ, for people.

use serde_json::{Map, Value};

use crate::canonical;

/// The field that names an item of a list.
const ITEM_KEYS: [&str; 1] = ["name"];

/// One field that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where, as in `spec.template.spec.containers[name=web].image`; a key that is no plain word stands in brackets:
    /// `metadata.annotations[example.com/a]`.
    pub path: String,
    /// The value before; `None` if it was added.
    pub from: Option<Value>,
    /// The value after; `None` if it is gone.
    pub to: Option<Value>,
}

/// The fields in which two objects differ, in the order of `before`, then what is new.
///
/// Maps are compared key by key, lists whose items all have a distinct name by that name, lists of as many maps by
/// position, other lists as a whole. Numbers and quantities count by value.
#[must_use]
pub fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(Place { path: "", parent: None, field: None }, before, after, &mut found);
    found
}

/// Where two values stand: the path, and the names that say whether they are quantities.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    parent: Option<&'a str>,
    field: Option<&'a str>,
}

fn compare(place: Place<'_>, before: &Value, after: &Value, found: &mut Vec<Difference>) {
    if canonical::equal(place.parent, place.field, before, after) {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) if !before.is_empty() && !after.is_empty() => {
            compare_maps(place, before, after, found);
        }
        (Value::Array(before), Value::Array(after)) if compare_lists(place.path, before, after, found) => {}
        _ => found.push(Difference {
            path: place.path.to_owned(),
            from: Some(before.clone()),
            to: Some(after.clone()),
        }),
    }
}

fn compare_maps(
    place: Place<'_>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    for (key, from) in before {
        let path = child(place.path, key);
        match after.get(key) {
            Some(to) => {
                compare(Place { path: &path, parent: place.field, field: Some(key) }, from, to, found);
            }
            None => found.push(Difference { path, from: Some(from.clone()), to: None }),
        }
    }
    for (key, to) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        found.push(Difference { path: child(place.path, key), from: None, to: Some(to.clone()) });
    }
}

/// Compares item by item where that is possible; `false` if the lists have to be shown whole.
fn compare_lists(path: &str, before: &[Value], after: &[Value], found: &mut Vec<Difference>) -> bool {
    if let Some(key) = ITEM_KEYS.into_iter().find(|key| named(before, key) && named(after, key)) {
        let name = |item: &Value| item.get(key).and_then(Value::as_str).map(str::to_owned);
        let start = found.len();
        for from in before {
            let item_path = format!("{path}[{key}={}]", name(from).unwrap_or_default());
            match after.iter().find(|to| name(to) == name(from)) {
                Some(to) => compare(Place { path: &item_path, parent: None, field: None }, from, to, found),
                None => found.push(Difference { path: item_path, from: Some(from.clone()), to: None }),
            }
        }
        for to in after.iter().filter(|to| !before.iter().any(|from| name(from) == name(to))) {
            let item_path = format!("{path}[{key}={}]", name(to).unwrap_or_default());
            found.push(Difference { path: item_path, from: None, to: Some(to.clone()) });
        }
        // Only the order differs: that is a difference too, of the list itself.
        return found.len() > start;
    }
    let all_maps = |items: &[Value]| items.iter().all(Value::is_object);
    if before.len() != after.len() || !all_maps(before) || !all_maps(after) {
        return false;
    }
    for (index, (from, to)) in before.iter().zip(after).enumerate() {
        compare(Place { path: &format!("{path}[{index}]"), parent: None, field: None }, from, to, found);
    }
    true
}

/// Whether all items have a distinct value of this key.
fn named(items: &[Value], key: &str) -> bool {
    let mut names: Vec<_> = items.iter().filter_map(|item| item.get(key).and_then(Value::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    !items.is_empty() && names.len() == items.len()
}

fn child(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (plain, path.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{path}.{key}"),
        (false, _) => format!("{path}[{key}]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Difference, differences};

    fn lines(before: Value, after: Value) -> Vec<String> {
        let text = |value: Option<Value>| value.map_or("-".to_owned(), |value| value.to_string());
        differences(&before, &after)
            .into_iter()
            .map(|Difference { path, from, to }| format!("{path}: {} -> {}", text(from), text(to)))
            .collect()
    }

    #[test]
    fn fields_and_named_items() {
        let before = json!({
            "metadata": {"annotations": {"example.com/a": "1"}},
            "spec": {
                "replicas": 1,
                "containers": [{"name": "web", "image": "a:1"}, {"name": "old", "image": "b"}],
                "args": ["x"],
                "rules": [{"host": "a"}],
            },
        });
        let after = json!({
            "metadata": {"annotations": {"example.com/a": "2"}},
            "spec": {
                "replicas": 1.0,
                "containers": [{"name": "new", "image": "c"}, {"name": "web", "image": "a:2"}],
                "args": ["x", "y"],
                "rules": [{"host": "b"}],
                "paused": true,
            },
        });
        assert_eq!(
            lines(before, after),
            [
                "metadata.annotations[example.com/a]: \"1\" -> \"2\"",
                "spec.containers[name=web].image: \"a:1\" -> \"a:2\"",
                "spec.containers[name=old]: {\"name\":\"old\",\"image\":\"b\"} -> -",
                "spec.containers[name=new]: - -> {\"name\":\"new\",\"image\":\"c\"}",
                "spec.args: [\"x\"] -> [\"x\",\"y\"]",
                "spec.rules[0].host: \"a\" -> \"b\"",
                "spec.paused: - -> true",
            ]
        );
    }

    #[test]
    fn equal_quantities_are_no_difference_and_order_is_one() {
        assert!(
            lines(json!({"limits": {"cpu": "1"}, "b": 1}), json!({"limits": {"cpu": "1000m"}, "b": 1}))
                .is_empty()
        );
        let (a, b) = (json!({"name": "a"}), json!({"name": "b"}));
        assert_eq!(lines(json!({"l": [a, b]}), json!({"l": [b, a]})).len(), 1);
    }
}

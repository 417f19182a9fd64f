//! Fields that a policy leaves to others: taken out of an object before it is hashed or sent.

use kcp_api::IgnoreRule;
use serde_json::Value;

use crate::object::ObjectKey;

/// Without these an object cannot be sent; no rule takes them out.
const NEEDED: [&[&str]; 5] =
    [&["apiVersion"], &["kind"], &["metadata"], &["metadata", "name"], &["metadata", "namespace"]];

/// Takes out of an object what the rules that speak of it name.
pub(super) fn apply(rules: &[IgnoreRule], key: &ObjectKey, body: &mut Value) {
    let rules = rules.iter().filter(|rule| rule.matches(&key.group, &key.kind, &key.namespace, &key.name));
    for path in rules.flat_map(IgnoreRule::key_paths) {
        if !NEEDED.iter().any(|needed| path.iter().eq(needed.iter())) {
            remove(body, &path);
        }
    }
}

/// Takes one field out. A mapping that becomes empty stays, since it was written. Paths do not lead into lists.
fn remove(value: &mut Value, path: &[String]) {
    let ([step, rest @ ..], Value::Object(entries)) = (path, value) else { return };
    if rest.is_empty() {
        entries.shift_remove(step);
    } else if let Some(next) = entries.get_mut(step) {
        remove(next, rest);
    }
}

//! Makes a case smaller while it still shows the same: takes away fields, items, documents and files, one at a time.

use serde_json::Value;

use super::case::Case;

/// Never taken away.
const IDENTITY: [&str; 4] = ["apiVersion", "kind", "metadata", "name"];

/// The smallest case found for which `shows` is true, after at most `tries` questions.
pub(super) fn shrink(mut case: Case, tries: usize, mut shows: impl FnMut(&Case) -> bool) -> Case {
    let mut left = tries;
    loop {
        let mut smaller = false;
        // Large parts come first in this list; after each success it starts over behind what failed before.
        let mut at = 0;
        while let Some(candidate) = without(&case, at) {
            if left == 0 {
                return case;
            }
            if candidate == case {
                at += 1;
                continue;
            }
            left -= 1;
            if shows(&candidate) {
                case = candidate;
                smaller = true;
            } else {
                at += 1;
            }
        }
        if !smaller {
            return case;
        }
    }
}

/// The case without its part number `at`, counted breadth first.
fn without(case: &Case, mut at: usize) -> Option<Case> {
    let mut smaller = case.clone();
    let dirs: Vec<&String> = case.kustomizations.keys().collect();
    if at < dirs.len() {
        smaller.kustomizations.remove(dirs[at]);
        return Some(smaller);
    }
    at -= dirs.len();
    let paths: Vec<&String> = case.documents.keys().collect();
    if at < paths.len() {
        smaller.documents.remove(paths[at]);
        return Some(smaller);
    }
    at -= paths.len();
    let texts: Vec<&String> = case.texts.keys().collect();
    if at < texts.len() {
        smaller.texts.remove(texts[at]);
        return Some(smaller);
    }
    at -= texts.len();
    for depth in 1..14 {
        for fields in smaller.kustomizations.values_mut() {
            if remove(fields, depth, &mut at) {
                return Some(smaller);
            }
        }
        for document in smaller.documents.values_mut().flatten() {
            if remove(document, depth, &mut at) {
                return Some(smaller);
            }
        }
    }
    for documents in smaller.documents.values_mut() {
        if documents.len() > 1 && at < documents.len() {
            documents.remove(at);
            return Some(smaller);
        }
        at = if documents.len() > 1 { at - documents.len() } else { at };
    }
    None
}

/// Removes entry number `at` of those that are exactly `depth` steps inside; counts them off else.
fn remove(value: &mut Value, depth: usize, at: &mut usize) -> bool {
    if depth > 1 {
        return match value {
            Value::Object(map) => map.values_mut().any(|value| remove(value, depth - 1, at)),
            Value::Array(list) => list.iter_mut().any(|value| remove(value, depth - 1, at)),
            _ => false,
        };
    }
    let len = match value {
        Value::Object(map) => map.len(),
        Value::Array(list) => list.len(),
        _ => 0,
    };
    if *at >= len {
        *at -= len;
        return false;
    }
    match value {
        Value::Object(map) => {
            // Without these it would be another case: no object at all.
            let key = map.keys().nth(*at).filter(|key| !IDENTITY.contains(&key.as_str())).cloned();
            key.map(|key| map.shift_remove(&key));
        }
        Value::Array(list) => {
            list.remove(*at);
        }
        _ => {}
    }
    true
}

#[test]
fn what_does_not_matter_is_taken_away() {
    let mut case = Case::default();
    case.add("top", "namePrefix", serde_json::json!("a-"));
    case.add("top", "resources", serde_json::json!(["a.yaml", "b.yaml"]));
    case.documents.insert("top/b.yaml".into(), vec![serde_json::json!({"kind": "A", "spec": {"x": [1, 2]}})]);
    let shows = |case: &Case| case.files().values().any(|text| text.contains("b.yaml"));
    let small = shrink(case, 100, shows);
    assert_eq!(small.files().len(), 1);
    assert_eq!(small.kustomizations["top"], serde_json::json!({"resources": ["b.yaml"]}));
}

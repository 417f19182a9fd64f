//! Whether content has a field that the server names, as in `.spec.template.spec.containers[name="web"].image`.
//!
//! Needs no schema: the name says which item of a list is meant. What cannot be understood is no field of ours.

use serde_json::Value;

/// The part of a list item's key that servers fill in where it is left out.
const USUAL: (&str, &str) = ("protocol", "TCP");

/// Whether `content` has the field at `path`.
pub(crate) fn has(content: &Value, path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    match content {
        // Names may have dots in them: each that fits is tried.
        Value::Object(fields) => path.strip_prefix('.').is_some_and(|path| {
            fields.iter().any(|(name, value)| {
                let rest = path.strip_prefix(name.as_str());
                rest.is_some_and(|rest| (rest.is_empty() || rest.starts_with(['.', '['])) && has(value, rest))
            })
        }),
        Value::Array(items) => {
            let Some((which, rest)) = path.strip_prefix('[').and_then(item) else { return false };
            if let Ok(index) = which.parse::<usize>() {
                return items.get(index).is_some_and(|item| has(item, rest));
            }
            let Some(keys) = keys(which) else { return false };
            items.iter().any(|item| keys.iter().all(|(name, value)| is(item, name, value)) && has(item, rest))
        }
        _ => false,
    }
}

/// Whether an item of a list has this key. Without a name it is the value itself.
fn is(item: &Value, name: &str, value: &Value) -> bool {
    match item.get(name) {
        _ if name.is_empty() => item == value,
        Some(found) => found == value,
        None => item.is_object() && (name, value.as_str()) == (USUAL.0, Some(USUAL.1)),
    }
}

/// What is in the brackets, and what follows them.
fn item(path: &str) -> Option<(&str, &str)> {
    let end = outside_of_strings(path, ']')?;
    Some((&path[..end], &path[end + 1..]))
}

/// `name="web",port=80`, or `="value"`.
fn keys(mut text: &str) -> Option<Vec<(&str, Value)>> {
    let mut keys = Vec::new();
    while !text.is_empty() {
        let end = outside_of_strings(text, ',').unwrap_or(text.len());
        let (name, value) = text[..end].split_once('=')?;
        keys.push((name, serde_json::from_str(value).ok()?));
        text = text.get(end + 1..).unwrap_or_default();
    }
    (!keys.is_empty()).then_some(keys)
}

/// Where a character first is outside of JSON strings.
fn outside_of_strings(text: &str, wanted: char) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, found) in text.char_indices() {
        match found {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if found == wanted && !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::has;

    #[test]
    fn fields_are_found_as_servers_name_them() {
        let content = json!({
            "metadata": {"labels": {"app.kubernetes.io/name": "web", "app": "x"}, "finalizers": ["a]b", "c"]},
            "spec": {"containers": [{
                "name": "web", "image": "web:1", "args": ["x"],
                "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
            }]},
        });
        for path in [
            ".metadata.labels.app.kubernetes.io/name",
            ".metadata.labels",
            r#".metadata.finalizers[="a]b"]"#,
            r#".spec.containers[name="web"].image"#,
            r#".spec.containers[name="web"].args[0]"#,
            r#".spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].containerPort"#,
            r#".spec.containers[name="web"].ports[containerPort=53,protocol="UDP"]"#,
        ] {
            assert!(has(&content, path), "{path}");
        }
        for path in [
            ".metadata.labels.app.kubernetes.io",
            ".metadata.label",
            ".metadata.labels.appx",
            r#".metadata.finalizers[="b"]"#,
            r#".spec.containers[name="web"].command"#,
            r#".spec.containers[name="other"].image"#,
            r#".spec.containers[name="web"].ports[containerPort=80,protocol="UDP"]"#,
            r#".spec.containers[name="web"].args[1]"#,
            r#".spec.containers[name="web"#,
            ".spec.containers[]",
            "spec",
        ] {
            assert!(!has(&content, path), "{path}");
        }
    }
}

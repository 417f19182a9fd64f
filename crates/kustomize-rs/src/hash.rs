//! The hash at the end of generated names: ten characters over the content of an object.

use std::fmt::Write;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::Resource;

/// The hash of a ConfigMap or Secret; `None` for other kinds.
pub(crate) fn of(resource: &Resource) -> Option<String> {
    let value = &resource.value;
    let field = |name: &str| value.get(name).cloned().unwrap_or_else(|| Value::String(String::new()));
    let mut hashed = Map::new();
    let (plain, maps): (&[&str], &[&str]) = match resource.kind() {
        "ConfigMap" => (&["data"], &["binaryData"]),
        "Secret" => (&["data", "type"], &["stringData"]),
        _ => return None,
    };
    for name in plain {
        hashed.insert((*name).into(), field(name));
    }
    for name in maps {
        if let Some(map @ Value::Object(_)) = value.get(*name) {
            hashed.insert((*name).into(), map.clone());
        }
    }
    hashed.insert("kind".into(), resource.kind().into());
    // The reference means to hash the name as well, and looks for it where it is not.
    hashed.insert("name".into(), "".into());
    let mut text = String::new();
    encode(&Value::Object(hashed), &mut text);
    let digest = Sha256::digest(text.as_bytes());
    let mut hex = String::with_capacity(10);
    for byte in &digest[..5] {
        let _ = write!(hex, "{byte:02x}");
    }
    // Characters that could spell words, or look like others, are exchanged.
    let exchange = |character| match character {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    };
    Some(hex.chars().map(exchange).collect())
}

/// Compact JSON with sorted keys, escaped as if it were put into HTML.
fn encode(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                string(key, out);
                out.push(':');
                encode(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                encode(item, out);
            }
            out.push(']');
        }
        Value::String(text) => string(text, out),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{encode, of};
    use crate::{Origin, Resource};

    fn hash(value: Value) -> Option<String> {
        of(&Resource { value: value.into(), origin: Origin { file: String::new(), line: 1, document: 0 } })
    }

    #[test]
    fn hashes_are_those_of_the_reference() {
        let object = |kind: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}});
        assert_eq!(hash(object("ConfigMap")).as_deref(), Some("6ct58987ht"));
        let mut secret = object("Secret");
        secret["type"] = "Opaque".into();
        secret["data"] = json!({"x": "eQ=="});
        assert_eq!(hash(secret).as_deref(), Some("t86b282gdf"));
        assert_eq!(hash(object("Service")), None);
    }

    #[test]
    fn json_is_escaped_for_html() {
        let mut out = String::new();
        encode(&json!({"b": "<&>\n\u{1}\u{2028}", "a": [1, true, null]}), &mut out);
        assert_eq!(out, r#"{"a":[1,true,null],"b":"\u003c\u0026\u003e\n\u0001\u2028"}"#);
    }
}

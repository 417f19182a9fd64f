//! From a JSON schema to the structural schema that a CRD needs.
//!
//! Our types have no untagged unions and nothing flattened, so only a few forms occur. A form that is not known
//! here is an error: a schema that a server would refuse, or silently read otherwise, is never written.

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Keywords that mean the same in a structural schema.
const KEPT: [&str; 14] = [
    "type",
    "description",
    "default",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "enum",
    "format",
    "minimum",
    "maximum",
    "maxLength",
    "pattern",
    "x-kubernetes-preserve-unknown-fields",
];

/// The schema of a whole document: what the server itself knows of it is left to the server.
pub(super) fn document(schema: Value) -> anyhow::Result<Value> {
    let mut schema = node(schema)?;
    // Anything more about metadata is refused by the server.
    schema["properties"]["metadata"] = json!({"type": "object"});
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|field| field == "spec");
    }
    Ok(schema)
}

fn node(schema: Value) -> anyhow::Result<Value> {
    let mut schema = match schema {
        Value::Bool(true) => return Ok(json!({"x-kubernetes-preserve-unknown-fields": true})),
        Value::Object(schema) => schema,
        other => bail!("{other} is not a schema"),
    };
    for ignored in ["$schema", "title"] {
        schema.shift_remove(ignored);
    }
    let mut schema = without_null(schema)?;
    unit_enum(&mut schema)?;
    number(&mut schema);
    free_json(&mut schema);
    if schema.get("default") == Some(&Value::Null) {
        schema.shift_remove("default");
    }
    if let Some(description) = schema.get_mut("description") {
        *description = one_line(description.as_str().unwrap_or_default()).into();
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            *property = node(property.take()).with_context(|| name.clone())?;
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(key) {
            *inner = node(inner.take()).context(key)?;
        }
    }
    for key in schema.keys() {
        if !KEPT.contains(&key.as_str()) {
            bail!("the keyword {key} has no place in a structural schema");
        }
    }
    list_map(&mut schema);
    Ok(order(schema))
}

/// `Option<T>`: a field that may be left out is not one that may be null.
fn without_null(mut schema: Object) -> anyhow::Result<Object> {
    if let Some(Value::Array(types)) = schema.get("type") {
        let mut types: Vec<Value> = types.iter().filter(|name| *name != "null").cloned().collect();
        match (types.pop(), types.is_empty()) {
            (Some(one), true) => schema.insert("type".to_owned(), one),
            _ => bail!("a value of several types"),
        };
    }
    if let Some(any) = schema.shift_remove("anyOf") {
        let null = |schema: &Value| schema["type"] == "null" || *schema == json!({"const": null});
        let Value::Array(any) = any else { bail!("anyOf is not a list") };
        let mut real: Vec<Value> = any.into_iter().filter(|schema| !null(schema)).collect();
        match (real.pop(), real.is_empty()) {
            (Some(Value::Object(inner)), true) => {
                // What is said about the field is nearer than what is said about its type.
                for (key, value) in inner {
                    schema.entry(key).or_insert(value);
                }
            }
            _ => bail!("a value of one of several shapes"),
        }
    }
    Ok(schema)
}

/// An enum of words with docs: one list, and the docs of the words in the description.
fn unit_enum(schema: &mut Object) -> anyhow::Result<()> {
    let Some(variants) = schema.shift_remove("oneOf") else { return Ok(()) };
    let mut words = Vec::new();
    let mut said = String::new();
    for variant in variants.as_array().map(Vec::as_slice).unwrap_or_default() {
        let Some(word) = variant.get("const").and_then(Value::as_str) else {
            bail!("an enum with more than words");
        };
        words.push(Value::from(word));
        let description = one_line(variant["description"].as_str().unwrap_or_default());
        said.push_str(&format!("\n- {word}: {description}"));
    }
    let description = one_line(schema.get("description").and_then(Value::as_str).unwrap_or_default());
    schema.insert("description".to_owned(), format!("{description}{said}").into());
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), words.into());
    Ok(())
}

/// A server knows two formats of integers, and both have a sign.
fn number(schema: &mut Object) {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let signed = match format {
        "uint8" | "uint16" | "uint32" | "uint64" => "int64",
        "int8" | "int16" => "int32",
        _ => return,
    };
    schema.insert("format".to_owned(), signed.into());
}

/// A map of any values, or any value.
fn free_json(schema: &mut Object) {
    if matches!(schema.get("additionalProperties"), Some(Value::Bool(true))) {
        schema.shift_remove("additionalProperties");
        schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
    }
    let says_nothing = schema.keys().all(|key| key == "description" || key == "default");
    if says_nothing {
        schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
    }
}

/// Lists whose items are told apart by their first field, `name` or `type`, are merged item by item.
///
/// The order of fields is the rule of the format: what an item is known by comes first. Where `name` is not first,
/// as in a reference to an object, it alone does not tell items apart.
fn list_map(schema: &mut Object) {
    let key = {
        let Some(items) = schema.get("items") else { return };
        let first = items["properties"].as_object().and_then(|properties| properties.keys().next());
        let required =
            |key: &str| items["required"].as_array().is_some_and(|keys| keys.contains(&key.into()));
        match first.map(String::as_str) {
            Some(key @ ("name" | "type")) if required(key) => key.to_owned(),
            _ => return,
        }
    };
    schema.insert("x-kubernetes-list-type".to_owned(), "map".into());
    schema.insert("x-kubernetes-list-map-keys".to_owned(), json!([key]));
}

/// The same order of keywords everywhere, so that a change of a type is a small change of the file.
fn order(mut schema: Object) -> Value {
    let mut ordered = Object::new();
    for key in KEPT {
        // Long parts come last.
        if !["properties", "items", "additionalProperties"].contains(&key)
            && let Some(value) = schema.shift_remove(key)
        {
            ordered.insert(key.to_owned(), value);
        }
    }
    for key in ["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "properties", "items"] {
        if let Some(value) = schema.shift_remove(key) {
            ordered.insert(key.to_owned(), value);
        }
    }
    ordered.extend(schema);
    ordered.into()
}

/// Docs are wrapped for reading in source; a list of words keeps its lines.
fn one_line(text: &str) -> String {
    text.replace("\n- ", "\u{0}").replace('\n', " ").replace('\u{0}', "\n- ")
}

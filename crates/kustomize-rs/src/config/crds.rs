//! `crds`: OpenAPI definitions of custom kinds, whose extensions say which fields hold names, labels and annotations.

use std::borrow::Cow;

use serde_json::Value;

use super::{Config, Conflict, NameReference};
use crate::field_path::Field;

/// Definitions inside each other that are followed.
const DEPTH: usize = 32;
/// Fields that one file may describe.
const FIELDS: usize = 10_000;

/// Why a file of definitions cannot be used.
#[derive(Debug)]
pub(crate) enum CrdError {
    /// It contradicts itself.
    Conflict(Conflict),
    /// It is not made of definitions, or there are too many of them.
    Other(&'static str),
}

impl From<Conflict> for CrdError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

/// What definitions, by name, say about fields.
pub(crate) fn read(definitions: &Value) -> Result<Config, CrdError> {
    let Value::Object(map) = definitions else {
        return Err(CrdError::Other("must be a mapping of names to OpenAPI definitions"));
    };
    let mut reader = Reader { definitions, config: Config::default(), seen: 0 };
    for (name, definition) in map {
        let properties = properties(definition);
        let is_kind = |properties: &Value| {
            ["kind", "apiVersion", "metadata"].iter().all(|field| properties.get(field).is_some())
        };
        if properties.is_some_and(is_kind) {
            let kind = name.rsplit('.').next().unwrap_or_default();
            reader.definition(kind, name, &mut Vec::new())?;
        }
    }
    reader.config.sort();
    Ok(reader.config)
}

fn properties(definition: &Value) -> Option<&Value> {
    let find = |key: &str| {
        let map = definition.as_object()?;
        map.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    };
    find("schema")?.get("properties")
}

struct Reader<'a> {
    definitions: &'a Value,
    config: Config,
    seen: usize,
}

impl Reader<'_> {
    fn definition(&mut self, kind: &str, name: &str, path: &mut Vec<String>) -> Result<(), CrdError> {
        if path.len() > DEPTH {
            return Err(CrdError::Other(
                "has definitions that contain themselves, or too many inside each other",
            ));
        }
        let found = self.definitions.get(name).and_then(properties);
        let Some(Value::Object(properties)) = found else { return Ok(()) };
        for (property, schema) in properties {
            self.seen += 1;
            if self.seen > FIELDS {
                return Err(CrdError::Other("describes too many fields"));
            }
            let text = |key: &str| schema.get(key).and_then(Value::as_str);
            path.push(property.clone());
            let field = |path: &[String]| Field::new("", "", kind.to_owned(), path.join("/"), false);
            if text("x-kubernetes-annotation").is_some() {
                Config::add_to(&mut self.config.common_annotations, &field(path))?;
            }
            if text("x-kubernetes-label-selector").is_some() {
                Config::add_to(&mut self.config.common_labels, &field(path))?;
            }
            if text("x-kubernetes-identity").is_some() {
                Config::add_to(&mut self.config.name_prefix, &field(path))?;
            }
            if let (Some(version), Some(target)) =
                (text("x-kubernetes-object-ref-api-version"), text("x-kubernetes-object-ref-kind"))
            {
                path.push(text("x-kubernetes-object-ref-name-key").unwrap_or("name").to_owned());
                let reference = NameReference {
                    group: Cow::Borrowed(""),
                    version: Cow::Owned(version.into()),
                    kind: Cow::Owned(target.into()),
                    fields: vec![field(path)],
                };
                self.config.add_reference(&reference)?;
                path.pop();
            }
            if let Some(reference) = text("$ref") {
                self.definition(kind, reference, path)?;
            }
            path.pop();
        }
        Ok(())
    }
}

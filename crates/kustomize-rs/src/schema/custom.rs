//! An OpenAPI document of a build. It is looked at where a merge needs it and never resolved as a whole.

use std::collections::HashMap;

use serde_json::Value;

use super::{Field, Keys, Shape};

/// References that lead to references.
const CHAIN: usize = 64;
/// Keys by which the items of one list are told apart.
const KEYS: usize = 16;

/// Definitions by name, and the kinds among them.
#[derive(Debug)]
pub(crate) struct Custom {
    definitions: HashMap<String, Value>,
    /// (apiVersion, kind) to the name of the definition.
    kinds: HashMap<(String, String), String>,
    /// (apiVersion, kind) and whether it is read below a namespace.
    scopes: HashMap<(String, String), bool>,
}

/// A schema and the document that it is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    schema: &'a Value,
    document: &'a Custom,
}

impl Custom {
    /// Takes a document apart.
    ///
    /// # Errors
    /// What is not as an OpenAPI document has it.
    pub(crate) fn new(document: Value) -> Result<Self, String> {
        let Value::Object(mut document) = document else {
            return Err("an OpenAPI document is a mapping".into());
        };
        let mut found = Self { definitions: HashMap::new(), kinds: HashMap::new(), scopes: HashMap::new() };
        match document.remove("definitions") {
            None | Some(Value::Null) => {}
            Some(Value::Object(definitions)) => {
                for (name, schema) in definitions {
                    if !schema.is_object() {
                        return Err(format!("definitions.{name} is not a mapping"));
                    }
                    if let Some(Value::Array(kinds)) = schema.get(GROUP_VERSION_KIND) {
                        for kind in kinds {
                            let kind = type_meta(kind).ok_or_else(|| {
                                format!("definitions.{name}.{GROUP_VERSION_KIND}: {UNNAMED}")
                            })?;
                            found.kinds.insert(kind, name.clone());
                        }
                    }
                    found.definitions.insert(name, schema);
                }
            }
            Some(_) => return Err("definitions is not a mapping".into()),
        }
        if let Some(Value::Object(paths)) = document.get("paths") {
            for (path, item) in paths {
                let Some(kind) = item.get("get").and_then(|get| get.get(GROUP_VERSION_KIND)) else {
                    continue;
                };
                let kind = type_meta(kind).ok_or_else(|| format!("paths.{path}: {UNNAMED}"))?;
                *found.scopes.entry(kind).or_insert(false) |= path.contains("namespaces/{namespace}");
            }
        }
        Ok(found)
    }

    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<Node<'_>> {
        let name = self.kinds.get(&(api_version.to_owned(), kind.to_owned()))?;
        self.definitions.get(name).map(|schema| Node { schema, document: self })
    }

    pub(super) fn namespaced(&self, api_version: &str, kind: &str) -> Option<bool> {
        self.scopes.get(&(api_version.to_owned(), kind.to_owned())).copied()
    }
}

const GROUP_VERSION_KIND: &str = "x-kubernetes-group-version-kind";
const UNNAMED: &str = "version and kind are missing, or not strings";

fn type_meta(kind: &Value) -> Option<(String, String)> {
    let text = |field: &str| kind.get(field).and_then(Value::as_str);
    let (version, kind) = (text("version")?, text("kind")?);
    let api_version = match text("group") {
        Some(group) if !group.is_empty() => format!("{group}/{version}"),
        _ => version.to_owned(),
    };
    Some((api_version, kind.to_owned()))
}

impl<'a> Node<'a> {
    /// What is known about a field of a value with this schema.
    pub(super) fn field(self, name: &str) -> Option<Field<'a>> {
        let property = self.schema.get("properties").and_then(|properties| properties.get(name));
        let any = || self.schema.get("additionalProperties").filter(|any| any.is_object());
        let node = self.at(property.or_else(any)?)?;
        if !node.is_merged() {
            return Some(Field::Value(Shape::Custom(node)));
        }
        Some(Field::List { keys: Keys::Custom(node.keys()), item: node.item().map(Shape::Custom) })
    }

    /// The schema that `schema` is or refers to.
    fn at(self, mut schema: &'a Value) -> Option<Self> {
        for _ in 0..CHAIN {
            match schema.get("$ref").and_then(Value::as_str).filter(|reference| !reference.is_empty()) {
                None => return Some(Self { schema, ..self }),
                Some(reference) => {
                    let name =
                        reference.strip_prefix("#/definitions/")?.replace("~1", "/").replace("~0", "~");
                    schema = self.document.definitions.get(&name)?;
                }
            }
        }
        None
    }

    fn is_merged(self) -> bool {
        let strategy = self.schema.get("x-kubernetes-patch-strategy").and_then(Value::as_str);
        strategy.is_some_and(|it| it.split(',').any(|it| it == "merge"))
    }

    fn keys(self) -> Vec<&'a str> {
        match self.schema.get("x-kubernetes-list-map-keys") {
            Some(Value::Array(keys)) => keys.iter().filter_map(Value::as_str).take(KEYS).collect(),
            _ => {
                self.schema.get("x-kubernetes-patch-merge-key").and_then(Value::as_str).into_iter().collect()
            }
        }
    }

    fn item(self) -> Option<Self> {
        let list = match self.schema.get("type")? {
            Value::String(text) => text == "array",
            Value::Array(types) => matches!(types.as_slice(), [Value::String(text)] if text == "array"),
            _ => false,
        };
        self.at(self.schema.get("items").filter(|items| list && items.is_object())?)
    }
}

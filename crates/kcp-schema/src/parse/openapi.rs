//! The OpenAPI v3 documents that a cluster serves (`/openapi/v3/apis/GROUP/VERSION`): built-in types and custom ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::{ParseError, Problem};
use super::keywords::At;
use super::schema::{Dialect, Options, Place, Reader};
use crate::model::{Additional, Node, Pool, Schema, Scope, Step, Type, TypeSet};

/// One kind of an OpenAPI document.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenApiKind {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// `v1`, for example.
    pub version: Arc<str>,
    /// As in objects.
    pub kind: Arc<str>,
    /// As in URLs.
    pub plural: Arc<str>,
    /// Where objects live.
    pub scope: Scope,
    /// `status`, `scale` and others.
    pub subresources: BTreeSet<Arc<str>>,
    /// Made from Go types: the server checks more than the schema says, drops every null, and ignores `required`.
    pub built_in: bool,
    /// The schema of whole objects.
    pub schema: Schema,
}

/// The kinds of one OpenAPI v3 document.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpenApi {
    /// In the order of group, version and kind.
    pub kinds: Vec<OpenApiKind>,
}

/// What the paths say about one resource.
#[derive(Default)]
struct Resource {
    namespaced: bool,
    kind: Option<(Arc<str>, Arc<str>, Arc<str>)>,
    subresources: BTreeSet<Arc<str>>,
}

/// Components that stand for any JSON: their schema says `object` without fields, or nothing.
const ANY_JSON: [&str; 6] = [
    "RawExtension",
    "FieldsV1",
    "JSON",
    "JSONSchemaPropsOrArray",
    "JSONSchemaPropsOrBool",
    "JSONSchemaPropsOrStringArray",
];

/// Prefixes of the components of built-in types.
const BUILT_IN: [&str; 4] =
    ["io.k8s.api.", "io.k8s.apimachinery.", "io.k8s.kube-aggregator.", "io.k8s.apiextensions-apiserver."];

impl OpenApi {
    /// Reads a document. Kinds without a resource path (lists, options) are left out.
    ///
    /// # Errors
    /// Another document, a reference that leads nowhere, or something beyond the limits, with its path.
    pub fn parse(value: &Value, options: &Options, pool: &mut Pool) -> Result<Self, ParseError> {
        let mut reader = Reader::new(options, pool, Dialect::Published);
        let map = reader.at.as_mapping(value)?;
        let not = |why| Problem::NotOpenApi { why };
        if !map.get("openapi").and_then(Value::as_str).is_some_and(|version| version.starts_with("3.")) {
            return Err(reader.at.error(not("there is no \"openapi\": \"3...\"")));
        }
        let Some(paths) = reader.at.mapping(map, "paths")? else {
            return Err(reader.at.error(not("it has no paths")));
        };
        let components = match reader.at.mapping(map, "components")? {
            Some(components) => reader.at.mapping(components, "schemas")?,
            None => None,
        };
        let Some(components) = components else {
            // A group that serves nothing has none.
            return Ok(Self::default());
        };
        reader.components = Some(components);
        let names = component_names(components);
        let mut kinds = Vec::new();
        for (plural, resource) in resources(paths) {
            let Some((group, version, kind)) = resource.kind else { continue };
            let Some(name) = names.get(&(&*group, &*version, &*kind)) else { continue };
            let built_in = BUILT_IN.iter().any(|prefix| name.starts_with(prefix));
            reader.dialect = if built_in { Dialect::BuiltIn } else { Dialect::Published };
            let schema = reader.component(name, Place::Root)?;
            let scope = if resource.namespaced { Scope::Namespaced } else { Scope::Cluster };
            let subresources = resource.subresources;
            kinds.push(OpenApiKind { group, version, kind, plural, scope, subresources, built_in, schema });
        }
        kinds.sort_by(|left, right| {
            (&left.group, &left.version, &left.kind).cmp(&(&right.group, &right.version, &right.kind))
        });
        Ok(Self { kinds })
    }
}

/// Which component describes a kind.
fn component_names(components: &Map<String, Value>) -> BTreeMap<(&str, &str, &str), &str> {
    let mut names = BTreeMap::new();
    for (name, value) in components {
        let kinds = value.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
        for kind in kinds.into_iter().flatten() {
            if let Some(kind) = group_version_kind(kind) {
                names.insert(kind, name.as_str());
            }
        }
    }
    names
}

fn group_version_kind(value: &Value) -> Option<(&str, &str, &str)> {
    let word = |name| value.get(name).and_then(Value::as_str);
    Some((word("group").unwrap_or(""), word("version")?, word("kind")?))
}

/// The resources of a document, by plural name. One document has one group and version.
fn resources(paths: &Map<String, Value>) -> BTreeMap<Arc<str>, Resource> {
    let mut all: BTreeMap<Arc<str>, Resource> = BTreeMap::new();
    for (path, operations) in paths {
        let mut words: Vec<&str> = path.split('/').filter(|word| !word.is_empty()).collect();
        let prefix = match words.first() {
            Some(&"api") => 2,
            Some(&"apis") => 3,
            _ => continue,
        };
        if words.len() <= prefix || words[prefix] == "watch" {
            continue;
        }
        words.drain(..prefix);
        let namespaced = words.len() > 2 && words[0] == "namespaces" && words[1] == "{namespace}";
        if namespaced {
            words.drain(..2);
        }
        let resource = all.entry(Arc::from(words[0])).or_default();
        resource.namespaced |= namespaced;
        match words[..] {
            [_, "{name}", subresource] => {
                resource.subresources.insert(Arc::from(subresource));
            }
            [_] | [_, "{name}"] => {
                let kind = ["post", "get", "put"]
                    .iter()
                    .filter_map(|verb| operations.get(verb)?.get("x-kubernetes-group-version-kind"))
                    .find_map(group_version_kind);
                if let Some((group, version, kind)) = kind {
                    resource.kind = Some((Arc::from(group), Arc::from(version), Arc::from(kind)));
                }
            }
            _ => {}
        }
    }
    all
}

impl Reader<'_> {
    /// A `$ref`: a component by name. In a CRD there are none.
    pub(super) fn reference(
        &mut self,
        reference: &str,
        map: &Map<String, Value>,
        place: Place,
    ) -> Result<Schema, ParseError> {
        let problem = |why| Problem::Reference { reference: reference.to_owned(), why };
        if self.components.is_none() {
            return Err(self
                .at
                .error_in("$ref", problem("is not allowed: a CRD's schema is one finite tree")));
        }
        let Some(name) = reference.strip_prefix("#/components/schemas/") else {
            return Err(self.at.error_in("$ref", problem("does not point into components/schemas")));
        };
        let schema = self.component(name, place)?;
        // What stands beside a reference counts too.
        self.beside(schema, map)
    }

    fn component(&mut self, name: &str, place: Place) -> Result<Schema, ParseError> {
        let root = place == Place::Root;
        if let Some(done) = self.done.get(&(name.to_owned(), root)) {
            return Ok(done.clone());
        }
        let short = name.rsplit('.').next().unwrap_or(name);
        if ANY_JSON.contains(&short) {
            return Ok(self.pool.intern(Node { preserve_unknown: true, ..Node::default() }));
        }
        if self.open.iter().any(|open| open == name) {
            self.cut.insert(name.to_owned());
            let opaque = Some(Arc::from(format!("{short} contains itself")));
            return Ok(self.pool.intern(Node { preserve_unknown: true, opaque, ..Node::default() }));
        }
        let Some(value) = self.components.and_then(|components| components.get(name)) else {
            let reference = format!("#/components/schemas/{name}");
            return Err(self
                .at
                .error(Problem::Reference { reference, why: "leads nowhere in this document" }));
        };
        self.open.push(name.to_owned());
        let before = std::mem::take(&mut self.at.0);
        self.at.0.extend([At::field("components"), At::field("schemas"), Step::Key(Arc::from(name))]);
        let schema = self.schema(value, place);
        self.at.0 = before;
        self.open.pop();
        self.cut.remove(name);
        let schema = schema?;
        // Shared components can make a small document into a huge tree.
        let limit = self.limits().nodes;
        if schema.size() > limit as u64 {
            return Err(self.at.error(Problem::TooManyNodes { limit }));
        }
        // A tree that was cut at a component still open is right only here.
        if self.cut.is_empty() {
            self.done.insert((name.to_owned(), root), schema.clone());
        }
        Ok(schema)
    }

    fn beside(&mut self, schema: Schema, map: &Map<String, Value>) -> Result<Schema, ParseError> {
        let default = At::get(map, "default").filter(|_| self.dialect == Dialect::Published);
        let nullable = self.at.flag(map, "nullable")?;
        if default.is_none() && !nullable {
            return Ok(schema);
        }
        let mut node = schema.to_node();
        node.default = default.cloned().or(node.default);
        node.nullable |= nullable;
        Ok(self.pool.intern(node))
    }

    /// What published documents write in another way than CRDs.
    pub(super) fn published(&mut self, node: &mut Node) {
        // A reference with something beside it is written as `allOf: [{$ref}]`.
        if node.all_of.len() == 1 && node.types.is_any() && node.properties.is_empty() && !node.int_or_string
        {
            let inner = node.all_of[0].to_node();
            let default = node.default.take().or(inner.default.clone());
            let description = node.description.take().or(inner.description.clone());
            *node = Node { default, description, nullable: node.nullable || inner.nullable, ..inner };
        }
        let is_int_or_string = node.format.as_deref() == Some("int-or-string")
            || is_pair(&node.one_of, Type::Integer, Type::String)
            || is_pair(&node.any_of, Type::Integer, Type::String);
        if is_int_or_string {
            node.int_or_string = true;
            node.format = None;
            node.types = TypeSet::ANY;
            node.one_of.clear();
            node.any_of.clear();
        }
        // A quantity is text or a number.
        if is_pair(&node.one_of, Type::String, Type::Number)
            || is_pair(&node.any_of, Type::String, Type::Number)
        {
            node.types = TypeSet::one(Type::String).with(Type::Number);
            node.one_of.clear();
            node.any_of.clear();
        }
        if self.dialect == Dialect::BuiltIn {
            // A missing field is the zero value in Go, whatever the document says, and checks are code.
            node.required.clear();
            node.default = None;
            let is_object = node.types.single() == Some(Type::Object);
            let says_nothing = node.properties.is_empty() && node.additional == Additional::None;
            if is_object && says_nothing && !node.preserve_unknown {
                node.preserve_unknown = true;
                node.opaque = Some(Arc::from("the document names no fields"));
            } else if node.types.is_any() && *node == Node::default() {
                node.preserve_unknown = true;
            }
        }
    }
}

fn is_pair(entries: &[Schema], first: Type, second: Type) -> bool {
    let is = |entry: &Schema, kind| entry.types == TypeSet::one(kind);
    match entries {
        [one, other] => is(one, first) && is(other, second) || is(one, second) && is(other, first),
        _ => false,
    }
}

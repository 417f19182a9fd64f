//! One schema: JSON in, shared tree out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::error::{ParseError, Problem};
use super::keywords::At;
use super::structural;
use crate::model::{Additional, Bounds, CelRule, ListType, MapType, Node, Pool, Schema, Step, Type, TypeSet};
use crate::pattern::Pattern;

/// What is refused because of its size. Real schemas stay far below: the deepest of some hundred CRDs has 40 levels and
/// the largest some 30,000 nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Levels of schemas inside schemas.
    pub depth: usize,
    /// Schema nodes in one document.
    pub nodes: usize,
    /// Bytes of values and text kept from one document.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 100, nodes: 500_000, bytes: 64 << 20 }
    }
}

/// How to read a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// What is too large.
    pub limits: Limits,
    /// Keep descriptions (for `explain`); schemas that differ in them only are then kept apart in the [`Pool`].
    pub descriptions: bool,
}

/// Which rules hold for the words of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A CRD that prunes: only structural schemas are legal.
    Structural,
    /// A v1beta1 CRD that does not prune: junctors may say anything.
    Loose,
    /// The OpenAPI document of a custom resource.
    Published,
    /// The OpenAPI document of a built-in type: made from Go types, with checks that no schema shows.
    BuiltIn,
    /// What [`Node::to_json`] wrote.
    Stored,
}

/// The word under which the reason is stored why a part could not be read.
pub(crate) const OPAQUE: &str = "x-kcp-opaque";

impl Schema {
    /// Reads one structural schema, as in `openAPIV3Schema`.
    ///
    /// # Errors
    /// The first thing that an API server would refuse in a CRD, or that is beyond the limits, with its path.
    pub fn parse(value: &Value, options: &Options, pool: &mut Pool) -> Result<Self, ParseError> {
        let mut reader = Reader::new(options, pool, Dialect::Structural);
        reader.root(value)
    }

    /// Reads what [`Node::to_json`] wrote, also of built-in types: the result is equal to what was written.
    ///
    /// # Errors
    /// What is no schema at all, has an invalid pattern, or is beyond the limits, with its path.
    pub fn from_stored(value: &Value, options: &Options, pool: &mut Pool) -> Result<Self, ParseError> {
        let mut reader = Reader::new(options, pool, Dialect::Stored);
        reader.root(value)
    }
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The whole object.
    Root,
    /// A field or a mapping's value.
    Field,
    /// A list's item.
    Item,
    /// Inside a junctor, at any depth.
    Nested,
}

/// Reads the schemas of one document.
pub(super) struct Reader<'a> {
    options: &'a Options,
    pub(super) pool: &'a mut Pool,
    pub(super) dialect: Dialect,
    pub(super) at: At,
    pub(super) components: Option<&'a Map<String, Value>>,
    pub(super) done: HashMap<(String, bool), Schema>,
    pub(super) open: Vec<String>,
    pub(super) cut: BTreeSet<String>,
    patterns: HashMap<Arc<str>, ()>,
    depth: usize,
    nodes: usize,
    bytes: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(options: &'a Options, pool: &'a mut Pool, dialect: Dialect) -> Self {
        Self {
            options,
            pool,
            dialect,
            at: At::default(),
            components: None,
            done: HashMap::new(),
            open: Vec::new(),
            cut: BTreeSet::new(),
            patterns: HashMap::new(),
            depth: 0,
            nodes: 0,
            bytes: 0,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(super) fn root(&mut self, value: &Value) -> Result<Schema, ParseError> {
        self.schema(value, Place::Root)
    }

    pub(super) fn schema(&mut self, value: &Value, place: Place) -> Result<Schema, ParseError> {
        let limits = &self.options.limits;
        self.nodes += 1;
        if self.depth >= limits.depth {
            return Err(self.at.error(Problem::TooDeep { limit: limits.depth }));
        }
        if self.nodes > limits.nodes {
            return Err(self.at.error(Problem::TooManyNodes { limit: limits.nodes }));
        }
        self.depth += 1;
        let result = self.node(value, place);
        self.depth -= 1;
        result
    }

    fn node(&mut self, value: &Value, place: Place) -> Result<Schema, ParseError> {
        let map = self.at.as_mapping(value)?;
        if let Some(reference) = self.at.text(map, "$ref")? {
            return self.reference(reference, map, place);
        }
        for keyword in ["patternProperties", "definitions", "dependencies", "additionalItems"] {
            if At::get(map, keyword).is_some() {
                return Err(self
                    .at
                    .error_in(keyword, Problem::NotStructural("this word is not allowed in a CRD")));
            }
        }
        let mut node = Node { types: self.types(map)?, ..Node::default() };
        self.scalars(map, &mut node)?;
        self.lists(map, &mut node, place)?;
        self.objects(map, &mut node, place)?;
        self.extensions(map, &mut node)?;
        node.all_of = self.junctor(map, "allOf")?;
        node.any_of = self.junctor(map, "anyOf")?;
        node.one_of = self.junctor(map, "oneOf")?;
        if let Some(inner) = At::get(map, "not") {
            node.not = Some(self.within("not", |reader| reader.schema(inner, Place::Nested))?);
        }
        structural::fold_int_or_string(&mut node);
        match self.dialect {
            Dialect::Structural => structural::check(&node, map, place, &self.at)?,
            Dialect::BuiltIn | Dialect::Published => self.published(&mut node),
            Dialect::Stored => node.opaque = self.at.shared(map, OPAQUE)?,
            Dialect::Loose => {}
        }
        Ok(self.pool.intern(node))
    }

    pub(super) fn within<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        self.step(At::field(name), work)
    }

    pub(super) fn step<T>(
        &mut self,
        step: Step,
        work: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        self.at.0.push(step);
        let result = work(self);
        self.at.0.pop();
        result
    }

    fn types(&self, map: &Map<String, Value>) -> Result<TypeSet, ParseError> {
        const KNOWN: &str = "boolean, integer, number, string, array, object";
        if let (Dialect::Stored, Some(Value::Array(words))) = (self.dialect, map.get("type")) {
            let types: Option<TypeSet> = words.iter().map(|word| Type::from_word(word.as_str()?)).collect();
            return types.ok_or_else(|| {
                self.at.error_in(
                    "type",
                    Problem::WrongForm { expected: "a list of types", found: "another list" },
                )
            });
        }
        let Some(text) = self.at.text(map, "type")?.filter(|text| !text.is_empty()) else {
            return Ok(TypeSet::ANY);
        };
        Type::from_word(text).map(TypeSet::one).ok_or_else(|| {
            self.at.error_in("type", Problem::UnknownWord { word: text.to_owned(), known: KNOWN })
        })
    }

    fn scalars(&mut self, map: &Map<String, Value>, node: &mut Node) -> Result<(), ParseError> {
        let at = &self.at;
        node.nullable = at.flag(map, "nullable")?;
        node.format = at.shared(map, "format")?;
        node.bounds = Bounds {
            minimum: at.float(map, "minimum")?,
            maximum: at.float(map, "maximum")?,
            exclusive_minimum: at.flag(map, "exclusiveMinimum")?,
            exclusive_maximum: at.flag(map, "exclusiveMaximum")?,
            multiple_of: at.float(map, "multipleOf")?,
        };
        node.min_length = at.count(map, "minLength")?;
        node.max_length = at.count(map, "maxLength")?;
        if self.options.descriptions {
            node.description = at.shared(map, "description")?;
            self.bytes += node.description.as_ref().map_or(0, |text| text.len());
        }
        let values = at.list(map, "enum")?;
        if !values.is_empty() {
            node.enumeration = Some(values.into());
            values.iter().try_for_each(|value| self.weigh(value, "enum"))?;
        }
        if let Some(value) = At::get(map, "default") {
            self.weigh(value, "default")?;
            node.default = Some(value.clone());
        }
        node.pattern = self.pattern(map)?;
        Ok(())
    }

    /// Values are kept as they are, so their size counts, and their depth.
    fn weigh(&mut self, value: &Value, name: &str) -> Result<(), ParseError> {
        let mut open = vec![(value, 0)];
        while let Some((value, depth)) = open.pop() {
            if depth > self.options.limits.depth {
                let limit = self.options.limits.depth;
                return Err(self.at.error_in(name, Problem::TooDeep { limit }));
            }
            self.bytes += 16;
            match value {
                Value::String(text) => self.bytes += text.len(),
                Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(inner) => {
                    self.bytes += inner.keys().map(String::len).sum::<usize>();
                    open.extend(inner.values().map(|value| (value, depth + 1)));
                }
                _ => {}
            }
        }
        let limit = self.options.limits.bytes;
        if self.bytes > limit { Err(self.at.error_in(name, Problem::TooLarge { limit })) } else { Ok(()) }
    }

    fn pattern(&mut self, map: &Map<String, Value>) -> Result<Option<Arc<str>>, ParseError> {
        let Some(text) = self.at.shared(map, "pattern")? else { return Ok(None) };
        self.bytes += text.len();
        if !self.patterns.contains_key(&text) {
            Pattern::parse(&text).map_err(|error| {
                self.at.error_in(
                    "pattern",
                    Problem::Pattern { pattern: text.to_string(), why: error.to_string() },
                )
            })?;
            self.patterns.insert(text.clone(), ());
        }
        Ok(Some(text))
    }

    fn lists(&mut self, map: &Map<String, Value>, node: &mut Node, place: Place) -> Result<(), ParseError> {
        node.min_items = self.at.count(map, "minItems")?;
        node.max_items = self.at.count(map, "maxItems")?;
        node.unique_items = self.at.flag(map, "uniqueItems")?;
        if let Some(items) = At::get(map, "items") {
            if items.is_array() {
                let problem = Problem::NotStructural("items must be one schema, not a list of them");
                return Err(self.at.error_in("items", problem));
            }
            let inner = if place == Place::Nested { Place::Nested } else { Place::Item };
            node.items = Some(self.within("items", |reader| reader.schema(items, inner))?);
        }
        Ok(())
    }

    fn objects(&mut self, map: &Map<String, Value>, node: &mut Node, place: Place) -> Result<(), ParseError> {
        let inner = if place == Place::Nested { Place::Nested } else { Place::Field };
        node.min_properties = self.at.count(map, "minProperties")?;
        node.max_properties = self.at.count(map, "maxProperties")?;
        node.required = self.at.texts(map, "required")?.into_iter().collect();
        if let Some(properties) = self.at.mapping(map, "properties")? {
            node.properties = self.within("properties", |reader| {
                let mut all = BTreeMap::new();
                for (name, value) in properties {
                    let key: Arc<str> = Arc::from(name.as_str());
                    let schema = reader.step(Step::Key(key.clone()), |reader| reader.schema(value, inner))?;
                    all.insert(key, schema);
                }
                Ok(all)
            })?;
        }
        node.additional = match At::get(map, "additionalProperties") {
            None => Additional::None,
            Some(Value::Bool(true)) => Additional::Any,
            Some(Value::Bool(false)) => {
                let problem = Problem::NotStructural(
                    "additionalProperties must not be false: unknown fields are pruned anyway",
                );
                return Err(self.at.error_in("additionalProperties", problem));
            }
            Some(value) => {
                let schema = self.within("additionalProperties", |reader| reader.schema(value, inner))?;
                Additional::Schema(schema)
            }
        };
        Ok(())
    }

    fn extensions(&mut self, map: &Map<String, Value>, node: &mut Node) -> Result<(), ParseError> {
        let at = &self.at;
        node.int_or_string = at.flag(map, "x-kubernetes-int-or-string")?;
        node.preserve_unknown = at.flag(map, "x-kubernetes-preserve-unknown-fields")?;
        node.embedded = at.flag(map, "x-kubernetes-embedded-resource")?;
        node.list_map_keys = at.texts(map, "x-kubernetes-list-map-keys")?;
        let unknown = |name: &str, word: &str, known| {
            Err(at.error_in(name, Problem::UnknownWord { word: word.to_owned(), known }))
        };
        node.list_type = match at.text(map, "x-kubernetes-list-type")? {
            None | Some("" | "atomic") => ListType::Atomic,
            Some("set") => ListType::Set,
            Some("map") => ListType::Map,
            Some(other) => return unknown("x-kubernetes-list-type", other, "atomic, set, map"),
        };
        node.map_type = match at.text(map, "x-kubernetes-map-type")? {
            None | Some("" | "granular") => MapType::Granular,
            Some("atomic") => MapType::Atomic,
            Some(other) => return unknown("x-kubernetes-map-type", other, "granular, atomic"),
        };
        let rules = at.list(map, "x-kubernetes-validations")?;
        node.cel = self.within("x-kubernetes-validations", |reader| {
            rules
                .iter()
                .enumerate()
                .map(|(index, rule)| reader.step(Step::Index(index), |reader| reader.cel(rule)))
                .collect()
        })?;
        Ok(())
    }

    fn cel(&mut self, rule: &Value) -> Result<CelRule, ParseError> {
        let at = &self.at;
        let map = at.as_mapping(rule)?;
        let text = at.needed(map, "rule")?;
        self.bytes += text.len();
        Ok(CelRule {
            rule: Arc::from(text),
            message: at.shared(map, "message")?,
            message_expression: at.shared(map, "messageExpression")?,
            reason: at.shared(map, "reason")?,
            field_path: at.shared(map, "fieldPath")?,
            optional_old_self: at.flag(map, "optionalOldSelf")?,
        })
    }

    fn junctor(&mut self, map: &Map<String, Value>, name: &str) -> Result<Vec<Schema>, ParseError> {
        let entries: Vec<&Value> = self.at.list(map, name)?.iter().collect();
        self.within(name, |reader| {
            entries
                .into_iter()
                .enumerate()
                .map(|(index, entry)| {
                    reader.step(Step::Index(index), |reader| reader.schema(entry, Place::Nested))
                })
                .collect()
        })
    }
}

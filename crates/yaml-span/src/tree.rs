//! The located tree: values as YAML means them, each with the place it was written at. Holds no text besides
//! the strings themselves and never changes after parsing.

use serde_json::{Map, Number};

use crate::{Path, Segment, Span};

/// One document of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The value; null at the document's start for an empty document.
    pub root: Node,
    /// From its `---` (or its first node) to the end of its last node.
    pub span: Span,
    /// True when the document starts with `---`.
    pub explicit: bool,
    /// True when there is nothing but blank lines and comments: usually to be skipped.
    pub empty: bool,
}

/// One value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its text, without tag and anchor. For an alias, the `*name`; what is inside it has the places of the
    /// definition. A block collection ends with its last entry.
    pub span: Span,
    /// The value.
    pub value: Value,
    /// How it was written.
    pub style: Style,
    /// Its tag, as `!name` or `!!str`, where one was written.
    pub tag: Option<Box<str>>,
    /// Its anchor, without `&`.
    pub anchor: Option<Box<str>>,
    /// Whether the text at `span` is this node's alone.
    pub origin: Origin,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number that fits 64 bits.
    Int(Number),
    /// A number with a fraction or exponent, or too large for 64 bits; always finite.
    Float {
        /// The number.
        value: f64,
        /// As it was written.
        source: Box<str>,
    },
    /// A string.
    String(String),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping in the order of the text; keys are strings, booleans or numbers, unique as text ([`Node::key_text`]).
    Mapping(Vec<(Node, Node)>),
}

/// How a node was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A scalar without quotes; also an absent value.
    Plain,
    /// `'text'`.
    SingleQuoted,
    /// `"text"`.
    DoubleQuoted,
    /// `|`.
    Literal,
    /// `>`.
    Folded,
    /// A collection by indentation.
    Block,
    /// A collection in `[]` or `{}`.
    Flow,
}

/// Whether a node's text is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Written where its span says.
    Written,
    /// Reached by `*name`.
    Alias,
    /// A copy of what an alias names, or an entry that `<<` brought in.
    Copy,
}

impl Node {
    /// The value of a key, when this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|(_, value)| value)
    }

    /// Key and value nodes of a key, when this is a mapping that has it.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&(Self, Self)> {
        self.as_mapping()?.iter().find(|(k, _)| match &k.value {
            Value::String(text) => text == key,
            _ => k.key_text() == key,
        })
    }

    /// The child that a step leads to.
    #[must_use]
    pub fn step(&self, segment: &Segment) -> Option<&Self> {
        match segment {
            Segment::Key(key) => self.get(key),
            Segment::Index(index) => self.as_sequence()?.get(*index),
        }
    }

    /// The node at a path below this one.
    #[must_use]
    pub fn at(&self, path: &Path) -> Option<&Self> {
        path.segments().iter().try_fold(self, |node, s| node.step(s))
    }

    /// Where to point for a path: the key of the entry (or the item) itself, or of its nearest ancestor that exists.
    #[must_use]
    pub fn locate(&self, path: &Path) -> Span {
        let mut node = self;
        let mut span = self.span;
        for segment in path.segments() {
            let found = match segment {
                Segment::Key(key) => node.entry(key).map(|(k, v)| (k.span, v)),
                Segment::Index(_) => node.step(segment).map(|v| (v.span, v)),
            };
            let Some((at, next)) = found else { break };
            // What an alias brought in lies elsewhere: the alias is what the reader has to change.
            if node.origin != Origin::Alias {
                span = at;
            }
            node = next;
        }
        span
    }

    /// The string, when it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, when it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, when it is a whole one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match &self.value {
            Value::Int(number) => number.as_i64(),
            _ => None,
        }
    }

    /// The items, when it is a list.
    #[must_use]
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, when it is a mapping.
    #[must_use]
    pub fn as_mapping(&self) -> Option<&[(Self, Self)]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// True for null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// What this is, in the words of an error: `string`, `integer`, `list`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) => "integer",
            Value::Float { .. } => "number",
            Value::String(_) => "string",
            Value::Sequence(_) => "list",
            Value::Mapping(_) => "mapping",
        }
    }

    /// The text of a mapping key, as JSON would have it: `true`, `8080`, `name`.
    #[must_use]
    pub fn key_text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            Value::Bool(value) => value.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Float { value, source } => {
                float_number(*value).map_or_else(|| source.to_string(), |n| n.to_string())
            }
            Value::Null | Value::Sequence(_) | Value::Mapping(_) => "null".to_owned(),
        }
    }

    /// The JSON value, keys in the order of the text. A whole number stays whole however it was written (`1.0` is 1).
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(number) => Json::Number(number.clone()),
            Value::Float { value, .. } => float_number(*value).map_or(Json::Null, Json::Number),
            Value::String(text) => Json::String(text.clone()),
            Value::Sequence(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Value::Mapping(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for (key, value) in entries {
                    map.insert(key.key_text(), value.to_json());
                }
                Json::Object(map)
            }
        }
    }
}

/// The JSON number for a float: whole ones that fit 64 bits become integers.
fn float_number(value: f64) -> Option<Number> {
    let beyond = 2.0_f64.powi(63);
    if value.fract() == 0.0 && (-beyond..beyond).contains(&value) {
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range, both bounds being exact")]
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

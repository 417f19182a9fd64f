//! What the text of an object says beside its values, which decides what changes make of it: quotes, numbers as they were
//! written, keys without a value. Nothing of this is ever printed by itself.

use serde_json::Value as Json;
use yaml_span::{Node, Origin, Style, Value};

use crate::shared::Shared;
use crate::{emit, timestamp};

/// A step to a value inside an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// What the text of an object said beside its values, which a merge still asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// The places of keys without a value (`emptyDir:`), which is null like a written `null` until something is merged into
    /// the object: then the reference drops the one and keeps the other.
    pub(crate) blanks: Vec<Vec<Step>>,
    pub(crate) quoted: Quoted,
    /// What is no text, at its place, as it was written where that is not how it is printed: `0x10`, `1e3`, `~`. Sorted.
    pub(crate) written: Vec<(Place, Box<str>)>,
    /// Fields that hold one value.
    pub(crate) shared: Vec<Shared>,
}

/// Which texts of an object are written with quotes or as blocks. What a merge puts in their place takes that over: a number
/// becomes text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Quoted {
    rule: Rule,
    /// Beside the rule, those at these places. Sorted.
    places: Vec<Place>,
}

/// Which texts have quotes wherever they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Rule {
    #[default]
    None,
    /// All, as in JSON.
    All,
    /// Those that would not be text without quotes.
    AsNeeded,
}

impl Quoted {
    /// Whether the text at a place has quotes.
    pub(crate) fn has(&self, place: Place, text: &str) -> bool {
        let ruled = match self.rule {
            Rule::None => false,
            Rule::All => true,
            Rule::AsNeeded => emit::needs_style(text),
        };
        ruled || self.places.binary_search(&place).is_ok()
    }

    /// Notes texts that have got quotes in a merge.
    pub(crate) fn add(&mut self, places: Vec<Place>) {
        if !places.is_empty() {
            self.places.extend(places);
            self.places.sort_unstable();
            self.places.dedup();
        }
    }
}

impl Marks {
    /// Those of an object that was JSON: no key is without a value, and all text has quotes.
    pub(crate) fn of_json() -> Self {
        let quoted = Quoted { rule: Rule::All, places: Vec::new() };
        Self { blanks: Vec::new(), quoted, written: Vec::new(), shared: Vec::new() }
    }

    /// A date as it was written, where this text is one that was rewritten.
    pub(crate) fn date(&self, place: Place, text: &str) -> Option<&str> {
        let at = self.written.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        Some(&*self.written[at].1).filter(|written| timestamp::canonical(written).as_deref() == Some(text))
    }

    /// A single value as text, as it was written.
    pub(crate) fn text(&self, place: Place, value: &Json) -> String {
        let written = self.written.binary_search_by_key(&place, |(place, _)| *place).ok();
        let written = written.map(|at| &*self.written[at].1);
        match (written, value) {
            // A date, rewritten; or text that a change has put there since.
            (Some(written), Json::String(text)) if timestamp::canonical(written).as_ref() != Some(text) => {
                text.clone()
            }
            (Some(written), _) => written.to_owned(),
            (None, Json::String(text)) => text.clone(),
            (None, value) => value.to_string(),
        }
    }

    /// To be called when an object has gone through JSON: what its text was like is forgotten.
    pub(crate) fn forget(&mut self) {
        *self = Self {
            blanks: Vec::new(),
            quoted: Quoted { rule: Rule::AsNeeded, places: Vec::new() },
            written: Vec::new(),
            shared: Vec::new(),
        };
    }
}

/// A place in an object, as a number: the same for the same path. Items of lists are named by what tells them apart, so that
/// a place stays the same when a list is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(u64);

/// The fields by which items of lists of built-in kinds are told apart, the most telling first.
const TELLING: [&str; 9] =
    ["name", "mountPath", "devicePath", "containerPort", "port", "ip", "topologyKey", "type", "uid"];

impl Place {
    /// The object itself.
    pub(crate) const ROOT: Self = Self(0xcbf2_9ce4_8422_2325);

    fn then(self, bytes: &[u8], end: u8) -> Self {
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(hash(bytes.iter().fold(self.0, hash), &end))
    }

    /// The value of a key.
    pub(crate) fn key(self, key: &str) -> Self {
        self.then(key.as_bytes(), 0xff)
    }

    /// Where steps lead from the object itself.
    pub(crate) fn of(object: &Json, steps: &[Step]) -> Self {
        let (mut place, mut value) = (Self::ROOT, Some(object));
        for step in steps {
            let next = match step {
                Step::Key(key) => value.and_then(|value| value.get(key)),
                Step::Index(index) => value.and_then(|value| value.get(index)),
            };
            place = match (step, next) {
                (Step::Key(key), _) => place.key(key),
                (Step::Index(index), Some(item)) => place.item(*index, item),
                (Step::Index(index), None) => place.item(*index, &Json::Null),
            };
            value = next;
        }
        place
    }

    /// An item of a list.
    pub(crate) fn item(self, index: usize, item: &Json) -> Self {
        let found = TELLING.iter().find_map(|key| item.get(key));
        match found {
            Some(Json::String(text)) => self.then(text.as_bytes(), 0xfe),
            Some(Json::Number(number)) => self.then(number.to_string().as_bytes(), 0xfe),
            _ => self.then(&index.to_le_bytes(), 0xfd),
        }
    }

    fn item_node(self, index: usize, item: &Node) -> Self {
        let found = TELLING.iter().find_map(|key| item.get(key));
        match found.map(|node| &node.value) {
            Some(Value::String(text)) => self.then(text.as_bytes(), 0xfe),
            Some(Value::Int(_) | Value::Float { .. }) => {
                let text = found.map(|node| node.to_json().to_string()).unwrap_or_default();
                self.then(text.as_bytes(), 0xfe)
            }
            _ => self.then(&index.to_le_bytes(), 0xfd),
        }
    }
}

/// How a single value was written, where that must be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// In quotes or as a block.
    Quoted,
    /// Not at all: a key without a value.
    Blank,
}

/// The marks of a value, from those of its single values, by their number in the order of the text.
pub(crate) fn of_leaves(value: &Json, leaves: Vec<(usize, Leaf)>) -> Marks {
    let mut found = Numbered {
        leaves: leaves.into_iter().peekable(),
        seen: 0,
        path: Vec::new(),
        marks: Marks::default(),
    };
    found.collect(value, Place::ROOT);
    let mut marks = found.marks;
    marks.quoted.places.sort_unstable();
    marks.quoted.places.dedup();
    marks.written.sort();
    marks.written.dedup_by_key(|(place, _)| *place);
    marks
}

struct Numbered<'v> {
    leaves: std::iter::Peekable<std::vec::IntoIter<(usize, Leaf)>>,
    seen: usize,
    path: Vec<Result<&'v str, usize>>,
    marks: Marks,
}

impl<'v> Numbered<'v> {
    fn collect(&mut self, value: &'v Json, place: Place) {
        match value {
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Err(index));
                    self.collect(item, place.item(index, item));
                    self.path.pop();
                }
            }
            Json::Object(map) => {
                for (key, value) in map {
                    self.path.push(Ok(key));
                    self.collect(value, place.key(key));
                    self.path.pop();
                }
            }
            _ => {
                let seen = self.seen;
                self.seen += 1;
                match self.leaves.next_if(|(number, _)| *number == seen) {
                    Some((_, Leaf::Quoted)) => self.marks.quoted.places.push(place),
                    Some((_, Leaf::Blank)) => {
                        let step = |step: &Result<&str, usize>| match step {
                            Ok(key) => Step::Key((*key).to_owned()),
                            Err(index) => Step::Index(*index),
                        };
                        self.marks.blanks.push(self.path.iter().map(step).collect());
                        self.marks.written.push((place, "".into()));
                    }
                    None => {}
                }
            }
        }
    }
}

/// The marks of a tree.
pub(crate) fn of_node(node: &Node, text: &str) -> Marks {
    let mut found =
        Collector { text, path: Vec::new(), blanks: Vec::new(), quoted: Vec::new(), written: Vec::new() };
    found.collect(node, Place::ROOT);
    found.quoted.sort_unstable();
    found.quoted.dedup();
    found.written.sort();
    found.written.dedup_by_key(|(place, _)| *place);
    let quoted = Quoted { rule: Rule::None, places: found.quoted };
    Marks { blanks: found.blanks, quoted, written: found.written, shared: Vec::new() }
}

struct Collector<'a> {
    text: &'a str,
    /// Keys and positions; the keys are copied only where a blank is found.
    path: Vec<Result<&'a Node, usize>>,
    blanks: Vec<Vec<Step>>,
    quoted: Vec<Place>,
    written: Vec<(Place, Box<str>)>,
}

impl<'a> Collector<'a> {
    fn collect(&mut self, node: &'a Node, place: Place) {
        match &node.value {
            Value::Null if node.span.start.offset == node.span.end.offset => {
                let step = |step: &Result<&Node, usize>| match step {
                    Ok(key) => Step::Key(key.key_text()),
                    Err(index) => Step::Index(*index),
                };
                self.blanks.push(self.path.iter().map(step).collect());
                self.written.push((place, "".into()));
            }
            Value::String(_) if node.style != Style::Plain => self.quoted.push(place),
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Err(index));
                    self.collect(item, place.item_node(index, item));
                    self.path.pop();
                }
            }
            Value::Mapping(entries) => {
                for (key, value) in entries {
                    let place = key.as_str().map_or_else(|| place.key(&key.key_text()), |it| place.key(it));
                    self.path.push(Ok(key));
                    self.collect(value, place);
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float { .. } => self.note(node, place),
            Value::String(_) => {
                if node.as_str().is_some_and(|text| timestamp::canonical(text).is_some()) {
                    self.note(node, place);
                }
            }
        }
    }

    /// Notes how a plain value was written, where that is not how it is printed.
    fn note(&mut self, node: &Node, place: Place) {
        let span = node.span.start.offset..node.span.end.offset;
        let written = self.text.get(span).filter(|_| node.origin == Origin::Written && node.tag.is_none());
        let Some(written) = written else { return };
        let printed = match &node.value {
            Value::Null => written == "null",
            Value::Bool(value) => written == if *value { "true" } else { "false" },
            Value::Int(number) => number.to_string() == written,
            _ => false,
        };
        if !printed {
            self.written.push((place, written.into()));
        }
    }
}

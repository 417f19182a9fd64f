//! The conditions on values that a node states, as a set: all of them hold. Two nodes meet by joining their sets, and a
//! set is written back in one order, so that the order of members never shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::{Bounds, Hash, Node, Schema, canonical, same_value};

/// A limit and whether the limit itself is excluded.
pub(super) type Edge = Option<(f64, bool)>;

/// All conditions of a node and of its `allOf` entries. What those say about fields and items is kept apart, for the
/// nodes that describe them.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) lower: Edge,
    pub(super) upper: Edge,
    /// Bits of positive floats, which sort like them.
    pub(super) multiples: BTreeSet<u64>,
    pub(super) min_length: Option<u64>,
    pub(super) max_length: Option<u64>,
    pub(super) patterns: BTreeSet<Arc<str>>,
    pub(super) formats: BTreeSet<Arc<str>>,
    /// By their one spelling.
    pub(super) values: Option<BTreeMap<String, Value>>,
    pub(super) min_items: Option<u64>,
    pub(super) max_items: Option<u64>,
    pub(super) unique_items: bool,
    pub(super) min_properties: Option<u64>,
    pub(super) max_properties: Option<u64>,
    pub(super) required: BTreeSet<Arc<str>>,
    /// Each entry a whole `anyOf`, `oneOf`, `not`, by content.
    pub(super) any_of: BTreeMap<Vec<Hash>, Vec<Schema>>,
    pub(super) one_of: BTreeMap<Vec<Hash>, Vec<Schema>>,
    pub(super) nots: BTreeMap<Hash, Schema>,
    /// What `allOf` says about fields, about items, and about values of free keys.
    pub(super) fields: BTreeMap<Arc<str>, Vec<Schema>>,
    pub(super) items: Vec<Schema>,
}

impl Facts {
    pub(super) fn of(node: &Node) -> Self {
        let mut facts = Self::default();
        facts.absorb(node);
        facts
    }

    /// The junctors alone are taken out, to be looked at one by one.
    pub(super) fn take_junctors(&mut self) -> Vec<Schema> {
        let any =
            std::mem::take(&mut self.any_of).into_values().map(|any_of| Node { any_of, ..Node::default() });
        let one =
            std::mem::take(&mut self.one_of).into_values().map(|one_of| Node { one_of, ..Node::default() });
        let nots = std::mem::take(&mut self.nots).into_values();
        let nots = nots.map(|not| Node { not: Some(not), ..Node::default() });
        any.chain(one).chain(nots).map(Schema::new).collect()
    }

    /// Adds what `node` states itself; its fields, items and types are for others to look at.
    pub(super) fn absorb(&mut self, node: &Node) {
        let Bounds { minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of } = node.bounds;
        self.lower = higher(self.lower, minimum.map(|limit| (limit, exclusive_minimum)));
        self.upper = lower(self.upper, maximum.map(|limit| (limit, exclusive_maximum)));
        self.multiples.extend(multiple_of.map(f64::to_bits));
        self.min_length = self.min_length.max(node.min_length);
        self.max_length = least(self.max_length, node.max_length);
        self.patterns.extend(node.pattern.clone());
        self.formats.extend(node.format.clone());
        if let Some(values) = &node.enumeration {
            self.enumerate(values.iter().map(|value| (canonical(value), value.clone())).collect());
        }
        self.min_items = self.min_items.max(node.min_items);
        self.max_items = least(self.max_items, node.max_items);
        self.unique_items |= node.unique_items;
        self.min_properties = self.min_properties.max(node.min_properties);
        self.max_properties = least(self.max_properties, node.max_properties);
        self.required.extend(node.required.iter().cloned());
        for (entries, all) in [(&node.any_of, &mut self.any_of), (&node.one_of, &mut self.one_of)] {
            if !entries.is_empty() {
                let mut entries = entries.clone();
                entries.sort_by_key(Schema::hash);
                all.insert(entries.iter().map(Schema::hash).collect(), entries);
            }
        }
        self.nots.extend(node.not.iter().map(|not| (not.hash(), not.clone())));
        for entry in &node.all_of {
            self.absorb(entry);
            for (name, field) in &entry.properties {
                self.fields.entry(name.clone()).or_default().push(field.clone());
            }
            self.items.extend(entry.items.clone());
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.lower = higher(self.lower, other.lower);
        self.upper = lower(self.upper, other.upper);
        self.multiples.extend(&other.multiples);
        self.min_length = self.min_length.max(other.min_length);
        self.max_length = least(self.max_length, other.max_length);
        self.patterns.extend(other.patterns.iter().cloned());
        self.formats.extend(other.formats.iter().cloned());
        if let Some(values) = &other.values {
            self.enumerate(values.clone());
        }
        self.min_items = self.min_items.max(other.min_items);
        self.max_items = least(self.max_items, other.max_items);
        self.unique_items |= other.unique_items;
        // Counts of fields, and which are required, depend on defaults: those are joined where fields are.
        self.any_of.extend(other.any_of.iter().map(|(key, all)| (key.clone(), all.clone())));
        self.one_of.extend(other.one_of.iter().map(|(key, all)| (key.clone(), all.clone())));
        self.nots.extend(other.nots.iter().map(|(key, not)| (*key, not.clone())));
    }

    fn enumerate(&mut self, values: BTreeMap<String, Value>) {
        match &mut self.values {
            Some(known) => known.retain(|key, _| values.contains_key(key)),
            None => self.values = Some(values),
        }
    }

    /// Whether a value cannot be, no matter what.
    pub(super) fn forbids_all(&self) -> bool {
        self.nots.values().any(|not| **not == Node::default())
    }

    /// Writes all that is not about fields and items into `node`.
    pub(super) fn write(&self, node: &mut Node) {
        node.bounds = Bounds {
            minimum: self.lower.map(|(limit, _)| limit),
            maximum: self.upper.map(|(limit, _)| limit),
            exclusive_minimum: self.lower.is_some_and(|(_, excluded)| excluded),
            exclusive_maximum: self.upper.is_some_and(|(_, excluded)| excluded),
            multiple_of: None,
        };
        node.min_length = self.min_length;
        node.max_length = self.max_length;
        node.enumeration = self.values.as_ref().map(|values| values.values().cloned().collect());
        node.min_items = self.min_items;
        node.max_items = self.max_items;
        node.unique_items = self.unique_items;
        node.min_properties = self.min_properties;
        node.max_properties = self.max_properties;
        let mut more = Vec::new();
        let mut patterns = self.patterns.iter().cloned();
        node.pattern = patterns.next();
        more.extend(patterns.map(|pattern| Node { pattern: Some(pattern), ..Node::default() }));
        let mut formats = self.formats.iter().cloned();
        node.format = formats.next();
        more.extend(formats.map(|format| Node { format: Some(format), ..Node::default() }));
        let mut multiples = self.multiples.iter().map(|bits| f64::from_bits(*bits));
        node.bounds.multiple_of = multiples.next();
        more.extend(multiples.map(|multiple_of| Node {
            bounds: Bounds { multiple_of: Some(multiple_of), ..Bounds::default() },
            ..Node::default()
        }));
        // A second `anyOf` needs an entry of `allOf`; which one is the first must not depend on the order of members.
        let mut any_of = self.any_of.values().cloned();
        node.any_of = any_of.next().unwrap_or_default();
        more.extend(any_of.map(|any_of| Node { any_of, ..Node::default() }));
        let mut one_of = self.one_of.values().cloned();
        node.one_of = one_of.next().unwrap_or_default();
        more.extend(one_of.map(|one_of| Node { one_of, ..Node::default() }));
        let mut nots = self.nots.values().cloned();
        node.not = nots.next();
        more.extend(nots.map(|not| Node { not: Some(not), ..Node::default() }));
        node.all_of = more.into_iter().map(Schema::new).collect();
        node.all_of.sort_by_key(Schema::hash);
    }
}

/// Whether all are there and the same.
pub(super) fn common_default<'a>(mut defaults: impl Iterator<Item = Option<&'a Value>>) -> Option<&'a Value> {
    let first = defaults.next()??;
    defaults.all(|other| other.is_some_and(|other| same_value(first, other))).then_some(first)
}

fn higher(left: Edge, right: Edge) -> Edge {
    edge(left, right, |left, right| left > right)
}

fn lower(left: Edge, right: Edge) -> Edge {
    edge(left, right, |left, right| left < right)
}

fn edge(left: Edge, right: Edge, tighter: impl Fn(f64, f64) -> bool) -> Edge {
    match (left, right) {
        (Some(left), Some(right)) if tighter(left.0, right.0) => Some(left),
        (Some(left), Some(right)) if tighter(right.0, left.0) => Some(right),
        (Some(left), Some(right)) => Some((left.0, left.1 || right.1)),
        (one, None) | (None, one) => one,
    }
}

/// The smaller of two limits, where none is no limit.
pub(super) fn least(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (one, None) | (None, one) => one,
    }
}

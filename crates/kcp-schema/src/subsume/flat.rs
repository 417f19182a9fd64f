//! A node with its `allOf` entries folded in, so that each condition is in one place. Conditions that cannot be folded stay
//! beside it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::{Bounds, Node, Schema, Type};
use crate::value::same_value;

/// The folded node.
#[derive(Debug, Clone)]
pub(crate) struct Flat<'s> {
    pub(crate) node: Cow<'s, Node>,
    /// All must match.
    pub(crate) patterns: Vec<Arc<str>>,
    /// All must fit.
    pub(crate) formats: Vec<Arc<str>>,
    /// Of each list, one or more must hold.
    pub(crate) any_ofs: Vec<Vec<Schema>>,
    /// Of each list, exactly one must hold.
    pub(crate) one_ofs: Vec<Vec<Schema>>,
    /// None may hold.
    pub(crate) nots: Vec<Schema>,
    /// All must hold: entries about fields that the node does not describe.
    pub(crate) others: Vec<Schema>,
}

impl<'s> Flat<'s> {
    /// Folds a node.
    pub(crate) fn of(node: &'s Node) -> Self {
        let mut flat = Self {
            node: Cow::Borrowed(node),
            patterns: Vec::new(),
            formats: Vec::new(),
            any_ofs: Vec::new(),
            one_ofs: Vec::new(),
            nots: Vec::new(),
            others: Vec::new(),
        };
        flat.conditions(node);
        for entry in &node.all_of {
            flat.absorb(entry);
        }
        flat
    }

    /// `node` with the further condition `entry`, folded.
    pub(crate) fn with(mut self, entry: &Schema) -> Self {
        self.absorb(entry);
        self
    }

    /// Whether values of this type are allowed.
    pub(crate) fn allows(&self, kind: Type) -> bool {
        if self.node.int_or_string {
            return matches!(kind, Type::Integer | Type::String);
        }
        self.node.types.allows(kind)
    }

    /// The types, as people say it.
    pub(crate) fn types_in_words(&self) -> String {
        if self.node.int_or_string { "integer or string".into() } else { self.node.types.to_string() }
    }

    fn conditions(&mut self, node: &Node) {
        for (all, one) in [(&mut self.patterns, &node.pattern), (&mut self.formats, &node.format)] {
            if let Some(one) = one
                && !all.contains(one)
            {
                all.push(one.clone());
            }
        }
        if !node.any_of.is_empty() {
            self.any_ofs.push(node.any_of.clone());
        }
        if !node.one_of.is_empty() {
            self.one_ofs.push(node.one_of.clone());
        }
        self.nots.extend(node.not.clone());
    }

    fn absorb(&mut self, entry: &Schema) {
        self.conditions(entry);
        let undescribed = entry.properties.keys().any(|name| !self.node.properties.contains_key(name))
            || !entry.additional.is_none();
        if undescribed {
            self.others.push(entry.clone());
        }
        let node = self.node.to_mut();
        if let (Some(own), Some(step)) = (node.bounds.multiple_of, entry.bounds.multiple_of)
            && (own / step).fract() != 0.0
            && (step / own).fract() != 0.0
        {
            // No common step is worth computing: nobody writes this.
            let bounds = Bounds { multiple_of: entry.bounds.multiple_of, ..Bounds::default() };
            self.others.push(Schema::new(Node { bounds, ..Node::default() }));
        }
        node.bounds = tighter(node.bounds, entry.bounds);
        node.min_length = node.min_length.max(entry.min_length);
        node.max_length = least(node.max_length, entry.max_length);
        node.min_items = node.min_items.max(entry.min_items);
        node.max_items = least(node.max_items, entry.max_items);
        node.min_properties = node.min_properties.max(entry.min_properties);
        node.max_properties = least(node.max_properties, entry.max_properties);
        node.unique_items |= entry.unique_items;
        node.required.extend(entry.required.iter().cloned());
        if let Some(values) = &entry.enumeration {
            node.enumeration = Some(match &node.enumeration {
                None => values.clone(),
                Some(own) => own
                    .iter()
                    .filter(|own| values.iter().any(|value| same_value(own, value)))
                    .cloned()
                    .collect(),
            });
        }
        if !entry.types.is_any()
            && (node.types.is_any() || entry.types.iter().all(|kind| node.types.allows(kind)))
        {
            node.types = entry.types;
        }
        for (name, child) in &entry.properties {
            if let Some(own) = node.properties.get_mut(name) {
                *own = and(own, child);
            }
        }
        if let Some(child) = &entry.items {
            node.items = Some(node.items.as_ref().map_or_else(|| child.clone(), |own| and(own, child)));
        }
        for inner in &entry.all_of {
            self.absorb(inner);
        }
    }

    /// A schema that says the same as the folded node. Patterns and formats beyond the first, and junctors, are `allOf`.
    pub(crate) fn to_schema(&self) -> Schema {
        let mut node = self.node.clone().into_owned();
        let mut all_of = self.others.clone();
        let entries = |node: Node| Schema::new(node);
        node.pattern = self.patterns.first().cloned();
        node.format = self.formats.first().cloned();
        for pattern in self.patterns.iter().skip(1) {
            all_of.push(entries(Node { pattern: Some(pattern.clone()), ..Node::default() }));
        }
        for format in self.formats.iter().skip(1) {
            all_of.push(entries(Node { format: Some(format.clone()), ..Node::default() }));
        }
        (node.any_of, node.one_of, node.not) = (Vec::new(), Vec::new(), None);
        for any_of in &self.any_ofs {
            all_of.push(entries(Node { any_of: any_of.clone(), ..Node::default() }));
        }
        for one_of in &self.one_ofs {
            all_of.push(entries(Node { one_of: one_of.clone(), ..Node::default() }));
        }
        for not in &self.nots {
            all_of.push(entries(Node { not: Some(not.clone()), ..Node::default() }));
        }
        node.all_of = all_of;
        Schema::new(node)
    }
}

/// `own` with one more condition.
pub(crate) fn and(own: &Schema, entry: &Schema) -> Schema {
    let mut node = own.to_node();
    node.all_of.push(entry.clone());
    Schema::new(node)
}

fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

fn tighter(a: Bounds, b: Bounds) -> Bounds {
    let mut out = a;
    if let Some(low) = b.minimum
        && a.minimum.is_none_or(|own| low > own || low == own && b.exclusive_minimum)
    {
        (out.minimum, out.exclusive_minimum) = (Some(low), b.exclusive_minimum);
    }
    if let Some(high) = b.maximum
        && a.maximum.is_none_or(|own| high < own || high == own && b.exclusive_maximum)
    {
        (out.maximum, out.exclusive_maximum) = (Some(high), b.exclusive_maximum);
    }
    if let Some(step) = b.multiple_of {
        out.multiple_of = Some(match a.multiple_of {
            Some(own) if (own / step).fract() == 0.0 => own,
            _ => step,
        });
    }
    out
}

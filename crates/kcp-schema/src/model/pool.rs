//! Hash-consing: equal schema trees are kept once, however many clusters serve them.

use std::collections::HashMap;

use super::hash::Hash;
use super::node::{Additional, Node, Schema};

/// The schemas kept so far. Dropping the pool frees those that nobody else holds.
#[derive(Debug, Default)]
pub struct Pool {
    known: HashMap<Hash, Schema>,
}

impl Pool {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The shared schema of `node`: one that is already here if there is an equal one, descriptions included. The
    /// children are taken as they are; intern them first.
    pub fn intern(&mut self, node: Node) -> Schema {
        let schema = Schema::new(node);
        self.known.entry(schema.whole()).or_insert(schema).clone()
    }

    /// The shared twin of a whole tree that was made elsewhere.
    pub fn adopt(&mut self, schema: &Schema) -> Schema {
        if let Some(known) = self.known.get(&schema.whole()) {
            return known.clone();
        }
        let mut node = schema.to_node();
        let Node { items, properties, additional, all_of, any_of, one_of, not, .. } = &mut node;
        let children = items.iter_mut().chain(properties.values_mut()).chain(not.iter_mut());
        for child in children.chain(all_of).chain(any_of).chain(one_of) {
            *child = self.adopt(child);
        }
        if let Additional::Schema(child) = additional {
            *child = self.adopt(child);
        }
        self.intern(node)
    }

    /// How many distinct nodes are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Forgets every tree that nobody outside the pool holds any more.
    pub fn shrink(&mut self) {
        loop {
            let before = self.known.len();
            self.known.retain(|_, schema| schema.is_shared());
            if self.known.len() == before {
                return;
            }
        }
    }
}

//! Lists: how many items, of which schema, and whether they must differ.

use serde_json::{Value, json};

use super::object::{Slot, open};
use super::{Flat, Kind, Sure, Walk};
use crate::model::{ListType, Node, Schema, SchemaStep};

impl Walk {
    pub(super) fn list(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>) {
        let (own, other) = (&*left.node, &*right.node);
        let number = |limit: Option<u64>| limit.map(Value::from);
        if let Some(most) = other.max_items
            && own.max_items.is_none_or(|own| own > most)
        {
            let (old, new) = (number(own.max_items), number(other.max_items));
            self.differs(Kind::Bound("maxItems"), (a, old), (b, new), Sure::Yes, Vec::new());
        }
        if let Some(least) = other.min_items
            && least > own.min_items.unwrap_or(0)
        {
            let (old, new) = (number(own.min_items), number(other.min_items));
            self.differs(Kind::Bound("minItems"), (a, old), (b, new), Sure::Yes, Vec::new());
        }
        if !differ_enough(own, other) && own.max_items.is_none_or(|most| most > 1) {
            let (old, new) = (Some(said(own)), Some(said(other)));
            self.differs(Kind::ListType, (a, old), (b, new), Sure::Yes, Vec::new());
        }
        if own.max_items == Some(0) {
            return;
        }
        let (ours, theirs) = (items(own), items(other));
        if ours.is_none() && theirs.is_none() {
            return;
        }
        let (ours, theirs) = (ours.unwrap_or_default(), theirs.unwrap_or_default());
        // The items of what says nothing, or keeps all, say the same again.
        if ours == *a && theirs == *b {
            return;
        }
        if other.list_type == ListType::Map {
            self.keyed.push((self.path.len() + 1, other.list_map_keys.clone()));
        }
        self.within(SchemaStep::Items, |walk| walk.child(a, &ours, b, &Slot::Schema(theirs)));
        if other.list_type == ListType::Map {
            self.keyed.pop();
        }
    }
}

/// Whether items that differ enough for the first do so for the second.
fn differ_enough(own: &Node, other: &Node) -> bool {
    if other.unique_items && !own.unique_items && own.list_type == ListType::Atomic {
        return false;
    }
    match (own.list_type, other.list_type) {
        (_, ListType::Atomic) | (ListType::Set | ListType::Map, ListType::Set) => true,
        (ListType::Atomic, ListType::Set) => own.unique_items,
        // Items that differ in fewer keys differ in more.
        (ListType::Map, ListType::Map) => {
            own.list_map_keys.iter().all(|key| other.list_map_keys.contains(key))
        }
        (ListType::Atomic | ListType::Set, ListType::Map) => false,
    }
}

/// The schema of items; `None` if nothing is said. The items of an open list are open.
fn items(node: &Node) -> Option<Schema> {
    match (&node.items, node.preserve_unknown) {
        (Some(items), true) if !items.preserve_unknown => {
            Some(Schema::new(Node { preserve_unknown: true, ..items.to_node() }))
        }
        (Some(items), _) => Some(items.clone()),
        (None, true) => Some(open()),
        (None, false) => None,
    }
}

/// How the items of a list are told apart, as in a CRD.
pub(crate) fn said(node: &Node) -> Value {
    match node.list_type {
        ListType::Atomic => json!("atomic"),
        ListType::Set => json!("set"),
        ListType::Map => {
            let keys: Vec<&str> = node.list_map_keys.iter().map(|key| &**key).collect();
            json!(format!("map by {}", keys.join(", ")))
        }
    }
}

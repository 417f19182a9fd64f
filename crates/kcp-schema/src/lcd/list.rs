//! Lists meet: what an item may hold, how many there may be, and what tells them apart.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::facts::{Facts, least};
use super::kinds::Kinds;
use super::meet::{Meeting, Part, Side, members};
use super::object::{is_hollow, refined};
use super::report::{Loss, Lost, Nothing, WhyUnknown};
use super::skeleton::{free, hollow};
use crate::{ListType, MapType, Node, Schema, SchemaStep, Type};

impl Meeting {
    pub(super) fn list(
        &mut self,
        sides: &[Side],
        kinds: Kinds,
        node: &mut Node,
        facts: &mut Facts,
    ) -> Result<(), Nothing> {
        if sides.iter().all(|side| side.part.schema.items.is_none()) {
            return Ok(());
        }
        if facts.max_items == Some(0) && kinds.is_only(Type::Array) {
            // What items could hold does not matter.
            node.items = Some(free());
            return Ok(());
        }
        let parts = sides.iter().map(|side| Part { schema: items(side), members: side.part.members.clone() });
        let mark = self.mark();
        let reason = match self.below(SchemaStep::Items, parts.collect()) {
            Ok(schema) if is_hollow(&schema) => self.dark(WhyUnknown::Inexpressible("values without fields")),
            Ok(schema) => {
                node.items = Some(schema);
                return self.told_apart(sides, kinds, node, facts);
            }
            Err(Nothing::Cost(cost)) => return Err(Nothing::Cost(cost)),
            Err(reason) => reason,
        };
        self.forget(mark);
        if facts.min_items.is_some_and(|least| least > 0) || !kinds.is_only(Type::Array) {
            return Err(match reason {
                Nothing::Empty(_) if !kinds.is_only(Type::Array) => {
                    self.dark(WhyUnknown::Inexpressible("lists are allowed by none, but other types are"))
                }
                other => other,
            });
        }
        self.lost_all(sides, Lost::Items, !matches!(reason, Nothing::Empty(_)));
        node.items = Some(free());
        facts.max_items = Some(0);
        Ok(())
    }

    /// Uniqueness: the strictest that one schema can say.
    fn told_apart(
        &mut self,
        sides: &[Side],
        kinds: Kinds,
        node: &mut Node,
        facts: &mut Facts,
    ) -> Result<(), Nothing> {
        if !kinds.is_only(Type::Array) {
            return Ok(());
        }
        let keys = |side: &Side| -> Option<BTreeSet<Arc<str>>> {
            let map = side.part.schema.list_type == ListType::Map;
            map.then(|| side.part.schema.list_map_keys.iter().cloned().collect())
        };
        let all: Vec<BTreeSet<Arc<str>>> = sides.iter().filter_map(keys).collect();
        if all.is_empty() {
            if sides.iter().any(|side| side.part.schema.list_type == ListType::Set) {
                self.set(sides, node, facts);
            }
            return Ok(());
        }
        // Items that differ in fewer keys differ in more.
        let common: BTreeSet<Arc<str>> = all
            .iter()
            .skip(1)
            .fold(all[0].clone(), |common, keys| common.intersection(keys).cloned().collect());
        let conservative = !all.contains(&common);
        for side in sides.iter().filter(|side| keys(side).as_ref() != Some(&common)) {
            let to = side.part.members.clone();
            self.push(Loss {
                path: self.place(),
                lost: Lost::Duplicates,
                to,
                because_of: members(sides, |other| keys(other).is_some()),
                had: keys(side)
                    .map_or(Value::Null, |keys| keys.iter().map(|key| Value::from(&**key)).collect()),
                now: common.iter().map(|key| Value::from(&**key)).collect(),
                conservative,
            });
        }
        let mut items = node.items.clone().unwrap_or_else(free).to_node();
        // A key that is gone had the same default in all items.
        let keys: Vec<Arc<str>> =
            common.into_iter().filter(|key| items.properties.contains_key(key)).collect();
        if keys.is_empty() {
            facts.max_items = least(facts.max_items, Some(1));
            return Ok(());
        }
        for key in &keys {
            let filled = items.properties.get(key).is_some_and(|field| field.default.is_some());
            if !filled && items.required.insert(key.clone()) {
                let path = self.place_of(SchemaStep::Items).child(SchemaStep::Property(key.clone()));
                self.push(Loss {
                    path,
                    lost: Lost::Implicit,
                    to: members(sides, |_| true),
                    because_of: Vec::new(),
                    had: false.into(),
                    now: true.into(),
                    conservative: true,
                });
            }
        }
        node.items = Some(Schema::new(items));
        node.list_type = ListType::Map;
        node.list_map_keys = keys;
        Ok(())
    }

    /// A set of scalars, or of objects and lists that are one value each.
    fn set(&mut self, sides: &[Side], node: &mut Node, facts: &mut Facts) {
        for side in sides.iter().filter(|side| side.part.schema.list_type == ListType::Atomic) {
            self.lose(sides, side, Lost::Duplicates, true.into(), false.into(), |other| {
                other.part.schema.list_type == ListType::Set
            });
        }
        let Some(items) = &node.items else { return };
        let kinds = Kinds::of(items);
        if kinds.is_flat() {
            node.list_type = ListType::Set;
            return;
        }
        let mut atomic = items.to_node();
        let defaults = sides.iter().any(|side| side.part.schema.facts().defaults);
        if atomic.list_type != ListType::Atomic || defaults {
            // Nothing says "no two the same" here: at most one item then.
            self.lost_all(sides, Lost::Duplicates, true);
            facts.max_items = least(facts.max_items, Some(1));
            return;
        }
        atomic.map_type = MapType::Atomic;
        node.items = Some(Schema::new(atomic));
        node.list_type = ListType::Set;
    }

    fn lost_all(&mut self, sides: &[Side], lost: Lost, conservative: bool) {
        self.push(Loss {
            path: self.place(),
            lost,
            to: members(sides, |_| true),
            because_of: Vec::new(),
            had: Value::Null,
            now: Value::Null,
            conservative,
        });
    }
}

/// What an item holds.
fn items(side: &Side) -> Schema {
    let node = &side.part.schema;
    let Some(items) = &node.items else { return if node.preserve_unknown { free() } else { hollow() } };
    // The items of an open list are open themselves; null is dropped from no list, and only a type excludes it.
    let open = node.preserve_unknown && !items.preserve_unknown && !Kinds::of(items).is_flat();
    let null = !items.nullable && Kinds::of(items).is_all();
    if !open && !null {
        return refined(items, &side.facts.items);
    }
    let mut own = items.to_node();
    own.preserve_unknown |= open;
    own.nullable |= null;
    refined(&Schema::new(own), &side.facts.items)
}

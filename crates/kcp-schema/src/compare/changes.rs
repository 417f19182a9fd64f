//! Changes that neither refuse nor drop anything: new fields, and how server-side apply merges.

use serde_json::Value;

use super::{Difference, Impact};
use crate::model::{CelRule, MapType, Schema, SchemaPath, SchemaStep};
use crate::subsume::{Flat, list_type};

/// Differences looked for; a schema of its own may have millions of nodes.
const MOST: usize = 10_000;

/// Those changes, where `found` says nothing of the place yet.
pub(super) fn of(old: &Schema, new: &Schema, found: &[Difference]) -> Vec<Difference> {
    let mut walk = Walk { path: Vec::new(), all: Vec::new(), neutral: true, visits: 0, unbounded: 0 };
    walk.pair(old, new);
    let known = |difference: &Difference| {
        difference.rule.id == "list-type-loosened"
            && found.iter().any(|it| it.path == difference.path && it.rule.id.starts_with("list-"))
    };
    walk.all.into_iter().filter(|difference| !known(difference)).collect()
}

/// Changed descriptions of schemas that are the same else.
pub(super) fn descriptions(old: &Schema, new: &Schema) -> Vec<Difference> {
    let mut walk = Walk { path: Vec::new(), all: Vec::new(), neutral: false, visits: 0, unbounded: 0 };
    walk.pair(old, new);
    walk.all
}

struct Walk {
    path: Vec<SchemaStep>,
    all: Vec<Difference>,
    neutral: bool,
    visits: usize,
    /// Lists and free mappings from the root to here that have no greatest size.
    unbounded: usize,
}

impl Walk {
    fn add(&mut self, rule: &'static str, old: Option<Value>, new: Option<Value>) {
        if self.all.len() < MOST {
            let mut difference = Difference::new(rule).says(old, new);
            difference.path = SchemaPath(self.path.clone());
            self.all.push(difference);
        }
    }

    fn within(&mut self, step: SchemaStep, work: impl FnOnce(&mut Self)) {
        self.path.push(step);
        work(self);
        self.path.pop();
    }

    fn below(&mut self, step: SchemaStep, unbounded: usize, old: &Schema, new: &Schema) {
        self.unbounded += unbounded;
        self.within(step, |walk| walk.pair(old, new));
        self.unbounded -= unbounded;
    }

    fn pair(&mut self, old: &Schema, new: &Schema) {
        self.visits += 1;
        if old.whole() == new.whole() || self.visits > 2_000_000 {
            return;
        }
        if old.description != new.description {
            let text = |schema: &Schema| schema.description.as_deref().map(Value::from);
            self.add("description-changed", text(old), text(new));
        }
        if self.neutral {
            if old.map_type != new.map_type {
                let word =
                    |kind| Some(Value::from(if kind == MapType::Atomic { "atomic" } else { "granular" }));
                self.add("map-type-changed", word(old.map_type), word(new.map_type));
            }
            if (old.list_type, &old.list_map_keys) != (new.list_type, &new.list_map_keys) {
                self.add("list-type-loosened", Some(list_type(old)), Some(list_type(new)));
            }
            let known = |rule: &CelRule| old.cel.iter().any(|own| own.rule == rule.rule);
            // Below two such lists a server multiplies two numbers of items that only the size of a request bounds.
            if self.unbounded > 1
                && let Some(rule) = new.cel.iter().find(|rule| !known(rule))
            {
                let why = "the rule runs once for each item of lists without a greatest size";
                self.add("cel-cost-exceeded", None, Some((&*rule.rule).into()));
                if let Some(last) = self.all.last_mut() {
                    last.writers = Impact::Unknown(why.into());
                }
            }
            for (name, child) in new.properties.iter().filter(|(name, _)| old.field(name).is_none()) {
                // Every object has these, described or not.
                if self.path.is_empty() && matches!(&**name, "apiVersion" | "kind" | "metadata") {
                    continue;
                }
                let types = Flat::of(child).types_in_words();
                self.within(SchemaStep::Property(name.clone()), |walk| {
                    walk.add("field-added", None, Some(types.into()))
                });
            }
        }
        for (name, child) in &old.properties {
            if let Some(other) = new.properties.get(name) {
                self.within(SchemaStep::Property(name.clone()), |walk| walk.pair(child, other));
            }
        }
        let outer = (old, new);
        if let (Some(old), Some(new)) = (&old.items, &new.items) {
            let unbounded = usize::from(outer.1.max_items.is_none());
            self.below(SchemaStep::Items, unbounded, old, new);
        }
        if let (Some(old), Some(new)) = (old.additional.schema(), new.additional.schema()) {
            let unbounded = usize::from(outer.1.max_properties.is_none());
            self.below(SchemaStep::Values, unbounded, old, new);
        }
    }
}

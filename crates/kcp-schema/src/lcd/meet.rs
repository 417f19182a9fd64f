//! Nodes meet: the recursion that makes one node out of the nodes that the members have at one place.

use serde_json::Value;

use super::facts::{Facts, common_default, least};
use super::kinds::Kinds;
use super::report::{Empty, Loss, Lost, Nothing, Unknown, WhyEmpty, WhyUnknown};
use super::{see, spelling};
use crate::{MapType, Node, Schema, SchemaPath, SchemaStep, Type, canonical};

/// What some members have at the place that is looked at.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) schema: Schema,
    /// The numbers of the members, ascending.
    pub(super) members: Vec<usize>,
}

/// A part and its conditions.
pub(super) struct Side {
    pub(super) part: Part,
    pub(super) facts: Facts,
}

/// The state of one computation: where it is, what it lost so far, and how much it may still do.
pub(super) struct Meeting {
    path: Vec<SchemaStep>,
    losses: Vec<Loss>,
    steps: usize,
    budget: usize,
}

/// Where the losses stood, to forget those of what is given up.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

impl Meeting {
    pub(super) fn new(budget: usize) -> Self {
        Self { path: Vec::new(), losses: Vec::new(), steps: 0, budget }
    }

    pub(super) fn into_losses(mut self) -> Vec<Loss> {
        self.losses.sort_by(|left, right| {
            (&left.path, left.lost, &left.to).cmp(&(&right.path, right.lost, &right.to))
        });
        self.losses
    }

    pub(super) fn root(&mut self, parts: Vec<Part>) -> Result<Schema, Nothing> {
        self.meet(parts, true).map(|schema| spelling::one(&schema))
    }

    /// The node of a child.
    pub(super) fn below(&mut self, step: SchemaStep, parts: Vec<Part>) -> Result<Schema, Nothing> {
        self.path.push(step);
        let result = self.meet(parts, false);
        self.path.pop();
        result
    }

    fn meet(&mut self, parts: Vec<Part>, root: bool) -> Result<Schema, Nothing> {
        let parts = group(parts);
        self.steps += parts.len();
        if self.steps > self.budget {
            return Err(Nothing::Cost(Unknown { path: self.place(), why: WhyUnknown::Cost(self.budget) }));
        }
        if let [only] = &parts[..] {
            return Ok(only.schema.clone());
        }
        if parts.iter().any(|part| part.schema.opaque.is_some()) {
            return Err(self.dark(WhyUnknown::Opaque));
        }
        let nullable = parts.iter().all(|part| part.schema.nullable);
        let mark = self.mark();
        match self.differing(parts, root) {
            // What rests on fields that are only perhaps gone is no proof.
            Err(Nothing::Empty(empty))
                if matches!(empty.why, WhyEmpty::Condition | WhyEmpty::Limits)
                    && self.losses.iter().skip(mark.0).any(|loss| loss.conservative) =>
            {
                Err(self.dark(WhyUnknown::Condition))
            }
            // Nothing but null is no schema's type.
            Err(Nothing::Empty(_)) if nullable => {
                Err(self.dark(WhyUnknown::Inexpressible("only null is common")))
            }
            other => other,
        }
    }

    /// The node of parts that are not all the same.
    fn differing(&mut self, parts: Vec<Part>, root: bool) -> Result<Schema, Nothing> {
        let sides: Vec<Side> =
            parts.into_iter().map(|part| Side { facts: Facts::of(&part.schema), part }).collect();
        let mut facts = Facts::default();
        sides.iter().for_each(|side| facts.join(&side.facts));
        if facts.forbids_all() {
            return Err(self.empty(WhyEmpty::Forbidden, &sides, |side| side.facts.forbids_all()));
        }
        let mut node = Node {
            nullable: sides.iter().all(|side| side.part.schema.nullable),
            preserve_unknown: sides.iter().all(|side| side.part.schema.preserve_unknown),
            description: sides.iter().filter_map(|side| side.part.schema.description.clone()).min(),
            ..Node::default()
        };
        let kinds = self.kinds(&sides, &mut facts, node.nullable)?;
        kinds.write(&mut node);
        if kinds.has(Type::Object) {
            self.object(&sides, kinds, root, &mut node, &mut facts)?;
        } else {
            node.preserve_unknown = false;
        }
        if kinds.has(Type::Array) {
            self.list(&sides, kinds, &mut node, &mut facts)?;
        }
        let stated = facts.clone();
        node.max_items = facts.max_items;
        node.max_properties = facts.max_properties;
        self.carry_over(&sides, kinds, &mut node, &mut facts)?;
        facts.write(&mut node);
        self.tell(&sides, kinds, &node, &stated);
        let default = common_default(sides.iter().map(|side| side.part.schema.default.as_ref()));
        let default = default.cloned();
        let schema = Schema::new(node);
        Ok(match default.filter(|value| see::holds(&schema, value) == Some(true)) {
            Some(default) => Schema::new(Node { default: Some(default), ..schema.to_node() }),
            None => schema,
        })
    }

    /// The types that all allow and that their conditions leave possible.
    fn kinds(&mut self, sides: &[Side], facts: &mut Facts, nullable: bool) -> Result<Kinds, Nothing> {
        let all = |side: &Side| Kinds::of(&side.part.schema);
        let kinds = sides.iter().map(all).reduce(Kinds::and).unwrap_or_else(|| Kinds::of(&Node::default()));
        if kinds.is_empty() {
            return Err(self.empty(WhyEmpty::Types, sides, |_| true));
        }
        for side in sides {
            if all(side) != kinds {
                self.lose(sides, side, Lost::Types, all(side).to_json(), kinds.to_json(), |other| {
                    all(other).and(all(side)) != all(side)
                });
            }
            if side.part.schema.nullable && !nullable {
                self.lose(sides, side, Lost::Null, true.into(), false.into(), |other| {
                    !other.part.schema.nullable
                });
            }
        }
        // A rule is typed: with one around, the type stays as it is although nothing of it may be left.
        let typed = sides.iter().any(|side| !side.part.schema.cel.is_empty());
        let possible = facts.possible(kinds, nullable);
        match possible {
            Ok(possible) if typed || possible == kinds => Ok(kinds),
            Ok(possible) if !kinds.is_all() => Ok(possible),
            Ok(_) => Ok(kinds),
            Err(why) => Err(self.empty(why, sides, |_| true)),
        }
    }

    /// Says what the conditions of the node take from each side.
    fn tell(&mut self, sides: &[Side], kinds: Kinds, node: &Node, facts: &Facts) {
        for side in sides {
            for (lost, had, now) in side.facts.narrowed(facts, kinds) {
                // Who narrows this side alone, too.
                let narrows = |other: &Side| {
                    let mut both = side.facts.clone();
                    both.join(&other.facts);
                    both.min_properties = both.min_properties.max(other.facts.min_properties);
                    both.max_properties = least(both.max_properties, other.facts.max_properties);
                    side.facts.narrowed(&both, kinds).iter().any(|(kind, ..)| *kind == lost)
                };
                self.lose(sides, side, lost, had, now, narrows);
            }
            let rules = &side.part.schema.cel;
            let new: Vec<Value> = node
                .cel
                .iter()
                .filter(|rule| !rules.iter().any(|own| own.rule == rule.rule))
                .map(|rule| Value::from(&*rule.rule))
                .collect();
            if !new.is_empty() {
                let names = |other: &Side| {
                    other.part.schema.cel.iter().any(|rule| new.iter().any(|text| *text == *rule.rule))
                };
                self.lose(sides, side, Lost::Rule, Value::Null, new.clone().into(), names);
            }
        }
    }

    /// How a mapping is owned matters to no validation: atomic only where all say so.
    pub(super) fn map_type(sides: &[Side]) -> MapType {
        let atomic = sides.iter().all(|side| side.part.schema.map_type == MapType::Atomic);
        if atomic { MapType::Atomic } else { MapType::Granular }
    }

    /// The default of a field may differ, or be gone. Returns whether it is.
    pub(super) fn tell_default(&mut self, name: &std::sync::Arc<str>, parts: &[Part], child: &Schema) {
        if child.default.is_some() || parts.iter().all(|part| part.schema.default.is_none()) {
            return;
        }
        let spelling = |part: &Part| part.schema.default.as_ref().map(canonical);
        self.path.push(SchemaStep::Property(name.clone()));
        for part in parts {
            let Some(default) = part.schema.default.clone() else { continue };
            let others = parts.iter().filter(|other| spelling(other) != spelling(part));
            let mut because_of: Vec<usize> = others.flat_map(|other| other.members.iter().copied()).collect();
            because_of.sort_unstable();
            self.push(Loss {
                path: self.place(),
                lost: Lost::Default,
                to: part.members.clone(),
                because_of,
                had: default,
                now: Value::Null,
                conservative: false,
            });
        }
        self.path.pop();
    }

    /// Notes a loss of `side`.
    pub(super) fn lose(
        &mut self,
        sides: &[Side],
        side: &Side,
        lost: Lost,
        had: Value,
        now: Value,
        forces: impl Fn(&Side) -> bool,
    ) {
        let mut because_of: Vec<usize> =
            sides.iter().filter(|other| forces(other)).flat_map(|other| other.part.members.clone()).collect();
        because_of.sort_unstable();
        let to = side.part.members.clone();
        self.push(Loss { path: self.place(), lost, to, because_of, had, now, conservative: false });
    }

    pub(super) fn push(&mut self, loss: Loss) {
        self.losses.push(loss);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.losses.len())
    }

    pub(super) fn forget(&mut self, mark: Mark) {
        self.losses.truncate(mark.0);
    }

    pub(super) fn place(&self) -> SchemaPath {
        SchemaPath(self.path.clone())
    }

    pub(super) fn place_of(&self, step: SchemaStep) -> SchemaPath {
        self.place().child(step)
    }

    pub(super) fn dark(&self, why: WhyUnknown) -> Nothing {
        Nothing::Dark(Unknown { path: self.place(), why })
    }

    pub(super) fn empty(&self, why: WhyEmpty, sides: &[Side], who: impl Fn(&Side) -> bool) -> Nothing {
        Nothing::Empty(Empty { path: self.place(), why, between: members(sides, who) })
    }
}

/// The members of the sides that `who` names.
pub(super) fn members(sides: &[Side], who: impl Fn(&Side) -> bool) -> Vec<usize> {
    let mut all: Vec<usize> =
        sides.iter().filter(|side| who(side)).flat_map(|side| side.part.members.clone()).collect();
    all.sort_unstable();
    all
}

/// Equal schemas are one part; parts are in the order of their content.
pub(super) fn group(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_by_key(|part| (part.schema.hash(), part.schema.whole()));
    let mut grouped: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match grouped.last_mut() {
            Some(last) if last.schema.hash() == part.schema.hash() => last.members.extend(part.members),
            _ => grouped.push(part),
        }
    }
    for part in &mut grouped {
        part.members.sort_unstable();
        part.members.dedup();
    }
    grouped
}

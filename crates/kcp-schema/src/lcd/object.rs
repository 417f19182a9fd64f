//! The fields of objects meet: which names all keep, what each may hold, and which must be there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::facts::Facts;
use super::kinds::Kinds;
use super::meet::{Meeting, Part, Side, members};
use super::report::{Empty, Loss, Lost, Nothing, WhyEmpty, WhyUnknown};
use super::see::holds;
use super::skeleton::{forbidden, free, hollow, is_forbidden};
use crate::{Additional, Node, Schema, SchemaStep, Type};

/// The fields of every object, which no schema needs to name.
const OBJECT_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Keys that no one names.
#[derive(PartialEq)]
enum Rest {
    /// Some member drops them.
    Closed,
    /// All keep them as they are.
    Open,
    /// They hold this.
    Map(Additional),
}

/// The fields so far.
struct Fields<'s> {
    sides: &'s [Side],
    root: bool,
    rest: Rest,
    /// Names that some member describes but that are not common, with the reason.
    gone: BTreeMap<Arc<str>, Nothing>,
}

/// Why nothing can be said where named fields and free keys meet.
const KEYS: WhyUnknown = WhyUnknown::Inexpressible("named fields and free keys");

impl Fields<'_> {
    /// Whether all members keep keys that nobody names, although the schema does not.
    fn open(&self) -> bool {
        self.sides.iter().all(|side| side.rest().is_some())
    }
}

impl Side {
    fn names_itself(&self, name: &str, root: bool) -> bool {
        (root || self.part.schema.embedded) && OBJECT_FIELDS.contains(&name)
    }

    /// What a key that is not named holds; none if it is dropped.
    fn rest(&self) -> Option<Schema> {
        match &self.part.schema.additional {
            Additional::Schema(schema) => Some(schema.clone()),
            Additional::Any => Some(hollow()),
            Additional::None => self.part.schema.preserve_unknown.then(free),
        }
    }

    /// What the field holds; none if it is dropped.
    fn field(&self, name: &str, root: bool) -> Option<Schema> {
        let named = self.part.schema.properties.get(name).cloned();
        let field =
            named.or_else(|| if self.names_itself(name, root) { Some(free()) } else { self.rest() })?;
        Some(match self.facts.fields.get(name) {
            Some(more) => refined(&field, more),
            None => field,
        })
    }

    fn default(&self, name: &str) -> Option<&Value> {
        self.part.schema.properties.get(name)?.default.as_ref()
    }
}

/// `schema`, and what conditions around it say about it.
pub(super) fn refined(schema: &Schema, more: &[Schema]) -> Schema {
    if more.is_empty() {
        return schema.clone();
    }
    let mut node = schema.to_node();
    node.all_of.extend(more.iter().cloned());
    Schema::new(node)
}

/// Values of any type of which only the top is kept: to be said of free keys only.
pub(super) fn is_hollow(schema: &Schema) -> bool {
    Kinds::of(schema).is_all() && !schema.preserve_unknown
}

impl Meeting {
    pub(super) fn object(
        &mut self,
        sides: &[Side],
        kinds: Kinds,
        root: bool,
        node: &mut Node,
        facts: &mut Facts,
    ) -> Result<(), Nothing> {
        let result = self.fields(sides, root, node, facts);
        match result {
            Err(Nothing::Empty(_)) if !kinds.is_only(Type::Object) => {
                Err(self.dark(WhyUnknown::Inexpressible("objects are allowed by none, but other types are")))
            }
            other => other,
        }
    }

    fn fields(
        &mut self,
        sides: &[Side],
        root: bool,
        node: &mut Node,
        facts: &mut Facts,
    ) -> Result<(), Nothing> {
        node.map_type = Self::map_type(sides);
        self.embedded(sides, node)?;
        let mut fields = Fields { sides, root, rest: self.rest(sides, node)?, gone: BTreeMap::new() };
        let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
        for side in sides {
            names.extend(side.part.schema.properties.keys().cloned());
            names.extend(side.facts.fields.keys().cloned());
        }
        if !names.is_empty() && matches!(fields.rest, Rest::Map(_)) {
            // A schema names its fields or describes free keys, not both.
            sides.iter().for_each(|side| names.extend(side.facts.required.iter().cloned()));
            fields.rest = Rest::Closed;
            node.preserve_unknown = false;
            self.push(Loss {
                path: self.place(),
                lost: Lost::OtherKeys,
                to: members(sides, |_| true),
                because_of: members(sides, |side| !side.part.schema.properties.is_empty()),
                had: Value::Null,
                now: Value::Null,
                conservative: true,
            });
        }
        for name in &names {
            self.field(name, &mut fields, node)?;
        }
        if let Rest::Map(additional) = &fields.rest {
            node.additional = additional.clone();
        }
        self.required(&fields, node)?;
        self.counts(&fields, node, facts)?;
        if node.embedded && !node.preserve_unknown && node.properties.is_empty() {
            let metadata = Node { types: crate::TypeSet::one(Type::Object), ..Node::default() };
            node.properties.insert(Arc::from("metadata"), Schema::new(metadata));
        }
        Ok(())
    }

    /// A whole object inside an object, for some or for all.
    fn embedded(&self, sides: &[Side], node: &mut Node) -> Result<(), Nothing> {
        let (embedded, plain): (Vec<&Side>, Vec<&Side>) =
            sides.iter().partition(|side| side.part.schema.embedded);
        node.embedded = !embedded.is_empty();
        let open = |side: &&Side| side.part.schema.preserve_unknown && side.part.schema.properties.is_empty();
        if node.embedded && !plain.iter().all(open) {
            return Err(self.dark(WhyUnknown::Inexpressible("an embedded resource for some only")));
        }
        Ok(())
    }

    fn rest(&mut self, sides: &[Side], node: &mut Node) -> Result<Rest, Nothing> {
        let rests: Vec<Option<Schema>> = sides.iter().map(Side::rest).collect();
        let closed = |index: usize| rests[index].is_none();
        if (0..sides.len()).any(closed) {
            node.preserve_unknown = false;
            for (index, side) in sides.iter().enumerate().filter(|(index, _)| !closed(*index)) {
                let _ = index;
                self.lose(sides, side, Lost::OtherKeys, Value::Null, false.into(), |other| {
                    other.rest().is_none()
                });
            }
            return Ok(Rest::Closed);
        }
        if rests.iter().flatten().all(|rest| rest.hash() == free().hash()) && node.preserve_unknown {
            return Ok(Rest::Open);
        }
        let parts = sides.iter().zip(rests).filter_map(|(side, schema)| {
            schema.map(|schema| Part { schema, members: side.part.members.clone() })
        });
        let mark = self.mark();
        match self.below(SchemaStep::Values, parts.collect()) {
            Ok(schema) if is_hollow(&schema) => Ok(Rest::Map(Additional::Any)),
            Ok(schema) => Ok(Rest::Map(Additional::Schema(schema))),
            Err(Nothing::Cost(cost)) => Err(Nothing::Cost(cost)),
            Err(reason) => {
                self.forget(mark);
                node.preserve_unknown = false;
                self.push(Loss {
                    path: self.place(),
                    lost: Lost::OtherKeys,
                    to: members(sides, |_| true),
                    because_of: Vec::new(),
                    had: Value::Null,
                    now: false.into(),
                    conservative: !matches!(reason, Nothing::Empty(_)),
                });
                Ok(Rest::Closed)
            }
        }
    }

    fn field(&mut self, name: &Arc<str>, fields: &mut Fields<'_>, node: &mut Node) -> Result<(), Nothing> {
        let sides = fields.sides;
        let step = SchemaStep::Property(name.clone());
        let held: Vec<Option<Schema>> = sides.iter().map(|side| side.field(name, fields.root)).collect();
        let real =
            |side: &Side| side.part.schema.properties.get(name).is_some_and(|field| !is_forbidden(field));
        let reason = if held.iter().any(Option::is_none) {
            let lacking = members(sides, |side| side.field(name, fields.root).is_none());
            Nothing::Empty(Empty {
                path: self.place_of(step.clone()),
                why: WhyEmpty::Required,
                between: lacking,
            })
        } else {
            let parts: Vec<Part> = sides
                .iter()
                .zip(held)
                .filter_map(|(side, schema)| {
                    schema.map(|schema| Part { schema, members: side.part.members.clone() })
                })
                .collect();
            let mark = self.mark();
            match self.below(step.clone(), parts.clone()) {
                Ok(schema) if is_hollow(&schema) => {
                    self.forget(mark);
                    self.dark(WhyUnknown::Inexpressible("values without fields"))
                }
                Ok(schema) => {
                    self.tell_default(name, &parts, &schema);
                    node.properties.insert(name.clone(), schema);
                    return Ok(());
                }
                Err(Nothing::Cost(cost)) => return Err(Nothing::Cost(cost)),
                Err(reason) => {
                    self.forget(mark);
                    reason
                }
            }
        };
        let to = members(sides, real);
        if !to.is_empty() {
            let (because_of, conservative) = match &reason {
                Nothing::Empty(empty) => (empty.between.clone(), false),
                Nothing::Dark(_) | Nothing::Cost(_) => (Vec::new(), true),
            };
            let now = match &reason {
                Nothing::Empty(empty)
                    if empty.why == WhyEmpty::Required && empty.path == self.place_of(step.clone()) =>
                {
                    Value::Null
                }
                Nothing::Empty(empty) => empty.to_string().into(),
                Nothing::Dark(unknown) | Nothing::Cost(unknown) => unknown.to_string().into(),
            };
            let path = self.place_of(step);
            self.push(Loss { path, lost: Lost::Field, to, because_of, had: Value::Null, now, conservative });
        }
        if fields.rest == Rest::Open {
            // Keys that are not named are kept: only a field that is named can be kept out.
            node.properties.insert(name.clone(), forbidden(&free()));
        }
        fields.gone.insert(name.clone(), reason);
        Ok(())
    }

    /// All that some member requires and does not fill in itself.
    fn required(&mut self, fields: &Fields<'_>, node: &mut Node) -> Result<(), Nothing> {
        let names: BTreeSet<Arc<str>> = fields
            .sides
            .iter()
            .flat_map(|side| side.facts.required.iter().chain(side.facts.fields.keys()).cloned())
            .collect();
        for name in names {
            let filled = node.properties.get(&name).is_some_and(|field| field.default.is_some());
            let needs = |side: &Side, name: &str| match side.default(name) {
                None => side.facts.required.contains(name),
                // A default that the conditions around the field refuse is as good as none.
                Some(default) => {
                    let refused = || {
                        side.field(name, fields.root)
                            .is_some_and(|field| holds(&field, default) != Some(true))
                    };
                    !filled && side.facts.fields.contains_key(name) && refused()
                }
            };
            let by = members(fields.sides, |side| needs(side, &name));
            if by.is_empty() {
                continue;
            }
            if let Some(reason) = fields.gone.get(&name) {
                return Err(match reason.clone() {
                    Nothing::Empty(mut empty) => {
                        empty.between.extend(by);
                        empty.between.sort_unstable();
                        empty.between.dedup();
                        Nothing::Empty(empty)
                    }
                    other => other,
                });
            }
            let implicit = fields.sides.iter().all(|side| side.names_itself(&name, fields.root));
            if fields.rest == Rest::Closed && !node.properties.contains_key(&name) && !implicit {
                if fields.open() {
                    return Err(self.dark(KEYS));
                }
                let path = self.place_of(SchemaStep::Property(name));
                return Err(Nothing::Empty(Empty { path, why: WhyEmpty::Required, between: by }));
            }
            let to = members(fields.sides, |side| !needs(side, &name));
            if !to.is_empty() {
                self.push(Loss {
                    path: self.place_of(SchemaStep::Property(name.clone())),
                    lost: Lost::Optional,
                    to,
                    because_of: by,
                    had: false.into(),
                    now: true.into(),
                    conservative: false,
                });
            }
            node.required.insert(name);
        }
        Ok(())
    }

    /// Limits on the number of fields, which count those that a member fills in.
    fn counts(&mut self, fields: &Fields<'_>, node: &mut Node, facts: &mut Facts) -> Result<(), Nothing> {
        let needed = node.required.len() as u64;
        for side in fields.sides {
            let (least, most) = (side.facts.min_properties, side.facts.max_properties);
            if least.is_none() && most.is_none() {
                continue;
            }
            let mut filled = 0;
            for (name, field) in &side.part.schema.properties {
                if field.default.is_none() {
                    continue;
                }
                match node.properties.get(name) {
                    Some(common) if !is_forbidden(common) => {
                        if common.default.is_none() && node.required.insert(name.clone()) {
                            let path = self.place_of(SchemaStep::Property(name.clone()));
                            self.push(Loss {
                                path,
                                lost: Lost::Implicit,
                                to: side.part.members.clone(),
                                because_of: Vec::new(),
                                had: false.into(),
                                now: true.into(),
                                conservative: true,
                            });
                        }
                    }
                    _ => filled += 1,
                }
            }
            facts.min_properties = facts.min_properties.max(least.map(|least| least.saturating_sub(filled)));
            if let Some(most) = most {
                let Some(most) = most.checked_sub(filled) else {
                    return Err(self.empty(WhyEmpty::Limits, fields.sides, |_| true));
                };
                facts.max_properties = Some(facts.max_properties.map_or(most, |known| known.min(most)));
            }
        }
        if facts.min_properties == Some(0) {
            facts.min_properties = None;
        }
        let least = facts.min_properties.unwrap_or(0).max(needed);
        let most = facts.max_properties.unwrap_or(u64::MAX);
        if least <= most && node.required.len() as u64 > most {
            return Err(self.dark(WhyUnknown::Inexpressible("more fields must be given than may be")));
        }
        let plain = !fields.root && !node.embedded;
        let known = node.properties.values().filter(|field| !is_forbidden(field)).count() as u64;
        if least > most || plain && fields.rest == Rest::Closed && least > known {
            let dark = fields.gone.values().find(|reason| !matches!(reason, Nothing::Empty(_)));
            return Err(match dark {
                Some(dark) if least <= most => dark.clone(),
                None if least <= most && fields.open() => self.dark(KEYS),
                _ => self.empty(WhyEmpty::Limits, fields.sides, |_| true),
            });
        }
        Ok(())
    }
}

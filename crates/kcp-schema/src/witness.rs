//! Witnesses: for a gap between two schemas, a smallest object that the first accepts and keeps and the second does not.
//! Each is confirmed by judging it on both sides, so that a witness is a proof; where none is found, nothing is proven.
//!
//! Objects are made up from the schemas alone and hold nothing of a real object.

mod place;
mod probe;
mod sample;

use serde_json::Value;

use crate::model::{Additional, ObjectPath, Schema, SchemaPath, SchemaStep, Step};
use crate::subsume::{Gap, Kind, Scope, Sure};
use crate::{Finding, Judge, Rules, Verdict, Violation};

use sample::Sampler;

#[cfg(test)]
mod tests;

/// An object that shows what a change does.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// Accepted and kept by the one side.
    pub object: Value,
    /// What the other side does with it.
    pub effect: Effect,
}

/// What becomes of an object that the one side accepts and keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It is refused.
    Refused(Finding),
    /// A field is dropped without a word.
    Dropped(ObjectPath),
    /// It is accepted and kept, but stored as something else: nulls and defaults differ.
    Changed,
}

/// Objects tried for one gap.
const TRIED: usize = 24;

/// Makes witnesses for the gaps between two schemas.
pub(crate) struct Witnesses<'s> {
    a: &'s Schema,
    b: &'s Schema,
    scope: Scope,
    own: Judge,
    other: Judge,
    sampler: Sampler,
    /// Fields of every object made, such as apiVersion and kind.
    identity: Value,
}

impl<'s> Witnesses<'s> {
    pub(crate) fn new(a: &'s Schema, b: &'s Schema, scope: Scope, identity: Value) -> Self {
        // Status is written by its own way; both ways together make the object.
        let rules = Rules { resource: scope.resource, ..Rules::default() };
        Self {
            a,
            b,
            scope,
            own: Judge::new(a, rules.clone()),
            other: if scope.read_back { Judge::new(&as_read(b), rules) } else { Judge::new(b, rules) },
            sampler: Sampler::default(),
            identity,
        }
    }

    /// A witness for `gap`, if one is found.
    pub(crate) fn of(&mut self, gap: &Gap) -> Option<Witness> {
        let leaves = probe::leaves(&mut self.sampler, gap);
        let mut tried = 0;
        for leaf in leaves {
            let objects = match (&leaf, self.names_object(gap)) {
                (place::Leaf::Value(value), Some(field)) => self.named(field, value),
                _ => place::place(&mut self.sampler, self.a, Some(self.b), &gap.path.0, &leaf),
            };
            for object in objects {
                tried += 1;
                if tried > TRIED {
                    return None;
                }
                let object = self.identified(object);
                if let Some(witness) = self.confirm(object, gap) {
                    return Some(witness);
                }
            }
        }
        None
    }

    /// The field of metadata that the gap is about: schemas need not describe it for it to be there.
    fn names_object<'g>(&self, gap: &'g Gap) -> Option<&'g str> {
        match &gap.path.0[..] {
            [SchemaStep::Property(metadata), SchemaStep::Property(field)] if self.scope.resource => {
                (**metadata == *"metadata").then_some(&**field)
            }
            _ => None,
        }
    }

    /// A smallest object with this field of metadata.
    fn named(&mut self, field: &str, value: &Value) -> Vec<Value> {
        let mut all: Vec<Value> = self.sampler.one(self.a).into_iter().collect();
        for object in &mut all {
            if let Some(map) = object.as_object_mut() {
                map.insert("metadata".into(), serde_json::json!({field: value}));
            }
        }
        all
    }

    fn identified(&self, mut object: Value) -> Value {
        if let (true, Some(map), Some(identity)) =
            (self.scope.resource, object.as_object_mut(), self.identity.as_object())
        {
            let mut whole = identity.clone();
            for (key, value) in std::mem::take(map) {
                match (whole.get_mut(&key), value) {
                    // A name that is the point stays; apiVersion and kind are known.
                    (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
                    (Some(_), _) => {}
                    (None, value) => {
                        whole.insert(key, value);
                    }
                }
            }
            *map = whole;
        }
        object
    }

    fn confirm(&self, object: Value, gap: &Gap) -> Option<Witness> {
        let before = self.own.create(&object);
        if before.verdict() != Verdict::Yes {
            return None;
        }
        let object = if self.scope.read_back { before.object.clone() } else { object };
        let after = self.other.create(&object);
        let refused = after.violations.iter().find(|finding| is_due_to(finding, gap));
        if let Some(finding) = refused {
            return Some(Witness { object, effect: Effect::Refused(finding.clone()) });
        }
        // Who reads passes over unknown fields, unless that they come at all is the point.
        let open = matches!(gap.kind, Kind::Open | Kind::Keys | Kind::BareValues | Kind::FieldUnderOpen);
        if !self.scope.read_back || open {
            let dropped = after.dropped.iter().find(|path| relation(path, &gap.path) != Relation::None);
            if let Some(path) = dropped {
                return Some(Witness { object, effect: Effect::Dropped(path.clone()) });
            }
        }
        let means = gap.sure == Sure::Meaning || matches!(gap.kind, Kind::Default | Kind::Nullable);
        let accepted = after.violations.is_empty() && after.dropped.is_empty();
        (means && accepted && after.object != before.object)
            .then_some(Witness { object, effect: Effect::Changed })
    }
}

/// The schema as readers rely on it: they fill in no defaults, and do without fields that have one.
fn as_read(schema: &Schema) -> Schema {
    if !schema.facts().defaults {
        return schema.clone();
    }
    let mut node = schema.to_node();
    node.default = None;
    for (name, child) in &mut node.properties {
        if child.default.is_some() {
            node.required.remove(name);
        }
        *child = as_read(child);
    }
    node.items = node.items.as_ref().map(as_read);
    if let Additional::Schema(child) = &mut node.additional {
        *child = as_read(child);
    }
    Schema::new(node)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    None,
    /// The path of the object leads to a place above.
    Above,
    /// The same place or one below it.
    Inside,
}

/// Whether a refusal is what the gap is about: it is there or below it, or further up where fields count.
fn is_due_to(finding: &Finding, gap: &Gap) -> bool {
    let relation = relation(&finding.path, &gap.path);
    match (&gap.kind, &finding.violation) {
        (Kind::Cel(rule), Violation::Cel { rule: broken, .. } | Violation::CelError { rule: broken, .. }) => {
            rule == broken
        }
        (Kind::Cel(_), _) => false,
        (_, Violation::Cel { .. } | Violation::CelError { .. }) => gap.kind == Kind::Default,
        _ => match relation {
            Relation::Inside => true,
            Relation::Above => matches!(
                finding.violation,
                Violation::MinProperties(_)
                    | Violation::MaxProperties(_)
                    | Violation::AnyOf(_)
                    | Violation::OneOf { .. }
                    | Violation::Not
                    | Violation::Duplicate
            ),
            Relation::None => false,
        },
    }
}

fn relation(object: &ObjectPath, schema: &SchemaPath) -> Relation {
    let same = object.0.iter().zip(&schema.0).all(|pair| match pair {
        (Step::Field(name) | Step::Key(name), SchemaStep::Property(wanted)) => name == wanted,
        (Step::Field(_) | Step::Key(_), SchemaStep::Values) | (Step::Index(_), SchemaStep::Items) => true,
        _ => false,
    });
    match same {
        false => Relation::None,
        true if object.0.len() < schema.0.len() => Relation::Above,
        true => Relation::Inside,
    }
}

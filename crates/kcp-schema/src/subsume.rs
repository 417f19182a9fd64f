//! Does one schema accept and keep every object that another one does? The walk goes through both trees at once and notes
//! each *gap*: a place where the first allows what the second refuses, drops or means in another way.
//!
//! No gap means yes. A gap alone does not mean no: something else may forbid the object. Only a witness proves it, and
//! that is another module's work. The walk must never miss a gap; where it cannot decide, it notes one that says so.

mod defaults;
mod flat;
mod junctor;
mod list;
mod number;
mod object;
mod text;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::{Node, Schema, SchemaPath, SchemaStep, Type};
use crate::{Judge, Rules, Verdict};

pub(crate) use flat::{Flat, and};
pub(crate) use list::said as list_type;
pub(crate) use number::number;
pub(crate) use object::Slot;
pub(crate) use text::lengths;

#[cfg(test)]
mod tests;

/// What kind of thing the second schema does not accept, keep or mean.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A field that is not described.
    Field,
    /// A field that was free under an open parent.
    FieldUnderOpen,
    /// A field that must be there.
    Required,
    /// Types.
    Type,
    /// Null.
    Nullable,
    /// Values outside a list.
    Enum,
    /// A limit, by the name of its keyword.
    Bound(&'static str),
    /// Text that does not match.
    Pattern,
    /// A format.
    Format,
    /// A default.
    Default,
    /// A validation rule, by its text.
    Cel(Arc<str>),
    /// A rule that compares with the old object.
    Transition(Arc<str>),
    /// `anyOf`, `oneOf`, `not`.
    Junctor,
    /// Unknown fields.
    Open,
    /// Free keys.
    Keys,
    /// Nested content of values without a schema.
    BareValues,
    /// Embedded resources.
    Embedded,
    /// Equal items.
    ListType,
    /// Something that cannot be read.
    Unreadable,
}

/// How sure a gap is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sure {
    /// An object falls into it, unless something else forbids that object.
    Yes,
    /// It could not be decided, for this reason.
    Maybe(String),
    /// Objects are accepted and kept, but mean something else.
    Meaning,
}

/// One place where the first schema allows more.
#[derive(Debug, Clone)]
pub(crate) struct Gap {
    pub(crate) kind: Kind,
    pub(crate) path: SchemaPath,
    /// What the first says there.
    pub(crate) a: Option<Value>,
    /// What the second says there.
    pub(crate) b: Option<Value>,
    pub(crate) sure: Sure,
    /// Values at `path` that may fall into the gap; the best first.
    pub(crate) probes: Vec<Value>,
    /// The first schema there; of the parent, where the field itself is what matters.
    pub(crate) node: Schema,
    /// The second schema there, if it describes anything.
    pub(crate) other: Option<Schema>,
}

/// What is compared, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Scope {
    /// The schemas are those of whole objects.
    pub(crate) resource: bool,
    /// Objects were read back from a server of the first schema: its defaults are filled in, and whoever reads them by
    /// the second passes over fields that it does not know.
    pub(crate) read_back: bool,
}

/// Pairs of nodes that are looked at; the largest real CRDs have some 30,000.
const MAX_PAIRS: usize = 2_000_000;
/// Gaps noted; what is beyond is counted in the last one.
const MAX_GAPS: usize = 10_000;

/// All gaps from `a` to `b`, in the order of the tree.
pub(crate) fn gaps(a: &Schema, b: &Schema, scope: Scope) -> Vec<Gap> {
    let mut walk = Walk { scope, ..Walk::default() };
    walk.pair(a, b, scope.resource);
    walk.gaps
}

#[derive(Default)]
struct Walk {
    scope: Scope,
    path: Vec<SchemaStep>,
    gaps: Vec<Gap>,
    pairs: usize,
    /// How many nodes from the root to here have conditions, in the second schema, that look at what is inside.
    refined: usize,
    /// Lists around here whose items the second schema tells apart by keys: how deep their items are, and the keys.
    keyed: Vec<(usize, Vec<Arc<str>>)>,
    /// Inside junctors: only values are judged there, nothing is pruned or defaulted.
    values_only: bool,
}

impl Walk {
    fn within(&mut self, step: SchemaStep, work: impl FnOnce(&mut Self)) {
        self.path.push(step);
        work(self);
        self.path.pop();
    }

    /// A gap at the current path.
    fn gap(&mut self, kind: Kind, a: &Schema, b: Option<&Schema>) -> Option<&mut Gap> {
        if self.gaps.len() >= MAX_GAPS {
            return None;
        }
        self.gaps.push(Gap {
            kind,
            path: SchemaPath(self.path.clone()),
            a: None,
            b: None,
            sure: Sure::Yes,
            probes: Vec::new(),
            node: a.clone(),
            other: b.cloned(),
        });
        self.gaps.last_mut()
    }

    /// A gap with what both sides say.
    fn differs(
        &mut self,
        kind: Kind,
        (a, left): (&Schema, Option<Value>),
        (b, right): (&Schema, Option<Value>),
        sure: Sure,
        probes: Vec<Value>,
    ) {
        if let Some(gap) = self.gap(kind, a, Some(b)) {
            (gap.a, gap.b, gap.sure, gap.probes) = (left, right, sure, probes);
        }
    }

    /// Gaps of the values of `a` that follow `a` and may not follow `b`.
    fn pair(&mut self, a: &Schema, b: &Schema, resource: bool) {
        if a == b {
            return;
        }
        self.pairs += 1;
        if self.pairs >= MAX_PAIRS {
            if self.pairs == MAX_PAIRS {
                let sure = Sure::Maybe("the schemas are too large to compare whole".into());
                self.differs(Kind::Unreadable, (a, None), (b, None), sure, Vec::new());
            }
            return;
        }
        if let Some(why) = a.opaque.as_ref().or(b.opaque.as_ref()) {
            let sure = Sure::Maybe(format!("the schema cannot be read here: {why}"));
            self.differs(Kind::Unreadable, (a, None), (b, None), sure, Vec::new());
            return;
        }
        let (left, right) = (Flat::of(a), Flat::of(b));
        if a.nullable && !b.nullable && a.enumeration.is_none() && !self.values_only {
            self.differs(
                Kind::Nullable,
                (a, Some(json!(true))),
                (b, Some(json!(false))),
                Sure::Yes,
                vec![Value::Null],
            );
        }
        let refines = refines(b);
        self.refined += usize::from(refines);
        if !self.finite(a, &left, b, &right) {
            self.values(a, &left, b, &right, resource);
        }
        self.refined -= usize::from(refines);
        if !self.values_only {
            self.cel(a, b);
        }
    }

    /// A list of values is judged value by value, which is exact whatever the second schema says.
    fn finite(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>) -> bool {
        const LOOKED_AT: usize = 1000;
        let Some(values) = left.node.enumeration.as_deref() else { return false };
        if values.len() > LOOKED_AT || values.iter().any(|value| value.is_object() || value.is_array()) {
            return false;
        }
        let own = self.judge(a);
        let mut other = None;
        let allowed = values.iter().filter(|value| own.accepts_and_keeps(value) == Verdict::Yes);
        let refused: Vec<Value> = allowed
            .filter(|value| {
                let judge = other.get_or_insert_with(|| self.judge(b));
                judge.accepts_and_keeps(value) != Verdict::Yes
            })
            .cloned()
            .collect();
        if refused.is_empty() {
            return true;
        }
        let listed =
            |flat: &Flat<'_>| flat.node.enumeration.as_ref().map(|values| Value::Array(values.to_vec()));
        if right.node.enumeration.is_some() {
            self.differs(Kind::Enum, (a, listed(left)), (b, listed(right)), Sure::Yes, refused);
            return true;
        }
        // Something else refuses them: that is named by its own comparison, with these values to show it.
        let before = self.gaps.len();
        self.values(a, left, b, right, false);
        for gap in &mut self.gaps[before..] {
            gap.probes.splice(0..0, refused.iter().cloned());
        }
        if self.gaps.len() == before {
            let sure = Sure::Maybe("whether these values are allowed is not decided".into());
            self.differs(Kind::Enum, (a, listed(left)), (b, None), sure, refused);
        }
        true
    }

    /// A judge of values; validation rules are compared as text, not run.
    fn judge(&self, schema: &Schema) -> Judge {
        let schema = if schema.cel.is_empty() {
            schema.clone()
        } else {
            Schema::new(Node { cel: Vec::new(), ..schema.to_node() })
        };
        Judge::new(&schema, Rules { resource: false, ..Rules::default() })
    }

    fn values(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>, resource: bool) {
        let missing: Vec<Type> =
            Type::ALL.into_iter().filter(|kind| left.allows(*kind) && !right.allows(*kind)).collect();
        if !missing.is_empty() {
            let said = |flat: &Flat<'_>| Some(Value::from(flat.types_in_words()));
            self.differs(Kind::Type, (a, said(left)), (b, said(right)), Sure::Yes, Vec::new());
        }
        let both = |kind| left.allows(kind) && right.allows(kind);
        if both(Type::String) || both(Type::Integer) || both(Type::Number) {
            self.formats(a, left, b, right);
        }
        self.enumeration(a, left, b, right);
        if both(Type::String) {
            self.text(a, left, b, right);
        }
        if both(Type::Integer) || both(Type::Number) {
            self.number(a, left, b, right);
        }
        if both(Type::Array) {
            self.list(a, left, b, right);
        }
        if both(Type::Object) {
            self.object(a, left, b, right, resource);
        }
        self.junctors(a, left, b, right);
    }

    fn cel(&mut self, a: &Schema, b: &Schema) {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let known: Vec<String> = a.cel.iter().map(|rule| plain(&rule.rule)).collect();
        for rule in &b.cel {
            if known.contains(&plain(&rule.rule)) {
                continue;
            }
            let transition = rule.rule.contains("oldSelf") && !rule.optional_old_self;
            let (kind, sure) = if transition {
                (Kind::Transition(rule.rule.clone()), Sure::Meaning)
            } else {
                (
                    Kind::Cel(rule.rule.clone()),
                    Sure::Maybe("what a validation rule means is not decided".into()),
                )
            };
            self.differs(kind, (a, None), (b, Some(json!(&*rule.rule))), sure, Vec::new());
        }
    }
}

/// Whether a node has conditions on what is inside, so that a default that is filled in may break them.
fn refines(node: &Node) -> bool {
    let junctors =
        !node.any_of.is_empty() || !node.one_of.is_empty() || !node.all_of.is_empty() || node.not.is_some();
    junctors
        || !node.cel.is_empty()
        || node.min_properties.is_some()
        || node.max_properties.is_some()
        || node.list_type == crate::ListType::Set
}

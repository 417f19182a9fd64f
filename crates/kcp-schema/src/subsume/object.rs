//! Mappings. Objects are closed by pruning, not by validation: a field that the second schema does not describe is dropped
//! there without a word, which is worse than a refusal.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::{Flat, Kind, Scope, Sure, Walk};
use crate::model::{Additional, Node, Schema, SchemaStep, Type};

/// What a schema does with the value under a key.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    /// It follows this schema.
    Schema(Schema),
    /// It is kept as it is.
    Open,
    /// It is kept, but what is inside of mappings is dropped.
    Bare,
    /// It is dropped.
    Dropped,
}

/// Any value, kept whole.
pub(crate) fn open() -> Schema {
    static OPEN: OnceLock<Schema> = OnceLock::new();
    OPEN.get_or_init(|| Schema::new(Node { preserve_unknown: true, ..Node::default() })).clone()
}

impl Slot {
    /// For a key that nothing names.
    pub(crate) fn rest(node: &Node) -> Self {
        match &node.additional {
            Additional::Schema(schema) => Self::Schema(schema.clone()),
            Additional::Any => Self::Bare,
            Additional::None if node.preserve_unknown => Self::Open,
            Additional::None => Self::Dropped,
        }
    }

    /// For the key `name`.
    pub(crate) fn of(node: &Node, name: &str) -> Self {
        node.properties.get(name).map_or_else(|| Self::rest(node), |schema| Self::Schema(schema.clone()))
    }

    /// As a schema, if the value stays.
    pub(crate) fn schema(&self) -> Option<Schema> {
        match self {
            Self::Schema(schema) => Some(schema.clone()),
            Self::Open => Some(open()),
            Self::Bare => Some(Schema::default()),
            Self::Dropped => None,
        }
    }
}

const IDENTITY: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Walk {
    pub(super) fn object(
        &mut self,
        a: &Schema,
        left: &Flat<'_>,
        b: &Schema,
        right: &Flat<'_>,
        resource: bool,
    ) {
        let (own, other) = (&*left.node, &*right.node);
        if own.embedded != other.embedded && !self.values_only {
            let (old, new) = (Some(json!(own.embedded)), Some(json!(other.embedded)));
            self.differs(Kind::Embedded, (a, old), (b, new), Sure::Yes, vec![json!({})]);
        }
        let resource = resource || own.embedded && other.embedded;
        let kept = |name: &Arc<str>| !(resource && IDENTITY.contains(&&**name));
        for (name, child) in own.properties.iter().filter(|(name, _)| kept(name)) {
            let slot = if self.values_only { values_slot(other, name) } else { Slot::of(other, name) };
            self.within(SchemaStep::Property(name.clone()), |walk| walk.child(a, child, b, &slot));
        }
        if resource {
            self.identity(own, other);
        }
        let rest =
            if self.values_only && own.additional.schema().is_none() { Slot::Open } else { Slot::rest(own) };
        let new =
            other.properties.iter().filter(|(name, _)| kept(name) && !own.properties.contains_key(*name));
        for (name, child) in new {
            self.new_field(name, child, (a, &rest), b);
        }
        self.free_keys(a, own, b, other, &rest);
        self.required(a, left, b, right, resource);
        self.counts(a, own, b, other);
    }

    /// A field that both sides keep, or the second drops.
    pub(super) fn child(&mut self, parent: &Schema, child: &Schema, other_parent: &Schema, slot: &Slot) {
        match slot {
            Slot::Open => {}
            Slot::Dropped => {
                // Readers pass over what they do not know, and a schema without values has nothing to lose.
                if !self.scope.read_back && child.enumeration.as_ref().is_none_or(|values| !values.is_empty())
                {
                    let types = Flat::of(child).types_in_words();
                    if let Some(gap) = self.gap(Kind::Field, child, None) {
                        gap.a = Some(Value::from(types));
                    }
                }
            }
            Slot::Bare => {
                if is_nested(child) && !self.values_only {
                    self.differs(
                        Kind::BareValues,
                        (child, None),
                        (other_parent, Some(json!(true))),
                        Sure::Yes,
                        Vec::new(),
                    );
                }
            }
            Slot::Schema(other) => {
                if !self.values_only {
                    self.kept_default(parent, child, other);
                }
                self.pair(child, other, false);
            }
        }
    }

    /// A field that only the second side describes.
    fn new_field(&mut self, name: &Arc<str>, child: &Schema, (a, rest): (&Schema, &Slot), b: &Schema) {
        let Some(before) = rest.schema() else {
            if !self.values_only {
                self.within(SchemaStep::Property(name.clone()), |walk| walk.new_default(a, child, b));
            }
            return;
        };
        if matches!(rest, Slot::Schema(_)) {
            let slot = Slot::Schema(child.clone());
            self.within(SchemaStep::Property(name.clone()), |walk| walk.child(a, &before, b, &slot));
            return;
        }
        let mut inner = Self {
            scope: Scope { resource: false, ..self.scope },
            pairs: self.pairs,
            refined: self.refined,
            values_only: self.values_only,
            ..Self::default()
        };
        inner.pair(&before, child, false);
        self.pairs = inner.pairs;
        if inner.gaps.is_empty() {
            return;
        }
        let types = Flat::of(child).types_in_words();
        self.within(SchemaStep::Property(name.clone()), |walk| {
            if let Some(gap) = walk.gap(Kind::FieldUnderOpen, &before, Some(child)) {
                gap.b = Some(Value::from(types));
                gap.probes = vec![
                    json!("x"),
                    json!(0),
                    json!({"anything": "x"}),
                    json!([{"anything": "x"}]),
                    json!(true),
                ];
            }
        });
    }

    /// Keys that the first side does not name.
    fn free_keys(&mut self, a: &Schema, own: &Node, b: &Schema, other: &Node, rest: &Slot) {
        if self.values_only && other.additional.is_none() {
            return;
        }
        let Some(schema) = rest.schema() else { return };
        let theirs = Slot::rest(other);
        match (rest, &theirs) {
            (_, Slot::Open) | (Slot::Bare, Slot::Bare) => {}
            (Slot::Open, _) => {
                let said = (Some(json!(true)), Some(json!(false)));
                self.differs(Kind::Open, (a, said.0), (b, said.1), Sure::Yes, Vec::new());
            }
            (Slot::Schema(_) | Slot::Bare, Slot::Dropped) => {
                let names: Vec<&str> = other.properties.keys().map(|name| &**name).collect();
                let said = (Some(json!("any key")), Some(json!(names)));
                self.differs(Kind::Keys, (a, said.0), (b, said.1), Sure::Yes, Vec::new());
            }
            _ => self.within(SchemaStep::Values, |walk| walk.child(a, &schema, b, &theirs)),
        }
        let _ = own;
    }

    fn required(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>, resource: bool) {
        let has_default = |flat: &Flat<'_>, name: &Arc<str>| {
            flat.node.properties.get(name).is_some_and(|child| child.default.is_some())
        };
        for name in &right.node.required {
            let filled = !self.values_only && has_default(right, name);
            let always = left.node.required.contains(name)
                && (!has_default(left, name) || self.scope.read_back || self.values_only);
            let given = self.scope.read_back && has_default(left, name);
            if filled || always || given || resource && IDENTITY.contains(&&**name) {
                continue;
            }
            self.within(SchemaStep::Property(name.clone()), |walk| {
                let said = (Some(json!(false)), Some(json!(true)));
                walk.differs(Kind::Required, (a, said.0), (b, said.1), Sure::Yes, Vec::new());
            });
        }
    }

    fn counts(&mut self, a: &Schema, own: &Node, b: &Schema, other: &Node) {
        let number = |limit: Option<u64>| limit.map(Value::from);
        let closed = own.additional.is_none() && !own.preserve_unknown && !own.embedded && !self.values_only;
        if let Some(most) = other.max_properties
            && own.max_properties.is_none_or(|own| own > most)
            && !(closed && own.properties.len() as u64 <= most)
        {
            let (old, new) = (number(own.max_properties), number(other.max_properties));
            self.differs(Kind::Bound("maxProperties"), (a, old), (b, new), Sure::Yes, Vec::new());
        }
        let always = own
            .required
            .iter()
            .filter(|name| own.properties.get(*name).is_none_or(|it| it.default.is_none()));
        let least = own.min_properties.unwrap_or(0).max(always.count() as u64);
        if let Some(limit) = other.min_properties
            && limit > least
        {
            let (old, new) = (number(own.min_properties), number(other.min_properties));
            self.differs(Kind::Bound("minProperties"), (a, old), (b, new), Sure::Yes, Vec::new());
        }
    }

    /// The name of a whole object may be restricted; all else in its metadata is the server's.
    fn identity(&mut self, own: &Node, other: &Node) {
        let Some(theirs) = other.properties.get("metadata") else { return };
        let free = Schema::new(Node { types: crate::TypeSet::one(Type::String), ..Node::default() });
        for name in ["name", "generateName"] {
            let Some(restricted) = theirs.properties.get(name) else { continue };
            let ours = own.properties.get("metadata").and_then(|ours| ours.properties.get(name));
            let ours = ours.unwrap_or(&free).clone();
            self.within(SchemaStep::Property("metadata".into()), |walk| {
                walk.within(SchemaStep::Property(name.into()), |walk| walk.pair(&ours, restricted, false));
            });
        }
    }
}

/// In a junctor, a field that is not described is not restricted.
fn values_slot(node: &Node, name: &str) -> Slot {
    match Slot::of(node, name) {
        Slot::Schema(schema) => Slot::Schema(schema),
        Slot::Open | Slot::Bare | Slot::Dropped => Slot::Open,
    }
}

/// Whether values may have content that is lost without a schema.
fn is_nested(node: &Node) -> bool {
    let flat = Flat::of(node);
    let object = flat.allows(Type::Object)
        && (!node.properties.is_empty() || !node.additional.is_none() || node.preserve_unknown);
    let list = flat.allows(Type::Array) && node.items.as_ref().is_some_and(|items| is_nested(items));
    object || list || node.embedded
}

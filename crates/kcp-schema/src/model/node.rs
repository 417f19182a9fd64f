//! One node of a schema, and the shared pointer to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use super::hash::{self, Hash};
use super::types::TypeSet;

/// How items of a list are told apart. Absent in a schema means `Atomic`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum ListType {
    /// The list is one value; duplicates are allowed.
    #[default]
    Atomic,
    /// Scalars (or atomic objects and lists), each at most once.
    Set,
    /// Objects told apart by the values of [`Node::list_map_keys`].
    Map,
}

/// How a mapping is owned. Absent in a schema means `Granular`. It changes merging, never validity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub enum MapType {
    /// Each key has its own owner.
    #[default]
    Granular,
    /// The mapping is one value.
    Atomic,
}

/// What keys outside [`Node::properties`] may hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Additional {
    /// There may be none: pruning drops them (unless the node preserves unknown fields).
    #[default]
    None,
    /// `additionalProperties: true`: any key is kept, but its value is pruned *without* a schema: scalars and empty
    /// containers survive, nested fields do not. Not the same as [`Node::preserve_unknown`].
    Any,
    /// Each value follows this schema.
    Schema(Schema),
}

impl Additional {
    /// The schema of the values, if there is one.
    #[must_use]
    pub const fn schema(&self) -> Option<&Schema> {
        match self {
            Self::Schema(schema) => Some(schema),
            Self::None | Self::Any => None,
        }
    }

    /// Whether there may be no further keys.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Limits on a number. API servers keep them as 64-bit floats, and so do we; none is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    /// The least value allowed.
    pub minimum: Option<f64>,
    /// The greatest value allowed.
    pub maximum: Option<f64>,
    /// `minimum` itself is not allowed.
    pub exclusive_minimum: bool,
    /// `maximum` itself is not allowed.
    pub exclusive_maximum: bool,
    /// The value must be a multiple of this; above 0.
    pub multiple_of: Option<f64>,
}

/// One entry of `x-kubernetes-validations`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CelRule {
    /// The expression; it must be true.
    pub rule: Arc<str>,
    /// What to say when it is not.
    pub message: Option<Arc<str>>,
    /// An expression that makes the message.
    pub message_expression: Option<Arc<str>>,
    /// The kind of failure reported.
    pub reason: Option<Arc<str>>,
    /// The field reported, below the node.
    pub field_path: Option<Arc<str>>,
    /// The rule also runs when there is no old value.
    pub optional_old_self: bool,
}

/// One node. All limits are inclusive counts: characters (code points) of text, items of a list, keys of a mapping.
///
/// A node with a `Default::default()` value allows anything and keeps no field of an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// The types allowed. A CRD names one or none; common denominators and built-in types may have several.
    pub types: TypeSet,
    /// Null is a value here. Else a null is dropped (or defaulted) before validation.
    pub nullable: bool,
    /// `x-kubernetes-int-or-string`: an integer or text. The `anyOf` idiom that goes with it is folded away on parsing
    /// and written again on emitting; `types` is empty.
    pub int_or_string: bool,
    /// `x-kubernetes-preserve-unknown-fields`: keys that nothing describes are kept, at any depth.
    pub preserve_unknown: bool,
    /// `x-kubernetes-embedded-resource`: a whole object with apiVersion, kind and metadata, which need no description.
    pub embedded: bool,
    /// What is below could not be read (a recursive or unknown reference), for this reason: no claim about values here.
    pub opaque: Option<Arc<str>>,
    /// The meaning of text or of a number (`date-time`, `int32`); what a cluster does not know, it ignores.
    pub format: Option<Arc<str>>,
    /// The only values allowed, in the schema's order.
    pub enumeration: Option<Arc<[Value]>>,
    /// Limits of numbers.
    pub bounds: Bounds,
    /// Least length of text.
    pub min_length: Option<u64>,
    /// Greatest length of text.
    pub max_length: Option<u64>,
    /// An RE2 pattern that must be found somewhere in the text (unanchored).
    pub pattern: Option<Arc<str>>,
    /// The schema of list items.
    pub items: Option<Schema>,
    /// Least number of items.
    pub min_items: Option<u64>,
    /// Greatest number of items.
    pub max_items: Option<u64>,
    /// `uniqueItems`: never true in a CRD.
    pub unique_items: bool,
    /// How items are told apart.
    pub list_type: ListType,
    /// The keys of a [`ListType::Map`], in the schema's order.
    pub list_map_keys: Vec<Arc<str>>,
    /// The fields named.
    pub properties: BTreeMap<Arc<str>, Schema>,
    /// The fields not named.
    pub additional: Additional,
    /// The fields that must be there, after defaulting.
    pub required: BTreeSet<Arc<str>>,
    /// Least number of keys.
    pub min_properties: Option<u64>,
    /// Greatest number of keys.
    pub max_properties: Option<u64>,
    /// How the mapping is owned.
    pub map_type: MapType,
    /// All of these hold too. Junctors refine values only: they describe no fields.
    pub all_of: Vec<Schema>,
    /// At least one of these holds too, unless empty.
    pub any_of: Vec<Schema>,
    /// Exactly one of these holds too, unless empty.
    pub one_of: Vec<Schema>,
    /// This does not hold.
    pub not: Option<Schema>,
    /// `x-kubernetes-validations`.
    pub cel: Vec<CelRule>,
    /// The value when the field is absent.
    pub default: Option<Value>,
    /// For people. Part of no comparison, and dropped on parsing unless asked for.
    pub description: Option<Arc<str>>,
}

#[derive(Debug)]
struct Shared {
    node: Node,
    hash: Hash,
    whole: Hash,
    facts: Facts,
}

/// What a tree has somewhere, so that walks can pass by the parts that do not matter to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// Nodes of the tree, each counted as often as it is reached.
    pub(crate) size: u64,
    /// Rules in CEL.
    pub(crate) cel: bool,
    /// Lists of type set or map.
    pub(crate) keyed_lists: bool,
    /// Embedded resources.
    pub(crate) embedded: bool,
    /// Defaults.
    pub(crate) defaults: bool,
}

impl Facts {
    fn of(node: &Node) -> Self {
        let mut facts = Self {
            size: 1,
            cel: !node.cel.is_empty(),
            keyed_lists: node.list_type != ListType::Atomic,
            embedded: node.embedded,
            defaults: node.default.is_some(),
        };
        for child in node.children() {
            let inner = child.facts();
            facts.size = facts.size.saturating_add(inner.size);
            facts.cel |= inner.cel;
            facts.keyed_lists |= inner.keyed_lists;
            facts.embedded |= inner.embedded;
            facts.defaults |= inner.defaults;
        }
        facts
    }
}

impl Node {
    /// All schemas directly inside this node.
    pub fn children(&self) -> impl Iterator<Item = &Schema> {
        let junctors = self.all_of.iter().chain(&self.any_of).chain(&self.one_of).chain(&self.not);
        self.properties.values().chain(&self.items).chain(self.additional.schema()).chain(junctors)
    }

    /// The schema of the field `name`: named, or of a free mapping's values.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Schema> {
        self.properties.get(name).or_else(|| self.additional.schema())
    }
}

/// A shared, immutable schema tree. Cloning is cheap; equality is by content (descriptions aside) and takes constant time.
#[derive(Debug, Clone)]
pub struct Schema(Arc<Shared>);

impl Schema {
    /// Shares `node`. Use [`super::Pool::intern`] where equal schemas are expected to meet again.
    #[must_use]
    pub fn new(node: Node) -> Self {
        let hash = hash::of(&node, false);
        let whole = hash::of(&node, true);
        let facts = Facts::of(&node);
        Self(Arc::new(Shared { node, hash, whole, facts }))
    }

    /// The hash of the content without descriptions. The same for every process and version of this crate's format.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.0.hash
    }

    /// The hash with descriptions.
    pub(crate) fn whole(&self) -> Hash {
        self.0.whole
    }

    /// How many nodes the tree has, each counted as often as it is reached: what a walk over all of it costs.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.facts.size
    }

    pub(crate) fn facts(&self) -> Facts {
        self.0.facts
    }

    /// A copy of the node, to change and share again.
    #[must_use]
    pub fn to_node(&self) -> Node {
        self.0.node.clone()
    }

    /// Whether anyone but the asker holds it.
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// An address that is the same for clones: a cheap key for caches that live as long as the schema does.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl Deref for Schema {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0.node
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.hash == other.0.hash
    }
}

impl Eq for Schema {}

impl Default for Schema {
    fn default() -> Self {
        Self::new(Node::default())
    }
}

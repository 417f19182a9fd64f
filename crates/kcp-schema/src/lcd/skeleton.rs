//! Schemas that are made, not met: values nothing is said about, values without content, and fields that must stay away
//! but that a rule names.

use std::sync::OnceLock;

use crate::{Additional, Node, Schema};

/// Anything, kept as it is: what a member says about a key that it keeps without a schema.
pub(super) fn free() -> Schema {
    static FREE: OnceLock<Schema> = OnceLock::new();
    FREE.get_or_init(|| Schema::new(Node { preserve_unknown: true, nullable: true, ..Node::default() }))
        .clone()
}

/// Anything without fields: what survives pruning without a schema (`additionalProperties: true`).
pub(super) fn hollow() -> Schema {
    static HOLLOW: OnceLock<Schema> = OnceLock::new();
    HOLLOW.get_or_init(|| Schema::new(Node { nullable: true, ..Node::default() })).clone()
}

/// A field that may not be given, typed as in `schema` so that a rule which asks for it still compiles.
pub(super) fn forbidden(schema: &Schema) -> Schema {
    Schema::new(Node { not: Some(Schema::default()), ..bones(schema) })
}

/// Whether it is such a field.
pub(super) fn is_forbidden(schema: &Schema) -> bool {
    // Null is looked at by no condition.
    !schema.nullable && schema.not.as_ref().is_some_and(|not| **not == Node::default())
}

/// The types alone, and the sizes that bound the estimated cost of rules.
fn bones(schema: &Schema) -> Node {
    let child = |schema: &Schema| Schema::new(bones(schema));
    let mut node = Node {
        types: schema.types,
        int_or_string: schema.int_or_string,
        preserve_unknown: schema.preserve_unknown,
        format: schema.format.clone(),
        max_length: schema.max_length,
        max_items: schema.max_items,
        max_properties: schema.max_properties,
        items: schema.items.as_ref().map(child),
        properties: schema.properties.iter().map(|(name, schema)| (name.clone(), child(schema))).collect(),
        additional: match &schema.additional {
            Additional::Schema(schema) => Additional::Schema(child(schema)),
            other => other.clone(),
        },
        ..Node::default()
    };
    // An embedded resource has these three without saying so, and a rule may name them.
    if schema.embedded {
        node.embedded = true;
    }
    node
}

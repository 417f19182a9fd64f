//! What makes a schema structural: the rules by which an API server accepts a CRD's schema.

use serde_json::{Map, Value};

use super::error::{ParseError, Problem};
use super::keywords::At;
use super::schema::Place;
use crate::model::{Additional, ListType, Node, Type, TypeSet};

/// An int-or-string node carries `anyOf: [integer, string]`, or the same first in `allOf`: it says nothing that the flag
/// does not, so it is taken out.
pub(super) fn fold_int_or_string(node: &mut Node) {
    if !node.int_or_string {
        return;
    }
    node.types = TypeSet::ANY;
    if is_idiom(&node.any_of) {
        node.any_of.clear();
    } else if node.all_of.first().is_some_and(|first| {
        let rest = Node { any_of: Vec::new(), ..first.to_node() };
        is_idiom(&first.any_of) && rest == Node::default()
    }) {
        node.all_of.remove(0);
    }
}

fn is_idiom(entries: &[crate::Schema]) -> bool {
    let only = |index: usize, kind| {
        entries
            .get(index)
            .is_some_and(|entry| **entry == Node { types: TypeSet::one(kind), ..Node::default() })
    };
    entries.len() == 2 && only(0, Type::Integer) && only(1, Type::String)
}

/// Refuses what no API server takes in a pruning CRD. `map` is the source of `node`.
pub(super) fn check(node: &Node, map: &Map<String, Value>, place: Place, at: &At) -> Result<(), ParseError> {
    let refuse = |name: &str, why| Err(at.error_in(name, Problem::NotStructural(why)));
    if place == Place::Nested {
        return nested(node, map, at);
    }
    if node.types.is_any() && !node.int_or_string && !node.preserve_unknown {
        return refuse(
            "type",
            "a type is needed, or x-kubernetes-int-or-string, or x-kubernetes-preserve-unknown-fields",
        );
    }
    if place == Place::Root && !node.types.allows(Type::Object) {
        return refuse("type", "the type of a whole object must be object");
    }
    if place == Place::Root && !node.additional.is_none() {
        return refuse("additionalProperties", "not allowed at the root");
    }
    if node.types.names(Type::Array) && node.items.is_none() {
        return refuse("items", "a list needs the schema of its items");
    }
    if node.unique_items {
        return refuse("uniqueItems", "must not be true: use x-kubernetes-list-type: set");
    }
    if !node.properties.is_empty() && !node.additional.is_none() {
        return refuse("additionalProperties", "properties and additionalProperties exclude each other");
    }
    if node.int_or_string && node.preserve_unknown {
        return refuse(
            "x-kubernetes-preserve-unknown-fields",
            "not together with x-kubernetes-int-or-string",
        );
    }
    if node.int_or_string && node.embedded {
        return refuse("x-kubernetes-embedded-resource", "not together with x-kubernetes-int-or-string");
    }
    if node.embedded {
        if !node.types.names(Type::Object) {
            return refuse("type", "an embedded resource is an object");
        }
        if !node.additional.is_none() {
            return refuse("additionalProperties", "not allowed in an embedded resource");
        }
        if !node.preserve_unknown && node.properties.is_empty() {
            return refuse(
                "properties",
                "an embedded resource needs properties or x-kubernetes-preserve-unknown-fields",
            );
        }
    }
    for (name, entries) in [("allOf", &node.all_of), ("anyOf", &node.any_of), ("oneOf", &node.one_of)] {
        entries.iter().try_for_each(|entry| refines(entry, Some(node), name, at))?;
    }
    node.not.iter().try_for_each(|entry| refines(entry, Some(node), "not", at))?;
    list_type(node, at)
}

/// What a junctor's entry names must be described by the node around it, and may not be typed again.
fn refines(entry: &Node, outer: Option<&Node>, name: &str, at: &At) -> Result<(), ParseError> {
    let refuse = |why| Err(at.error_in(name, Problem::NotStructural(why)));
    if !entry.types.is_any() {
        return refuse("type is not allowed inside allOf, anyOf, oneOf and not");
    }
    for (field, inner) in &entry.properties {
        let Some(described) = outer.and_then(|outer| outer.properties.get(field)) else {
            return refuse("each field named inside a junctor must be described outside of it too");
        };
        refines(inner, Some(described), name, at)?;
    }
    if let Some(items) = &entry.items {
        let Some(described) = outer.and_then(|outer| outer.items.as_ref()) else {
            return refuse("items inside a junctor must be described outside of it too");
        };
        refines(items, Some(described), name, at)?;
    }
    let inner = entry.all_of.iter().chain(&entry.any_of).chain(&entry.one_of).chain(&entry.not);
    inner.into_iter().try_for_each(|inner| refines(inner, outer, name, at))
}

fn list_type(node: &Node, at: &At) -> Result<(), ParseError> {
    let refuse = |name: &str, why| Err(at.error_in(name, Problem::NotStructural(why)));
    if node.list_type != ListType::Atomic && !node.types.names(Type::Array) {
        return refuse("x-kubernetes-list-type", "only lists have a list type");
    }
    match node.list_type {
        ListType::Map => {
            let Some(items) = &node.items else { return Ok(()) };
            if node.list_map_keys.is_empty() {
                return refuse("x-kubernetes-list-map-keys", "a list of type map needs its keys");
            }
            if !items.types.names(Type::Object) {
                return refuse("x-kubernetes-list-type", "the items of a list of type map are objects");
            }
            for key in &node.list_map_keys {
                let Some(field) = items.properties.get(key) else {
                    return refuse("x-kubernetes-list-map-keys", "each key is a property of the items");
                };
                if field.types.names(Type::Object) || field.types.names(Type::Array) {
                    return refuse("x-kubernetes-list-map-keys", "a key must be a scalar");
                }
                if !items.required.contains(key) && field.default.is_none() {
                    return refuse(
                        "x-kubernetes-list-map-keys",
                        "each key must be required or have a default",
                    );
                }
            }
            Ok(())
        }
        _ if !node.list_map_keys.is_empty() => {
            refuse("x-kubernetes-list-map-keys", "only a list of type map has keys")
        }
        ListType::Set | ListType::Atomic => Ok(()),
    }
}

/// Inside junctors only values are refined: nothing there may describe fields.
fn nested(node: &Node, map: &Map<String, Value>, at: &At) -> Result<(), ParseError> {
    const WHY: &str = "not allowed inside allOf, anyOf, oneOf and not";
    // The idiom of int-or-string is built from typed entries; the node that carries it takes them out, so a bare type is
    // checked there.
    let wrong = [
        ("default", node.default.is_some()),
        ("nullable", node.nullable),
        ("additionalProperties", !matches!(node.additional, Additional::None)),
        ("x-kubernetes-preserve-unknown-fields", node.preserve_unknown),
        ("x-kubernetes-embedded-resource", node.embedded),
        ("x-kubernetes-int-or-string", node.int_or_string),
        ("x-kubernetes-list-type", At::get(map, "x-kubernetes-list-type").is_some()),
        ("x-kubernetes-map-type", At::get(map, "x-kubernetes-map-type").is_some()),
        ("x-kubernetes-validations", !node.cel.is_empty()),
    ];
    for (name, is_wrong) in wrong {
        if is_wrong {
            return Err(at.error_in(name, Problem::NotStructural(WHY)));
        }
    }
    if node.properties.contains_key("metadata") {
        return Err(
            at.error_in("properties", Problem::NotStructural("metadata must not be named inside a junctor"))
        );
    }
    Ok(())
}

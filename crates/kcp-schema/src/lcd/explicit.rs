//! Changes deep inside a finished node, for the sake of a rule or condition above: a field that must be given, or one that
//! must stay away but be described.

use std::cell::Cell;
use std::sync::Arc;

use super::see;
use crate::{Additional, Node, Schema, SchemaStep};

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Need {
    /// The object, from the node that the rule stands on.
    pub(super) path: Vec<SchemaStep>,
    /// The field of that object.
    pub(super) name: Arc<str>,
    /// Described so, and forbidden; else required.
    pub(super) forbidden: Option<Schema>,
}

/// Makes the changes. A default that is not right any more goes, which may make more changes necessary. Says whether
/// what must be given still is not more than may be.
pub(super) fn apply(node: &mut Node, needs: &[Need]) -> bool {
    let fits = Cell::new(true);
    for need in needs {
        at(node, &need.path, &|node| match &need.forbidden {
            None => {
                node.required.insert(need.name.clone());
                let most = node.max_properties.unwrap_or(u64::MAX);
                fits.set(fits.get() && node.required.len() as u64 <= most);
            }
            Some(schema) => {
                node.properties.entry(need.name.clone()).or_insert_with(|| schema.clone());
            }
        });
    }
    fits.get()
}

fn at(node: &mut Node, path: &[SchemaStep], change: &dyn Fn(&mut Node)) {
    let Some((step, rest)) = path.split_first() else { return change(node) };
    let child = match step {
        SchemaStep::Property(name) => node.properties.get_mut(name),
        SchemaStep::Items => node.items.as_mut(),
        SchemaStep::Values => match &mut node.additional {
            Additional::Schema(schema) => Some(schema),
            Additional::None | Additional::Any => None,
        },
        SchemaStep::AllOf(_) | SchemaStep::AnyOf(_) | SchemaStep::OneOf(_) | SchemaStep::Not => None,
    };
    let Some(child) = child else { return };
    let mut inner = child.to_node();
    at(&mut inner, rest, change);
    let default = inner.default.take();
    let schema = Schema::new(inner);
    *child = match default.filter(|value| see::holds(&schema, value) == Some(true)) {
        Some(default) => Schema::new(Node { default: Some(default), ..schema.to_node() }),
        None => schema,
    };
}

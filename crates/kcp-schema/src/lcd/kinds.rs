//! The types that a node allows, with the two sugared forms (no type, int-or-string) written out.

use serde_json::Value;

use crate::{Node, Type, TypeSet};

/// A set of types in which `Number` means numbers that are no integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(TypeSet);

const ALL: usize = Type::ALL.len();

impl Kinds {
    pub(super) fn of(node: &Node) -> Self {
        if node.int_or_string {
            return Self([Type::Integer, Type::String].into_iter().collect());
        }
        if node.types.is_any() {
            return Self(Type::ALL.into_iter().collect());
        }
        Self(Type::ALL.into_iter().filter(|kind| node.types.allows(*kind)).collect())
    }

    pub(super) fn and(self, other: Self) -> Self {
        self.only(|kind| other.0.names(kind))
    }

    /// Those for which `keep` says so.
    pub(super) fn only(self, keep: impl Fn(Type) -> bool) -> Self {
        Self(self.0.iter().filter(|kind| keep(*kind)).collect())
    }

    pub(super) fn has(self, kind: Type) -> bool {
        self.0.names(kind)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_any()
    }

    pub(super) fn is_only(self, kind: Type) -> bool {
        self.0.single() == Some(kind)
    }

    pub(super) fn is_all(self) -> bool {
        self.0.iter().count() == ALL
    }

    /// Only scalars.
    pub(super) fn is_flat(self) -> bool {
        !self.has(Type::Object) && !self.has(Type::Array)
    }

    /// Writes the set as a schema does.
    pub(super) fn write(self, node: &mut Node) {
        let int_or_string: TypeSet = [Type::Integer, Type::String].into_iter().collect();
        node.int_or_string = self.0 == int_or_string;
        node.types = if self.is_all() || node.int_or_string {
            TypeSet::ANY
        } else if self.has(Type::Number) {
            // Integers go without saying.
            self.0.iter().filter(|kind| *kind != Type::Integer).collect()
        } else {
            self.0
        };
    }

    /// For reports.
    pub(super) fn to_json(self) -> Value {
        if self.is_all() {
            return Value::Null;
        }
        let mut node = Node::default();
        self.write(&mut node);
        if node.int_or_string {
            return Value::from("integer or string");
        }
        Value::from(node.types.to_string())
    }

    pub(super) fn allows(self, value: &Value) -> bool {
        Type::of(value).is_some_and(|kind| self.has(kind))
    }
}

//! Look-ups in the table of Kubernetes 1.21.2.

use super::table::{KINDS, SCOPES, TYPES};
use super::{Field as Found, Keys, Shape};

/// The fields of a type that lead to a merged list, sorted by name; `*` is any name.
pub(crate) type Type = [(&'static str, Field)];

/// A field of the table. Numbers are rows of it.
#[derive(Debug)]
pub(crate) enum Field {
    /// A mapping.
    Map(u16),
    /// A list that is merged by these keys, and the type of its items.
    List(&'static [&'static str], Option<u16>),
    /// A list that is merged by its items themselves.
    Set,
}

fn row(number: u16) -> &'static Type {
    TYPES.get(usize::from(number)).copied().unwrap_or_default()
}

pub(super) fn kind(api_version: &str, kind: &str) -> Option<&'static Type> {
    let found = KINDS.binary_search_by(|(version, name, _)| (*version, *name).cmp(&(api_version, kind)));
    found.ok().map(|at| row(KINDS[at].2))
}

pub(super) fn namespaced(api_version: &str, kind: &str) -> Option<bool> {
    let found = SCOPES.binary_search_by(|(version, name, _)| (*version, *name).cmp(&(api_version, kind)));
    found.ok().map(|at| SCOPES[at].2)
}

pub(super) fn field(fields: &'static Type, name: &str) -> Option<Found<'static>> {
    let field = fields.iter().find(|(field, _)| *field == name || *field == "*")?;
    Some(match field.1 {
        Field::Map(number) => Found::Value(Shape::Builtin(row(number))),
        Field::List(keys, item) => {
            Found::List { keys: Keys::Builtin(keys), item: item.map(|it| Shape::Builtin(row(it))) }
        }
        Field::Set => Found::List { keys: Keys::Builtin(&[]), item: None },
    })
}

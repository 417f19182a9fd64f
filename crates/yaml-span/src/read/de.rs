//! One node as a serde deserializer: checks the type that is asked for, and stands in for what does not fit.

use serde::Deserializer;
use serde::de::Visitor;

use super::access::{Entries, Items, Variant, unknown_value};
use super::fail::Fail;
use super::{Failure, STAND_INS, Session, Trail, without_value};
use crate::words::found;
use crate::{Node, Value};

/// A node, or a stand-in for one.
#[derive(Clone, Copy)]
pub(super) struct De<'a> {
    pub(super) session: &'a Session<'a>,
    /// `None` for a stand-in.
    pub(super) node: Option<&'a Node>,
    pub(super) trail: &'a Trail<'a>,
    /// Which stand-in: counted from 1, 0 for a real node.
    pub(super) level: usize,
}

impl<'a> De<'a> {
    /// The node at `trail`; a stand-in when it is marked or lies inside one (`inherited`).
    pub(super) fn new(
        session: &'a Session<'a>,
        node: Option<&'a Node>,
        trail: &'a Trail<'a>,
        inherited: Option<usize>,
    ) -> Self {
        let level = session.level(trail).or(inherited);
        Self { session, node: node.filter(|_| level.is_none()), trail, level: level.unwrap_or(0) }
    }

    /// The level that children inherit.
    pub(super) fn stand_in(&self) -> Option<usize> {
        self.node.is_none().then_some(self.level)
    }

    /// Adds the place to an error that came out of this node.
    pub(super) fn fail(&self, fail: Fail) -> Fail {
        let (message, failure) = match fail {
            Fail::Noted => return Fail::Noted,
            Fail::Refused(message) => {
                (without_value(message, self.node), Failure::Refused(self.trail.path()))
            }
            Fail::Missing(name) => {
                (format!("missing field `{name}`"), Failure::Missing(self.trail.path(), name))
            }
        };
        // A field that was left out on purpose is not missing.
        let left_out = matches!(&failure, Failure::Missing(path, name) if self.session.is_marked(&path.clone().key(*name)));
        if let Some(node) = self.node.filter(|_| !left_out) {
            self.session.record(node.span.start, &self.trail.path(), message, None);
        }
        self.session.stopped(failure);
        Fail::Noted
    }

    /// Records that the node does not fit, and gives a stand-in for it.
    fn wrong(self, node: &Node, message: String, help: Option<String>) -> Self {
        let path = self.trail.path();
        self.session.record(node.span.start, &path, message, help);
        self.session.stand_in(path, 1);
        Self { node: None, level: 1, ..self }
    }

    fn expected(self, node: &Node, what: &str, help: Option<String>) -> Self {
        self.wrong(node, format!("expected {what}, found {}", found(node)), help)
    }

    /// The node as a whole number from `min` to `max`.
    fn integer(self, min: i128, max: i128) -> i128 {
        let stand_in = |de: Self| i128::from(de.level.is_multiple_of(2));
        let Some(node) = self.node else {
            return stand_in(self);
        };
        let number = match &node.value {
            Value::Int(n) => n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from)),
            #[expect(clippy::cast_possible_truncation, reason = "whole and far inside i128")]
            Value::Float { value, .. } if value.fract() == 0.0 && value.abs() < 1e19 => Some(*value as i128),
            _ => None,
        };
        match number {
            Some(number) if (min..=max).contains(&number) => number,
            Some(_) => {
                let what = format!("an integer from {min} to {max}");
                stand_in(self.expected(node, &what, None))
            }
            None => {
                let help = node
                    .as_str()
                    .filter(|s| s.parse::<i64>().is_ok())
                    .map(|_| "remove the quotes".to_owned());
                stand_in(self.expected(node, "integer", help))
            }
        }
    }

    fn float(self) -> f64 {
        match self.node.map(|n| (n, &n.value)) {
            Some((_, Value::Float { value, .. })) => *value,
            Some((_, Value::Int(number))) => number.as_f64().unwrap_or_default(),
            Some((node, _)) => {
                self.expected(node, "number", None);
                0.0
            }
            None => 0.0,
        }
    }

    /// The node as a text.
    fn text(self) -> &'a str {
        let stand_in = |de: Self| STAND_INS[de.level.saturating_sub(1).min(STAND_INS.len() - 1)];
        match self.node {
            None => stand_in(self),
            Some(node) => match &node.value {
                Value::String(text) => text,
                Value::Int(_) | Value::Float { .. } | Value::Bool(_) => {
                    stand_in(self.expected(node, "string", Some("quote it".to_owned())))
                }
                _ => stand_in(self.expected(node, "string", None)),
            },
        }
    }

    /// The items of the list, and how many there are to be.
    fn items(self, len: Option<usize>) -> Items<'a> {
        let list = |de: Self, items: &'a [Node], len| Items { de, items, next: 0, len };
        let Some(node) = self.node else {
            return list(self, &[], len.unwrap_or(0));
        };
        match (node.as_sequence(), len) {
            (Some(items), None) => list(self, items, items.len()),
            (Some(items), Some(len)) if items.len() == len => list(self, items, len),
            (Some(items), Some(len)) => {
                let message = format!("expected a list of {len} items, found {}", items.len());
                list(self.wrong(node, message, None), &[], len)
            }
            (None, len) => list(self.expected(node, "list", None), &[], len.unwrap_or(0)),
        }
    }

    fn entries(self, fields: Option<&'static [&'static str]>) -> Entries<'a> {
        let (de, entries) = match self.node {
            None => (self, &[][..]),
            Some(node) => match node.as_mapping() {
                Some(entries) => (self, entries),
                None => (self.expected(node, "mapping", None), &[][..]),
            },
        };
        let mut supplied = de.session.supplied(de.trail, de.node);
        if let Some(fields) = fields {
            supplied.retain(|key| fields.contains(&key.as_str()));
        }
        Entries { de, entries, fields, supplied, current: None }
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $type:ty)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
            let number = self.integer(<$type>::MIN.into(), <$type>::MAX.into());
            visitor.$visit(<$type>::try_from(number).unwrap_or_default())
        }
    )*};
}

impl<'de> Deserializer<'de> for De<'_> {
    type Error = Fail;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        let Some(node) = self.node else {
            return match self.level % 4 {
                1 => visitor.visit_unit(),
                2 => visitor.visit_str(self.text()),
                3 => visitor.visit_u64(1),
                _ => visitor.visit_map(self.entries(None)),
            };
        };
        match &node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => visitor.visit_u64(value),
                (None, Some(value)) => visitor.visit_i64(value),
                (None, None) => visitor.visit_unit(),
            },
            // As in JSON, where a whole number is whole however it was written.
            Value::Float { value, .. } => match node.to_json() {
                serde_json::Value::Number(number) if number.is_i64() => {
                    visitor.visit_i64(number.as_i64().unwrap_or_default())
                }
                _ => visitor.visit_f64(*value),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Sequence(_) => visitor.visit_seq(self.items(None)),
            Value::Mapping(_) => visitor.visit_map(self.entries(None)),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        match self.node {
            None => visitor.visit_bool(false),
            Some(node) => match node.as_bool() {
                Some(value) => visitor.visit_bool(value),
                None => {
                    self.expected(node, "boolean", Some("write true or false".to_owned()));
                    visitor.visit_bool(false)
                }
            },
        }
    }

    integers! {
        deserialize_i8 visit_i8 i8 deserialize_i16 visit_i16 i16 deserialize_i32 visit_i32 i32
        deserialize_i64 visit_i64 i64 deserialize_i128 visit_i128 i128
        deserialize_u8 visit_u8 u8 deserialize_u16 visit_u16 u16 deserialize_u32 visit_u32 u32
        deserialize_u64 visit_u64 u64
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_f64(self.float())
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_f64(self.float())
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_str(self.text())
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_str(self.text())
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_str(self.text())
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_str(self.text())
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_bytes(self.text().as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_bytes(self.text().as_bytes())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        match self.node {
            Some(node) if !node.is_null() => visitor.visit_some(self),
            _ => visitor.visit_none(),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        if let Some(node) = self.node.filter(|n| !n.is_null()) {
            self.expected(node, "null", None);
        }
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fail> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fail> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_seq(self.items(None))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_seq(self.items(Some(len)))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Fail> {
        visitor.visit_seq(self.items(Some(len)))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_map(self.entries(None))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fail> {
        visitor.visit_map(self.entries(Some(fields)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fail> {
        let first = variants.first().copied().unwrap_or_default();
        let stand_in = |de: Self| Variant {
            name: variants.get(de.level.saturating_sub(1)).copied().unwrap_or(first),
            content: Some(Self { node: None, level: de.level.max(1), ..de }),
        };
        let Some(node) = self.node else {
            return visitor.visit_enum(stand_in(self));
        };
        match &node.value {
            Value::String(text) if variants.contains(&text.as_str()) => {
                visitor.visit_enum(Variant { name: text, content: None })
            }
            Value::String(text) => {
                let message = unknown_value(text, variants);
                visitor.visit_enum(stand_in(self.wrong(node, message, None)))
            }
            Value::Mapping(entries)
                if entries.len() == 1 && variants.contains(&entries[0].0.key_text().as_str()) =>
            {
                let name = entries[0].0.key_text();
                let trail = Trail::Key(self.trail, &name);
                let content = De::new(self.session, Some(&entries[0].1), &trail, None);
                visitor.visit_enum(Variant { name: &name, content: Some(content) })
            }
            _ => {
                let what = format!("one of: {}", variants.join(", "));
                visitor.visit_enum(stand_in(self.expected(node, &what, None)))
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_unit()
    }
}

//! How serde walks into lists, mappings and enum values.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::de::De;
use super::fail::Fail;
use super::{Failure, LEFT_OUT, Trail};
use crate::words::{SHORT, short};
use crate::{Mark, Node, did_you_mean};

/// The items of a list; of a stand-in, `len` stand-ins.
pub(super) struct Items<'a> {
    pub(super) de: De<'a>,
    pub(super) items: &'a [Node],
    pub(super) next: usize,
    pub(super) len: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fail;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fail> {
        while self.next < self.len {
            let index = self.next;
            self.next += 1;
            let trail = Trail::Index(self.de.trail, index);
            let item = De::new(self.de.session, self.items.get(index), &trail, self.de.stand_in());
            if item.level >= LEFT_OUT {
                continue;
            }
            return seed.deserialize(item).map(Some).map_err(|e| item.fail(e));
        }
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        Some((self.len - self.next).min(4096))
    }
}

/// The entries of a mapping, then the fields that are supplied as stand-ins.
pub(super) struct Entries<'a> {
    pub(super) de: De<'a>,
    pub(super) entries: &'a [(Node, Node)],
    /// The fields that the type knows; `None` for a map of any keys.
    pub(super) fields: Option<&'static [&'static str]>,
    pub(super) supplied: Vec<String>,
    /// Key and value of the entry whose key was just given.
    pub(super) current: Option<(String, Option<&'a Node>)>,
}

impl<'a> Entries<'a> {
    fn next_key(&mut self) -> Option<(String, Option<&'a Node>, Mark)> {
        while let Some(((key, value), rest)) = self.entries.split_first() {
            self.entries = rest;
            let text = key.key_text();
            if let Some(fields) = self.fields
                && !fields.contains(&text.as_str())
            {
                // A long key that nobody knows may be a secret in the wrong place: it stays out of the path too.
                let path = if text.chars().count() > SHORT {
                    self.de.trail.path()
                } else {
                    Trail::Key(self.de.trail, &text).path()
                };
                let (message, help) = unknown_field(&text, fields);
                self.de.session.record(key.span.start, &path, message, help);
                continue;
            }
            let level = self.de.session.level(&Trail::Key(self.de.trail, &text));
            if level.is_none_or(|l| l < LEFT_OUT) {
                return Some((text, Some(value), key.span.start));
            }
        }
        let key = self.supplied.pop()?;
        Some((key, None, Mark::START))
    }
}

fn unknown_field(name: &str, fields: &[&'static str]) -> (String, Option<String>) {
    let name_shown = short(name);
    match did_you_mean(name, fields.iter().copied()) {
        Some(near) => (format!("unknown field {name_shown}, did you mean `{near}`?"), None),
        None if fields.is_empty() => (format!("unknown field {name_shown}, no fields are known here"), None),
        None => (format!("unknown field {name_shown}"), Some(format!("known fields: {}", fields.join(", ")))),
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fail;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fail> {
        let Some((text, value, at)) = self.next_key() else {
            return Ok(None);
        };
        let result = seed.deserialize(Key(&text));
        match result {
            Ok(key) => {
                self.current = Some((text, value));
                Ok(Some(key))
            }
            Err(fail) => {
                let path = Trail::Key(self.de.trail, &text).path();
                if !matches!(fail, Fail::Noted) {
                    let message = format!("{fail}");
                    let message = if text.chars().count() > SHORT {
                        "this key is not accepted".to_owned()
                    } else {
                        message
                    };
                    self.de.session.record(at, &path, message, None);
                }
                self.de.session.stand_in(path.clone(), LEFT_OUT - 1);
                self.de.session.stopped(Failure::Refused(path));
                Err(Fail::Noted)
            }
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fail> {
        let (text, value) = self.current.take().unwrap_or_default();
        let trail = Trail::Key(self.de.trail, &text);
        let inherited = if value.is_none() { Some(1) } else { self.de.stand_in() };
        let de = De::new(self.de.session, value, &trail, inherited);
        seed.deserialize(de).map_err(|e| de.fail(e))
    }
}

/// A key: text, which also reads as a number or boolean where the type asks for one.
struct Key<'a>(&'a str);

macro_rules! parsed_key {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_str(self.0),
            }
        }
    )*};
}

impl<'de> serde::Deserializer<'de> for Key<'_> {
    type Error = Fail;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fail> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fail> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fail> {
        if variants.contains(&self.0) {
            visitor.visit_enum(Variant { name: self.0, content: None })
        } else {
            Err(Fail::Refused(unknown_value(self.0, variants)))
        }
    }

    parsed_key! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32 deserialize_i64 visit_i64
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32 deserialize_u64 visit_u64
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}

/// The words for a value that an enum does not have.
pub(super) fn unknown_value(found: &str, variants: &[&'static str]) -> String {
    let list = variants.join(", ");
    let found_shown = short(found);
    match did_you_mean(found, variants.iter().copied()) {
        Some(near) => format!("unknown value {found_shown}, did you mean `{near}`? Expected one of: {list}"),
        None => format!("unknown value {found_shown}, expected one of: {list}"),
    }
}

/// A value of an enum: its name, and its content for those that have one.
pub(super) struct Variant<'a> {
    pub(super) name: &'a str,
    pub(super) content: Option<De<'a>>,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Fail;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fail> {
        let name: StrDeserializer<'_, Fail> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'a> Variant<'a> {
    fn content(self) -> Result<De<'a>, Fail> {
        let name = self.name;
        self.content.ok_or_else(|| Fail::Refused(format!("`{name}` needs a value: write `{name}: VALUE`")))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Fail;

    fn unit_variant(self) -> Result<(), Fail> {
        match self.content {
            Some(de) if de.node.is_some_and(|n| !n.is_null()) => {
                Err(Fail::Refused(format!("`{}` takes no value: write just the word", self.name)))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fail> {
        let de = self.content()?;
        seed.deserialize(de).map_err(|e| de.fail(e))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fail> {
        let de = self.content()?;
        serde::Deserializer::deserialize_tuple(de, len, visitor).map_err(|e| de.fail(e))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fail> {
        let de = self.content()?;
        serde::Deserializer::deserialize_struct(de, "", fields, visitor).map_err(|e| de.fail(e))
    }
}

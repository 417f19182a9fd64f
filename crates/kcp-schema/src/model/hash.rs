//! The content hash of a schema node: its own keywords and the hashes of its children, so that equality of whole trees
//! is one comparison. The encoding is part of what clusters' recorded surfaces mean: change it only with its version.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::node::{Additional, Node, Schema};

/// A SHA-256 of content; prints and is serialised as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub(crate) [u8; 32]);

impl Hash {
    /// The hash of some bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Hash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "a hash is 64 hexadecimal digits";
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(WRONG);
        }
        let mut bytes = [0; 32];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| WRONG)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The version of the encoding.
const VERSION: u8 = 1;

/// The hash of `node`, with descriptions if `whole`.
pub(super) fn of(node: &Node, whole: bool) -> Hash {
    let mut out = Encoder { bytes: vec![VERSION], whole };
    out.node(node);
    Hash::of_bytes(&out.bytes)
}

struct Encoder {
    bytes: Vec<u8>,
    whole: bool,
}

impl Encoder {
    fn node(&mut self, node: &Node) {
        let Node {
            types,
            nullable,
            int_or_string,
            preserve_unknown,
            embedded,
            opaque,
            format,
            enumeration,
            bounds,
            min_length,
            max_length,
            pattern,
            items,
            min_items,
            max_items,
            unique_items,
            list_type,
            list_map_keys,
            properties,
            additional,
            required,
            min_properties,
            max_properties,
            map_type,
            all_of,
            any_of,
            one_of,
            not,
            cel,
            default,
            description,
        } = node;
        self.bytes.push(types.bits());
        for flag in [
            *nullable,
            *int_or_string,
            *preserve_unknown,
            *embedded,
            bounds.exclusive_minimum,
            bounds.exclusive_maximum,
            *unique_items,
        ] {
            self.bytes.push(u8::from(flag));
        }
        self.bytes.extend([*list_type as u8, *map_type as u8]);
        for text in [opaque, format, pattern] {
            self.optional(text.as_deref());
        }
        for bound in [bounds.minimum, bounds.maximum, bounds.multiple_of] {
            match bound {
                // Minus zero is zero.
                Some(bound) => {
                    self.bytes.push(1);
                    self.bytes.extend((bound + 0.0).to_bits().to_le_bytes());
                }
                None => self.bytes.push(0),
            }
        }
        for count in [min_length, max_length, min_items, max_items, min_properties, max_properties] {
            match count {
                Some(count) => {
                    self.bytes.push(1);
                    self.bytes.extend(count.to_le_bytes());
                }
                None => self.bytes.push(0),
            }
        }
        match enumeration {
            Some(values) => {
                self.bytes.push(1);
                self.list(values.iter(), Self::value);
            }
            None => self.bytes.push(0),
        }
        self.child(items.as_ref());
        self.list(list_map_keys.iter(), |out, key| out.text(key));
        self.list(properties.iter(), |out, (name, schema)| {
            out.text(name);
            out.child(Some(schema));
        });
        match additional {
            Additional::None => self.bytes.push(0),
            Additional::Any => self.bytes.push(1),
            Additional::Schema(schema) => {
                self.bytes.push(2);
                self.child(Some(schema));
            }
        }
        self.list(required.iter(), |out, name| out.text(name));
        for junctor in [all_of, any_of, one_of] {
            self.list(junctor.iter(), |out, schema| out.child(Some(schema)));
        }
        self.child(not.as_ref());
        self.list(cel.iter(), |out, rule| {
            out.text(&rule.rule);
            for text in [&rule.message, &rule.message_expression, &rule.reason, &rule.field_path] {
                out.optional(text.as_deref());
            }
            out.bytes.push(u8::from(rule.optional_old_self));
        });
        match default {
            Some(value) => {
                self.bytes.push(1);
                self.value(value);
            }
            None => self.bytes.push(0),
        }
        if self.whole {
            self.optional(description.as_deref());
        }
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        self.bytes.extend((items.len() as u64).to_le_bytes());
        items.for_each(|item| each(self, item));
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend((text.len() as u64).to_le_bytes());
        self.bytes.extend(text.as_bytes());
    }

    fn optional(&mut self, text: Option<&str>) {
        self.bytes.push(u8::from(text.is_some()));
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn child(&mut self, schema: Option<&Schema>) {
        self.bytes.push(u8::from(schema.is_some()));
        if let Some(schema) = schema {
            self.bytes.extend(if self.whole { schema.whole().0 } else { schema.hash().0 });
        }
    }

    /// Keys are sorted and numbers normalised: `1` and `1.0` are one value.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes.push(0),
            Value::Bool(flag) => self.bytes.extend([1, u8::from(*flag)]),
            Value::Number(number) => {
                self.bytes.push(2);
                self.text(&crate::value::canonical_number(number));
            }
            Value::String(text) => {
                self.bytes.push(3);
                self.text(text);
            }
            Value::Array(items) => {
                self.bytes.push(4);
                self.list(items.iter(), Self::value);
            }
            Value::Object(map) => {
                self.bytes.push(5);
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                self.list(entries.into_iter(), |out, (key, value)| {
                    out.text(key);
                    out.value(value);
                });
            }
        }
    }
}

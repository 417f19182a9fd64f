//! What is copied, and how it is put into a field: a single value takes the type of the field that is there.

use std::borrow::Cow;

use serde_json::Value;
use yaml_span::{Limits, Schema};

use crate::kustomization::FieldOptions;
use crate::value;

/// Bytes a field may have after a replacement with a delimiter.
const LENGTH: usize = 1 << 20;

/// The kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Single,
    List,
    Mapping,
}

impl Kind {
    /// A value of this kind with nothing in it.
    pub(super) fn empty(self) -> Value {
        match self {
            Self::Single => Value::String(String::new()),
            Self::List => Value::Array(Vec::new()),
            Self::Mapping => Value::Object(serde_json::Map::new()),
        }
    }
}

/// The text of a single value; nothing for all else.
pub(super) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(_) | Value::Bool(_) => Cow::Owned(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Cow::Borrowed(""),
    }
}

/// Whether the reference takes a value for none.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// What a text means without quotes: `80` is a number.
pub(super) fn plain(text: &str) -> Value {
    let simple = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._~:".contains(&byte);
    if text.is_empty() {
        return Value::Null;
    }
    if text.len() <= 64 && text.bytes().all(simple) {
        let parsed = yaml_span::parse(text, Schema::Kustomize, &Limits::default());
        let root =
            parsed.ok().and_then(|documents| documents.into_iter().next()).map(|document| document.root);
        if let Some(root) = root.filter(|root| root.as_mapping().is_none() && root.as_sequence().is_none()) {
            return value::json(&root).unwrap_or_else(|_| Value::String(text.into()));
        }
    }
    Value::String(text.into())
}

/// The value that is copied.
#[derive(Debug)]
pub(super) struct Copied(Value);

impl Copied {
    pub(super) fn whole(value: &Value) -> Self {
        Self(value.clone())
    }

    /// One part of a text.
    pub(super) fn part(value: &Value, options: &FieldOptions) -> Result<Self, String> {
        if value.is_array() || value.is_object() {
            return Err("a delimiter is for single values only".into());
        }
        let text = text(value);
        let count = text.split(&options.delimiter).count();
        let part =
            usize::try_from(options.index).ok().and_then(|index| text.split(&options.delimiter).nth(index));
        let part = part.ok_or_else(|| {
            format!("options.index is {}, but there are {count} parts, from 0", options.index)
        })?;
        // A part of a number is one as well, where it can be.
        Ok(Self(if value.is_string() { Value::String(part.into()) } else { plain(part) }))
    }

    pub(super) fn kind(&self) -> Kind {
        match &self.0 {
            Value::Array(_) => Kind::List,
            Value::Object(_) => Kind::Mapping,
            _ => Kind::Single,
        }
    }

    /// Puts the value into a field. `made`: the field was just made and has no type yet.
    ///
    /// Gives the type that the field has where the value does not fit it: whether that matters is known when the object is
    /// done, since a later path may take the whole field away.
    ///
    /// # Errors
    /// Where a delimiter meets what is no single value, or the text would be too long.
    pub(super) fn put(
        &self,
        field: &mut Value,
        made: bool,
        options: &FieldOptions,
    ) -> Result<Misfit, String> {
        let single = !field.is_array() && !field.is_object();
        if !single {
            if !options.delimiter.is_empty() {
                return Err("a delimiter is for single values only".into());
            }
            *field = self.0.clone();
            return Ok(None);
        }
        let mut wanted = text(&self.0).into_owned();
        if !options.delimiter.is_empty() {
            wanted = joined(&text(field), &wanted, options);
            if wanted.len() > LENGTH {
                return Err(format!("would be longer than {LENGTH} bytes"));
            }
        }
        let (value, misfit) = match made {
            // No text at all is not null.
            true if wanted.is_empty() => (Value::String(wanted), None),
            true => (plain(&wanted), None),
            false => as_typed(field, wanted),
        };
        *field = value;
        Ok(misfit)
    }

    /// The text itself, where it is one value.
    pub(super) fn written(&self) -> Option<Value> {
        (self.kind() == Kind::Single).then(|| Value::String(text(&self.0).into_owned()))
    }
}

/// The text of a field with one part replaced, or a part more at one end.
fn joined(old: &str, part: &str, options: &FieldOptions) -> String {
    let mut parts: Vec<&str> = old.split(&options.delimiter).collect();
    match usize::try_from(options.index) {
        Err(_) => parts.insert(0, part),
        Ok(index) => match parts.get_mut(index) {
            Some(old) => *old = part,
            None => parts.push(part),
        },
    }
    parts.join(&options.delimiter)
}

/// The type of a field that a value does not fit.
pub(super) type Misfit = Option<&'static str>;

/// A text as a value of the type that the field has.
fn as_typed(field: &Value, wanted: String) -> (Value, Misfit) {
    let value = match field {
        Value::String(_) => return (Value::String(wanted), None),
        _ => plain(&wanted),
    };
    let (fits, is) = match field {
        Value::Number(number) if number.is_f64() => (value.is_number(), "a number"),
        Value::Number(_) => (value.is_i64() || value.is_u64(), "a whole number"),
        Value::Bool(_) => (value.is_boolean(), "true or false"),
        _ => (value.is_null(), "empty"),
    };
    if fits { (value, None) } else { (Value::String(wanted), Some(is)) }
}

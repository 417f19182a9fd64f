//! JSON types, and sets of them.

use std::fmt;

use serde_json::Value;

/// A type of the OpenAPI dialect. `Null` is no type there: see [`super::Node::nullable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `true` or `false`.
    Boolean,
    /// A whole number; every integer is a number too.
    Integer,
    /// Any number.
    Number,
    /// Text.
    String,
    /// A list.
    Array,
    /// A mapping with text keys.
    Object,
}

impl Type {
    /// All of them, in the order of their names' use.
    pub const ALL: [Self; 6] =
        [Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    /// The word used in schemas.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The type called `word`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The narrowest type of a value; `None` for null. A float without a fraction (`1.0`) counts as an integer
    /// below 2^53, as it does for an API server.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_i64() => Self::Integer,
            Value::Number(number) => match number.as_f64() {
                Some(float) if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_991.0 => {
                    Self::Integer
                }
                _ => Self::Number,
            },
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of [`Type`]s. The empty set means "no type given": every type is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct TypeSet(u8);

impl TypeSet {
    /// No type given: anything goes.
    pub const ANY: Self = Self(0);

    /// The set of one type.
    #[must_use]
    pub const fn one(kind: Type) -> Self {
        Self(1 << kind as u8)
    }

    /// This set and one more type.
    #[must_use]
    pub const fn with(self, kind: Type) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Whether no type is given, so that all are allowed.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.0 == 0
    }

    /// Whether `kind` is named in the set (an unrestricted set names none).
    #[must_use]
    pub const fn names(self, kind: Type) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// Whether a value of `kind` is allowed: the set is unrestricted, names it, or it is an integer and numbers are named.
    #[must_use]
    pub const fn allows(self, kind: Type) -> bool {
        self.is_any() || self.names(kind) || matches!(kind, Type::Integer) && self.names(Type::Number)
    }

    /// The types named, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Type> {
        Type::ALL.into_iter().filter(move |kind| self.names(*kind))
    }

    /// The only type named, if exactly one is.
    #[must_use]
    pub fn single(self) -> Option<Type> {
        let mut all = self.iter();
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }
}

impl FromIterator<Type> for TypeSet {
    fn from_iter<I: IntoIterator<Item = Type>>(types: I) -> Self {
        types.into_iter().fold(Self::ANY, Self::with)
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_any() {
            return f.write_str("any type");
        }
        for (index, kind) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(" or ")?;
            }
            f.write_str(kind.as_str())?;
        }
        Ok(())
    }
}

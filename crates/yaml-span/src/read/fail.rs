//! The error that travels through serde. It carries no place: that is added where the node is known.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use crate::words::short;

/// Why serde gave up on a node.
#[derive(Debug)]
pub(super) enum Fail {
    /// Already noted with its place.
    Noted,
    /// The type's own words.
    Refused(String),
    /// A required field is absent.
    Missing(&'static str),
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Noted => f.write_str("already reported"),
            Self::Refused(message) => f.write_str(message),
            Self::Missing(name) => write!(f, "missing field `{name}`"),
        }
    }
}

impl std::error::Error for Fail {}

impl Error for Fail {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Refused(message.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Missing(field)
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Refused(format!("expected {expected}, found {}", words(unexpected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Refused(format!("expected {expected}, found {}", words(unexpected)))
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::Refused(format!("expected {expected}, found {length} items"))
    }
}

fn words(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Str(text) => format!("string {}", short(text)),
        Unexpected::Unit => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        Unexpected::Unsigned(value) => format!("integer {value}"),
        Unexpected::Signed(value) => format!("integer {value}"),
        Unexpected::Float(value) => format!("number {value}"),
        Unexpected::Bool(value) => format!("boolean {value}"),
        other => other.to_string(),
    }
}

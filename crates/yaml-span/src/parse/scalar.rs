//! What a scalar of the text means: by its tag, its quotes, or the rules of the schema.

use granit_parser::{ScalarStyle, Tag};

use super::Builder;
use crate::error::ErrorKind;
use crate::resolve::{self, Refusal};
use crate::words::short;
use crate::{Mark, Schema, Value};

impl Builder<'_> {
    pub(super) fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: Mark) -> Value {
        let resolved = if let Some(tag) = tag {
            match tag.core_suffix() {
                Some("str") => Ok(Value::String(text.to_owned())),
                Some(kind @ ("int" | "float" | "bool" | "null")) => return self.tagged(text, kind, at),
                _ if tag.is_custom() && tag.suffix().is_empty() => Ok(Value::String(text.to_owned())),
                _ => {
                    self.check_tag(Some(tag), at, "");
                    Ok(Value::String(text.to_owned()))
                }
            }
        } else if style == ScalarStyle::Plain {
            resolve::plain(text, self.schema)
        } else {
            Ok(Value::String(text.to_owned()))
        };
        match resolved {
            Ok(value) => value,
            Err(refusal) => {
                let word = short(text);
                let (kind, message, help) = match refusal {
                    Refusal::Ambiguous => (
                        ErrorKind::AmbiguousWord,
                        format!("{word} without quotes means different things to different YAML readers"),
                        "quote it if it is a text, else write true, false or a plain decimal number"
                            .to_owned(),
                    ),
                    Refusal::NotFinite => (
                        ErrorKind::Scalar,
                        format!("{word} is no number that JSON can hold"),
                        "quote it if it is a text".to_owned(),
                    ),
                };
                self.soft(kind, at, message, Some(help));
                Value::String(text.to_owned())
            }
        }
    }

    /// A scalar whose tag says its type.
    fn tagged(&mut self, text: &str, kind: &str, at: Mark) -> Value {
        let value = resolve::plain(text, Schema::Kubernetes);
        match (kind, value) {
            ("int", Ok(value @ Value::Int(_)))
            | ("float", Ok(value @ Value::Float { .. }))
            | ("bool", Ok(value @ Value::Bool(_)))
            | ("null", Ok(value @ Value::Null)) => value,
            ("float", Ok(Value::Int(number))) => {
                Value::Float { value: number.as_f64().unwrap_or_default(), source: text.into() }
            }
            _ => {
                let message = format!("the text does not fit its tag !!{kind}");
                self.soft(ErrorKind::Scalar, at, message, Some("remove the tag".to_owned()));
                Value::String(text.to_owned())
            }
        }
    }

    /// Tags that change a value in ways that we do not follow are errors; Kubernetes readers ignore the rest.
    pub(super) fn check_tag(&mut self, tag: Option<&Tag>, at: Mark, expected: &str) {
        let Some(tag) = tag else { return };
        let core = tag.core_suffix();
        if core == Some(expected)
            || (self.schema != Schema::Strict && core.is_none() && tag.suffix() != "binary")
        {
            return;
        }
        let message = format!("the tag {} is not supported", short(&tag.original()));
        self.soft(ErrorKind::Scalar, at, message, Some("remove it".to_owned()));
    }
}

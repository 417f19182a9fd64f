//! Amounts as Kubernetes writes them: `500m`, `64`, `256Gi`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

/// Longest text that is looked at.
const MAX_TEXT: usize = 64;
const SUFFIXES: [&str; 16] =
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// An amount of a resource, checked to be one and kept as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Quantity(String);

impl Quantity {
    /// The text, as it was read.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not an amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuantityError;

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a quantity: write a number with an optional suffix, like 64, 500m or 256Gi")
    }
}

impl std::error::Error for ParseQuantityError {}

impl FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, ParseQuantityError> {
        if text.len() <= MAX_TEXT && is_quantity(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseQuantityError)
        }
    }
}

fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let len = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(len);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 || number.len() - digits > 1 {
        return false;
    }
    if SUFFIXES.contains(&suffix) {
        return true;
    }
    // The suffix may be a decimal exponent instead.
    suffix.strip_prefix(['e', 'E']).is_some_and(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit())
    })
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "An amount, like 64, 500m or 256Gi.",
            "pattern": "^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)?$",
            "maxLength": MAX_TEXT,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    #[test]
    fn takes_what_kubernetes_takes() {
        for text in ["64", "500m", "256Gi", "1.5", ".5", "1e3", "2E-2", "1E", "-1Ki", "12."] {
            assert_eq!(text.parse::<Quantity>().unwrap().as_str(), text);
        }
        for text in ["", ".", "Gi", "1 Gi", "1GB", "1.2.3", "1e", "1e+", "--1", "0x10"] {
            assert!(text.parse::<Quantity>().is_err(), "{text}");
        }
    }
}

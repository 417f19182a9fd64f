//! Lengths of time as Kubernetes writes them: `30s`, `5m`, `1h30m`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NANO: u64 = 1;
const MICRO: u64 = 1_000 * NANO;
const MILLI: u64 = 1_000 * MICRO;
const SECOND: u64 = 1_000 * MILLI;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// Longest text that is looked at; the longest sensible one is far shorter.
const MAX_TEXT: usize = 64;

/// A length of time, not negative, with nanosecond steps and at most 292 years.
///
/// Written as a sequence of decimal numbers with units `h`, `m`, `s`, `ms`, `us`, `ns`, for example `1h30m`;
/// printed back in the shortest such form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    nanos: u64,
}

impl Duration {
    /// So many seconds; what is beyond the largest duration is that largest one.
    pub const fn from_secs(seconds: u64) -> Self {
        let nanos = seconds.saturating_mul(SECOND);
        Self { nanos: if nanos > i64::MAX as u64 { i64::MAX as u64 } else { nanos } }
    }

    /// So many minutes.
    pub const fn from_mins(minutes: u64) -> Self {
        Self::from_secs(minutes.saturating_mul(60))
    }

    /// Whole seconds, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.nanos / SECOND
    }

    /// The same as the standard library's type.
    pub const fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.nanos)
    }

    /// Whether it is no time at all.
    pub const fn is_zero(self) -> bool {
        self.nanos == 0
    }
}

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseDurationError {
    /// Not a sequence of numbers with units.
    Syntax,
    /// A number without a unit, other than 0.
    MissingUnit,
    /// A unit that Go does not have; days are the usual one.
    UnknownUnit(String),
    /// Less than zero.
    Negative,
    /// More than 292 years.
    TooLong,
}

impl fmt::Display for ParseDurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => f.write_str("not a duration: write numbers with units, like 30s, 5m or 1h30m"),
            Self::MissingUnit => f.write_str("a duration needs a unit: write 30s, 5m or 1h30m"),
            Self::UnknownUnit(unit) if unit == "d" => {
                f.write_str("a duration has no unit for days: write hours, 24h for a day")
            }
            Self::UnknownUnit(unit) => {
                write!(f, "unknown unit {unit:?} in a duration, expected h, m, s, ms, us or ns")
            }
            Self::Negative => f.write_str("a duration cannot be negative"),
            Self::TooLong => f.write_str("a duration is at most 2562047h"),
        }
    }
}

impl std::error::Error for ParseDurationError {}

impl FromStr for Duration {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, ParseDurationError> {
        if text.len() > MAX_TEXT {
            return Err(ParseDurationError::Syntax);
        }
        if text.starts_with('-') {
            return Err(ParseDurationError::Negative);
        }
        let mut rest = text.strip_prefix('+').unwrap_or(text);
        if rest == "0" {
            return Ok(Self::default());
        }
        if rest.is_empty() {
            return Err(ParseDurationError::Syntax);
        }
        let mut nanos: u64 = 0;
        while !rest.is_empty() {
            let number_len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, tail) = rest.split_at(number_len);
            let unit_len = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(unit_len);
            let part = part_nanos(number, unit)?;
            nanos = nanos.checked_add(part).ok_or(ParseDurationError::TooLong)?;
            rest = tail;
        }
        if nanos > i64::MAX as u64 {
            return Err(ParseDurationError::TooLong);
        }
        Ok(Self { nanos })
    }
}

/// One number with its unit, in nanoseconds; digits below a nanosecond are cut off, as Go does.
fn part_nanos(number: &str, unit: &str) -> Result<u64, ParseDurationError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(ParseDurationError::Syntax);
    }
    let scale = match unit {
        "" => return Err(ParseDurationError::MissingUnit),
        "ns" => NANO,
        // Go takes both signs that look like a Greek mu.
        "us" | "\u{b5}s" | "\u{3bc}s" => MICRO,
        "ms" => MILLI,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        other => return Err(ParseDurationError::UnknownUnit(other.to_owned())),
    };
    let whole: u64 =
        if whole.is_empty() { 0 } else { whole.parse().map_err(|_| ParseDurationError::TooLong)? };
    let mut nanos = whole.checked_mul(scale).ok_or(ParseDurationError::TooLong)?;
    let mut step = scale;
    for digit in fraction.bytes() {
        // Exact for all decimal scales; minutes and hours lose less than a nanosecond per digit.
        step /= 10;
        nanos = nanos.saturating_add(u64::from(digit - b'0') * step);
    }
    Ok(nanos)
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.nanos;
        for (scale, unit) in
            [(HOUR, "h"), (MINUTE, "m"), (SECOND, "s"), (MILLI, "ms"), (MICRO, "us"), (NANO, "ns")]
        {
            if rest >= scale {
                write!(f, "{}{unit}", rest / scale)?;
                rest %= scale;
            }
        }
        Ok(())
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A length of time, like 30s, 5m or 1h30m.",
            "pattern": "^\\+?(0|([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(h|m|s|ms|us|\u{b5}s|\u{3bc}s|ns))+$",
            "maxLength": MAX_TEXT,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, ParseDurationError};

    #[test]
    fn reads_what_go_reads_and_prints_the_shortest_form() {
        for (text, seconds, printed) in [
            ("30s", 30, "30s"),
            ("5m", 300, "5m"),
            ("1h30m", 5400, "1h30m"),
            ("90m", 5400, "1h30m"),
            ("1.5h", 5400, "1h30m"),
            (".5m", 30, "30s"),
            ("+2s", 2, "2s"),
            ("0", 0, "0s"),
            ("5m0s", 300, "5m"),
            ("1500ms", 1, "1s500ms"),
        ] {
            let duration: Duration = text.parse().unwrap();
            assert_eq!((duration.as_secs(), duration.to_string().as_str()), (seconds, printed), "{text}");
            assert_eq!(duration.to_string().parse::<Duration>().unwrap(), duration);
        }
    }

    #[test]
    fn refuses_the_rest_and_says_why() {
        let parse = |text: &str| text.parse::<Duration>().unwrap_err();
        assert_eq!(parse("30"), ParseDurationError::MissingUnit);
        assert_eq!(parse("-5m"), ParseDurationError::Negative);
        assert_eq!(parse("1d"), ParseDurationError::UnknownUnit("d".into()));
        assert!(parse("1d").to_string().contains("24h"));
        for text in ["", "m", ".m", "1.2.3s", "1 m"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
        assert_eq!(parse("99999999999999999999h"), ParseDurationError::TooLong);
        assert_eq!(parse("2562048h"), ParseDurationError::TooLong);
    }
}

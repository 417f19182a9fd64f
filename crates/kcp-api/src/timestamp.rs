//! Points in time as RFC 3339 texts. There is no clock here: whoever needs `now` is given it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const DAY: i64 = 86_400;

/// A point in time, to the second.
///
/// It keeps the text it was read from, so that writing it back changes nothing; order is by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    text: String,
}

impl Timestamp {
    /// The point so many seconds after 1970-01-01T00:00:00Z, kept within years 0 to 9999.
    pub fn from_epoch_seconds(seconds: i64) -> Self {
        let seconds = seconds.clamp(days_from_civil(0, 1, 1) * DAY, days_from_civil(10_000, 1, 1) * DAY - 1);
        let (year, month, day) = civil_from_days(seconds.div_euclid(DAY));
        let of_day = seconds.rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
        Self { seconds, text }
    }

    /// Seconds since 1970-01-01T00:00:00Z; fractions are cut off.
    pub fn epoch_seconds(&self) -> i64 {
        self.seconds
    }

    /// The text, as it was read.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The text is not a point in time by RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseTimestampError;

impl fmt::Display for ParseTimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a point in time: write it like 2026-01-31T15:04:05Z (RFC 3339, with an offset or Z)")
    }
}

impl std::error::Error for ParseTimestampError {}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    fn from_str(text: &str) -> Result<Self, ParseTimestampError> {
        let seconds = parse(text).ok_or(ParseTimestampError)?;
        Ok(Self { seconds, text: text.to_owned() })
    }
}

/// Seconds since the epoch, or nothing when the text is not exactly RFC 3339.
fn parse(text: &str) -> Option<i64> {
    // 35 characters hold nanoseconds and an offset.
    if !text.is_ascii() || !(20..=35).contains(&text.len()) {
        return None;
    }
    let bytes = text.as_bytes();
    let separators = [(4, b"--"), (7, b"--"), (10, b"Tt"), (13, b"::"), (16, b"::")];
    if separators.iter().any(|(at, allowed)| !allowed.contains(&bytes[*at])) {
        return None;
    }
    let year = digits(&text[0..4])?;
    let (month, day) = (digits(&text[5..7])?, digits(&text[8..10])?);
    let (hour, minute, second) = (digits(&text[11..13])?, digits(&text[14..16])?, digits(&text[17..19])?);
    // A leap second is the last second of its minute for us, as it is for Unix time.
    if !(1..=12).contains(&month)
        || !(1..=days_in_month(year, month)).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let mut rest = &text[19..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let len = fraction.find(|c: char| !c.is_ascii_digit())?;
        if len == 0 {
            return None;
        }
        rest = &fraction[len..];
    }
    let offset = match rest.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (digits(&rest[1..3])?, digits(&rest[4..6])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 3600 + minutes * 60) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    Some(days_from_civil(year, month, day) * DAY + hour * 3600 + minute * 60 + second.min(59) - offset)
}

fn digits(text: &str) -> Option<i64> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to this date of the Gregorian calendar, for years from 0 on.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// The date so many days after 1970-01-01; the reverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let mut year = 1970 + days.div_euclid(366);
    // The guess is off by a few years at most, in either direction.
    while days_from_civil(year + 1, 1, 1) <= days {
        year += 1;
    }
    while days_from_civil(year, 1, 1) > days {
        year -= 1;
    }
    let mut month = 12;
    while days_from_civil(year, month, 1) > days {
        month -= 1;
    }
    (year, month, days - days_from_civil(year, month, 1) + 1)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "date-time",
            "description": "A point in time by RFC 3339, like 2026-01-31T15:04:05Z.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn reads_rfc_3339_and_counts_seconds() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-01-31T15:04:05Z", 1_769_871_845),
            ("2026-01-31T15:04:05.999Z", 1_769_871_845),
            ("2026-01-31T17:04:05+02:00", 1_769_871_845),
            ("1969-12-31T23:59:59z", -1),
        ] {
            let time: Timestamp = text.parse().unwrap();
            assert_eq!((time.epoch_seconds(), time.as_str()), (seconds, text));
        }
    }

    #[test]
    fn prints_what_it_reads_back_over_leap_years_and_ends() {
        for seconds in (-62_167_219_200..253_402_300_800_i64).step_by(1_234_567_891).chain([951_782_399, -1])
        {
            let time = Timestamp::from_epoch_seconds(seconds);
            assert_eq!(time.as_str().parse::<Timestamp>().unwrap().epoch_seconds(), seconds, "{time}");
        }
        assert_eq!(Timestamp::from_epoch_seconds(i64::MAX).as_str(), "9999-12-31T23:59:59Z");
        assert_eq!(Timestamp::from_epoch_seconds(i64::MIN).as_str(), "0000-01-01T00:00:00Z");
    }

    #[test]
    fn refuses_what_is_not_exactly_that() {
        for text in [
            "",
            "2026-01-31",
            "2026-01-31T15:04:05",
            "2026-01-31 15:04:05Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+2:00",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:0\u{e9}Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}

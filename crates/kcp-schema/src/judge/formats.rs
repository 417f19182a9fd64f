//! Formats of text. Which of them a server knows depends on its version; what it does not know, it ignores.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

use regex_automata::meta::Regex;

/// The minor version of a Kubernetes 1.x API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Release(pub u16);

impl Default for Release {
    /// The newest one that this crate was checked against.
    fn default() -> Self {
        Self(36)
    }
}

impl Release {
    /// Numbers are held to int32, int64 and float only from here on.
    pub(super) fn checks_number_formats(self) -> bool {
        self.0 >= 36
    }
}

/// What a format says about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
    /// The format is known, but not how exactly a server reads it.
    Unsure,
}

/// Whether a server of this release checks text against `format`.
pub(crate) fn is_known(format: &str, release: Release) -> bool {
    match normal(format).as_str() {
        "k8sshortname" | "k8slongname" => release.0 >= 34,
        name => KNOWN.contains(&name),
    }
}

const KNOWN: [&str; 24] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
];

/// Dashes do not count.
fn normal(format: &str) -> String {
    format.replace('-', "")
}

/// Whether `text` has the format, which is known.
pub(super) fn fits(format: &str, text: &str) -> Fit {
    let sure = |fits: bool| if fits { Fit::Yes } else { Fit::No };
    match normal(format).as_str() {
        "password" => Fit::Yes,
        "bsonobjectid" => sure(text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())),
        "ipv4" => sloppy_ipv4(text),
        "ipv6" => ipv6(text),
        "cidr" => cidr(text),
        "mac" => sure(is_mac(text)),
        "date" => sure(is_date(text)),
        "datetime" => sure(is_date_time(text)),
        "duration" => sure(duration(text).is_some()),
        "hostname" => sure(matches(&HOSTNAME, HOSTNAME_PATTERN, text) && is_short_labels(text)),
        "uuid" => sure(matches(&UUID, UUID_PATTERN, text)),
        "uuid3" => sure(matches(&UUID3, UUID3_PATTERN, text)),
        "uuid4" => sure(matches(&UUID4, UUID4_PATTERN, text)),
        "uuid5" => sure(matches(&UUID5, UUID5_PATTERN, text)),
        "byte" => sure(matches(&BYTE, BYTE_PATTERN, text)),
        "hexcolor" => sure(matches(&HEX, HEX_PATTERN, text)),
        "rgbcolor" => sure(matches(&RGB, RGB_PATTERN, text)),
        "ssn" => sure(text.len() == 11 && matches(&SSN, SSN_PATTERN, text)),
        "k8sshortname" => sure(text.len() <= 63 && is_label(text)),
        "k8slongname" => sure(text.len() <= 253 && text.split('.').all(is_label)),
        "email" if !text.contains('@') => Fit::No,
        "isbn" | "isbn10" | "isbn13" | "creditcard" if !text.bytes().any(|byte| byte.is_ascii_digit()) => {
            Fit::No
        }
        "uri" if text.is_empty() || text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) => Fit::No,
        "uri" if text.starts_with('/') && text.bytes().all(is_plain_path) => Fit::Yes,
        _ => Fit::Unsure,
    }
}

static HOSTNAME: OnceLock<Option<Regex>> = OnceLock::new();
static UUID: OnceLock<Option<Regex>> = OnceLock::new();
static UUID3: OnceLock<Option<Regex>> = OnceLock::new();
static UUID4: OnceLock<Option<Regex>> = OnceLock::new();
static UUID5: OnceLock<Option<Regex>> = OnceLock::new();
static BYTE: OnceLock<Option<Regex>> = OnceLock::new();
static HEX: OnceLock<Option<Regex>> = OnceLock::new();
static RGB: OnceLock<Option<Regex>> = OnceLock::new();
static SSN: OnceLock<Option<Regex>> = OnceLock::new();

/// A label is letters, digits and symbols with dashes inside; either one label, or several and a top level of letters.
const HOSTNAME_PATTERN: &str = r"^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$";
const UUID_PATTERN: &str = "(?i)^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$";
const UUID3_PATTERN: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const UUID4_PATTERN: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
const UUID5_PATTERN: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
/// At least one group of four: empty text is refused.
const BYTE_PATTERN: &str = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
const HEX_PATTERN: &str = "^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
const RGB_PATTERN: &str = r"^rgb\([ \t\n\f\r]*(?:0|[1-9][0-9]?|1[0-9]{0,2}|2[0-4][0-9]|25[0-5])(?:[ \t\n\f\r]*,[ \t\n\f\r]*(?:0|[1-9][0-9]?|1[0-9]{0,2}|2[0-4][0-9]|25[0-5])){2}[ \t\n\f\r]*\)$";
const SSN_PATTERN: &str = "^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$";

fn matches(cell: &OnceLock<Option<Regex>>, pattern: &str, text: &str) -> bool {
    let regex = cell.get_or_init(|| Regex::new(pattern).ok());
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn is_short_labels(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63)
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().all(|byte| inner(byte) || byte == b'-')
        && text.bytes().next().is_some_and(inner)
        && text.bytes().last().is_some_and(inner)
}

fn is_plain_path(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte)
}

/// Leading zeros are tolerated. An IPv6 address with a dot in it (`::ffff:1.2.3.4`) passes too.
fn sloppy_ipv4(text: &str) -> Fit {
    if text.contains(':') {
        return if text.contains('.') { ipv6(text) } else { Fit::No };
    }
    let parts: Vec<&str> = text.split('.').collect();
    let part = |part: &&str| {
        !part.is_empty()
            && part.len() <= 15
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u64>().is_ok_and(|number| number <= 255)
    };
    if parts.len() == 4 && parts.iter().all(part) { Fit::Yes } else { Fit::No }
}

fn ipv6(text: &str) -> Fit {
    if !text.contains(':') || text.contains('%') {
        return Fit::No;
    }
    if text.parse::<Ipv6Addr>().is_ok() { Fit::Yes } else { Fit::No }
}

fn cidr(text: &str) -> Fit {
    let Some((address, bits)) = text.split_once('/') else { return Fit::No };
    if bits.is_empty() || !bits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Fit::No;
    }
    let Ok(bits) = bits.parse::<u32>() else { return Fit::No };
    if address.parse::<Ipv4Addr>().is_ok() || !address.contains(':') && sloppy_ipv4(address) == Fit::Yes {
        return if bits <= 32 { Fit::Yes } else { Fit::No };
    }
    if ipv6(address) == Fit::Yes && bits <= 128 { Fit::Yes } else { Fit::No }
}

fn is_mac(text: &str) -> bool {
    let groups = |separator: char, width: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        counts.contains(&parts.len())
            && parts
                .iter()
                .all(|part| part.len() == width && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    groups(':', 2, &[6, 8, 20]) || groups('-', 2, &[6, 8, 20]) || groups('.', 4, &[3, 4, 10])
}

/// `2006-01-02`, a day that exists.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| -> Option<u32> {
        let part = bytes.get(range)?;
        part.iter()
            .all(u8::is_ascii_digit)
            .then(|| part.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (digits(0..4), digits(5..7), digits(8..10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-' && (1..=days).contains(&day)
}

/// A date, a `t` and a time with an offset; seconds up to 59.
fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    static TIME: OnceLock<Option<Regex>> = OnceLock::new();
    const PATTERN: &str = r"^[0-9]{2}:[0-9]{2}:[0-9]{2}(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$";
    is_date(date) && matches(&TIME, PATTERN, time) && {
        let part = |at: usize| time.get(at..at + 2).unwrap_or("99");
        part(0) <= "23" && part(3) <= "59" && part(6) <= "59"
    }
}

/// A duration in nanoseconds, as Go writes it or in words (`2 minutes`).
pub(super) fn duration(text: &str) -> Option<i128> {
    go_duration(text).or_else(|| worded_duration(text))
}

/// `-1h30.5m`; `0` needs no unit.
pub(super) fn go_duration(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0_f64;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number = &rest[..end];
        if !number.bytes().any(|byte| byte.is_ascii_digit()) || number.matches('.').count() > 1 {
            return None;
        }
        rest = &rest[end..];
        let unit_end =
            rest.find(|letter: char| letter.is_ascii_digit() || letter == '.').unwrap_or(rest.len());
        let factor = match &rest[..unit_end] {
            "ns" => 1.0,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            _ => return None,
        };
        total += number.parse::<f64>().or_else(|_| format!("0{number}0").parse()).ok()? * factor;
        rest = &rest[unit_end..];
    }
    // What 64 bits cannot hold is no duration.
    (total < 9.223_372_036_854_775e18).then_some(if negative { -(total as i128) } else { total as i128 })
}

/// Any number with a known unit somewhere in the text.
fn worded_duration(text: &str) -> Option<i128> {
    const UNITS: [(&[&str], i128); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "\u{b5}s", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hr", "hour"], 3_600_000_000_000),
        (&["d", "day"], 86_400_000_000_000),
        (&["w", "wk", "week"], 604_800_000_000_000),
    ];
    let mut found = None;
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        rest = &rest[start..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let number: i64 = rest[..end].parse().ok()?;
        rest = rest[end..].trim_start_matches([' ', '\t', '\n', '\u{c}', '\r']);
        let end = rest
            .find(|letter: char| !letter.is_ascii_alphabetic() && letter != '\u{b5}')
            .unwrap_or(rest.len());
        let unit = rest[..end].to_lowercase();
        for (words, factor) in UNITS {
            let last = words.last().copied().unwrap_or_default();
            if words.contains(&unit.as_str()) || unit.starts_with(last) {
                found = Some(found.unwrap_or(0) + i128::from(number) * factor);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Fit, Release, duration, fits, is_known};

    #[test]
    fn formats_are_read_as_servers_read_them() {
        for (format, right, wrong) in [
            (
                "date-time",
                vec!["2014-12-15T19:30:20.000Z", "2014-12-15t19:30:20+01:00"],
                vec!["2014-12-15", "2014-02-30T00:00:00Z", "2014-12-15T24:00:00Z"],
            ),
            ("date", vec!["2024-02-29"], vec!["2023-02-29", "2024-2-1"]),
            ("byte", vec!["aGk="], vec!["", "a", "a_k="]),
            ("ipv4", vec!["1.2.3.4", "010.1.1.1", "::ffff:1.2.3.4"], vec!["1.2.3", "256.1.1.1", "::1"]),
            ("ipv6", vec!["::1"], vec!["1.2.3.4", "fe80::1%eth0"]),
            ("cidr", vec!["10.0.0.0/8", "::/0"], vec!["10.0.0.0", "10.0.0.0/33"]),
            ("duration", vec!["1h30m", "0", "2 minutes", "-1.5s"], vec!["", "5", "5 parsecs"]),
            ("hostname", vec!["example.com", "a"], vec!["-a", "a..b", "a_b"]),
            (
                "uuid4",
                vec!["9B2B1E4C-7f0e-4c0f-9a3e-2d0b1a4f5e6d"],
                vec!["9b2b1e4c-7f0e-3c0f-9a3e-2d0b1a4f5e6d"],
            ),
            ("mac", vec!["01:23:45:67:89:ab", "0123.4567.89ab"], vec!["01:23", "0g:23:45:67:89:ab"]),
            ("k8s-short-name", vec!["a-1"], vec!["A", "-a", ""]),
        ] {
            right.iter().for_each(|text| assert_eq!(fits(format, text), Fit::Yes, "{format} {text}"));
            wrong.iter().for_each(|text| assert_eq!(fits(format, text), Fit::No, "{format} {text}"));
        }
        assert_eq!(duration("1.5h"), Some(5_400_000_000_000));
        assert!(is_known("date-time", Release(20)) && !is_known("int-or-string", Release(36)));
        assert!(!is_known("k8s-short-name", Release(33)));
    }
}

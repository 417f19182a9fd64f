//! Dates and times of YAML 1.1: `2001-1-2`, `2001-01-02T03:04:05.6Z`, `2001-01-02 03:04:05`. Unquoted, they are text that the
//! reference rewrites in one form; as text, they need quotes.

/// The form of RFC 3339 that a date or time is rewritten to; `None` for all other text.
pub(crate) fn canonical(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    if bytes.get(4) != Some(&b'-') || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], clock(bytes[at], &text[at + 1..])?),
        None => (text, "00:00:00Z".to_owned()),
    };
    let mut parts = date.split('-');
    let year: u32 = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let month = number(parts.next()?, 13)?;
    let day = number(parts.next()?, 32)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let real = parts.next().is_none() && month > 0 && (1..=days).contains(&day);
    real.then(|| format!("{year:04}-{month:02}-{day:02}T{time}"))
}

/// One or two digits, below a limit.
fn number(text: &str, limit: u32) -> Option<u32> {
    let digits = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && *number < limit)
}

/// The time: with a zone after a `T`, without one after a blank.
fn clock(separator: u8, text: &str) -> Option<String> {
    let (clock, zone) = if separator == b' ' {
        (text, "Z")
    } else if let Some(clock) = text.strip_suffix('Z') {
        (clock, "Z")
    } else {
        let (clock, zone) = text.split_at(text.rfind(['+', '-'])?);
        let (hours, minutes) = zone[1..].split_once(':')?;
        let two = hours.len() == 2 && minutes.len() == 2 && number(hours, 25).is_some();
        number(minutes, 60).filter(|_| two)?;
        (clock, if &zone[1..] == "00:00" { "Z" } else { zone })
    };
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(clock, part)| (clock, Some(part)));
    let mut parts = clock.split(':');
    let (hour, minute, second) =
        (number(parts.next()?, 24)?, number(parts.next()?, 60)?, number(parts.next()?, 60)?);
    if parts.next().is_some() {
        return None;
    }
    let fraction = match fraction {
        None => "",
        Some(digits) if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            return None;
        }
        Some(digits) => digits[..digits.len().min(9)].trim_end_matches('0'),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{hour:02}:{minute:02}:{second:02}{point}{fraction}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn dates_are_rewritten_and_other_text_is_not_a_date() {
        for (text, expected) in [
            ("2020-1-2", "2020-01-02T00:00:00Z"),
            ("2020-02-29 1:02:03", "2020-02-29T01:02:03Z"),
            ("2020-01-02t03:04:05.60+02:00", "2020-01-02T03:04:05.6+02:00"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected));
        }
        for text in [
            "2021-02-29",
            "2020-13-01",
            "2020-01",
            "2020-01-02T03:04:05",
            "2020-01-02T03:04Z",
            "2020-01-0\u{e9}",
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}

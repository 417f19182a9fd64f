//! Plain dates as kustomize gives them back: read by YAML 1.1's timestamp, written as RFC 3339.

/// The RFC 3339 text of a date or time such as `2001-1-2` or `2001-01-02 3:04:05.5`; `None` for anything else.
pub(super) fn rfc3339(text: &str) -> Option<String> {
    let (year, rest) = text.split_at_checked(4)?;
    let rest = rest.strip_prefix('-')?;
    let year = number(year, 4, 9999)?;
    let (month, rest) = rest.split_once('-')?;
    let month = short_number(month, 12)?;
    let at = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (day, time) = rest.split_at(at);
    let day = short_number(day, days(year, month))?;
    if month == 0 || day == 0 {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    if time.is_empty() {
        return Some(format!("{date}T00:00:00Z"));
    }
    // After a blank there is no zone, after a T there must be one.
    let zoned = time.starts_with(['T', 't']);
    if !zoned && !time.starts_with(' ') {
        return None;
    }
    let clock = &time[1..];
    let at = clock.find(['Z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(at);
    let zone = match (zoned, zone) {
        (true, "Z" | "+00:00" | "-00:00") | (false, "") => "Z",
        (true, zone) => offset(zone)?,
        (false, _) => return None,
    };
    let mut parts = clock.splitn(3, ':');
    let hour = short_number(parts.next()?, 23)?;
    let minute = short_number(parts.next()?, 59)?;
    let seconds = parts.next()?;
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let second = short_number(second, 59)?;
    if !fraction.bytes().all(|b| b.is_ascii_digit()) || fraction.len() > 9 {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{dot}{fraction}{zone}"))
}

/// `+hh:mm` or `-hh:mm`.
fn offset(zone: &str) -> Option<&str> {
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    number(hours, 2, 23)?;
    number(minutes, 2, 59)?;
    Some(zone)
}

/// One or two digits up to `max`.
fn short_number(text: &str, max: u32) -> Option<u32> {
    number(text, text.len().clamp(1, 2), max)
}

fn number(text: &str, digits: usize, max: u32) -> Option<u32> {
    let fits = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    let value = fits.then(|| text.parse().ok()).flatten()?;
    (value <= max).then_some(value)
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

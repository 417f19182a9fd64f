//! Points in time as people write and read them. The clock is read here and nowhere else in this program.

use kcp_api::{Duration, Timestamp};
use kcp_reconciler::clock::{Clock, SystemClock};

use crate::error::CommandError;

/// Seconds since 1970-01-01T00:00:00Z.
pub(crate) fn now() -> i64 {
    SystemClock.now()
}

/// A duration from now (`2h`, `30m`) or a point in time (RFC 3339), in the future.
pub(crate) fn until(flag: &str, text: &str, now: i64) -> Result<Timestamp, CommandError> {
    let time = if let Ok(time) = text.parse::<Timestamp>() {
        time
    } else if let Ok(duration) = text.parse::<Duration>() {
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Timestamp::from_epoch_seconds(now.saturating_add(seconds))
    } else {
        let message = format!("{flag} {text}: neither a duration nor a point in time");
        return Err(CommandError::usage(message).hint("write it like 2h, 30m or 2026-01-31T15:04:05Z"));
    };
    if time.epoch_seconds() <= now {
        return Err(CommandError::usage(format!("{flag} {text}: that is not in the future")));
    }
    Ok(time)
}

/// How long ago something was, as kubectl shows it: `42s`, `7m`, `3h`, `5d`.
pub(crate) fn age(since: i64, now: i64) -> String {
    let seconds = now.saturating_sub(since).max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_duration_or_rfc_3339_and_in_the_future() {
        assert_eq!(until("--until", "2h", 1000).unwrap().epoch_seconds(), 1000 + 7200);
        assert_eq!(until("--until", "1970-01-01T01:00:00Z", 1000).unwrap().epoch_seconds(), 3600);
        assert!(until("--until", "1970-01-01T00:00:01Z", 1000).is_err());
        assert!(until("--until", "0s", 1000).is_err());
        assert!(until("--until", "tomorrow", 1000).unwrap_err().hints[0].contains("2h"));
    }

    #[test]
    fn ages_have_one_unit() {
        assert_eq!([5, 119, 120, 7200, 172_800].map(|since| age(0, since)), ["5s", "119s", "2m", "2h", "2d"]);
    }
}

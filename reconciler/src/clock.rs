//! The only place of the reconciler that reads the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use kcp_core::world::UnixSeconds;

/// The time of day, so that a test can have its own.
pub trait Clock: Send + Sync {
    /// Seconds since 1970-01-01T00:00:00Z.
    fn now(&self) -> UnixSeconds;
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixSeconds {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs().try_into().unwrap_or(i64::MAX))
    }
}

/// RFC 3339, in UTC.
#[must_use]
pub fn rfc3339(seconds: UnixSeconds) -> String {
    jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string()
}

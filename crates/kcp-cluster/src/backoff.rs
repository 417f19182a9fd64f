//! Waiting times that double, with a jitter that a seed repeats exactly.

use std::time::Duration;

/// A sequence of waiting times.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    base: Duration,
    most: Duration,
    attempts: u32,
    state: u64,
}

impl Backoff {
    pub(crate) fn new(base: Duration, most: Duration, seed: u64) -> Self {
        // The generator stands still at zero.
        Self { base, most, attempts: 0, state: seed | 1 }
    }

    /// The next waiting time: between half and all of the doubled base.
    pub(crate) fn next(&mut self) -> Duration {
        let full = self.base.saturating_mul(1 << self.attempts.min(16)).min(self.most);
        self.attempts = self.attempts.saturating_add(1);
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let part = (self.state >> 40) as u32 % 500 + 500;
        full.saturating_mul(part) / 1000
    }

    /// It went well: start over.
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn doubles_up_to_its_limit_and_repeats_by_seed() {
        let series = |seed| {
            let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60), seed);
            (0..40).map(|_| backoff.next()).collect::<Vec<_>>()
        };
        let waits = series(7);
        assert_eq!(waits, series(7));
        assert_ne!(waits, series(8));
        assert!(waits[0] <= Duration::from_secs(1) && waits[0] >= Duration::from_millis(500));
        assert!(
            waits[39] >= Duration::from_secs(30) && waits.iter().all(|wait| *wait <= Duration::from_secs(60))
        );
    }
}

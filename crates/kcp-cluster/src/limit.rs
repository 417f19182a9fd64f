//! How many requests one cluster gets at once: more while it answers well, half as many when it does not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

const START: usize = 8;
const MOST: usize = 16;
/// A server may ask us to wait; nobody makes us wait for longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A limit that adapts.
#[derive(Debug)]
pub(crate) struct Limiter {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    limit: usize,
    running: usize,
    /// Good answers since the limit last changed.
    successes: usize,
    /// Nothing is sent before then.
    paused_until: Option<Instant>,
}

/// The right to send one request.
pub(crate) struct Permit {
    limiter: Arc<Limiter>,
}

impl Limiter {
    pub(crate) fn new() -> Self {
        let state = State { limit: START, running: 0, successes: 0, paused_until: None };
        Self { state: Mutex::new(state), freed: Notify::new() }
    }

    pub(crate) async fn acquire(self: &Arc<Self>) -> Permit {
        loop {
            let freed = self.freed.notified();
            let pause = {
                let mut state = self.lock();
                let pause = state.paused_until.filter(|until| *until > Instant::now());
                if pause.is_none() && state.running < state.limit {
                    state.running += 1;
                    return Permit { limiter: Arc::clone(self) };
                }
                pause
            };
            match pause {
                Some(until) => tokio::time::sleep_until(until).await,
                None => freed.await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole after each statement that changes it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// The server kept up.
    pub(crate) fn went_well(&self) {
        let mut state = self.limiter.lock();
        state.successes += 1;
        if state.successes >= state.limit && state.limit < MOST {
            state.limit += 1;
            state.successes = 0;
            drop(state);
            self.limiter.freed.notify_one();
        }
    }

    /// The server is overloaded, or did not answer in time; it may have said how long to wait.
    pub(crate) fn slow_down(&self, retry_after: Option<Duration>) {
        let mut state = self.limiter.lock();
        state.limit = (state.limit / 2).max(1);
        state.successes = 0;
        if let Some(wait) = retry_after {
            state.paused_until = Some(Instant::now() + wait.min(LONGEST_PAUSE));
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limiter.lock().running -= 1;
        self.limiter.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Limiter, MOST, START};

    #[tokio::test(start_paused = true)]
    async fn the_limit_halves_grows_and_holds() {
        let limiter = Arc::new(Limiter::new());
        let mut permits = Vec::new();
        for _ in 0..START {
            permits.push(limiter.acquire().await);
        }
        let waits = tokio::time::timeout(Duration::from_secs(1), limiter.acquire()).await;
        assert!(waits.is_err(), "no more than the limit at once");
        permits[0].slow_down(None);
        permits.truncate(START / 2);
        assert!(tokio::time::timeout(Duration::from_secs(1), limiter.acquire()).await.is_err(), "halved");
        permits.clear();
        for _ in 0..1000 {
            limiter.acquire().await.went_well();
        }
        assert_eq!(limiter.lock().limit, MOST);
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_is_kept_and_ends() {
        let limiter = Arc::new(Limiter::new());
        limiter.acquire().await.slow_down(Some(Duration::from_secs(7)));
        let start = Instant::now();
        drop(limiter.acquire().await);
        assert!(start.elapsed() >= Duration::from_secs(7));
        limiter.acquire().await.slow_down(Some(Duration::from_secs(1_000_000)));
        let start = Instant::now();
        drop(limiter.acquire().await);
        assert!(start.elapsed() <= Duration::from_secs(61));
    }
}

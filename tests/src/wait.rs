//! Waiting for something to become true, with a message that says what was missing. It must never wait without an end.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

/// How long to pause between two looks. Short against anything a control plane does, long against the cost of a look.
const PAUSE: Duration = Duration::from_millis(100);

/// Calls `look` until it says `Ok`, at most until `deadline` has passed since the call.
///
/// `what` completes "waited for ..."; the `Err` of `look` says why it is not so yet.
///
/// # Errors
/// When the deadline passes first, also while a single look still runs. The error names `what`, the time waited
/// and the last reason.
pub async fn wait_until<T, E, F, Fut>(what: &str, deadline: Duration, mut look: F) -> anyhow::Result<T>
where
    E: std::fmt::Display,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let end = Instant::now() + deadline;
    let mut last = "it was not looked at yet".to_owned();
    loop {
        match tokio::time::timeout_at(end, look()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(reason)) => last = format!("{reason:#}"),
            Err(_) => last = format!("the last look did not end in time; before it: {last}"),
        }
        if Instant::now() + PAUSE >= end {
            anyhow::bail!("waited {} s in vain for {what}: {last}", deadline.as_secs());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_timeout_names_what_and_why() {
        let never = || async { Err::<(), _>("2 of 3 are ready") };
        let error = wait_until("web", Duration::from_secs(1), never).await.unwrap_err().to_string();
        assert_eq!(error, "waited 1 s in vain for web: 2 of 3 are ready");
    }

    #[tokio::test]
    async fn a_look_that_hangs_does_not_outlast_the_deadline() {
        let hangs = || std::future::pending::<Result<(), String>>();
        assert!(wait_until("web", Duration::from_millis(50), hangs).await.is_err());
    }
}

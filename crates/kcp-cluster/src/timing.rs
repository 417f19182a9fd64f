//! All times of a connection in one place, so that tests can shorten them.

use std::time::Duration;

/// How long things may take, and how often they are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Deadline of each request; of a watch, until its first byte.
    pub request: Duration,
    /// How long a watch is asked to last.
    pub watch: Duration,
    /// A watch without any event or bookmark for so long is opened again.
    pub idle: Duration,
    /// How often a quiet cluster is asked who it is, which also tries the credentials.
    pub probe: Duration,
    /// How often its API is discovered again, besides when its CRDs change.
    pub rediscover: Duration,
    /// How often the credentials are read again, besides when they are refused.
    pub reread: Duration,
    /// First wait after a failed attempt to connect; it doubles.
    pub backoff: Duration,
    /// Longest wait between attempts.
    pub backoff_max: Duration,
    /// How long changes of objects are gathered before they are read.
    pub settle: Duration,
    /// How long a new CRD may take until it is served.
    pub established: Duration,
    /// How long a shutdown waits for the object that is being written.
    pub shutdown: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(15),
            watch: Duration::from_secs(200),
            // API servers send a bookmark about every minute.
            idle: Duration::from_secs(100),
            probe: Duration::from_secs(30),
            rediscover: Duration::from_secs(600),
            reread: Duration::from_secs(300),
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_secs(60),
            settle: Duration::from_millis(50),
            established: Duration::from_secs(30),
            shutdown: Duration::from_secs(4),
        }
    }
}

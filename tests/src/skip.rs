//! What a test does on a machine that cannot build control planes: say so, or fail where they are required.
//! It must never turn a fleet that fails to start into a skip.

use std::io::Write as _;

use crate::{BuildError, Fleet, FleetBuilder};

/// Starts the fleet of a test; `None` when the machine has no Go and control planes are not required: the test
/// returns, and "skipped: TEST: why" is on stderr, past the test harness's capture, so that it can be counted.
///
/// # Panics
/// When the fleet does not start, or when there is no Go and `KCP_REQUIRE_CONTROL_PLANES` is `1`.
pub async fn fleet_or_skip(test: &str, builder: FleetBuilder) -> Option<Fleet> {
    match builder.start().await {
        Ok(fleet) => Some(fleet),
        Err(error) => {
            let no_go = matches!(error.downcast_ref::<BuildError>(), Some(BuildError::NoGo));
            let required = std::env::var_os("KCP_REQUIRE_CONTROL_PLANES").is_some_and(|value| value == "1");
            assert!(no_go && !required, "{test}: the fleet did not start: {error:#}");
            say(&format!("skipped: {test}: {error}"));
            None
        }
    }
}

/// Writes one line to stderr; the `eprintln!` of a test that passes is never seen.
pub(crate) fn say(line: &str) {
    // Nothing can be done about a closed stderr, and the test does not depend on it.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

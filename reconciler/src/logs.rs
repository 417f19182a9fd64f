//! Structured logs on stderr: for people on a terminal, JSON elsewhere. Set up by a main, never by a library.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Sets logging up for this process. `KCP_LOG` chooses what is logged, as in `info` or `kcp_cluster=debug`.
pub fn init(default: &str) {
    let filter = EnvFilter::try_from_env("KCP_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second call (tests, an embedding program with logs of its own) changes nothing.
    let _ = if std::io::stderr().is_terminal() {
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        builder.with_ansi(colours).with_target(false).try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
}

//! Free TCP ports on loopback for programs that cannot take a socket from us.
//! It must never hand out a port that something listens on, nor one from the range that outgoing connections use.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the usual ephemeral range: a port from it could be taken by any outgoing connection before our program binds it.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port that was free a moment ago and is not handed out again by this process for a long time.
///
/// # Errors
/// When all ports of the range are in use.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    // Processes that start at the same time begin at different places.
    let offset = std::process::id().wrapping_mul(97) % u32::from(COUNT);
    for _ in 0..COUNT {
        let step = u32::from(NEXT.fetch_add(1, Ordering::Relaxed) % COUNT);
        let port = FIRST + u16::try_from((offset + step) % u32::from(COUNT)).expect("smaller than COUNT");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no free port on 127.0.0.1 between {FIRST} and {}", FIRST + COUNT - 1)
}

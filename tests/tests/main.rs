//! All tests of the whole, in one program: linking is what takes long.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

mod cli;
mod oracle;
mod real;

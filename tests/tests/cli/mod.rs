//! The plugin, as a person at a terminal sees it: words in; files, commits, text and an exit code out. No cluster is
//! needed here.

#![allow(clippy::unwrap_used, reason = "what fails in a helper fails the test")]

mod apis;
mod approving;
mod edits;
mod first_steps;
mod refusals;
mod runner;

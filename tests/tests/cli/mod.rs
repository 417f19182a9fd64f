//! The plugin, as a person at a terminal sees it: words in; files, commits, text and an exit code out. No cluster is
//! needed here.

mod approving;
mod edits;
mod first_steps;
mod refusals;
mod runner;

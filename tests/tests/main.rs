//! All tests of the whole, in one program: linking is what takes long.

mod cli;
mod oracle;
mod real;

//! What went wrong, and where: every problem of a directory at once, each with its place.
//!
//! Messages never contain values of a manifest beyond names and short scalars of the kustomization itself: a
//! manifest may be a Secret.

use std::fmt;

/// Why a directory could not be rendered: one problem or many, in the order in which they were met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", join(.problems))]
pub struct Error {
    /// The problems; never empty.
    pub problems: Vec<Problem>,
}

/// One problem and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    /// The path of the file or directory, from the root of the tree; `""` is the root itself.
    pub file: String,
    /// The line, from 1; 0 when the problem is the file as a whole.
    pub line: u32,
    /// The column in characters, from 1; 0 when the problem is the file as a whole.
    pub column: u32,
    /// The class of the problem, stable for programs.
    pub kind: ProblemKind,
    /// What was wrong and what is allowed, for the person reading.
    pub message: String,
}

/// The classes of problems. Tests and callers compare these, never the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A file or directory is missing or could not be read.
    Read,
    /// The text is not YAML or JSON, or holds what an object cannot have (a number as key, not-a-number).
    Syntax,
    /// A field of a kustomization that does not exist.
    UnknownField,
    /// A field or form that kustomize knows and this crate does not support yet, or refuses on purpose.
    Unsupported,
    /// A wrong type or value.
    Invalid,
    /// Two objects, fields or files where there must be one.
    Duplicate,
    /// A path that leaves the tree or the directory it is confined to.
    Outside,
    /// Kustomizations that include each other.
    Cycle,
    /// A limit of [`crate::Limits`] was reached.
    Limit,
    /// A patch that does not fit, or has no object to change.
    Patch,
    /// A warning: a field that another has taken the place of.
    Deprecated,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = if self.file.is_empty() { "." } else { &self.file };
        if self.line == 0 {
            write!(f, "{file}: {}", self.message)
        } else {
            write!(f, "{file}:{}:{}: {}", self.line, self.column, self.message)
        }
    }
}

impl Problem {
    /// A problem of a file as a whole.
    pub(crate) fn whole(file: &str, kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0, kind, message: message.into() }
    }

    /// A problem at a place in a file.
    pub(crate) fn at(file: &str, at: Position, kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: at.line, column: at.column, kind, message: message.into() }
    }
}

impl Error {
    /// `value`, unless problems were found.
    pub(crate) fn unless<T>(problems: Vec<Problem>, value: T) -> Result<T, Self> {
        if problems.is_empty() { Ok(value) } else { Err(Self { problems }) }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// A place in a file: line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

fn join(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

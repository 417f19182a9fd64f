//! One finding for a person: where, what, and what to do next. Holds no values longer than a few words.

use std::fmt;

use crate::{Mark, Path};

/// One finding in one file. Shown as `file:line:column: path: message` (without `path: ` at the root), then `; help`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as the caller named it.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Path of the node inside its document; empty for the root.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding at `mark` of `file`.
    #[must_use]
    pub fn new(file: &str, mark: Mark, path: &Path, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: mark.line,
            column: mark.column,
            path: path.to_string(),
            message: message.into(),
            help: None,
        }
    }

    /// The same finding with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

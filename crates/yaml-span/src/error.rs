//! What can be wrong with a text before its meaning is looked at.

use std::fmt;

use crate::{Diagnostic, Mark, Path};

/// What sort of error it is, for callers that treat one sort differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not YAML.
    Syntax,
    /// A limit of [`Limits`](crate::Limits) was passed.
    Limit,
    /// A key stands twice in one mapping.
    DuplicateKey,
    /// A key that is not a plain name: null, a list or a mapping.
    Key,
    /// A plain word that YAML 1.1 reads as a boolean ([`Schema::Strict`](crate::Schema::Strict) only).
    AmbiguousWord,
    /// A scalar whose tag or text has no JSON value: `.nan`, `!!int x`, unknown tags.
    Scalar,
    /// A merge key `<<` whose value is not a mapping or a list of mappings.
    Merge,
    /// An alias inside the node that it names, or without its anchor.
    Alias,
}

/// One error of a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {message}{}", help.as_ref().map(|h| format!("; {h}")).unwrap_or_default())]
pub struct Error {
    /// What sort of error it is.
    pub kind: ErrorKind,
    /// Where.
    pub at: Mark,
    /// Path of the node inside its document, as far as it is known.
    pub path: Path,
    /// What is wrong.
    pub message: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
}

impl Error {
    /// This error as a finding in `file`.
    #[must_use]
    pub fn diagnostic(&self, file: &str) -> Diagnostic {
        let mut diagnostic = Diagnostic::new(file, self.at, &self.path, self.message.clone());
        diagnostic.help.clone_from(&self.help);
        diagnostic
    }
}

/// All errors of a text, at least one, in the order of the text; at most [`Errors::MAX`] are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(Vec<Error>);

impl Errors {
    /// How many errors of one text are kept.
    pub const MAX: usize = 100;

    pub(crate) fn new(mut errors: Vec<Error>) -> Self {
        errors.sort_by_key(|e| e.at.offset);
        Self(errors)
    }

    /// The errors.
    #[must_use]
    pub fn as_slice(&self) -> &[Error] {
        &self.0
    }

    /// All errors as findings in `file`.
    #[must_use]
    pub fn diagnostics(&self, file: &str) -> Vec<Diagnostic> {
        self.0.iter().map(|e| e.diagnostic(file)).collect()
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

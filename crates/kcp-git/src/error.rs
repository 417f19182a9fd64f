//! What can go wrong in a repo. Must never carry a credential or the content of a file.

use std::path::{Path, PathBuf};

/// An operation on a repo failed. Nothing was changed, unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No repo could be opened there.
    #[error("{}: not a git repository that can be read: {message}", path.display())]
    NotARepository {
        /// Where one was expected.
        path: PathBuf,
        /// What git says.
        message: String,
    },
    /// The folder for a mirror holds something that is not ours.
    #[error("{}: cannot be used as a mirror: {why}; name an empty or a new directory", path.display())]
    NotAMirror {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// No commit has that name.
    #[error("{rev}: no branch, tag or commit of that name in {}", repo.display())]
    UnknownRevision {
        /// What was asked for.
        rev: String,
        /// The repo it was looked up in.
        repo: PathBuf,
    },
    /// More than one commit has that name.
    #[error("{rev}: ambiguous, it names {candidates}; write it in full")]
    AmbiguousRevision {
        /// What was asked for.
        rev: String,
        /// What it may mean.
        candidates: String,
    },
    /// Not a name that a branch or ref may have.
    #[error("{name:?}: not a valid name of a {what}")]
    InvalidName {
        /// The name.
        name: String,
        /// What it was to name.
        what: &'static str,
    },
    /// Not a path that may be written.
    #[error("{path:?}: cannot be written to a branch: {why}")]
    InvalidPath {
        /// The path.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The branch is checked out: writing it would make its work tree look changed.
    #[error(
        "branch {branch} is checked out in a work tree, which would then look changed; use another branch"
    )]
    CheckedOut {
        /// The branch.
        branch: String,
    },
    /// The disk said no.
    #[error("{}: {what}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        what: &'static str,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Anything else that git reports: a damaged object, a lock that is held.
    #[error("{what}: {message}")]
    Git {
        /// What was being done.
        what: String,
        /// What git says.
        message: String,
    },
}

impl GitError {
    /// For `map_err`: names what was being done.
    pub(crate) fn during(what: impl Into<String>) -> impl FnOnce(git2::Error) -> Self {
        move |error| Self::Git { what: what.into(), message: error.message().to_owned() }
    }

    /// For `map_err`: names the path and what was being done with it.
    pub(crate) fn io(path: &Path, what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), what, source }
    }
}

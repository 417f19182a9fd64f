//! The name of a commit. Must never be made from a string that is not a full hexadecimal id.

use std::fmt;
use std::str::FromStr;

/// The id of a commit: 40 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub(crate) git2::Oid);

impl CommitId {
    /// The first 12 digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        let mut text = self.0.to_string();
        text.truncate(12);
        text
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommitId({})", self.0)
    }
}

/// Not 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a full commit id of 40 hexadecimal digits")]
pub struct NotACommitId;

impl FromStr for CommitId {
    type Err = NotACommitId;

    fn from_str(text: &str) -> Result<Self, NotACommitId> {
        if text.len() != 40 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(NotACommitId);
        }
        git2::Oid::from_str(text).map(Self).map_err(|_| NotACommitId)
    }
}

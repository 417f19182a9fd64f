//! The versions of Kubernetes that the tests run against. Each is a Go module in `tests/control-planes`.

use std::fmt;
use std::str::FromStr;

/// A version of Kubernetes that control planes are built of. The default is the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kubernetes {
    /// The oldest that we promise to work with.
    V1_34,
    /// What the tests run on when nothing else is said.
    #[default]
    V1_36,
}

impl Kubernetes {
    /// All of them, the oldest first.
    pub const ALL: [Self; 2] = [Self::V1_34, Self::V1_36];

    /// As people write it: `1.34`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1_34 => "1.34",
            Self::V1_36 => "1.36",
        }
    }
}

impl fmt::Display for Kubernetes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// There is no Go module for this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no control planes of Kubernetes {asked:?}: there are {}", Kubernetes::ALL.map(Kubernetes::as_str).join(" and "))]
pub struct UnknownKubernetes {
    asked: String,
}

impl FromStr for Kubernetes {
    type Err = UnknownKubernetes;

    fn from_str(text: &str) -> Result<Self, UnknownKubernetes> {
        let found = Self::ALL.into_iter().find(|version| version.as_str() == text);
        found.ok_or_else(|| UnknownKubernetes { asked: text.to_owned() })
    }
}

//! The rules of comparison, as data: one for each kind of change that two versions of an API can have. What a rule says
//! is here; whether a change is there is found by comparing, never by a rule itself.

mod table;

use std::fmt;
use std::str::FromStr;

pub use table::RULES;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not reported. Written `none`: YAML 1.1 reads `off` as a boolean.
    #[serde(rename = "none")]
    Off,
    /// Worth knowing.
    Info,
    /// May break someone, or cannot be decided.
    Warning,
    /// Breaks someone.
    Error,
}

/// Whom a change may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Who writes objects as before: a write is now refused, or loses data.
    Writers,
    /// Who reads objects with the old schema in mind: values or shapes come that it did not allow.
    Readers,
    /// Objects in storage: they would not be accepted and kept if written again.
    Stored,
}

impl Direction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Writers, Self::Readers, Self::Stored];
}

/// One rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its stable name, in kebab case.
    pub id: &'static str,
    /// What changed, in a sentence.
    pub description: &'static str,
    /// Whom such a change can break. What one finding breaks is said by the finding.
    pub breaks: &'static [Direction],
    /// How much it weighs unless configured.
    pub level: Level,
    /// What to do about it.
    pub advice: &'static str,
}

impl Rule {
    /// The rule called `id`.
    #[must_use]
    pub fn by_id(id: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id == id)
    }

    /// Where it is explained, below the root of the documentation.
    #[must_use]
    pub fn link(&self) -> String {
        format!("docs/api-compat.md#{}", self.id)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "none",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Writers => "writers",
            Self::Readers => "readers",
            Self::Stored => "stored",
        })
    }
}

/// A word that is no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no level; levels are none, info, warning and error")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Off, Self::Info, Self::Warning, Self::Error]
            .into_iter()
            .find(|level| level.to_string() == text)
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}

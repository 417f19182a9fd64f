//! Comparison of two CRDs, or of two schemas: every change, which rule it falls under, whom it breaks, and an object that
//! proves it. It must never call a change safe that is not; what it cannot decide it calls unknown, with the reason.
//!
//! A field may have changed for writers and for readers at once; that is one [`Difference`] with two impacts.

mod changes;
mod crds;
mod schemas;

use std::sync::Arc;

use serde_json::Value;

use crate::model::{Crd, Schema, SchemaPath};
use crate::rules::{Direction, Level, Rule};
use crate::witness::Witness;

#[cfg(test)]
mod tests;

/// How a comparison is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareOptions {
    /// Differences for which a witness is looked for, in each direction and version; the rest stays unproven.
    pub witnesses: usize,
    /// The schemas are those of whole objects, with apiVersion, kind and metadata. CRDs always are.
    pub resource: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self { witnesses: 100, resource: true }
    }
}

/// All that differs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// In the order of the rules' table for the CRD as a whole, then by version and path.
    pub differences: Vec<Difference>,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The rule it falls under.
    pub rule: &'static Rule,
    /// The version whose schema it is in; `None` for the CRD as a whole, and for schemas alone.
    pub version: Option<Arc<str>>,
    /// The place in the schema.
    pub path: SchemaPath,
    /// What was there.
    pub old: Option<Value>,
    /// What is there now.
    pub new: Option<Value>,
    /// More about it: which keyword, which values.
    pub detail: Option<String>,
    /// What it does to those who write.
    pub writers: Impact,
    /// What it does to those who read.
    pub readers: Impact,
    /// What it does to objects in storage.
    pub stored: Impact,
}

/// What a change does in one direction.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Impact {
    /// Nothing.
    #[default]
    None,
    /// What was accepted still is, but means something else.
    Meaning(Option<Box<Witness>>),
    /// It breaks.
    Breaks(Proof),
    /// It may break; why that is not decided.
    Unknown(String),
}

/// What shows that a change breaks.
#[derive(Debug, Clone, PartialEq)]
pub enum Proof {
    /// The rule itself: a version that is gone needs no example.
    Rule,
    /// An object that was confirmed on both sides.
    Witness(Box<Witness>),
    /// The schemas say so, but no object was found that shows it; something else may forbid all such objects.
    Unproven,
}

/// Is a change safe?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Yes: everything that was accepted and kept still is.
    Yes,
    /// Not decided.
    Unknown,
    /// No, and it is proven.
    No,
}

impl Comparison {
    /// Whether the change is safe in this direction.
    #[must_use]
    pub fn answer(&self, direction: Direction) -> Answer {
        let answers = self.differences.iter().map(|difference| match difference.impact(direction) {
            Impact::None | Impact::Meaning(_) => Answer::Yes,
            Impact::Breaks(Proof::Rule | Proof::Witness(_)) => Answer::No,
            Impact::Breaks(Proof::Unproven) | Impact::Unknown(_) => Answer::Unknown,
        });
        answers.max().unwrap_or(Answer::Yes)
    }
}

impl Difference {
    fn new(rule: &'static str) -> Self {
        Self {
            rule: Rule::by_id(rule).unwrap_or_else(|| unreachable!("the rule {rule} is not in the table")),
            version: None,
            path: SchemaPath::default(),
            old: None,
            new: None,
            detail: None,
            writers: Impact::None,
            readers: Impact::None,
            stored: Impact::None,
        }
    }

    /// With the same impact in every direction that the rule names.
    fn by_rule(rule: &'static str, impact: &Impact) -> Self {
        let mut difference = Self::new(rule);
        for direction in difference.rule.breaks {
            *difference.impact_mut(*direction) = impact.clone();
        }
        difference
    }

    fn says(mut self, old: Option<Value>, new: Option<Value>) -> Self {
        (self.old, self.new) = (old, new);
        self
    }

    /// What it does in one direction.
    #[must_use]
    pub const fn impact(&self, direction: Direction) -> &Impact {
        match direction {
            Direction::Writers => &self.writers,
            Direction::Readers => &self.readers,
            Direction::Stored => &self.stored,
        }
    }

    const fn impact_mut(&mut self, direction: Direction) -> &mut Impact {
        match direction {
            Direction::Writers => &mut self.writers,
            Direction::Readers => &mut self.readers,
            Direction::Stored => &mut self.stored,
        }
    }

    /// How much it weighs for those who ask about `directions`: `level` (the rule's, unless configured) where it breaks
    /// one of them, at most a warning where that is not decided, and nothing where it does not touch them.
    #[must_use]
    pub fn weight(&self, directions: &[Direction], level: Level) -> Level {
        let weights = directions.iter().map(|direction| match self.impact(*direction) {
            Impact::None => Level::Off,
            Impact::Unknown(_) => level.min(Level::Warning),
            Impact::Meaning(_) | Impact::Breaks(_) => level,
        });
        weights.max().unwrap_or(Level::Off)
    }

    /// The best witness it has.
    #[must_use]
    pub fn witness(&self) -> Option<&Witness> {
        Direction::ALL.into_iter().find_map(|direction| match self.impact(direction) {
            Impact::Breaks(Proof::Witness(witness)) | Impact::Meaning(Some(witness)) => Some(&**witness),
            _ => None,
        })
    }
}

/// Compares two CRDs of one kind.
#[must_use]
pub fn compare_crds(old: &Crd, new: &Crd, options: &CompareOptions) -> Comparison {
    Comparison { differences: crds::compare(old, new, options) }
}

/// Compares two schemas. Stored objects are taken to follow the old one.
#[must_use]
pub fn compare_schemas(old: &Schema, new: &Schema, options: &CompareOptions) -> Comparison {
    let identity = schemas::identity("example.com/v1", "Example");
    let mut differences = schemas::compare(old, new, &identity, options);
    differences.iter_mut().for_each(schemas::is_stored);
    Comparison { differences }
}

//! What is wrong with an object, and what could not be decided. Values never appear in either: an object may be a Secret.

use std::sync::Arc;

use crate::model::{ObjectPath, Type, TypeSet};

/// One reason why an object is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {violation}")]
pub struct Finding {
    /// The place in the object.
    pub path: ObjectPath,
    /// What is wrong there.
    pub violation: Violation,
}

/// Something that could not be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Doubt {
    /// The place in the object.
    pub path: ObjectPath,
    /// Why there is no answer.
    pub why: Arc<str>,
}

impl Doubt {
    pub(super) fn new(path: ObjectPath, why: impl Into<Arc<str>>) -> Self {
        Self { path, why: why.into() }
    }
}

/// How a value breaks a schema. Limits are those of the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A value of another type.
    #[error("must be {}, but is {}", words(*expected), found.map_or("null", Type::as_str))]
    Type {
        /// The types allowed.
        expected: TypeSet,
        /// The type of the value; none for null.
        found: Option<Type>,
    },
    /// A number that the format cannot hold.
    #[error("must be a number that fits {0}")]
    NumberFormat(Arc<str>),
    /// A field that must be there.
    #[error("is required")]
    Required,
    /// A value that is not listed.
    #[error("must be one of the {0} values listed")]
    Enum(usize),
    /// A number below the limit.
    #[error("must be at least {0}")]
    Minimum(String),
    /// A number above the limit.
    #[error("must be at most {0}")]
    Maximum(String),
    /// A number at or below the limit.
    #[error("must be above {0}")]
    ExclusiveMinimum(String),
    /// A number at or above the limit.
    #[error("must be below {0}")]
    ExclusiveMaximum(String),
    /// A number that is no multiple.
    #[error("must be a multiple of {0}")]
    MultipleOf(String),
    /// Text that is too short.
    #[error("must have at least {0} characters")]
    MinLength(u64),
    /// Text that is too long.
    #[error("must have at most {0} characters")]
    MaxLength(u64),
    /// Text that does not match.
    #[error("must match the pattern {0:?}")]
    Pattern(Arc<str>),
    /// Text of another format.
    #[error("must have the format {0}")]
    Format(Arc<str>),
    /// A list that is too short.
    #[error("must have at least {0} items")]
    MinItems(u64),
    /// A list that is too long.
    #[error("must have at most {0} items")]
    MaxItems(u64),
    /// Two items that are the same: equal values in a set, equal keys in a map.
    #[error("is there more than once in a list whose items must differ")]
    Duplicate,
    /// An item of a list of type map that is no object.
    #[error("must be an object: the items of this list are told apart by their fields")]
    ListMapItem,
    /// A mapping that is too small.
    #[error("must have at least {0} keys")]
    MinProperties(u64),
    /// A mapping that is too large.
    #[error("must have at most {0} keys")]
    MaxProperties(u64),
    /// None of `anyOf` holds.
    #[error("must satisfy at least one of the {0} alternatives of anyOf")]
    AnyOf(usize),
    /// Not exactly one of `oneOf` holds.
    #[error("must satisfy exactly one of the {of} alternatives of oneOf, but satisfies {satisfied}")]
    OneOf {
        /// How many hold.
        satisfied: usize,
        /// How many there are.
        of: usize,
    },
    /// The schema under `not` holds.
    #[error("must not satisfy the schema under not")]
    Not,
    /// An embedded resource, or the object itself, is malformed.
    #[error("{0}")]
    Resource(&'static str),
    /// A field of metadata has another type.
    #[error("has another type than the metadata of an object")]
    Metadata,
    /// A rule is not satisfied.
    #[error("{}", message.as_deref().unwrap_or(rule))]
    Cel {
        /// The rule.
        rule: Arc<str>,
        /// What its author says.
        message: Option<Arc<str>>,
    },
    /// A rule fails on this object: it asks for something that is not there, for example. Servers refuse then.
    #[error("the rule {rule:?} cannot be evaluated on this object: {why}")]
    CelError {
        /// The rule.
        rule: Arc<str>,
        /// What failed.
        why: &'static str,
    },
}

fn words(types: TypeSet) -> String {
    types.to_string()
}

/// How many findings are kept of each kind.
const KEPT: usize = 100;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) violations: Vec<Finding>,
    pub(super) doubts: Vec<Doubt>,
    /// Only whether there is any matters: inside junctors.
    pub(super) quiet: bool,
}

impl Findings {
    pub(super) fn quiet() -> Self {
        Self { quiet: true, ..Self::default() }
    }

    pub(super) fn violation(&mut self, path: ObjectPath, violation: Violation) {
        if self.violations.len() < KEPT {
            self.violations.push(Finding { path, violation });
        }
    }

    pub(super) fn doubt(&mut self, path: ObjectPath, why: impl Into<Arc<str>>) {
        if self.doubts.len() < KEPT {
            self.doubts.push(Doubt::new(path, why));
        }
    }
}

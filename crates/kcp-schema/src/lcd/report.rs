//! What is said about a common denominator: the schema, what was lost on the way and to whom, or why there is none.

use std::fmt;

use serde_json::Value;

use crate::{Schema, SchemaPath};

/// A common denominator, or the reason that there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Lcd {
    /// For each schema that was given, in that order: its number among the distinct ones. The numbers follow the content,
    /// not the order, and are those used in [`Loss`] and [`Empty`].
    pub members: Vec<usize>,
    /// What came out.
    pub outcome: Denominator,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Denominator {
    /// There is one.
    Common(Common),
    /// There is none: proven, no object is accepted and kept by all.
    Empty(Empty),
    /// It cannot be said.
    Unknown(Unknown),
}

impl Lcd {
    /// The schema, if there is one.
    #[must_use]
    pub fn schema(&self) -> Option<&Schema> {
        match &self.outcome {
            Denominator::Common(common) => Some(&common.schema),
            Denominator::Empty(_) | Denominator::Unknown(_) => None,
        }
    }

    /// The positions, in what was given, of the distinct schemas with these numbers.
    #[must_use]
    pub fn given(&self, numbers: &[usize]) -> Vec<usize> {
        (0..self.members.len()).filter(|index| numbers.contains(&self.members[*index])).collect()
    }
}

/// A schema that every member accepts and keeps the objects of.
#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    /// The schema; structural if all members are.
    pub schema: Schema,
    /// Each difference between a member and the schema, by path.
    pub losses: Vec<Loss>,
}

impl Common {
    /// Whether the schema holds every object that all members accept and keep. If not, some of the losses say
    /// [`Loss::conservative`], and only such objects may be missing.
    #[must_use]
    pub fn exact(&self) -> bool {
        self.losses.iter().all(|loss| !loss.conservative)
    }
}

/// One thing that some members have and the common denominator has not.
#[derive(Debug, Clone, PartialEq)]
pub struct Loss {
    /// Where.
    pub path: SchemaPath,
    /// What is lost.
    pub lost: Lost,
    /// The distinct schemas that have it, by number.
    pub to: Vec<usize>,
    /// The distinct schemas that force it, by number. Empty if all do together.
    pub because_of: Vec<usize>,
    /// What was allowed, as JSON; the largest of them if members differ. `null` is "anything".
    pub had: Value,
    /// What is allowed now.
    pub now: Value,
    /// More is lost than has to be, since no structural schema can say it better.
    pub conservative: bool,
}

/// The kinds of loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Lost {
    /// The field is gone.
    Field,
    /// Keys that no schema names are gone.
    OtherKeys,
    /// Some types are gone.
    Types,
    /// Null is no value any more.
    Null,
    /// Values of an enumeration are gone.
    Values,
    /// A limit is tighter.
    Limit,
    /// Text must fit a pattern.
    Pattern,
    /// A format must hold.
    Format,
    /// A field must be given.
    Optional,
    /// A field must be given, since leaving it out means different things and a rule looks at it.
    Implicit,
    /// Leaving the field out means different things: each member fills in its own default, or none.
    Default,
    /// Items may not repeat.
    Duplicates,
    /// A rule (CEL) holds.
    Rule,
    /// A condition (`anyOf`, `oneOf`, `not`) holds.
    Condition,
    /// The list must be empty.
    Items,
}

impl Lost {
    /// The word used in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Field => "field",
            Self::OtherKeys => "other-keys",
            Self::Types => "types",
            Self::Null => "null",
            Self::Values => "values",
            Self::Limit => "limit",
            Self::Pattern => "pattern",
            Self::Format => "format",
            Self::Optional => "optional",
            Self::Implicit => "implicit",
            Self::Default => "default",
            Self::Duplicates => "duplicates",
            Self::Rule => "rule",
            Self::Condition => "condition",
            Self::Items => "items",
        }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why no object can be right for all.
#[derive(Debug, Clone, PartialEq)]
pub struct Empty {
    /// Where it shows.
    pub path: SchemaPath,
    /// What it is.
    pub why: WhyEmpty,
    /// The distinct schemas that exclude each other there, by number.
    pub between: Vec<usize>,
}

/// What excludes every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhyEmpty {
    /// No type is allowed by all.
    Types,
    /// No value of the enumerations is allowed by all.
    Values,
    /// A least and a greatest limit cross.
    Limits,
    /// A field that one requires does not exist for another.
    Required,
    /// No entry of a condition can be met.
    Condition,
    /// Nothing is allowed there.
    Forbidden,
}

impl WhyEmpty {
    /// The word used in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Types => "no-common-type",
            Self::Values => "no-common-value",
            Self::Limits => "limits-cross",
            Self::Required => "required-field-missing",
            Self::Condition => "condition-unsatisfiable",
            Self::Forbidden => "forbidden",
        }
    }
}

impl fmt::Display for Empty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            WhyEmpty::Types => "no type is allowed everywhere",
            WhyEmpty::Values => "no value is allowed everywhere",
            WhyEmpty::Limits => "the limits exclude each other",
            WhyEmpty::Required => "required by one, but another does not have it",
            WhyEmpty::Condition => "a condition can not be met with the fields that all have",
            WhyEmpty::Forbidden => "no value is allowed",
        };
        write!(f, "{}: {why}", self.path)
    }
}

/// Why it cannot be said.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// Where it shows.
    pub path: SchemaPath,
    /// What it is.
    pub why: WhyUnknown,
}

/// Why it cannot be said.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyUnknown {
    /// No schema was given.
    NoMember,
    /// More work than the limit, in pairs of node and member.
    Cost(usize),
    /// A schema could not be read there (a recursive or unknown reference).
    Opaque,
    /// What is common can not be said by a structural schema.
    Inexpressible(&'static str),
    /// A rule looks at fields that are not common; its text.
    Rule(String),
    /// A condition looks at a default that is not common.
    Condition,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path)?;
        match &self.why {
            WhyUnknown::NoMember => f.write_str("no schema was given"),
            WhyUnknown::Cost(limit) => write!(f, "stopped after {limit} comparisons"),
            WhyUnknown::Opaque => f.write_str("the schema can not be read here"),
            WhyUnknown::Inexpressible(what) => write!(f, "no schema can say what is common: {what}"),
            WhyUnknown::Rule(rule) => write!(f, "a rule looks at what is not common: {rule}"),
            WhyUnknown::Condition => f.write_str("a condition looks at a default that is not common"),
        }
    }
}

/// Why a node has no denominator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Nothing {
    /// Proven: nothing fits.
    Empty(Empty),
    /// Perhaps something fits, but it can not be said: whoever can do without the node does.
    Dark(Unknown),
    /// Stop everything.
    Cost(Unknown),
}

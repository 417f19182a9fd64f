//! What can be wrong with a schema, and where.

use crate::model::ObjectPath;

/// A schema or CRD that cannot be used. `path` is where in the JSON document; callers that read YAML can turn it into a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ParseError {
    /// The place in the document, for example `spec.versions[0].schema.openAPIV3Schema.properties[spec].pattern`.
    pub path: ObjectPath,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Another document.
    #[error(
        "this is not a CustomResourceDefinition but {found}; expected apiVersion apiextensions.k8s.io/v1 and kind CustomResourceDefinition"
    )]
    NotACrd {
        /// What it says it is.
        found: String,
    },
    /// Another document.
    #[error("this is not an OpenAPI v3 document: {why}")]
    NotOpenApi {
        /// What is missing.
        why: &'static str,
    },
    /// Something must be there.
    #[error("is missing")]
    Missing,
    /// Something has another form.
    #[error("must be {expected}, but is {found}")]
    WrongForm {
        /// What it should be.
        expected: &'static str,
        /// What it is, in a word.
        found: &'static str,
    },
    /// A word nobody knows.
    #[error("{word:?} is not one of {known}")]
    UnknownWord {
        /// The word.
        word: String,
        /// Those that are known.
        known: &'static str,
    },
    /// Two of one name.
    #[error("{0:?} is there twice")]
    Duplicate(String),
    /// An API server refuses such a schema in a CRD.
    #[error("not a structural schema: {0}")]
    NotStructural(&'static str),
    /// A pattern that is no RE2 expression.
    #[error("the pattern {pattern:?} is not valid: {why}")]
    Pattern {
        /// The text.
        pattern: String,
        /// The reason.
        why: String,
    },
    /// A reference that leads nowhere, or that a CRD may not have.
    #[error("the reference {reference:?} {why}")]
    Reference {
        /// The text.
        reference: String,
        /// The reason.
        why: &'static str,
    },
    /// Deeper than the limit.
    #[error("the schema is nested deeper than {limit} levels; schemas this deep are refused")]
    TooDeep {
        /// [`super::Limits::depth`].
        limit: usize,
    },
    /// Larger than the limit.
    #[error("the schema has more than {limit} nodes; schemas this large are refused")]
    TooManyNodes {
        /// [`super::Limits::nodes`].
        limit: usize,
    },
    /// Larger than the limit.
    #[error("the schema holds more than {limit} bytes of values and text; schemas this large are refused")]
    TooLarge {
        /// [`super::Limits::bytes`].
        limit: usize,
    },
    /// Exactly one version is stored.
    #[error("exactly one version must have storage: true, but {count} have")]
    StorageVersions {
        /// How many have.
        count: usize,
    },
}

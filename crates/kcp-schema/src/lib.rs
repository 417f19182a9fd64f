//! Structural schemas of Kubernetes APIs, and what can be said about them: which objects an API server accepts and
//! keeps, how two schemas differ, and what a set of clusters has in common.
//!
//! Everything starts at a [`Schema`]: read by [`Crd::parse`] or from a cluster's OpenAPI documents, shared through a
//! [`Pool`] so that a hundred clusters with the same CRD cost one. All functions are pure: no IO, no client, no clock.
//! Answers have three values (yes, no with the place and the reason, unknown with the reason); nothing is guessed.

mod compare;
mod emit;
mod field_use;
mod judge;
mod language;
mod lcd;
mod model;
mod parse;
mod pattern;
mod rules;
mod subsume;
mod surface;
mod value;
mod witness;

pub use compare::{
    Answer, CompareOptions, Comparison, Difference, Impact, Proof, compare_crds, compare_schemas,
};
pub use field_use::{Shut, accepted_by, fields_used, shut_out_by};
pub use judge::{
    Doubt, Finding, Judge, Outcome, Release, Rules, Verdict, Violation, Why, defaulted, dropped_nulls, prune,
};
pub use lcd::{
    Common, CrdLcd, Denominator, Empty, Lcd, Loss, Lost, LostOffer, NotOneApi, Offer, Unknown, WhyEmpty,
    WhyUnknown,
};
pub use model::{
    Additional, Bounds, CelRule, Column, Conversion, Crd, Hash, ListType, MapType, Names, Node, ObjectPath,
    Pool, Scale, Schema, SchemaPath, SchemaStep, Scope, Step, Type, TypeSet, Version,
};
pub use parse::{Limits, OpenApi, OpenApiKind, Options, ParseError, Problem};
pub use pattern::{Pattern, PatternError};
pub use rules::{Direction, Level, RULES, Rule, UnknownLevel};
pub use surface::{Gvk, Origin, ServedKind, Surface, SurfaceChange, SurfaceChanged};
pub use value::{canonical, same_value};
pub use witness::{Effect, Witness};

#[cfg(test)]
pub(crate) mod generate;
#[cfg(test)]
mod tests;

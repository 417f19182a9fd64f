//! Comparison of Kubernetes objects by value and by ownership: canonical bytes to hash, the FieldsV1 format of
//! server-side apply, the part of a live object that one manager owns, and the fields in which two objects differ.
//!
//! Pure: no client, no clock, no IO. It never decides anything and never writes an object.

mod canonical;
mod difference;
mod fields;
mod own;
mod quantity;

pub use canonical::canonical_bytes;
pub use difference::{Difference, differences};
pub use fields::{FieldSet, FieldsError, PathElement};
pub use own::{applied_fields, own_fields, without_annotations};

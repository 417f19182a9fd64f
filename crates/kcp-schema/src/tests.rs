//! Tests over real CRDs and objects, where the corpus is at hand.

pub(crate) mod corpus;
mod judging;
mod objects;
mod openapi;
mod parsing;
mod robust;
mod surfaces;

//! What a schema is: the shared tree, the CRD around it, and paths into objects and schemas. No rule lives here.

mod crd;
mod hash;
mod node;
mod path;
mod pool;
mod types;

pub use crd::{Column, Conversion, Crd, Names, Scale, Scope, Version};
pub use hash::Hash;
pub use node::{Additional, Bounds, CelRule, ListType, MapType, Node, Schema};
pub use path::{ObjectPath, SchemaPath, SchemaStep, Step};
pub use pool::Pool;
pub use types::{Type, TypeSet};

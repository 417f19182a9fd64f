//! From JSON to [`Schema`](crate::Schema) and [`Crd`](crate::Crd). Everything read here is checked once, with the place
//! of each problem, so that no other module meets an invalid pattern or an endless tree. Nothing here judges objects.

mod crd;
mod error;
mod keywords;
mod number;
mod openapi;
mod schema;
mod structural;

pub use error::{ParseError, Problem};
pub use openapi::{OpenApi, OpenApiKind};
pub use schema::{Limits, Options};

pub(crate) use schema::OPAQUE;

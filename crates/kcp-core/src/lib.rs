//! The pure heart: from a [`World`](world::World) to a [`Plan`](plan::Plan).
//!
//! The daemon executes the plan, `plan` prints it, `why` explains it; all see the same one. Nothing here may read a
//! clock, a file, a client or a random number: what is needed comes in as a value.

pub mod applyset;
pub mod config;
pub mod explain;
pub mod health;
mod keyed;
pub mod object;
pub mod observe;
pub mod plan;
pub mod planner;
pub mod render;
mod safety;
mod schedule;
pub mod scopes;
pub mod status;
mod withhold;
pub mod world;

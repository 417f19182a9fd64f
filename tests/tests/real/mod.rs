//! On real control planes.

mod applyset;
mod budget;
mod crash;
mod crash_point;
mod crds;
mod credentials;
mod daemon;
mod detach;
mod drift;
mod errors;
mod fixture;
mod harness;
mod keep;
mod lcd;
mod mirror;
mod moves;
mod outage;
mod ownership;
mod schema;
mod sync;

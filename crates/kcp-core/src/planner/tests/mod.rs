//! Rules of the planner, each with the smallest world that shows it.

mod before;
mod fixture;
mod kept;
mod moves;
mod objects;
mod prune;
mod random;
mod schedule;
mod stops;
mod why;

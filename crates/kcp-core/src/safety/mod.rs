//! What keeps a mistake small: stops, budgets, holds and approvals. Everything here only takes away from a plan.

pub(crate) mod approval;
pub(crate) mod budget;
pub(crate) mod limit;
pub(crate) mod stops;

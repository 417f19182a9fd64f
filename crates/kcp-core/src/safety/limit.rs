//! Which budgets are in force: those of the commit and, where it loosens them, those of the commit before it too. So
//! nobody lifts a budget and uses that up in one go. Tightening counts at once.

use kcp_api::{Budget, Safety};

use crate::plan::{JudgedBy, brief};
use crate::world::World;

/// The budgets of one kind of act.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit<'w> {
    /// Its name, as in `maxDelete`.
    name: &'static str,
    own: Budget,
    /// What was in force before, and in which commit.
    before: Option<(Budget, &'w str)>,
}

impl<'w> Limit<'w> {
    /// For the deletes of one workspace.
    pub(crate) fn of_deletes(world: &'w World) -> Self {
        Self::of(world, "maxDelete", |safety| safety.max_delete)
    }

    /// For the voluntary moves of all.
    pub(crate) fn of_moves(world: &'w World) -> Self {
        Self::of(world, "maxMove", |safety| safety.max_move)
    }

    fn of(world: &'w World, name: &'static str, budget: fn(&Safety) -> Budget) -> Self {
        let before = world.before.as_deref();
        let before = before.map(|it| (budget(&it.config.fleet.value.spec.safety), it.commit.as_str()));
        Self { name, own: budget(&world.desired.config.fleet.value.spec.safety), before }
    }

    /// The budget that so many of so many exceed, in words; `None` if they are within all that are in force.
    pub(crate) fn exceeded(&self, count: usize, total: usize) -> Option<String> {
        let (count, total) = (size(count), size(total));
        let words =
            |budget: Budget| format!("safety.{} allows ({}% or {})", self.name, budget.percent, budget.floor);
        if count > self.own.allowed(total) {
            return Some(words(self.own));
        }
        let (budget, commit) = self.before.filter(|(budget, _)| count > budget.allowed(total))?;
        let since = "what this commit loosens counts from the next one on";
        Some(format!("{} by commit {}; {since}", words(budget), brief(commit)))
    }
}

fn size(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Whose budgets judge this commit, if it loosens any.
pub(crate) fn judged_by(world: &World) -> Option<JudgedBy> {
    let before = world.before.as_deref()?;
    let (was, is) = (&before.config.fleet.value.spec.safety, &world.desired.config.fleet.value.spec.safety);
    let looser = |was: Budget, is: Budget| is.percent > was.percent || is.floor > was.floor;
    (looser(was.max_delete, is.max_delete) || looser(was.max_move, is.max_move))
        .then(|| JudgedBy { commit: before.commit.clone(), loosened_in: world.desired.commit.clone() })
}

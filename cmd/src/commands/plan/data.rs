//! A plan for programs. Its shape is a promise: fields are added, never renamed or taken away. No object bodies, and
//! no values of Secrets: the planner has masked them.

use std::collections::{BTreeMap, BTreeSet};

use kcp_core::plan::{ApplyAction, ApplyVerb, DeleteAction, SetPlan};
use serde_json::{Value, json};

use crate::ahead::Ahead;

/// How much is done, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) create: usize,
    pub(super) update: usize,
    pub(super) correct: usize,
    pub(super) take: usize,
    pub(super) delete: usize,
    pub(super) unchanged: usize,
}

impl Counts {
    pub(super) fn of(set: &SetPlan) -> Self {
        let count = |fits: fn(&ApplyVerb) -> bool| set.apply.iter().filter(|it| fits(&it.verb)).count();
        Self {
            create: count(|verb| matches!(verb, ApplyVerb::Create)),
            update: count(|verb| matches!(verb, ApplyVerb::Update)),
            correct: count(|verb| matches!(verb, ApplyVerb::Correct)),
            take: count(|verb| matches!(verb, ApplyVerb::HandOver { .. } | ApplyVerb::TakeOver { .. })),
            delete: set.delete.len(),
            unchanged: set.unchanged,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.create += other.create;
        self.update += other.update;
        self.correct += other.correct;
        self.take += other.take;
        self.delete += other.delete;
        self.unchanged += other.unchanged;
    }

    /// Numbers that are not zero, in words.
    pub(super) fn words(self) -> String {
        let all = [
            (self.create, "to create"),
            (self.update, "to update"),
            (self.correct, "to correct"),
            (self.take, "to take over"),
            (self.delete, "to delete"),
            (self.unchanged, "unchanged"),
        ];
        let words: Vec<String> = all
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if words.is_empty() { "nothing to do".into() } else { words.join(", ") }
    }
}

/// Sets of the chosen clusters that are worth showing, by cluster.
pub(super) fn sets<'a>(
    ahead: &'a Ahead,
    chosen: Option<&'a BTreeSet<String>>,
) -> impl Iterator<Item = (&'a str, &'a kcp_core::plan::ClusterPlan)> {
    let wanted = move |name: &String| chosen.is_none_or(|chosen| chosen.contains(name));
    ahead.plan.clusters.iter().filter(move |(name, _)| wanted(name)).map(|(name, plan)| (name.as_str(), plan))
}

/// All counts of the chosen clusters.
pub(super) fn total(ahead: &Ahead, chosen: Option<&BTreeSet<String>>) -> Counts {
    let mut total = Counts::default();
    for set in sets(ahead, chosen).flat_map(|(_, plan)| plan.sets.values()) {
        total.add(Counts::of(set));
    }
    total
}

/// The plan as JSON.
pub(super) fn data(ahead: &Ahead, chosen: Option<&BTreeSet<String>>) -> Value {
    let clusters: BTreeMap<&str, Value> = sets(ahead, chosen)
        .map(|(name, plan)| {
            let stopped =
                plan.stopped.as_ref().map(|(reason, message)| json!({"reason": reason, "message": message}));
            let workspaces: BTreeMap<&str, Value> =
                plan.sets.iter().map(|(name, it)| (name.as_str(), set(it))).collect();
            (name, json!({ "stopped": stopped, "workspaces": workspaces }))
        })
        .collect();
    let units: BTreeMap<&str, Value> = ahead
        .plan
        .units
        .iter()
        .map(|(unit, plan)| {
            let value = json!({
                "placement": plan.placement,
                "clusters": plan.verdicts,
                "unplaced": plan.unplaced,
                "movement": plan.movement,
            });
            (unit.workspace.as_str(), value)
        })
        .collect();
    let total = total(ahead, chosen);
    let in_force = Some(&ahead.recorded.record.fleet.source.commit).filter(|commit| !commit.is_empty());
    json!({
        "source": ahead.source,
        "record": { "commit": ahead.recorded.commit, "inForce": in_force },
        "notes": ahead.notes,
        "judgedBy": ahead.plan.judged_by,
        "summary": {
            "create": total.create, "update": total.update, "correct": total.correct, "takeOver": total.take,
            "delete": total.delete, "unchanged": total.unchanged, "held": ahead.plan.holds.len(),
        },
        "clusters": clusters,
        "workspaces": units,
        "holds": ahead.plan.holds,
        "problems": ahead.plan.problems,
        "errors": ahead.errors,
    })
}

fn set(set: &SetPlan) -> Value {
    let with = |fits: fn(&ApplyVerb) -> bool| -> Vec<Value> {
        set.apply.iter().filter(|it| fits(&it.verb)).map(apply).collect()
    };
    json!({
        "create": with(|verb| matches!(verb, ApplyVerb::Create)),
        "update": with(|verb| matches!(verb, ApplyVerb::Update)),
        "correct": with(|verb| matches!(verb, ApplyVerb::Correct)),
        "takeOver": with(|verb| matches!(verb, ApplyVerb::HandOver { .. } | ApplyVerb::TakeOver { .. })),
        "delete": set.delete.iter().map(delete).collect::<Vec<_>>(),
        "retained": set.retained,
        "unchanged": set.unchanged,
    })
}

fn apply(action: &ApplyAction) -> Value {
    let from = match &action.verb {
        ApplyVerb::HandOver { from } | ApplyVerb::TakeOver { from } => Some(from),
        _ => None,
    };
    let mut value = json!({
        "object": action.object.key, "origin": action.object.origin, "why": action.why, "changes": action.changes,
    });
    if let Some(from) = from {
        value["from"] = json!(from);
    }
    value
}

fn delete(action: &DeleteAction) -> Value {
    json!({ "object": action.key, "why": action.why, "moved": action.moved })
}

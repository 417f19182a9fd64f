//! A plan for people: clusters first, then moves, what is held with the way on, what is wrong with its place.

use std::collections::BTreeSet;

use kcp_core::plan::{ApplyAction, ApplyVerb, FieldChange, Problem, SetPlan};

use super::data::{Counts, sets, total};
use super::verdict;
use crate::ahead::{Ahead, brief};
use crate::commands::Context;
use crate::error::Exit;
use crate::ui::{Text, Tone};

/// Objects of one set, and changed fields of one object, that are listed.
const MAX_OBJECTS: usize = 200;
const MAX_FIELDS: usize = 40;

/// Prints the plan and says whether it may go ahead.
pub(crate) fn text(context: &Context, ahead: &Ahead, chosen: Option<&BTreeSet<String>>) -> Exit {
    let ui = &context.ui;
    for note in &ahead.notes {
        ui.note(format!("note: {note}"));
    }
    if let Some(commit) = &ahead.recorded.commit {
        let in_force = &ahead.recorded.record.fleet.source.commit;
        ui.note(format!("note: against the record {} (commit {} in force)", brief(commit), brief(in_force)));
    }
    if let Some(judged_by) = &ahead.plan.judged_by {
        ui.note(format!("note: {judged_by}"));
    }
    for (name, plan) in sets(ahead, chosen) {
        let worth: Vec<(&String, &SetPlan)> =
            plan.sets.iter().filter(|(_, set)| is_worth_showing(set)).collect();
        if worth.is_empty() && plan.stopped.is_none() {
            continue;
        }
        let heading = Text::toned(Tone::Bold, name);
        ui.line(match &plan.stopped {
            Some((reason, message)) => heading.and(Tone::Warn, format!("  stopped: {reason}: {message}")),
            None => heading,
        });
        for (workspace, set) in worth {
            ui.line(format!("  {workspace}: {}", Counts::of(set).words()));
            objects(context, set);
        }
    }
    moves(context, ahead);
    unplaced(context, ahead);
    held(context, ahead);
    wrong(context, ahead);
    let total = total(ahead, chosen);
    let held = ahead.plan.holds.len();
    let held = if held == 0 { String::new() } else { format!(", {held} held") };
    ui.line(Text::toned(Tone::Bold, format!("Plan for the {}: {}{held}", ahead.source, total.words())));
    verdict(ahead)
}

fn is_worth_showing(set: &SetPlan) -> bool {
    !set.apply.is_empty() || !set.delete.is_empty()
}

fn objects(context: &Context, set: &SetPlan) {
    for action in set.apply.iter().take(MAX_OBJECTS) {
        let (sign, tone) = sign(&action.verb);
        context.ui.line(
            Text::toned(tone, format!("    {sign} {}", action.object.key))
                .and(Tone::Dim, format!("  {}  {}", about(action), action.object.origin)),
        );
        for change in action.changes.iter().take(MAX_FIELDS) {
            context.ui.line(format!("        {}", field(change)));
        }
        if action.changes.len() > MAX_FIELDS {
            context.ui.line(format!("        and {} more fields", action.changes.len() - MAX_FIELDS));
        }
    }
    for action in set.delete.iter().take(MAX_OBJECTS) {
        context.ui.line(
            Text::toned(Tone::Bad, format!("    - {}", action.key))
                .and(Tone::Dim, format!("  {}", action.why)),
        );
    }
    let hidden = set.apply.len().saturating_sub(MAX_OBJECTS) + set.delete.len().saturating_sub(MAX_OBJECTS);
    if hidden > 0 {
        context.ui.line(format!("    and {hidden} more; -o json has all"));
    }
}

fn sign(verb: &ApplyVerb) -> (char, Tone) {
    match verb {
        ApplyVerb::Create => ('+', Tone::Good),
        ApplyVerb::Update => ('~', Tone::Warn),
        ApplyVerb::Correct => ('!', Tone::Warn),
        ApplyVerb::HandOver { .. } | ApplyVerb::TakeOver { .. } => ('>', Tone::Warn),
    }
}

fn about(action: &ApplyAction) -> String {
    match &action.verb {
        ApplyVerb::HandOver { from } => format!("comes from workspace {from}"),
        ApplyVerb::TakeOver { from } => format!("taken over from {from}"),
        _ => action.why.clone(),
    }
}

/// A changed field in one line.
pub(super) fn field(change: &FieldChange) -> String {
    match (&change.from, &change.to) {
        (Some(from), Some(to)) => format!("{}: {} -> {}", change.path, short(from), short(to)),
        (None, Some(to)) => format!("{}: added, {}", change.path, short(to)),
        (Some(from), None) => format!("{}: removed, was {}", change.path, short(from)),
        (None, None) => change.path.clone(),
    }
}

fn short(text: &str) -> String {
    const MOST: usize = 80;
    let one_line: String = text.chars().map(|c| if c == '\n' { ' ' } else { c }).take(MOST).collect();
    if text.chars().count() > MOST { format!("{one_line}...") } else { one_line }
}

fn moves(context: &Context, ahead: &Ahead) {
    for (unit, plan) in &ahead.plan.units {
        if let Some(movement) = &plan.movement {
            let way = format!("move {unit}: {} -> {}", movement.from.join(", "), movement.to.join(", "));
            context.ui.line(
                Text::toned(Tone::Warn, way)
                    .and(Tone::Plain, format!("  {}: {}", movement.reason, movement.message)),
            );
        }
        let is_there = ahead.world.desired.workspaces.contains_key(&unit.workspace);
        if is_there && plan.placement.is_none() && plan.decision.is_none() {
            context.ui.note(format!(
                "note: no placement is about {unit}, so it goes nowhere: kubectl kcp place {unit} --exactly 1"
            ));
        }
    }
}

fn unplaced(context: &Context, ahead: &Ahead) {
    for (name, why) in ahead.unplaced() {
        context.ui.line(Text::toned(Tone::Warn, format!("unplaced {name}: ")).and(Tone::Plain, why));
    }
}

fn held(context: &Context, ahead: &Ahead) {
    for hold in &ahead.plan.holds {
        let id = if hold.id.is_empty() { String::new() } else { format!(" {}", hold.id) };
        context.ui.line(
            Text::toned(Tone::Warn, format!("held{id}: "))
                .and(Tone::Plain, format!("{}: {}: {}", hold.subject, hold.reason, hold.message)),
        );
        for action in hold.actions.iter().take(MAX_OBJECTS) {
            context.ui.line(format!("    {} {} on {}", action.verb, action.object, action.cluster));
        }
    }
}

fn wrong(context: &Context, ahead: &Ahead) {
    for error in &ahead.errors {
        context.ui.line(Text::toned(Tone::Bad, "error: ").and(Tone::Plain, error.clone()));
    }
    for problem in ahead.findings() {
        context.ui.line(Text::toned(Tone::Bad, "problem: ").and(Tone::Plain, described(problem)));
    }
}

/// A problem in one line, its place first.
pub(super) fn described(problem: &Problem) -> String {
    let place = problem.origin.as_ref().map(|origin| format!("{origin}: ")).unwrap_or_default();
    let cluster = problem.cluster.as_ref().map(|name| format!("cluster {name}: ")).unwrap_or_default();
    let subject = match (&problem.object, &problem.workspace) {
        (Some(object), _) => format!("{object}: "),
        (None, Some(workspace)) => format!("workspace {workspace}: "),
        (None, None) => String::new(),
    };
    format!("{place}{cluster}{subject}{}: {}", problem.reason, problem.message)
}

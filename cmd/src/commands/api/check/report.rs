//! The report of `api check` in each of its forms.

mod forms;
mod text;

use kcp_schema::{Effect, Impact, Level, Proof, Witness};
use serde_json::Value;

use super::{Item, Output, Report};
use crate::commands::Context;
use crate::error::CommandError;

pub(super) fn print(context: &Context, report: &Report, output: Output) -> Result<(), CommandError> {
    let text = match output {
        Output::Text => {
            text::print(context, report);
            return Ok(());
        }
        Output::Json => return context.ui.json(&forms::json(report)).map(drop),
        Output::Sarif => return context.ui.json(&forms::sarif(report)).map(drop),
        Output::Markdown => text::markdown(report),
        Output::Junit => forms::junit(report),
        Output::GithubActions => forms::github_actions(report),
    };
    context.ui.data(&text);
    Ok(())
}

/// Text and values are cut there: an object that breaks a limit may be as long as the limit.
const SHOWN: usize = 600;

/// A value on one line, cut if it is long.
fn brief(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}... ({} bytes)", text.len())
}

/// Where it is: `v1 spec.size`, `v1`, or nothing for the whole CRD.
fn place(item: &Item) -> String {
    let version = item.difference.version.as_deref().unwrap_or_default();
    let path = &item.difference.path;
    if path.0.is_empty() { version.to_owned() } else { format!("{version} {path}").trim().to_owned() }
}

/// What changed, in one line; nothing where the rule says it all.
fn change(item: &Item) -> Option<String> {
    let difference = &item.difference;
    let values = match (&difference.old, &difference.new) {
        (Some(old), Some(new)) => Some(format!("{} -> {}", brief(old), brief(new))),
        (Some(old), None) => Some(format!("was {}", brief(old))),
        (None, Some(new)) => Some(format!("now {}", brief(new))),
        (None, None) => None,
    };
    match (&difference.detail, values) {
        (Some(detail), Some(values)) => Some(format!("{detail}: {values}")),
        (detail, values) => values.or_else(|| detail.clone()),
    }
}

/// Whom it breaks, and what is not decided.
fn harm(report: &Report, item: &Item) -> String {
    let mut parts = Vec::new();
    let words = |wanted: fn(&Impact) -> bool| {
        let hit = report.directions.iter().filter(|direction| wanted(item.difference.impact(**direction)));
        hit.map(ToString::to_string).collect::<Vec<_>>().join(" and ")
    };
    let mut add = |verb: &str, whom: String| {
        if !whom.is_empty() {
            parts.push(format!("{verb} {whom}"));
        }
    };
    add("breaks", words(|impact| matches!(impact, Impact::Breaks(Proof::Rule | Proof::Witness(_)))));
    add(
        "seems to break (no object was found that shows it)",
        words(|impact| matches!(impact, Impact::Breaks(Proof::Unproven))),
    );
    add("means something else for", words(|impact| matches!(impact, Impact::Meaning(_))));
    add("may break", words(|impact| matches!(impact, Impact::Unknown(_))));
    let why = report.directions.iter().find_map(|direction| match item.difference.impact(*direction) {
        Impact::Unknown(why) => Some(why),
        _ => None,
    });
    let said = parts.join("; ");
    why.map_or_else(|| said.clone(), |why| format!("{said}: {why}"))
}

/// What becomes of the object that shows it.
fn effect(witness: &Witness) -> String {
    match &witness.effect {
        Effect::Refused(finding) => format!("refused: {finding}"),
        Effect::Dropped(path) => format!("dropped: {path}"),
        Effect::Changed => "stored as something else".into(),
    }
}

/// `2 errors, 1 warning in 3 CRDs`.
fn summary(report: &Report) -> String {
    let some = |count: usize, what: &str| {
        (count > 0).then(|| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") })
    };
    let parts = [
        some(report.count(Level::Error), "error"),
        some(report.count(Level::Warning), "warning"),
        some(report.count(Level::Info), "note"),
        (report.waived() > 0).then(|| format!("{} waived", report.waived())),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let found = if parts.is_empty() { "nothing breaks".into() } else { parts.join(", ") };
    let crds = if report.compared == 1 { "1 CRD".into() } else { format!("{} CRDs", report.compared) };
    format!("{found} in {crds}")
}

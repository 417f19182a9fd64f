//! `kubectl kcp api diff`: everything that differs between two states of CRDs, breaking or not.

use clap::{Args, ValueEnum};
use kcp_schema::{CompareOptions, Difference, Direction, Impact, Level, Pool, compare_crds};
use serde_json::{Value, json};

use super::{check, source};
use crate::commands::Context;
use crate::error::{Exit, Outcome};
use crate::ui::{Table, Text, Tone};

/// Show all that differs between two states of CRDs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp api diff old.yaml new.yaml
  kubectl kcp api diff git:v1.2.0:config/crd config/crd -o json

Exit codes:
  0  nothing differs
  1  something differs
  2  the words of the command, or what is read, are wrong")]
pub(crate) struct DiffArgs {
    /// The state before: FILE, DIR or git:REF:PATH
    #[arg(value_name = "OLD")]
    old: String,
    /// The state after: FILE, DIR or git:REF:PATH
    #[arg(value_name = "NEW")]
    new: String,
    /// Also show changed descriptions
    #[arg(long)]
    descriptions: bool,
    /// How it is shown
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs
    Json,
}

pub(crate) fn run(context: &Context, args: &DiffArgs) -> Outcome {
    let mut pool = Pool::new();
    let repo = context.repo.as_deref();
    let old = source::read(&args.old, repo, args.descriptions, &mut pool)?;
    let new = source::read(&args.new, repo, args.descriptions, &mut pool)?;
    // What breaks is the other command's matter: no objects are looked for.
    let options = CompareOptions { witnesses: 0, ..CompareOptions::default() };
    let mut all: Vec<(String, Difference)> = Vec::new();
    let mut names: Vec<(String, &str)> = Vec::new();
    for (before, after) in check::pairs(&old, &new) {
        let name = before.crd.name();
        match after {
            Some(after) => {
                let found = compare_crds(&before.crd, &after.crd, &options).differences;
                all.extend(found.into_iter().map(|difference| (name.clone(), difference)));
            }
            None => names.push((name, "removed")),
        }
    }
    if old.len() > 1 || new.len() > 1 {
        let known = |name: &str| old.iter().any(|it| it.crd.name() == name);
        names.extend(
            new.iter().map(|it| it.crd.name()).filter(|name| !known(name)).map(|name| (name, "added")),
        );
    }
    let exit = if all.is_empty() && names.is_empty() { Exit::Yes } else { Exit::No };
    match args.output {
        Output::Json => {
            let differences: Vec<Value> = all.iter().map(|(crd, it)| in_json(crd, it)).collect();
            let crds: Vec<Value> =
                names.iter().map(|(name, what)| json!({"crd": name, "change": what})).collect();
            context.ui.json(&json!({"crds": crds, "differences": differences}))?;
        }
        Output::Text => text(context, &names, &all),
    }
    Ok(exit)
}

fn in_json(crd: &str, difference: &Difference) -> Value {
    json!({"crd": crd, "version": difference.version.as_deref(), "path": difference.path.to_string(),
        "rule": difference.rule.id, "old": difference.old, "new": difference.new, "detail": difference.detail,
        "mayBreak": touched(difference)})
}

/// Whom it may break.
fn touched(difference: &Difference) -> Vec<Direction> {
    let breaks = |direction: &Direction| !matches!(difference.impact(*direction), Impact::None);
    Direction::ALL.into_iter().filter(breaks).collect()
}

fn text(context: &Context, names: &[(String, &str)], all: &[(String, Difference)]) {
    for (name, what) in names {
        context.ui.line(format!("{name}: {what}"));
    }
    if all.is_empty() {
        if names.is_empty() {
            context.ui.note("nothing differs");
        }
        return;
    }
    let mut table = Table::new(["CRD", "VERSION", "PATH", "CHANGE", "OLD", "NEW", "MAY BREAK"]);
    let brief = |value: &Option<Value>| {
        const SHOWN: usize = 60;
        let text = value.as_ref().map(ToString::to_string).unwrap_or_default();
        let cut: String = text.chars().take(SHOWN).collect();
        if cut.len() < text.len() { format!("{cut}...") } else { text }
    };
    for (name, difference) in all {
        let whom: Vec<String> = touched(difference).iter().map(ToString::to_string).collect();
        let tone =
            if whom.is_empty() || difference.rule.level <= Level::Info { Tone::Plain } else { Tone::Warn };
        table.row(vec![
            name.as_str().into(),
            difference.version.as_deref().unwrap_or("").into(),
            difference.path.to_string().into(),
            Text::toned(tone, difference.rule.id),
            brief(&difference.old).into(),
            brief(&difference.new).into(),
            whom.join(", ").into(),
        ]);
    }
    context.ui.table(&table);
}

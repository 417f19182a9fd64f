//! `kubectl kcp api lcd`: what several clusters, or several releases of a CRD, have in common, and what is lost to whom.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use kcp_schema::{Crd, CrdLcd, Denominator, Lcd, Loss, NotOneApi, Pool};
use serde_json::{Value, json};

use super::source;
use crate::commands::Context;
use crate::error::{Exit, Outcome};
use crate::ui::{Table, Text, Tone};

/// Show what all of several states of CRDs accept and keep
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp api lcd eu-1.yaml eu-2.yaml us-1.yaml
  kubectl kcp api lcd git:v1.2.0:config/crd config/crd -o crd > common.yaml

Exit codes:
  0  each CRD has a common schema in some version
  1  some CRD has none, or it cannot be said
  2  the words of the command, or what is read, are wrong")]
pub(crate) struct LcdArgs {
    /// The states: FILE, DIR or git:REF:PATH
    #[arg(value_name = "STATE", required = true, num_args = 1..)]
    states: Vec<String>,
    /// How it is shown
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people: what is lost, and to whom
    Text,
    /// For programs
    Json,
    /// The common CRDs, as YAML
    Crd,
}

/// One CRD and the states that have it.
struct Common {
    name: String,
    /// Positions of the states, as the members are numbered.
    states: Vec<usize>,
    lcd: Result<CrdLcd, NotOneApi>,
}

impl Common {
    fn crd(&self) -> Option<&Crd> {
        self.lcd.as_ref().ok()?.crd.as_ref()
    }
}

pub(crate) fn run(context: &Context, args: &LcdArgs) -> Outcome {
    let mut pool = Pool::new();
    let mut all: BTreeMap<String, Vec<(usize, Crd)>> = BTreeMap::new();
    for (index, state) in args.states.iter().enumerate() {
        for found in source::read(state, context.repo.as_deref(), false, &mut pool)? {
            all.entry(found.crd.name()).or_default().push((index, found.crd));
        }
    }
    let all: Vec<Common> = all
        .into_iter()
        .map(|(name, members)| {
            let crds: Vec<&Crd> = members.iter().map(|(_, crd)| crd).collect();
            let states = members.iter().map(|(index, _)| *index).collect();
            Common { name, states, lcd: CrdLcd::of(&crds) }
        })
        .collect();
    match args.output {
        Output::Text => all.iter().for_each(|it| text(context, args, it)),
        Output::Json => {
            let values: Vec<Value> = all.iter().map(|it| in_json(args, it)).collect();
            context.ui.json(&values)?;
        }
        Output::Crd => {
            let documents: Vec<String> =
                all.iter().filter_map(Common::crd).map(|crd| yaml_span::emit(&crd.to_json())).collect();
            context.ui.data(&documents.join("---\n"));
            for it in all.iter().filter(|it| it.crd().is_none()) {
                context.ui.note(format!("{}: has no common schema; see -o text", it.name));
            }
        }
    }
    Ok(if all.iter().all(|it| it.crd().is_some()) { Exit::Yes } else { Exit::No })
}

/// The states behind positions among the members of a CRD.
fn names(args: &LcdArgs, it: &Common, members: &[usize]) -> Vec<String> {
    let state = |member: &usize| it.states.get(*member).and_then(|index| args.states.get(*index)).cloned();
    members.iter().filter_map(state).collect()
}

fn text(context: &Context, args: &LcdArgs, it: &Common) {
    let ui = &context.ui;
    let lacking: Vec<&str> = (0..args.states.len())
        .filter(|index| !it.states.contains(index))
        .filter_map(|index| args.states.get(index).map(String::as_str))
        .collect();
    if !lacking.is_empty() {
        ui.line(format!("{}: not in {}", it.name, lacking.join(", ")));
    }
    let lcd = match &it.lcd {
        Ok(lcd) => lcd,
        Err(error) => return ui.line(Text::toned(Tone::Bad, format!("{}: {error}", it.name))),
    };
    for lost in &lcd.lost {
        let to = names(args, it, &lost.to).join(", ");
        ui.line(format!("{} {}: {} only in {to}", it.name, lost.version, lost.what));
    }
    if lcd.versions.is_empty() {
        ui.line(Text::toned(Tone::Bad, format!("{}: no version is served by all", it.name)));
    }
    for (version, lcd) in &lcd.versions {
        let head = format!("{} {version}: ", it.name);
        match &lcd.outcome {
            Denominator::Common(common) if common.losses.is_empty() => {
                ui.line(Text::toned(Tone::Plain, head).and(Tone::Good, "the same everywhere"));
            }
            Denominator::Common(common) => {
                let exact = if common.exact() { "exact" } else { "may be smaller than it could be" };
                ui.line(Text::toned(Tone::Plain, head).and(Tone::Good, format!("common schema, {exact}")));
                ui.table(&losses(args, it, lcd, &common.losses));
            }
            Denominator::Empty(empty) => {
                let between = names(args, it, &lcd.given(&empty.between)).join(", ");
                let why = format!("no object fits all: {empty} ({between})");
                ui.line(Text::toned(Tone::Plain, head).and(Tone::Bad, why));
            }
            Denominator::Unknown(unknown) => {
                ui.line(Text::toned(Tone::Plain, head).and(Tone::Warn, format!("cannot be said: {unknown}")));
            }
        }
    }
}

fn losses(args: &LcdArgs, it: &Common, lcd: &Lcd, losses: &[Loss]) -> Table {
    const SHOWN: usize = 60;
    let mut table = Table::new(["PATH", "LOST", "TO", "BECAUSE OF", "HAD", "NOW"]);
    let brief = |value: &Value| {
        let text = if value.is_null() { String::new() } else { value.to_string() };
        let cut: String = text.chars().take(SHOWN).collect();
        if cut.len() < text.len() { format!("{cut}...") } else { text }
    };
    for loss in losses {
        let tone = if loss.conservative { Tone::Warn } else { Tone::Plain };
        table.row(vec![
            loss.path.to_string().into(),
            Text::toned(tone, loss.lost.as_str()),
            names(args, it, &lcd.given(&loss.to)).join(", ").into(),
            names(args, it, &lcd.given(&loss.because_of)).join(", ").into(),
            brief(&loss.had).into(),
            brief(&loss.now).into(),
        ]);
    }
    table
}

fn in_json(args: &LcdArgs, it: &Common) -> Value {
    let states = names(args, it, &(0..it.states.len()).collect::<Vec<_>>());
    let lcd = match &it.lcd {
        Ok(lcd) => lcd,
        Err(error) => return json!({"crd": it.name, "states": states, "error": error.to_string()}),
    };
    let versions: Vec<Value> = lcd
        .versions
        .iter()
        .map(|(version, lcd)| {
            let given = |members: &[usize]| names(args, it, &lcd.given(members));
            match &lcd.outcome {
                Denominator::Common(common) => {
                    let losses: Vec<Value> = common
                        .losses
                        .iter()
                        .map(|loss| {
                            json!({"path": loss.path.to_string(), "lost": loss.lost.as_str(), "to": given(&loss.to),
                                "becauseOf": given(&loss.because_of), "had": loss.had, "now": loss.now,
                                "conservative": loss.conservative})
                        })
                        .collect();
                    json!({"version": &**version, "result": "common", "exact": common.exact(),
                        "schema": common.schema.to_json(), "losses": losses})
                }
                Denominator::Empty(empty) => json!({"version": &**version, "result": "empty",
                    "path": empty.path.to_string(), "rule": empty.why.as_str(), "between": given(&empty.between)}),
                Denominator::Unknown(unknown) => json!({"version": &**version, "result": "unknown",
                    "path": unknown.path.to_string(), "why": unknown.to_string()}),
            }
        })
        .collect();
    let lost: Vec<Value> = lcd
        .lost
        .iter()
        .map(|lost| {
            json!({"version": &*lost.version, "what": lost.what.to_string(), "onlyIn": names(args, it, &lost.to)})
        })
        .collect();
    json!({"crd": it.name, "states": states, "versions": versions, "lost": lost})
}

//! For people: on a terminal, and in a comment.

use std::fmt::Write as _;

use kcp_schema::Level;

use super::{brief, change, effect, harm, place, summary};
use crate::commands::Context;
use crate::commands::api::check::config::Waived;
use crate::commands::api::check::{Item, Report};
use crate::ui::{Text, Tone};

/// Findings printed in full; the rest is counted.
const FULL: usize = 50;

pub(super) fn print(context: &Context, report: &Report) {
    for (index, item) in report.items.iter().enumerate() {
        let tone = match item.level {
            _ if !item.stands() => Tone::Dim,
            Level::Error => Tone::Bad,
            Level::Warning => Tone::Warn,
            Level::Info | Level::Off => Tone::Plain,
        };
        let head = Text::toned(tone, label(item)).and(Tone::Bold, format!(" {}", item.difference.rule.id));
        context
            .ui
            .line(head.and(Tone::Plain, format!(" {} {}", item.crd, place(item)).trim_end().to_owned()));
        if index >= FULL || !item.stands() {
            if let Some(Waived::Yes(reason)) = &item.waived {
                context.ui.line(format!("  {reason}"));
            }
            continue;
        }
        let line = |text: String| context.ui.line(Text::toned(Tone::Plain, format!("  {text}")));
        if let Some(change) = change(item) {
            line(change);
        }
        line(harm(report, item));
        if let Some(witness) = item.difference.witness() {
            line(format!("for example {}", brief(&witness.object)));
            line(format!("  {}", effect(witness)));
        }
        if let Some(Waived::Expired(day)) = &item.waived {
            line(format!("its waiver ended on {day}"));
        }
        context.ui.line(Text::toned(Tone::Dim, format!("  {}:{}", item.file, item.line)));
    }
    context.ui.line(summary(report));
}

fn label(item: &Item) -> String {
    if item.stands() { item.level.to_string() } else { "waived".into() }
}

pub(super) fn markdown(report: &Report) -> String {
    let mut out = format!("### API check: {}\n", summary(report));
    if report.items.is_empty() {
        return out;
    }
    out.push_str("\n| | rule | where | what |\n|---|---|---|---|\n");
    for item in report.items.iter().take(FULL) {
        let what = [change(item), Some(harm(report, item)).filter(|it| !it.is_empty())];
        let what = what.into_iter().flatten().map(|it| cell(&it)).collect::<Vec<_>>().join("<br>");
        let (rule, level) = (item.difference.rule.id, label(item));
        // Writing to text cannot fail.
        let _ = writeln!(out, "| {level} | {rule} | {} {} | {what} |", cell(&item.crd), cell(&place(item)));
    }
    if report.items.len() > FULL {
        let _ = writeln!(out, "\nand {} more", report.items.len() - FULL);
    }
    let shown = report
        .items
        .iter()
        .filter(|item| item.stands())
        .filter_map(|item| Some((item, item.difference.witness()?)));
    for (item, witness) in shown.take(10) {
        let _ = write!(
            out,
            "\n<details><summary>{} at {}: an object that shows it</summary>\n\n```json\n{}\n```\n\n{}\n</details>\n",
            item.difference.rule.id,
            cell(&place(item)),
            brief(&witness.object).replace("```", "` ` `"),
            cell(&effect(witness))
        );
    }
    out
}

/// Text that neither ends a cell nor is read as HTML.
fn cell(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|").replace(['\n', '\r'], " ")
}

//! A plan for a pull request: a table of what happens where, then the details folded away. Whatever comes from the
//! repo is shown as code, so that it cannot be a link, a mention or HTML.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kcp_core::plan::ApplyVerb;

use super::data::{Counts, sets, total};
use super::text::{described, field};
use crate::ahead::{Ahead, brief};

/// Lines of details: hosts of pull requests refuse very long texts.
const MAX_LINES: usize = 500;

/// The plan as markdown.
pub(super) fn markdown(ahead: &Ahead, chosen: Option<&BTreeSet<String>>) -> String {
    let total = total(ahead, chosen);
    let mut out = format!("### Plan: {}\n\n", total.words());
    if let Some(commit) = &ahead.recorded.commit {
        let in_force = &ahead.recorded.record.fleet.source.commit;
        let _ = writeln!(
            out,
            "For the {}, against the record {} (commit {} in force).\n",
            ahead.source,
            brief(commit),
            brief(in_force)
        );
    }
    for note in &ahead.notes {
        let _ = writeln!(out, "> {}\n", code(note));
    }
    if let Some(judged_by) = &ahead.plan.judged_by {
        let _ = writeln!(out, "> {}\n", code(&judged_by.to_string()));
    }
    table(&mut out, ahead, chosen);
    for (unit, plan) in &ahead.plan.units {
        if let Some(movement) = &plan.movement {
            let way = format!("{unit}: {} -> {}", movement.from.join(", "), movement.to.join(", "));
            let _ = writeln!(out, "- **moves** {} {}", code(&way), code(&movement.message));
        }
    }
    for (name, why) in ahead.unplaced() {
        let _ = writeln!(out, "- **unplaced** {}", code(&format!("{name}: {why}")));
    }
    for hold in &ahead.plan.holds {
        let _ =
            writeln!(out, "- **held** {}", code(&format!("{} {}: {}", hold.id, hold.subject, hold.message)));
    }
    for error in &ahead.errors {
        let _ = writeln!(out, "- **error** {}", code(error));
    }
    for problem in ahead.findings() {
        let _ = writeln!(out, "- **problem** {}", code(&described(problem)));
    }
    details(&mut out, ahead, chosen);
    out
}

fn table(out: &mut String, ahead: &Ahead, chosen: Option<&BTreeSet<String>>) {
    let mut rows = String::new();
    for (cluster, plan) in sets(ahead, chosen) {
        for (workspace, set) in
            plan.sets.iter().filter(|(_, set)| !set.apply.is_empty() || !set.delete.is_empty())
        {
            let counts = Counts::of(set);
            let _ = writeln!(
                rows,
                "| {} | {} | {} | {} | {} | {} |",
                code(cluster),
                code(workspace),
                counts.create,
                counts.update + counts.correct + counts.take,
                counts.delete,
                counts.unchanged
            );
        }
    }
    if !rows.is_empty() {
        let _ = write!(
            out,
            "| cluster | workspace | create | change | delete | unchanged |\n|---|---|---|---|---|---|\n{rows}\n"
        );
    }
}

fn details(out: &mut String, ahead: &Ahead, chosen: Option<&BTreeSet<String>>) {
    let mut lines = Vec::new();
    for (cluster, plan) in sets(ahead, chosen) {
        for (workspace, set) in &plan.sets {
            for action in &set.apply {
                let sign = match action.verb {
                    ApplyVerb::Create => '+',
                    ApplyVerb::Update => '~',
                    ApplyVerb::Correct => '!',
                    ApplyVerb::HandOver { .. } | ApplyVerb::TakeOver { .. } => '>',
                };
                lines.push(format!(
                    "{sign} {cluster} {workspace}: {}  {}",
                    action.object.key, action.object.origin
                ));
                lines.extend(action.changes.iter().map(|change| format!("      {}", field(change))));
            }
            lines.extend(
                set.delete.iter().map(|it| format!("- {cluster} {workspace}: {}  {}", it.key, it.why)),
            );
        }
    }
    if lines.is_empty() {
        return;
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    if more > 0 {
        lines.push(format!("and {more} more lines"));
    }
    // An indented block ends nowhere but at a line that is not indented.
    let body: String = lines.iter().map(|line| format!("    {}\n", one_line(line))).collect();
    let _ = write!(out, "\n<details><summary>Objects</summary>\n\n{body}\n</details>\n");
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A span of code that nothing inside can end.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text).replace('|', "\\|");
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("{fence}{text}{fence}") } else { format!("{fence} {text} {fence}") }
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn nothing_from_the_repo_leaves_its_span() {
        assert_eq!(code("a`b|c\nd"), "`` a`b\\|c d ``");
        assert_eq!(code("<img>"), "`<img>`");
    }
}

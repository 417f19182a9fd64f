//! The whole fleet on one page.

use kcp_api::{ClusterStatus, Condition, ConditionStatus, ConditionType, Timestamp, WorkspaceStatus};
use kcp_core::plan::Hold;

use super::is_ready;
use crate::ahead::{brief, condition};
use crate::commands::Context;
use crate::recorded::Recorded;
use crate::ui::{Table, Text, Tone};
use crate::when::{age, now};

pub(super) fn show(context: &Context, recorded: &Recorded, wide: bool) {
    let (ui, record, now) = (&context.ui, &recorded.record, now());
    let source = &record.fleet.source;
    let writer = recorded.writer.as_ref().map_or_else(String::new, |writer| {
        let word = if writer.released { "was run by" } else { "run by" };
        format!(", {word} {}", writer.id)
    });
    ui.line(Text::toned(Tone::Bold, format!("Fleet {}", record.fleet.name)).and(
        Tone::Plain,
        format!(": commit {} of {} in force{writer}", brief(&source.commit), source.branch),
    ));
    if let Some(trouble) = &source.trouble {
        let since = age(trouble.since, now);
        ui.line(
            Text::toned(Tone::Bad, format!("{} for {since}: ", trouble.reason))
                .and(Tone::Plain, trouble.message.clone()),
        );
    }
    if let Some(judged_by) = &record.fleet.judged_by {
        ui.line(Text::toned(Tone::Warn, "Safety: ").and(Tone::Plain, judged_by.to_string()));
    }
    for hold in &record.fleet.holds {
        show_hold(context, hold);
    }
    for problem in &record.fleet.problems {
        ui.line(
            Text::toned(Tone::Bad, format!("{}: ", problem.reason)).and(Tone::Plain, problem.message.clone()),
        );
    }
    ui.line("");
    clusters(context, recorded, now, wide);
    ui.line("");
    workspaces(context, recorded, now, wide);
}

/// What is held, and how to go on.
pub(super) fn show_hold(context: &Context, hold: &Hold) {
    let text = format!("{}: {}", hold.subject, hold.message);
    context.ui.line(Text::toned(Tone::Warn, format!("Held ({}): ", hold.reason)).and(Tone::Plain, text));
    // Most holds say so themselves.
    if !hold.id.is_empty() && !hold.message.contains("kubectl kcp approve") {
        context.ui.line(format!("    let it through: kubectl kcp approve {}", hold.id));
    }
}

fn clusters(context: &Context, recorded: &Recorded, now: i64, wide: bool) {
    let mut headings = vec!["CLUSTER", "STATE", "SINCE", "VERSION", "OBJECTS", "MESSAGE"];
    if wide {
        headings.push("UID");
    }
    let mut table = Table::new(headings);
    let mut clusters: Vec<(&String, &ClusterStatus)> =
        recorded.record.clusters.iter().map(|(name, it)| (name, &it.status)).collect();
    clusters.sort_by_key(|(name, status)| (status.reachable && status.fresh, *name));
    for (name, status) in clusters {
        let (state, since) = match (status.reachable, status.fresh) {
            (true, true) => (Text::toned(Tone::Good, "Ready"), &status.fresh_since),
            (true, false) => (Text::toned(Tone::Warn, "Stale"), &status.fresh_since),
            (false, _) => (Text::toned(Tone::Bad, "Unreachable"), &status.reachable_since),
        };
        let ready = condition(&status.conditions, ConditionType::Ready);
        let message =
            ready.filter(|it| it.status != ConditionStatus::True).map_or("", |it| it.message.as_str());
        let retained =
            if status.retained > 0 { format!(" ({} retained)", status.retained) } else { String::new() };
        let mut row = vec![
            name.as_str().into(),
            state,
            since_text(since.as_ref(), now),
            status.version.as_deref().unwrap_or("-").into(),
            format!("{}{retained}", status.objects).into(),
            message.into(),
        ];
        if wide {
            row.push(status.uid.as_deref().unwrap_or("-").into());
        }
        table.row(row);
    }
    if table.is_empty() { context.ui.line("no clusters") } else { context.ui.table(&table) }
}

fn workspaces(context: &Context, recorded: &Recorded, now: i64, wide: bool) {
    let mut headings = vec!["WORKSPACE", "READY", "SYNCED", "CLUSTERS", "SINCE", "MESSAGE"];
    if wide {
        headings.extend(["PLACEMENT", "COMMIT", "OBJECTS"]);
    }
    let mut table = Table::new(headings);
    let mut workspaces: Vec<(&String, &WorkspaceStatus)> =
        recorded.record.workspaces.iter().map(|(name, it)| (name, &it.status)).collect();
    workspaces.sort_by_key(|(name, status)| (is_ready(status) && status.holds.is_empty(), *name));
    for (name, status) in workspaces {
        let ready = condition(&status.conditions, ConditionType::Ready);
        let synced = condition(&status.conditions, ConditionType::Synced);
        let names: Vec<&str> = status.clusters.iter().map(|it| it.name.as_str()).collect();
        let mut row = vec![
            name.as_str().into(),
            word(ready),
            word(synced),
            if names.is_empty() { "-".into() } else { names.join(",").into() },
            since_text(ready.map(|it| &it.last_transition_time), now),
            message(status).into(),
        ];
        if wide {
            let objects: u64 = status.clusters.iter().map(|it| it.objects).sum();
            let current: u64 = status.clusters.iter().map(|it| it.current).sum();
            row.extend([
                status.placement.as_deref().unwrap_or("-").into(),
                status.commit.as_deref().map_or("-", brief).into(),
                format!("{current}/{objects}").into(),
            ]);
        }
        table.row(row);
    }
    if table.is_empty() { context.ui.line("no workspaces") } else { context.ui.table(&table) }
}

/// What is most worth knowing of a workspace: why it waits, else why it is not ready.
fn message(status: &WorkspaceStatus) -> String {
    let bad = |which: ConditionType, when: ConditionStatus| {
        condition(&status.conditions, which).filter(|it| it.status == when)
    };
    let held = bad(ConditionType::Held, ConditionStatus::True);
    let stalled = bad(ConditionType::Stalled, ConditionStatus::True);
    let unready =
        condition(&status.conditions, ConditionType::Ready).filter(|it| it.status != ConditionStatus::True);
    held.or(stalled).or(unready).map_or_else(String::new, |it| format!("{}: {}", it.reason, it.message))
}

/// A condition in one word.
pub(super) fn word(condition: Option<&Condition>) -> Text {
    match condition.map(|it| it.status) {
        Some(ConditionStatus::True) => Text::toned(Tone::Good, "True"),
        Some(ConditionStatus::False) => Text::toned(Tone::Bad, "False"),
        Some(ConditionStatus::Unknown) | None => Text::toned(Tone::Warn, "Unknown"),
    }
}

fn since_text(since: Option<&Timestamp>, now: i64) -> Text {
    since.map_or_else(|| "-".into(), |it| age(it.epoch_seconds(), now).into())
}

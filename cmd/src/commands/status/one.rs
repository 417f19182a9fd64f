//! One workspace: its conditions, how it is on each cluster, and the objects that are not as they should be.

use kcp_api::ConditionType;

use super::overview::{show_hold, word};
use crate::ahead::{brief, condition};
use crate::commands::Context;
use crate::recorded::Recorded;
use crate::ui::{Table, Text, Tone};
use crate::when::{age, now};

/// Objects that are listed.
const MAX_OBJECTS: usize = 100;

pub(super) fn show(context: &Context, recorded: &Recorded, name: &str) {
    let Some(record) = recorded.record.workspaces.get(name) else { return };
    let (ui, status, now) = (&context.ui, &record.status, now());
    let placement = status.placement.as_deref().map_or_else(String::new, |it| format!(", placement {it}"));
    let commit = status.commit.as_deref().map_or_else(String::new, |it| format!(", commit {}", brief(it)));
    ui.line(
        Text::toned(Tone::Bold, format!("Workspace {name}")).and(Tone::Plain, format!("{placement}{commit}")),
    );
    for problem in &record.problems {
        let cluster = problem.cluster.as_ref().map_or_else(String::new, |it| format!("cluster {it}: "));
        let object = problem.object.as_ref().map_or_else(String::new, |it| format!("{it}: "));
        let place = problem.origin.as_ref().map_or_else(String::new, |it| format!("{it}: "));
        ui.line(
            Text::toned(Tone::Bad, format!("{}: ", problem.reason))
                .and(Tone::Plain, format!("{place}{cluster}{object}{}", problem.message)),
        );
    }
    let held = recorded.record.fleet.holds.iter().filter(|hold| hold.subject == format!("workspace {name}"));
    held.for_each(|hold| show_hold(context, hold));
    if let Some(movement) = &record.movement {
        let way = format!("moves {} -> {}: ", movement.from.join(", "), movement.to.join(", "));
        ui.line(Text::toned(Tone::Warn, way).and(Tone::Plain, movement.message.clone()));
    }
    ui.line("");
    let mut table = Table::new(["CONDITION", "STATUS", "REASON", "SINCE", "MESSAGE"]);
    for it in &status.conditions {
        table.row(vec![
            it.condition_type.as_str().into(),
            it.status.as_str().into(),
            it.reason.to_string().into(),
            age(it.last_transition_time.epoch_seconds(), now).into(),
            it.message.as_str().into(),
        ]);
    }
    ui.table(&table);
    ui.line("");
    let mut table = Table::new(["CLUSTER", "READY", "SYNCED", "OBJECTS", "COMMIT", "MESSAGE"]);
    for it in &status.clusters {
        let ready = condition(&it.conditions, ConditionType::Ready);
        table.row(vec![
            it.name.as_str().into(),
            word(ready),
            word(condition(&it.conditions, ConditionType::Synced)),
            format!("{}/{}", it.current, it.objects).into(),
            it.commit.as_deref().map_or("-", brief).into(),
            ready.map_or("", |it| it.message.as_str()).into(),
        ]);
    }
    if table.is_empty() {
        ui.line("on no cluster");
        ui.hint(format!("ask why: kubectl kcp why {name}"));
    } else {
        ui.table(&table);
    }
    let bad: Vec<_> =
        status.clusters.iter().flat_map(|it| it.not_current.iter().map(move |object| (it, object))).collect();
    if bad.is_empty() {
        return;
    }
    ui.line("");
    let mut table = Table::new(["CLUSTER", "OBJECT", "STATUS", "SINCE", "MESSAGE"]);
    for (cluster, object) in bad.iter().take(MAX_OBJECTS) {
        let namespace =
            if object.namespace.is_empty() { String::new() } else { format!("{}/", object.namespace) };
        table.row(vec![
            cluster.name.as_str().into(),
            format!("{} {namespace}{}", object.kind, object.name).into(),
            object.status.as_str().into(),
            object.since.as_ref().map_or_else(|| "-".into(), |it| age(it.epoch_seconds(), now)).into(),
            object.message.as_str().into(),
        ]);
    }
    ui.table(&table);
    if bad.len() > MAX_OBJECTS {
        ui.line(format!("and {} more; -o json has all", bad.len() - MAX_OBJECTS));
    }
}

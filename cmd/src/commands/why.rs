//! `kubectl kcp why`: for a workspace or an object, every cluster with the rule that decided, losers too.

use clap::Args;
use kcp_core::explain::{self, Explanation, State, Subject};
use kcp_core::plan::Role;
use kcp_core::planner::Scope;
use serde_json::json;

use super::Context;
use crate::ahead::{self, Ahead, Request, brief};
use crate::args::DataOutput;
use crate::error::{CommandError, Exit, Outcome};
use crate::member::ConnectArgs;
use crate::members::Members;
use crate::recorded::Recorded;
use crate::repo::FleetRepo;
use crate::ui::{Table, Text, Tone};

/// Say why something is, or is not, on each cluster
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp why web
  kubectl kcp why deployment/web -n web
  kubectl kcp why web -C us-1 --live")]
pub(crate) struct WhyArgs {
    /// Name of a workspace, or KIND/NAME of an object
    #[arg(value_name = "WORKSPACE|KIND/NAME")]
    what: String,
    /// Namespace of the object; default: any
    #[arg(short, long)]
    namespace: Option<String>,
    /// Ask about this commit or branch; default: the commit in force, or else the working tree
    #[arg(long, value_name = "REV")]
    commit: Option<String>,
    /// Look at the clusters as they are now, by your kubeconfig
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    members: Members,
    #[command(flatten)]
    connect: ConnectArgs,
    /// How it is shown; default: a table
    #[arg(short, long, value_enum)]
    output: Option<DataOutput>,
}

pub(crate) async fn run(context: &Context, args: WhyArgs) -> Outcome {
    let fleet = context.fleet()?;
    let request = Request {
        desired: match args.commit {
            Some(rev) => Some(rev),
            None => in_force(&fleet)?,
        },
        live: args.live.then(|| args.connect.options()),
        scope: Scope::Daemon,
        ..Request::default()
    };
    let ahead = ahead::look(&fleet, &request).await?;
    let chosen = args.members.choose(&ahead.world.desired.config.clusters)?;
    let mut answers = Vec::new();
    for subject in subjects(&ahead, &args.what, args.namespace.as_deref())? {
        answers.extend(explain::why(&ahead.world, &ahead.plan, &subject));
    }
    for answer in &mut answers {
        answer.rows.retain(|row| chosen.as_ref().is_none_or(|chosen| chosen.contains(&row.cluster)));
    }
    match args.output {
        Some(DataOutput::Json) => {
            return context.ui.json(&json!({ "source": ahead.source, "answers": answers }));
        }
        Some(DataOutput::Yaml) => {
            return context.ui.yaml(&json!({ "source": ahead.source, "answers": answers }));
        }
        None => {}
    }
    for note in &ahead.notes {
        context.ui.note(format!("note: {note}"));
    }
    for error in &ahead.errors {
        context.ui.line(Text::toned(Tone::Bad, "error: ").and(Tone::Plain, error.clone()));
    }
    for answer in &answers {
        show(context, &ahead, answer);
    }
    Ok(Exit::Yes)
}

/// The commit that the reconciler works by, if this clone has it.
fn in_force(fleet: &FleetRepo) -> Result<Option<String>, CommandError> {
    // A repo whose files are in error now can still be asked about what is in force.
    let Ok(config) = fleet.config() else { return Ok(None) };
    let spec = &config.fleet.value.spec;
    let recorded = Recorded::read(&fleet.repo, &spec.status, Some(&spec.id), None)?;
    let commit = recorded.record.fleet.source.commit;
    Ok(Some(commit).filter(|it| !it.is_empty() && fleet.repo.resolve(it).is_ok()))
}

fn subjects(ahead: &Ahead, what: &str, namespace: Option<&str>) -> Result<Vec<Subject>, CommandError> {
    let Some((kind, name)) = what.split_once('/') else {
        let units = ahead.plan.units.keys().map(|unit| unit.workspace.as_str());
        let known: Vec<&str> =
            units.chain(ahead.world.desired.workspaces.keys().map(String::as_str)).collect();
        return if known.contains(&what) {
            Ok(vec![Subject::Workspace(what.to_owned())])
        } else {
            Err(CommandError::unknown("workspace", what, known)
                .hint("an object is named as KIND/NAME, as in deployment/web"))
        };
    };
    let found = explain::find(&ahead.world, &ahead.plan, kind, namespace, name);
    if found.is_empty() {
        let place = namespace.map_or_else(String::new, |it| format!(" in namespace {it}"));
        return Err(CommandError::failure(format!(
            "no workspace has {what}{place}, and no cluster of the fleet has it from one"
        ))
        .hint(format!("looked at: {}", ahead.source)));
    }
    Ok(found.into_iter().map(Subject::Object).collect())
}

fn show(context: &Context, ahead: &Ahead, answer: &Explanation) {
    let ui = &context.ui;
    let subject = match &answer.object {
        Some(object) => format!("{object} of workspace {}", answer.workspace),
        None => format!("Workspace {}", answer.workspace),
    };
    let placement =
        answer.placement.as_ref().map_or_else(|| ", no placement".into(), |it| format!(", placement {it}"));
    let origin = answer.origin.as_ref().map_or_else(String::new, |it| format!(", {it}"));
    ui.line(
        Text::toned(Tone::Bold, subject)
            .and(Tone::Plain, format!("{placement}{origin} ({})", brief(&ahead.source))),
    );
    for line in answer.unplaced.iter().chain(&answer.movement).chain(&answer.problems) {
        ui.line(line.as_str());
    }
    for hold in &answer.holds {
        ui.line(
            Text::toned(Tone::Warn, format!("held ({}): ", hold.reason))
                .and(Tone::Plain, hold.message.clone()),
        );
    }
    let mut table = Table::new(["CLUSTER", "ROLE", "REASON", "WHY", "STATE", "DETAIL"]);
    let mut rows: Vec<_> = answer.rows.iter().collect();
    rows.sort_by_key(|row| (row.role, &row.cluster));
    for row in rows {
        let role = match row.role {
            Role::Chosen => Text::toned(Tone::Good, "Chosen"),
            Role::Leaving => Text::toned(Tone::Warn, "Leaving"),
            Role::NotNeeded => Text::toned(Tone::Dim, "NotNeeded"),
            Role::Excluded => Text::toned(Tone::Bad, "Excluded"),
        };
        let tone = match row.state {
            State::InSync => Tone::Good,
            State::Failed => Tone::Bad,
            State::Absent => Tone::Dim,
            _ => Tone::Warn,
        };
        table.row(vec![
            row.cluster.as_str().into(),
            role,
            row.reason.to_string().into(),
            row.message.as_str().into(),
            Text::toned(tone, format!("{:?}", row.state)),
            row.detail.as_str().into(),
        ]);
    }
    if table.is_empty() { ui.line("the fleet has no such cluster") } else { ui.table(&table) }
}

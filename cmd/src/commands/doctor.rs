//! `kubectl kcp doctor`: looks at everything that a fleet needs, and says for each fault its cause and the command that
//! repairs it. Only looks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use kcp_api::ClusterMode;
use kcp_cluster::Connector;
use kcp_core::config::{self, Config};
use kcp_core::render;
use kustomize_rs::Files;
use serde::Serialize;
use serde_json::json;
use tokio::task::JoinSet;

use super::Context;
use crate::edit::git;
use crate::error::{Exit, Outcome};
use crate::member::{self, ConnectArgs};
use crate::members::Members;
use crate::recorded::Recorded;
use crate::repo::FleetRepo;
use crate::ui::{Text, Tone};

/// How long one cluster may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// Errors of one check that are listed.
const MAX_LISTED: usize = 20;

/// Examine git, the repo, the record and every cluster; print causes and repairs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp doctor
  kubectl kcp doctor -C eu-1 -o json

Exit codes: 1 if something is broken.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    members: Members,
    #[command(flatten)]
    connect: ConnectArgs,
    /// How it is shown; default: lines
    #[arg(short, long, value_enum)]
    output: Option<Output>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Output {
    /// For programs
    Json,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Grade {
    Ok,
    Warn,
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: String,
    grade: Grade,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<String>,
}

impl Check {
    fn ok(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self { name: name.into(), grade: Grade::Ok, message: message.into(), repair: None }
    }

    fn bad(
        grade: Grade,
        name: impl Into<String>,
        message: impl Into<String>,
        repair: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), grade, message: message.into(), repair: Some(repair.into()) }
    }
}

pub(crate) async fn run(context: &Context, args: DoctorArgs) -> Outcome {
    let mut checks = vec![git_version().await];
    checks.extend(other_plugin());
    match context.fleet() {
        Err(error) => {
            let repair = error.hints.first().cloned().unwrap_or_else(|| "kubectl kcp init".into());
            checks.push(Check::bad(Grade::Fail, "repo", error.message, repair));
        }
        Ok(fleet) => {
            checks.push(identity(fleet.location()).await);
            let (found, config) = documents(&fleet);
            checks.extend(found);
            if let Some(config) = config {
                checks.push(record(&fleet, &config));
                checks.extend(clusters(&config, &args).await?);
            }
        }
    }
    let exit = if checks.iter().any(|it| it.grade == Grade::Fail) { Exit::No } else { Exit::Yes };
    if matches!(args.output, Some(Output::Json)) {
        context.ui.json(&json!({ "version": env!("CARGO_PKG_VERSION"), "checks": checks }))?;
        return Ok(exit);
    }
    for check in &checks {
        let (word, tone) = match check.grade {
            Grade::Ok => ("ok  ", Tone::Good),
            Grade::Warn => ("warn", Tone::Warn),
            Grade::Fail => ("FAIL", Tone::Bad),
        };
        context
            .ui
            .line(Text::toned(tone, word).and(Tone::Plain, format!("  {}: {}", check.name, check.message)));
        if let Some(repair) = &check.repair {
            context.ui.line(format!("      repair: {repair}"));
        }
    }
    Ok(exit)
}

async fn git_version() -> Check {
    match git(Path::new("."), &["--version"]).await {
        Ok(version) => Check::ok("git", version.trim()),
        Err(message) => Check::bad(Grade::Fail, "git", message, "install git and put it on PATH"),
    }
}

/// Another program of our name that kubectl would run instead of this one.
fn other_plugin() -> Option<Check> {
    let own = std::env::current_exe().ok()?.canonicalize().ok()?;
    let paths = std::env::var_os("PATH")?;
    let found: Vec<PathBuf> = std::env::split_paths(&paths)
        .map(|dir| dir.join("kubectl-kcp"))
        .filter(|file| file.is_file())
        .collect();
    let first = found.first()?;
    let is_ours = first.canonicalize().is_ok_and(|path| path == own);
    Some(if is_ours {
        Check::ok("plugin", format!("kubectl finds {}", first.display()))
    } else {
        let message =
            format!("kubectl runs {}, which is not this program ({})", first.display(), own.display());
        Check::bad(
            Grade::Warn,
            "plugin",
            message,
            "put this program earlier on PATH, or remove the other one",
        )
    })
}

async fn identity(dir: &Path) -> Check {
    match git(dir, &["var", "GIT_AUTHOR_IDENT"]).await {
        Ok(who) => {
            let who = who.rsplit_once('>').map_or(who.as_str(), |(who, _)| who);
            Check::ok("identity", format!("commits are made by {who}>"))
        }
        Err(_) => Check::bad(
            Grade::Fail,
            "identity",
            "git does not know who you are",
            "git config --global user.name \"Your Name\" && git config --global user.email you@example.com",
        ),
    }
}

/// The fleet's documents, and whether each workspace can be rendered.
fn documents(fleet: &FleetRepo) -> (Vec<Check>, Option<Config>) {
    let files = match fleet.files() {
        Ok(files) => files,
        Err(error) => {
            let check = Check::bad(Grade::Fail, "repo", error.message, "work in a clone that has its files");
            return (vec![check], None);
        }
    };
    let config = match config::load(&files) {
        Ok(config) => config,
        Err(found) => {
            let listed = found.iter().take(MAX_LISTED);
            let checks = listed
                .map(|it| Check::bad(Grade::Fail, "documents", it.to_string(), "edit that place"))
                .collect();
            return (checks, None);
        }
    };
    let count = (config.clusters.len(), config.workspaces.len(), config.placements.len());
    let message = format!("{} clusters, {} workspaces, {} placements", count.0, count.1, count.2);
    let mut checks = vec![Check::ok("documents", message)];
    for name in config.workspaces.keys() {
        if let Err(found) = render::render(&files as &dyn Files, &config, name) {
            let listed = found.iter().take(MAX_LISTED);
            checks.extend(listed.map(|it| {
                Check::bad(Grade::Fail, format!("workspace {name}"), it.to_string(), "edit that place")
            }));
        } else if config.placement_of(name).is_none() {
            let repair = format!("kubectl kcp place {name} --exactly 1");
            checks.push(Check::bad(
                Grade::Warn,
                format!("workspace {name}"),
                "no placement is about it, so it goes nowhere",
                repair,
            ));
        }
    }
    (checks, Some(config))
}

fn record(fleet: &FleetRepo, config: &Config) -> Check {
    let spec = &config.fleet.value.spec;
    match Recorded::read(&fleet.repo, &spec.status, Some(&spec.id), None) {
        Err(error) => {
            let repair =
                format!("git branch -D {}; the reconciler rebuilds it from the clusters", spec.status.branch);
            Check::bad(Grade::Fail, "record", error.message, repair)
        }
        Ok(recorded) if !recorded.exists() => {
            let message = format!("nothing was recorded yet on branch {}", spec.status.branch);
            Check::bad(Grade::Warn, "record", message, "kubectl kcp run")
        }
        Ok(recorded) if !recorded.damaged.is_empty() => {
            let repair = "run the reconciler: it rebuilds the record from the clusters";
            Check::bad(Grade::Warn, "record", recorded.damaged.join("; "), repair)
        }
        Ok(recorded) => match &recorded.record.fleet.source.trouble {
            Some(trouble) => {
                let message = format!("{}: {}", trouble.reason, trouble.message);
                Check::bad(Grade::Fail, "record", message, "repair what is said, then: kubectl kcp status")
            }
            None => {
                let writer = recorded
                    .writer
                    .map_or_else(|| "nobody".into(), |it| format!("{} since {}", it.id, it.since));
                Check::ok("record", format!("written by {writer}"))
            }
        },
    }
}

/// All clusters at once, each with its own deadline.
async fn clusters(config: &Config, args: &DoctorArgs) -> Result<Vec<Check>, crate::error::CommandError> {
    let chosen = args.members.choose(&config.clusters)?;
    let mut looks = JoinSet::new();
    let mut checks = Vec::new();
    for (name, document) in &config.clusters {
        if chosen.as_ref().is_some_and(|chosen| !chosen.contains(name)) {
            continue;
        }
        let spec = document.value.spec.clone();
        let Some(context) = spec.connection.context.filter(|_| spec.mode != ClusterMode::Pull) else {
            checks.push(Check::ok(format!("cluster {name}"), "not reached from here"));
            continue;
        };
        let (name, options) = (name.clone(), args.connect.options());
        looks.spawn(async move {
            let look = tokio::time::timeout(
                DEADLINE,
                Box::pin(cluster(&name, &context, spec.uid.as_deref(), options)),
            );
            look.await.unwrap_or_else(|_| {
                let message = format!("no answer within {} s", DEADLINE.as_secs());
                let repair = format!("kubectl --context {context} get --raw /readyz");
                vec![Check::bad(Grade::Fail, format!("cluster {name}"), message, repair)]
            })
        });
    }
    while let Some(found) = looks.join_next().await {
        checks.extend(found.unwrap_or_default());
    }
    checks.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(checks)
}

async fn cluster(
    name: &str,
    context: &str,
    recorded: Option<&str>,
    options: kcp_cluster::ConnectOptions,
) -> Vec<Check> {
    let subject = format!("cluster {name}");
    let found = match member::examine(&Connector::new(options), context).await {
        Ok(found) => found,
        Err(error) => {
            let hint = error.hints.into_iter().next();
            let repair = hint.unwrap_or_else(|| format!("kubectl --context {context} get --raw /readyz"));
            return vec![Check::bad(Grade::Fail, subject, error.message, repair)];
        }
    };
    let uid = &found.identity.uid.0;
    let mut checks = Vec::new();
    match recorded {
        Some(recorded) if recorded != uid => {
            let message =
                format!("context {context} leads to another cluster: UID {uid}, recorded is {recorded}");
            let repair = "point the context back; if the cluster was replaced on purpose, change spec.uid of its document";
            checks.push(Check::bad(Grade::Fail, subject.clone(), message, repair));
        }
        None => {
            let repair = format!("write `uid: {uid}` into spec of its document");
            checks.push(Check::bad(Grade::Fail, subject.clone(), "its document has no uid", repair));
        }
        Some(_) => {}
    }
    let missing = found.missing();
    if !missing.is_empty() {
        let message = format!("the rights of context {context} lack: {}", missing.join(", "));
        checks.push(Check::bad(Grade::Fail, subject.clone(), message, "give its user these rights"));
    }
    if checks.is_empty() {
        checks.push(Check::ok(
            subject,
            format!("{}, reachable, identity and rights as they should be", found.identity.version),
        ));
    }
    checks
}

//! `kubectl kcp api check`: breaking changes between two states of one or more CRDs, for a person or for CI.

mod config;
mod report;

use clap::{Args, ValueEnum};
use kcp_schema::{
    CompareOptions, Difference, Direction, Impact, Level, Pool, Proof, Rule, SchemaPath, compare_crds,
};

use self::config::{Config, Waived};
use super::source::{self, Found};
use crate::commands::Context;
use crate::error::{Exit, Outcome};
use crate::when;

/// Find breaking changes between two states of CRDs
#[derive(Debug, Args)]
#[command(
    long_about = "Find breaking changes between two states of CRDs.

OLD and NEW are a file, a folder (all CRDs below it), or git:REF:PATH. CRDs are matched by name. Schemas are compared by
meaning: a change is reported when an object that was accepted and kept is refused, dropped or read in another way, and
such an object is shown. What cannot be decided is reported as a warning and never passes silently.

The configuration file sets levels (none, info, warning, error) and waivers:
  for: [writers, stored]
  failOn: error
  ignoreAlpha: true
  rules: {default-changed: warning}
  paths: [{path: status, level: warning}]
  waivers: [{rule: field-removed, crd: widgets.example.com, path: spec.size, until: 2026-12-31, reason: nobody used it}]",
    after_help = "Examples:
  kubectl kcp api check old.yaml new.yaml
  kubectl kcp api check git:origin/main:config/crd config/crd
  kubectl kcp api check old/ new/ --for writers,readers,stored --fail-on warning -o markdown

In GitHub Actions (check out with fetch-depth: 0):
  - run: kubectl kcp api check git:origin/${{ github.base_ref }}:config/crd config/crd -o github-actions
In GitLab CI:
  script: [\"kubectl kcp api check git:origin/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME:config/crd config/crd -o junit > report.xml\"]
  artifacts: {when: always, reports: {junit: report.xml}}

Exit codes:
  0  nothing at or above --fail-on
  1  findings
  2  the words of the command, or what is read, are wrong"
)]
pub(crate) struct CheckArgs {
    /// The state before: FILE, DIR or git:REF:PATH
    #[arg(value_name = "OLD")]
    old: String,
    /// The state after: FILE, DIR or git:REF:PATH
    #[arg(value_name = "NEW")]
    new: String,
    /// Whom changes must not break; default: writers and stored
    #[arg(long = "for", value_enum, value_delimiter = ',', value_name = "WHOM")]
    directions: Vec<Whom>,
    /// The level from which on the answer is no; default: error
    #[arg(long, value_enum, value_name = "LEVEL")]
    fail_on: Option<FailOn>,
    /// File with levels and waivers
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// How it is shown
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whom {
    /// Who writes objects as before
    Writers,
    /// Who reads objects as before
    Readers,
    /// Objects in storage
    Stored,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Anything reported
    Info,
    /// Also what is not decided
    Warning,
    /// Breaking changes
    Error,
    /// Never
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs
    Json,
    /// For comments on a pull request
    Markdown,
    /// For test reports
    Junit,
    /// Annotations of GitHub Actions
    GithubActions,
    /// For code scanning
    Sarif,
}

/// One finding, weighed.
#[derive(Debug)]
struct Item {
    /// `PLURAL.GROUP`.
    crd: String,
    /// The new file where there is one.
    file: String,
    line: usize,
    level: Level,
    waived: Option<Waived>,
    difference: Difference,
}

/// Everything that is reported.
#[derive(Debug, Default)]
struct Report {
    items: Vec<Item>,
    /// CRDs that were compared.
    compared: usize,
    directions: Vec<Direction>,
}

impl Item {
    /// Whether it counts.
    fn stands(&self) -> bool {
        !matches!(self.waived, Some(Waived::Yes(_)))
    }
}

impl Report {
    fn count(&self, level: Level) -> usize {
        self.items.iter().filter(|item| item.level == level && item.stands()).count()
    }

    fn waived(&self) -> usize {
        self.items.iter().filter(|item| !item.stands()).count()
    }
}

pub(crate) fn run(context: &Context, args: &CheckArgs) -> Outcome {
    let config = args.config.as_deref().map(Config::read).transpose()?.unwrap_or_default();
    let directions = directions(args, &config);
    let mut pool = Pool::new();
    let repo = context.repo.as_deref();
    let old = source::read(&args.old, repo, false, &mut pool)?;
    let new = source::read(&args.new, repo, false, &mut pool)?;
    let mut report = Report { directions, ..Report::default() };
    let mut used = Vec::new();
    for pair in pairs(&old, &new) {
        judge(pair, &config, &mut report, &mut used);
    }
    report.items.sort_by_key(|item| std::cmp::Reverse((item.stands(), item.level)));
    for waiver in config.unused(&used) {
        context.ui.note(format!("nothing needs the waiver of {waiver}: it can go"));
    }
    report::print(context, &report, args.output)?;
    let fail_on = match (args.fail_on, config.fail_on) {
        (Some(FailOn::Info), _) => Level::Info,
        (Some(FailOn::Warning), _) => Level::Warning,
        (Some(FailOn::None), _) => return Ok(Exit::Yes),
        (Some(FailOn::Error), _) | (None, None) => Level::Error,
        (None, Some(Level::Off)) => return Ok(Exit::Yes),
        (None, Some(level)) => level,
    };
    let fails = report.items.iter().any(|item| item.stands() && item.level >= fail_on);
    Ok(if fails { Exit::No } else { Exit::Yes })
}

fn directions(args: &CheckArgs, config: &Config) -> Vec<Direction> {
    let asked = args.directions.iter().map(|whom| match whom {
        Whom::Writers => Direction::Writers,
        Whom::Readers => Direction::Readers,
        Whom::Stored => Direction::Stored,
    });
    let asked: Vec<Direction> = asked.collect();
    match (asked.is_empty(), config.directions.is_empty()) {
        (false, _) => asked,
        (true, false) => config.directions.clone(),
        (true, true) => vec![Direction::Writers, Direction::Stored],
    }
}

/// Two states of one CRD; the second is missing where it is gone.
pub(super) type Pair<'f> = (&'f Found, Option<&'f Found>);

/// Matches by name. Two single CRDs are meant to be compared, whatever their names.
pub(super) fn pairs<'f>(old: &'f [Found], new: &'f [Found]) -> Vec<Pair<'f>> {
    if let ([old], [new]) = (old, new) {
        return vec![(old, Some(new))];
    }
    let find = |name: &str| new.iter().find(|it| it.crd.name() == name);
    old.iter().map(|it| (it, find(&it.crd.name()))).collect()
}

fn judge((old, new): Pair<'_>, config: &Config, report: &mut Report, used: &mut Vec<usize>) {
    report.compared += 1;
    let differences = match new {
        Some(new) => compare_crds(&old.crd, &new.crd, &CompareOptions::default()).differences,
        None => gone(old),
    };
    let name = old.crd.name();
    let place = new.unwrap_or(old);
    for difference in differences {
        let line = place.line(difference.version.as_deref(), &difference.path);
        let at = (place.file.as_str(), line);
        if let Some((item, waiver)) = weigh(&name, at, difference, config, &report.directions, when::now()) {
            used.extend(waiver);
            report.items.push(item);
        }
    }
}

/// The finding with its level, if it is one; and the number of the waiver that covers it.
fn weigh(
    crd: &str,
    (file, line): (&str, usize),
    difference: Difference,
    config: &Config,
    directions: &[Direction],
    now: i64,
) -> Option<(Item, Option<usize>)> {
    let level = difference.weight(directions, config.level(crd, &difference));
    if level == Level::Off {
        return None;
    }
    let (waiver, waived) = config.waived(crd, &difference, now).unzip();
    Some((Item { crd: crd.to_owned(), file: file.to_owned(), line, level, waived, difference }, waiver))
}

/// A CRD that is not there any more takes all its versions along.
fn gone(old: &Found) -> Vec<Difference> {
    let Some(rule) = Rule::by_id("version-removed") else { return Vec::new() };
    let served = old.crd.versions.iter().filter(|version| version.served);
    served
        .map(|version| Difference {
            rule,
            version: Some(version.name.clone()),
            path: SchemaPath::default(),
            old: Some(version.name.to_string().into()),
            new: None,
            detail: Some("the whole CRD is gone".into()),
            writers: Impact::Breaks(Proof::Rule),
            readers: Impact::Breaks(Proof::Rule),
            stored: Impact::Breaks(Proof::Rule),
        })
        .collect()
}

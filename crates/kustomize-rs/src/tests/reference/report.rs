//! What came of all cases, by project and by feature.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::corpus::{self, Case, Expected};
use super::diff;

/// What came of one case.
pub(super) enum Verdict {
    /// The same bytes as the reference, or a failure as there.
    Identical,
    /// Other text than the reference.
    Different(String),
    /// The same text, but these fields are warned about.
    OtherWarnings(Vec<String>),
    /// The reference builds it, we do not.
    Refused {
        /// Only because of fields that are not supported.
        unsupported: bool,
        /// The problems.
        message: String,
    },
    /// Refused as in the reference, but for another class of problem than before.
    OtherReason(String),
    /// Built, though the reference refuses it.
    Accepted,
    /// Never to happen.
    Panicked,
}

/// All cases of a set with what came of them.
pub(super) struct Report {
    pub(super) what: &'static str,
    pub(super) rows: Vec<(Case, Verdict)>,
}

#[expect(clippy::print_stderr, reason = "a test may say what it compared, and that it was skipped")]
pub(super) fn say(what: &str) {
    eprintln!("{what}");
}

/// Identical and all.
type Rate = (usize, usize);

impl Report {
    /// How many are as in the reference.
    pub(super) fn identical(&self) -> usize {
        self.rows.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Identical)).count()
    }

    /// Each miss with its first difference, then the rates.
    pub(super) fn print(&self) {
        let mut projects: BTreeMap<&str, Rate> = BTreeMap::new();
        let mut features: BTreeMap<String, Rate> = BTreeMap::new();
        for (case, verdict) in &self.rows {
            let identical = usize::from(matches!(verdict, Verdict::Identical));
            let project = case.name.split('/').next().unwrap_or_default();
            let used = case.features();
            let count = |rate: &mut Rate| *rate = (rate.0 + identical, rate.1 + 1);
            count(projects.entry(project).or_default());
            used.iter().for_each(|feature| count(features.entry(feature.clone()).or_default()));
            if identical == 0 {
                say(&miss(case, verdict, &used));
            }
        }
        say(&format!("\n{} of {} {} identical", self.identical(), self.rows.len(), self.what));
        say(&format!("by project: {}", rates(projects.iter())));
        say(&format!("features with misses: {}", rates(features.iter().filter(|(_, rate)| rate.0 < rate.1))));
    }

    /// Fails unless the misses are just those that `docs/kustomize.md` lists with their reasons: one that is not listed is a
    /// step back, one that is listed and identical by now is to be taken off. Of a part of the cases only the first is told.
    pub(super) fn only_listed_misses(&self) {
        let listed = listed();
        let missed = |name: &str| {
            self.rows
                .iter()
                .any(|(case, verdict)| case.name == name && !matches!(verdict, Verdict::Identical))
        };
        let names = self.rows.iter().map(|(case, _)| case.name.as_str());
        let new: Vec<&str> = names.clone().filter(|name| missed(name) && !listed.contains(*name)).collect();
        assert!(new.is_empty(), "{} differ and are not listed in docs/kustomize.md: {new:?}", self.what);
        let gone: Vec<&str> = names.filter(|name| !missed(name) && listed.contains(*name)).collect();
        assert!(gone.is_empty(), "identical by now, take them out of docs/kustomize.md: {gone:?}");
    }
}

/// The cases in the table of misses: rows that begin with a name in backticks, below the heading.
fn listed() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/kustomize.md");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let section = text.split("\n## Misses").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    section.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned())).collect()
}

fn miss(case: &Case, verdict: &Verdict, features: &[String]) -> String {
    let what = match verdict {
        Verdict::Identical => String::new(),
        Verdict::Accepted => "built, but the reference refuses it".into(),
        Verdict::OtherReason(why) => format!("refused for another reason: {why}"),
        Verdict::OtherWarnings(ours) => match &case.expected {
            Expected::Output(_, theirs) => format!("warns about {ours:?}, reference {theirs:?}"),
            Expected::Failure => String::new(),
        },
        Verdict::Panicked => "PANICKED".into(),
        Verdict::Refused { unsupported, message } => {
            let why = if *unsupported { "not supported" } else { "refused" };
            let first = message.lines().next().unwrap_or_default();
            format!("{why}: {}", if corpus::filtered() { message } else { first })
        }
        Verdict::Different(ours) => match &case.expected {
            Expected::Output(theirs, _) if corpus::filtered() => diff::unified(ours, theirs),
            Expected::Output(theirs, _) => diff::first(ours, theirs),
            Expected::Failure => String::new(),
        },
    };
    format!("{} [{}]: {what}", case.name, features.join(" "))
}

fn rates<'a, K: std::fmt::Display + 'a>(rates: impl Iterator<Item = (K, &'a Rate)>) -> String {
    rates.map(|(name, (identical, all))| format!("{name} {identical}/{all}")).collect::<Vec<_>>().join(", ")
}

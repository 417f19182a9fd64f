//! Random composition: overlays over directories of the corpus with random fields, built by the reference and by us; both
//! must print the same bytes, or both fail.
//!
//! - `KCP_KUSTOMIZE_COMPOSITIONS` is how many (300), `KCP_KUSTOMIZE_SEED` the first seed (0).
//! - `KCP_KUSTOMIZE_DISAGREEMENTS` names a folder to which each disagreement is written, made small.
//!
//! It must never compare error texts, nor leave out a case in which the programs disagree.

mod case;
mod changes;
mod compose;
mod corpus;
mod fields;
mod place;
mod pool;
mod random;
mod shrink;
mod warm;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kustomize_rs::{Options, build, to_yaml};

use case::{CORPUS, Case, TOP, Tree};
use corpus::Corpus;
use random::Random;
use warm::Warm;

/// Disagreements that are made small and shown, the others are only counted; more where they are kept too.
const SHOWN: usize = 10;
const KEPT: usize = 60;
/// Questions to both programs while one is made small.
const TRIES: usize = 600;
/// How often something is taken from a case that fails.
const REPAIRS: usize = 8;

/// How both programs took a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    BothBuild,
    BothFail,
    TheReferenceBreaks,
    OtherText,
    OnlyWeFail,
    OnlyTheReferenceFails,
    WePanic,
}

impl Outcome {
    fn agrees(self) -> bool {
        matches!(self, Self::BothBuild | Self::BothFail | Self::TheReferenceBreaks)
    }
}

/// Both programs and the place where cases are written.
struct Arena<'a> {
    root: &'a Path,
    corpus: &'a Corpus,
    warm: Warm,
}

/// What both made of a case: text or error.
struct Answers {
    outcome: Outcome,
    ours: String,
    theirs: String,
}

impl Arena<'_> {
    fn ask(&mut self, case: &Case) -> anyhow::Result<Answers> {
        case.write(self.root).context("cannot write a case")?;
        let theirs = self.warm.build(&self.root.join(TOP))?;
        let tree = Tree { own: case.files().into_iter().collect(), projects: &self.corpus.projects };
        let ours = std::panic::catch_unwind(|| {
            build(&tree, TOP, &Options::default())
                .map(|objects| to_yaml(&objects))
                .map_err(|error| error.to_string())
        });
        let outcome = match (&ours, &theirs) {
            (Err(_), _) => Outcome::WePanic,
            // A panic, or its own bookkeeping in the output: what is right then cannot be told from it.
            (_, Err(error)) if error.starts_with("panic: ") => Outcome::TheReferenceBreaks,
            (_, Ok(theirs)) if theirs.contains("internal.config.kubernetes.io/") => {
                Outcome::TheReferenceBreaks
            }
            (Ok(Ok(ours)), Ok(theirs)) if ours == theirs => Outcome::BothBuild,
            (Ok(Ok(_)), Ok(_)) => Outcome::OtherText,
            (Ok(Err(_)), Err(_)) => Outcome::BothFail,
            (Ok(Err(_)), Ok(_)) => Outcome::OnlyWeFail,
            (Ok(Ok(_)), Err(_)) => Outcome::OnlyTheReferenceFails,
        };
        let text =
            |answer: Result<String, String>| answer.unwrap_or_else(|error| format!("error: {error}\n"));
        let ours = ours.map_or_else(|_| "a panic\n".to_owned(), text);
        Ok(Answers { outcome, ours, theirs: text(theirs) })
    }

    /// A small case with the same kind of disagreement.
    fn smaller(&mut self, case: &Case, outcome: Outcome) -> Case {
        let flat = self.corpus.flatten(case);
        let mut shows = |case: &Case| self.ask(case).is_ok_and(|answers| answers.outcome == outcome);
        let start = if shows(&flat) { flat } else { case.clone() };
        shrink::shrink(start, TRIES, shows)
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// As much of a text as is worth reading in a report.
fn head(text: &str) -> String {
    text.lines().take(60).fold(String::new(), |head, line| head + line + "\n")
}

/// The first line in which the answers differ, with what comes before it.
fn first_difference(Answers { ours, theirs, .. }: &Answers) -> String {
    let same = ours.lines().zip(theirs.lines()).take_while(|(ours, theirs)| ours == theirs).count();
    let from = same.saturating_sub(4);
    let some = |text: &str| head(&text.lines().skip(from).take(12).collect::<Vec<_>>().join("\n"));
    format!("line {}, reference:\n{}=== ours:\n{}", same + 1, some(theirs), some(ours))
}

/// Keeps a disagreement where the variable says: `input/`, `expected`, `ours`.
fn keep(seed: u64, case: &Case, answers: &Answers) -> anyhow::Result<()> {
    let Some(folder) = std::env::var_os("KCP_KUSTOMIZE_DISAGREEMENTS") else { return Ok(()) };
    let folder = PathBuf::from(folder).join(format!("{:?}-{seed}", answers.outcome));
    for (path, text) in case.files() {
        let path = folder.join("input").join(path);
        fs::create_dir_all(path.parent().unwrap_or(&folder))?;
        fs::write(path, text)?;
    }
    fs::write(folder.join("expected"), &answers.theirs)?;
    Ok(fs::write(folder.join("ours"), &answers.ours)?)
}

#[test]
fn random_compositions_are_as_in_the_reference() -> anyhow::Result<()> {
    let test = "random_compositions_are_as_in_the_reference";
    let Some(data) = corpus::find(test) else { return Ok(()) };
    let Some(oracle) = kcp_tests::oracles::kustomize_or_skip(test) else { return Ok(()) };
    let corpus = Corpus::load(&data)?;
    let scratch = tempfile::tempdir()?;
    std::os::unix::fs::symlink(data.join("kustomize"), scratch.path().join(CORPUS))?;
    let warm = Warm::start(&oracle.join("warm"))?;
    let mut arena = Arena { root: scratch.path(), corpus: &corpus, warm };

    let (first, count) = (number("KCP_KUSTOMIZE_SEED", 0), number("KCP_KUSTOMIZE_COMPOSITIONS", 300));
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    let mut report = String::new();
    let mut left = if std::env::var_os("KCP_KUSTOMIZE_DISAGREEMENTS").is_some() { KEPT } else { SHOWN };
    for seed in first..first.saturating_add(count) {
        let mut case = compose::compose(seed, &corpus.bases);
        let mut answers = arena.ask(&case).with_context(|| format!("seed {seed}"))?;
        // What fails hides all that comes after it: less and less of the case, until it builds.
        let mut random = Random::new(seed);
        for _ in 0..REPAIRS {
            if answers.outcome != Outcome::BothFail || !case.drop_one(&mut random) {
                break;
            }
            answers = arena.ask(&case).with_context(|| format!("seed {seed}"))?;
        }
        *outcomes.entry(answers.outcome).or_default() += 1;
        if answers.outcome.agrees() {
            continue;
        }
        writeln!(report, "seed {seed}: {:?}", answers.outcome)?;
        if left > 0 {
            left -= 1;
            let small = arena.smaller(&case, answers.outcome);
            let answers = arena.ask(&small)?;
            keep(seed, &small, &answers)?;
            for (path, text) in small.files() {
                writeln!(report, "--- {path}\n{}", head(&text))?;
            }
            writeln!(report, "=== {}", first_difference(&answers))?;
        }
    }
    let failed = outcomes.get(&Outcome::BothFail).copied().unwrap_or_default();
    let agree: usize = outcomes.iter().filter(|(outcome, _)| outcome.agrees()).map(|(_, count)| count).sum();
    let total: usize = outcomes.values().sum();
    corpus::say(&format!(
        "seeds {first}..{}: {agree} of {total} agree, {failed} fail in both: {outcomes:?}",
        first + count
    ));
    anyhow::ensure!(agree == total, "the reference and we disagree:\n{report}");
    // Cases that fail say little: most must build.
    anyhow::ensure!(failed * 2 < total + 2, "{failed} of {total} compositions fail in both");
    Ok(())
}

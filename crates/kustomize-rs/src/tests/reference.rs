//! Against outputs of the reference, where the corpus is present.

use std::path::{Path, PathBuf};

use super::load;
use crate::{Files, MemoryFiles, Options, ProblemKind, build, to_yaml};

/// How many were identical when these were last raised; fewer is a step back.
const IDENTICAL_MICRO: usize = 41;
const IDENTICAL_REAL: usize = 360;

#[expect(clippy::print_stderr, reason = "a test may say what it compared, and that it was skipped")]
fn say(what: &str) {
    eprintln!("{what}");
}

fn corpus() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/test-data");
    let data = std::env::var_os("KCP_TEST_DATA").map_or_else(default, PathBuf::from);
    let found = data.join("kustomize/micro").is_dir();
    if !found {
        assert!(
            std::env::var_os("KCP_REQUIRE_TEST_DATA").is_none(),
            "the corpus is required and not at $KCP_TEST_DATA"
        );
        say("skipped: no kustomize corpus at $KCP_TEST_DATA");
    }
    found.then_some(data)
}

/// The directory that a small case builds: the case itself, or its overlay.
fn entry(case: &Path) -> &'static str {
    if case.join("overlay").is_dir() { "overlay" } else { "" }
}

/// What is in a directory, by name.
fn names(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a readable corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// What came of the cases so far.
#[derive(Default)]
struct Count {
    identical: usize,
    supported: usize,
    total: usize,
}

impl Count {
    fn compare(&mut self, name: &str, files: &MemoryFiles, dir: &str, expected: &str) {
        self.total += 1;
        let ours = match build(files, dir, &Options::default()) {
            Ok(resources) => to_yaml(&resources),
            Err(error) if error.problems.iter().any(|it| it.kind == ProblemKind::Unsupported) => return,
            Err(error) => {
                self.supported += 1;
                return say(&format!("{name}: refused: {}", error.problems[0]));
            }
        };
        self.supported += 1;
        if ours == expected {
            self.identical += 1;
            return;
        }
        let differ = ours.lines().zip(expected.lines()).position(|(ours, theirs)| ours != theirs);
        let at = differ.unwrap_or_else(|| ours.lines().count().min(expected.lines().count()));
        let (ours, theirs) = (ours.lines().nth(at), expected.lines().nth(at));
        say(&format!("{name}: line {}: ours {ours:?}, reference {theirs:?}", at + 1));
    }

    fn check(&self, what: &str, before: usize) {
        let Self { identical, supported, total } = self;
        say(&format!("{identical} of {supported} supported {what} identical ({total} in all)"));
        assert!(*identical >= before, "{identical} {what} identical, {before} before");
    }
}

#[test]
fn micro_cases_are_byte_identical() {
    let Some(data) = corpus() else { return };
    let mut count = Count::default();
    for case in names(&data.join("kustomize/micro")) {
        let name = case.file_name().expect("a name").to_string_lossy().into_owned();
        let expected = data.join(format!("kustomize-expected/micro/{name}.yaml"));
        if let Ok(expected) = std::fs::read_to_string(expected) {
            count.compare(&name, &load(&case), entry(&case), &expected);
        }
    }
    count.check("micro cases", IDENTICAL_MICRO);
}

#[test]
fn real_directories_are_byte_identical() {
    let Some(data) = corpus() else { return };
    let mut count = Count::default();
    for project in names(&data.join("kustomize")) {
        let name = project.file_name().expect("a name").to_string_lossy().into_owned();
        let expected = data.join("kustomize-expected").join(&name);
        if matches!(name.as_str(), "micro" | "fail") || !expected.is_dir() {
            continue;
        }
        let (files, expected) = (load(&project), load(&expected));
        let mut open = vec![String::new()];
        while let Some(dir) = open.pop() {
            for entry in expected.list(&dir).expect("a directory") {
                let path = crate::path::join(&dir, &entry.name);
                if entry.kind == crate::EntryKind::Directory {
                    open.push(path);
                } else if let Some(built) = path.strip_suffix(".yaml") {
                    let text = expected.read(&path).expect("a file");
                    let text = String::from_utf8_lossy(&text);
                    count.compare(&format!("{name}/{built}"), &files, built, &text);
                }
            }
        }
    }
    count.check("real directories", IDENTICAL_REAL);
}

#[test]
fn what_the_reference_refuses_is_refused() {
    let Some(data) = corpus() else { return };
    let cases = names(&data.join("kustomize/fail"));
    let accepts = |case: &PathBuf| build(&load(case), entry(case), &Options::default()).is_ok();
    let accepted: Vec<_> = cases.iter().filter(|case| case.is_dir() && accepts(case)).collect();
    assert!(accepted.is_empty(), "built, but must not: {accepted:?}");
}

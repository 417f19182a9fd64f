//! Against outputs of the reference, where the corpus is present: 763 directories of 30 projects, small cases of our own,
//! and cases that must fail.
//!
//! - `KCP_TEST_DATA` names the folder of the corpus; `KCP_REQUIRE_TEST_DATA=1` makes its absence a failure.
//! - `KCP_KUSTOMIZE_CASE=argo-cd/manifests` looks only at the cases whose name contains that, and prints whole diffs.
//!
//! It must never skip a case silently: a difference is either a failure here or a row of `docs/kustomize.md`.

mod corpus;
mod diff;
mod reasons;
mod report;

use corpus::{Case, Expected};
use report::{Report, Verdict, say};

use crate::{Options, ProblemKind, ResMap, build, to_yaml};

/// What came of a case.
fn judge(case: &Case) -> Verdict {
    // A panic is a miss of this case, not the end of the run.
    let built = std::panic::catch_unwind(|| {
        build(&*case.files, &case.dir, &Options::default())
            .map(|objects| (to_yaml(&objects), warned(&objects)))
    });
    match (built, &case.expected) {
        (Err(_), _) => Verdict::Panicked,
        (Ok(Ok(_)), Expected::Failure) => Verdict::Accepted,
        (Ok(Err(error)), Expected::Failure) => match error.problems.first().map(|problem| problem.kind) {
            kind if kind == reasons::of(&case.name) => Verdict::Identical,
            kind => {
                Verdict::OtherReason(format!("{kind:?}, expected {:?}: {error}", reasons::of(&case.name)))
            }
        },
        (Ok(Ok((ours, _))), Expected::Output(theirs, _)) if ours != *theirs => Verdict::Different(ours),
        (Ok(Ok((_, ours))), Expected::Output(_, theirs)) if ours != *theirs => Verdict::OtherWarnings(ours),
        (Ok(Ok(_)), Expected::Output(..)) => Verdict::Identical,
        (Ok(Err(error)), Expected::Output(..)) => {
            let unsupported = error.problems.iter().all(|problem| problem.kind == ProblemKind::Unsupported);
            Verdict::Refused { unsupported, message: error.to_string() }
        }
    }
}

/// The fields of the past that are warned about, sorted.
fn warned(objects: &ResMap) -> Vec<String> {
    let old = objects.warnings().iter().filter(|warning| warning.kind == ProblemKind::Deprecated);
    let mut fields: Vec<String> =
        old.filter_map(|warning| Some(warning.message.split(' ').next()?.to_owned())).collect();
    fields.sort();
    fields
}

/// Judges all cases, on all cores, in the order of the cases.
fn judge_all(what: &'static str, cases: Vec<Case>) -> Report {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut verdicts: Vec<(usize, Verdict)> = std::thread::scope(|scope| {
        let work = || {
            let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let mine = std::iter::repeat_with(take).map_while(|index| Some((index, cases.get(index)?)));
            mine.map(|(index, case)| (index, judge(case))).collect::<Vec<_>>()
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker ends")).collect()
    });
    verdicts.sort_by_key(|&(index, _)| index);
    let verdicts = verdicts.into_iter().map(|(_, verdict)| verdict);
    Report { what, rows: cases.into_iter().zip(verdicts).collect() }
}

#[test]
fn micro_cases_are_byte_identical() {
    let Some(data) = corpus::find() else { return };
    let report = judge_all("micro cases", corpus::small(&data, "micro"));
    report.print();
    report.only_listed_misses();
}

#[test]
fn real_directories_are_byte_identical() {
    let Some(data) = corpus::find() else { return };
    let report = judge_all("real directories", corpus::real(&data));
    report.print();
    report.only_listed_misses();
}

#[test]
fn what_the_reference_refuses_is_refused() {
    let Some(data) = corpus::find() else { return };
    let report = judge_all("failing cases", corpus::small(&data, "fail"));
    report.print();
    report.only_listed_misses();
}

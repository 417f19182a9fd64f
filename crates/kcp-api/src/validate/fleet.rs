//! Checks of `kind: Fleet`.

use super::{Check, quoted, syntax};
use crate::{Budget, Duration, Fleet, Paths, RecordTarget, Safety, Verify, VerifyMode, Window};

pub(crate) fn fleet(fleet: &Fleet, check: &mut Check) {
    let spec = &fleet.spec;
    // Part of names and label values on clusters.
    check.dns_label("spec.id", &spec.id);
    interval(spec.interval, check);
    record(&spec.status, check);
    verify("spec.verify", &spec.verify, check);
    check.unique_texts("spec.approvers", &spec.approvers);
    check.suspensions("spec.suspend", &spec.suspend);
    windows("spec.windows", &spec.windows, check);
    safety(&spec.safety, check);
    paths(&spec.paths, check);
}

fn interval(interval: Duration, check: &mut Check) {
    if interval < Duration::from_secs(1) || interval > Duration::from_mins(24 * 60) {
        check.error("spec.interval", format!("{interval} is not sensible: 1s to 24h"));
    }
}

fn record(record: &RecordTarget, check: &mut Check) {
    if !syntax::is_branch(&record.branch) {
        check.error(
            "spec.status.branch",
            format!("{} is not the name of a git branch", quoted(&record.branch)),
        );
    }
    check.refuse("spec.status.repo", record.repo.is_none());
}

pub(super) fn verify(path: &str, verify: &Verify, check: &mut Check) {
    check.refuse_other_than(&format!("{path}.mode"), verify.mode == VerifyMode::None, "None");
    check.refuse(&format!("{path}.allowedSigners"), verify.allowed_signers.is_none());
    check.refuse(&format!("{path}.keyring"), verify.keyring.is_none());
}

pub(super) fn windows(path: &str, windows: &[Window], check: &mut Check) {
    check.refuse(path, windows.is_empty());
    check.unique_names(path, windows.iter().map(|window| window.name.as_str()));
    for (i, window) in windows.iter().enumerate() {
        if !syntax::is_time_of_day(&window.start) {
            check.error(
                format!("{path}[{i}].start"),
                format!("{} is not a time of the day: write HH:MM", quoted(&window.start)),
            );
        }
        if window.duration.is_zero() || window.duration > Duration::from_mins(7 * 24 * 60) {
            check.error(format!("{path}[{i}].duration"), "must be more than 0s and at most 168h");
        }
    }
}

fn safety(safety: &Safety, check: &mut Check) {
    let budgets = [("maxDelete", safety.max_delete), ("maxMove", safety.max_move)];
    for (name, Budget { percent, floor: _ }) in budgets {
        check.percent(&format!("spec.safety.{name}.percent"), percent);
    }
    check.label_key("spec.safety.evacuate.topologyKey", &safety.evacuate.topology_key);
    // A lost cluster moves nothing yet, so these two bound nothing yet.
    let usual = Safety::default();
    check.refuse("spec.safety.evacuate", safety.evacuate == usual.evacuate);
    check.refuse("spec.safety.suspectPercent", safety.suspect_percent == usual.suspect_percent);
}

fn paths(paths: &Paths, check: &mut Check) {
    // Taken apart, so that a new folder cannot be forgotten here.
    let Paths { clusters, placements, policies, tenants, approvals, workspaces } = paths;
    let all = [
        ("clusters", clusters),
        ("placements", placements),
        ("policies", policies),
        ("tenants", tenants),
        ("approvals", approvals),
        ("workspaces", workspaces),
    ];
    for (i, (name, folder)) in all.iter().enumerate() {
        let path = format!("spec.paths.{name}");
        check.repo_path(&path, folder);
        // Two kinds in one folder are fine; manifests among our own documents are not.
        let same = |other: &str| clean(other) == clean(folder);
        if let Some((other, _)) = all[..i].iter().find(|(_, other)| *name == "workspaces" && same(other)) {
            check.error(&path, format!("the same folder as spec.paths.{other}: manifests need their own"));
        }
    }
}

fn clean(path: &str) -> &str {
    path.trim_start_matches("./").trim_end_matches('/')
}

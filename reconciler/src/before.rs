//! What was in force before a commit: a change of `safety` is judged by it, and what it had applied was ours.
//!
//! The record only says which commit that was; what it says is read from git. A record that names a commit which is not
//! part of the history says nothing: then it is the first parent.

use kcp_core::world::Desired;
use kcp_git::{CommitId, Relation, Repo};

use crate::prepare::Preparer;
use crate::record::FleetRecord;

/// So many commits with invalid documents are passed over: none of them was ever in force.
const MOST_INVALID: usize = 100;

/// The commit before `commit`, or before what is not committed yet. `None` if there is none.
#[must_use]
pub fn commit_before(repo: &Repo, recorded: &FleetRecord, commit: Option<CommitId>) -> Option<CommitId> {
    let id = |text: &str| text.parse::<CommitId>().ok();
    let in_force = id(&recorded.source.commit);
    let named = match commit {
        Some(commit) if in_force == Some(commit) => recorded.before.as_deref().and_then(id),
        _ => in_force,
    };
    let head = || repo.ref_commit("HEAD").ok().flatten();
    let is_older = |old: &CommitId| match commit {
        Some(commit) => matches!(repo.relation(*old, commit), Ok(Relation::Descendant)),
        None => head().is_some_and(|head| {
            matches!(repo.relation(*old, head), Ok(Relation::Same | Relation::Descendant))
        }),
    };
    named.filter(is_older).or_else(|| match commit {
        Some(commit) => parent(repo, commit),
        None => head(),
    })
}

fn parent(repo: &Repo, commit: CommitId) -> Option<CommitId> {
    repo.resolve(&format!("{commit}^")).ok()
}

/// The desired state of the commit before `commit`; of an older one, if its documents are not valid.
#[must_use]
pub fn desired_before(
    preparer: &mut Preparer,
    repo: &Repo,
    recorded: &FleetRecord,
    commit: Option<CommitId>,
) -> Option<Desired> {
    let mut next = commit_before(repo, recorded, commit);
    let mut found = None;
    for _ in 0..MOST_INVALID {
        let Some(id) = next else { break };
        let Ok(snapshot) = repo.snapshot_at(id) else { break };
        if let Ok(desired) = preparer.prepare(&id.to_string(), &snapshot) {
            found = Some(desired);
            break;
        }
        next = parent(repo, id);
    }
    // It is there to be compared with, and not to be kept up.
    preparer.forget_last_good();
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::record::SourceState;

    fn git(repo: &Path, args: &[&str]) -> String {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut command = std::process::Command::new("git");
        let output = command.arg("-C").arg(repo).args(who).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(repo: &Path, fleet: &str) -> CommitId {
        std::fs::write(repo.join("kcp.yaml"), fleet).unwrap();
        git(repo, &["add", "."]);
        git(repo, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
        git(repo, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    #[test]
    fn the_record_says_what_was_in_force_before_and_else_it_is_the_parent() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        git(path, &["init", "--quiet", "-b", "main"]);
        let fleet = "apiVersion: kcp.dev/v1alpha1\nkind: Fleet\nmetadata: {name: acme}\nspec: {id: f1}\n";
        let one = commit(path, fleet);
        let two = commit(path, fleet);
        let broken = commit(path, "kind: Nonsense\n");
        let four = commit(path, fleet);
        git(path, &["checkout", "--quiet", "-b", "other", &one.to_string()]);
        let elsewhere = commit(path, &format!("{fleet}# elsewhere\n"));
        git(path, &["checkout", "--quiet", "main"]);
        let repo = Repo::open(path).unwrap();
        let record = |commit: &CommitId, before: Option<&CommitId>| FleetRecord {
            source: SourceState { commit: commit.to_string(), ..SourceState::default() },
            before: before.map(ToString::to_string),
            ..FleetRecord::default()
        };
        let nothing = FleetRecord::default();
        let before = |record: &FleetRecord, commit| commit_before(&repo, record, commit);
        assert_eq!(before(&record(&one, None), Some(four)), Some(one), "two and three were never in force");
        assert_eq!(before(&record(&four, Some(&two)), Some(four)), Some(two));
        assert_eq!(before(&record(&four, None), Some(four)), Some(broken));
        assert_eq!(
            before(&record(&elsewhere, None), Some(four)),
            Some(broken),
            "it is no part of the history"
        );
        assert_eq!(before(&nothing, Some(one)), None);
        assert_eq!(
            before(&record(&two, Some(&one)), None),
            Some(two),
            "what is not committed comes after it"
        );
        assert_eq!(before(&nothing, None), Some(four));
        let desired = desired_before(&mut Preparer::new(), &repo, &nothing, Some(four));
        assert_eq!(desired.map(|it| it.commit), Some(two.to_string()), "nothing invalid was ever in force");
    }
}

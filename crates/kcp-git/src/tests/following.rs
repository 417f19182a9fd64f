//! Following a branch: what changed, and failures that must never look like a change.

use std::sync::Arc;

use kustomize_rs::Files;
use tokio::sync::mpsc;

use super::{Fixture, LONG};
use crate::{Change, Source, SourceError, SourceSpec, watch_local};

impl Fixture {
    fn source(&self, mirrored: bool) -> Source {
        let spec = SourceSpec {
            url_or_path: self.path("fleet").to_str().unwrap().into(),
            branch: "main".into(),
            mirror_dir: mirrored.then(|| self.path("mirror")),
            deadline: LONG,
        };
        Source::open(spec, Arc::new(self.command())).unwrap()
    }
}

/// Directly and through a mirror the answers are the same.
async fn every_change(mirrored: bool) {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let first = f.commit(&path, &[("a", "1")]);
    let mut source = f.source(mirrored);
    let head = source.poll().await.unwrap();
    assert_eq!((head.commit, head.change), (first, Change::First));
    source.accept(first).unwrap();
    assert_eq!(source.poll().await.unwrap().change, Change::Unchanged);

    let second = f.commit(&path, &[("a", "2")]);
    let head = source.poll().await.unwrap();
    assert_eq!((head.commit, head.change), (second, Change::FastForward { from: first }));
    // Nothing is accepted by itself.
    assert_eq!(source.accepted(), Some(first));
    source.accept(second).unwrap();

    f.git(&path, &["reset", "--quiet", "--hard", &first.to_string()]);
    assert_eq!(source.poll().await.unwrap().change, Change::ForcePushed { from: second });
    let other = f.commit(&path, &[("a", "3")]);
    let head = source.poll().await.unwrap();
    assert_eq!((head.commit, head.change), (other, Change::ForcePushed { from: second }));
    // It stays held, and what was accepted can still be read.
    assert_eq!(source.poll().await.unwrap().change, Change::ForcePushed { from: second });
    assert_eq!(&*source.snapshot(second).unwrap().read("a").unwrap(), b"2");

    f.git(&path, &["checkout", "--quiet", "--orphan", "fresh"]);
    let fresh = f.commit(&path, &[("a", "4")]);
    f.git(&path, &["branch", "--force", "main", "fresh"]);
    assert_eq!(source.poll().await.unwrap().change, Change::Unrelated { from: second });
    source.accept(fresh).unwrap();
    assert_eq!(source.poll().await.unwrap().change, Change::Unchanged);

    f.git(&path, &["branch", "--quiet", "-D", "main"]);
    let error = source.poll().await.unwrap_err();
    assert!(matches!(&error, SourceError::BranchMissing { branch, .. } if branch == "main"), "{error}");

    std::fs::rename(&path, f.path("away")).unwrap();
    let error = source.poll().await.unwrap_err();
    assert!(matches!(error, SourceError::FetchFailed { .. } | SourceError::Repo(_)), "{error:?}");
    assert_eq!(source.accepted(), Some(fresh));
}

#[tokio::test]
async fn a_local_repo_is_followed_directly() {
    every_change(false).await;
}

#[tokio::test]
async fn a_repo_is_followed_through_a_mirror() {
    every_change(true).await;
}

#[tokio::test]
async fn a_mirror_remembers_what_was_accepted() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let first = f.commit(&path, &[("a", "1")]);
    let mut source = f.source(true);
    source.poll().await.unwrap();
    source.accept(first).unwrap();
    f.git(&path, &["checkout", "--quiet", "--orphan", "fresh"]);
    f.commit(&path, &[("a", "2")]);
    f.git(&path, &["branch", "--force", "main", "fresh"]);
    // Force-pushed while nobody looked, and the old commit collected on the other side.
    f.git(&path, &["reflog", "expire", "--expire=now", "--all"]);
    f.git(&path, &["gc", "--quiet", "--prune=now"]);
    let source = f.source(true);
    assert_eq!(source.poll().await.unwrap().change, Change::Unrelated { from: first });
    source.maintain(LONG).await.unwrap();
    assert_eq!(&*source.snapshot(first).unwrap().read("a").unwrap(), b"1");
}

#[tokio::test]
async fn an_accepted_commit_that_nobody_has_any_more_is_held() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("a", "1")]);
    let lost = "1234567890123456789012345678901234567890".parse().unwrap();
    let mut source = f.source(false);
    source.assume_accepted(lost);
    assert_eq!(source.poll().await.unwrap().change, Change::Unrelated { from: lost });
    assert!(source.snapshot(lost).is_err());
}

#[tokio::test]
async fn a_remote_needs_a_mirror_and_an_empty_repo_is_an_error() {
    let f = Fixture::new();
    f.repo("fleet");
    let error = f.source(true).poll().await.unwrap_err();
    assert!(matches!(error, SourceError::BranchMissing { .. }), "{error}");
    let spec = SourceSpec {
        url_or_path: "https://git.example/fleet".into(),
        branch: "main".into(),
        mirror_dir: None,
        deadline: LONG,
    };
    let error = Source::open(spec, Arc::new(f.command())).unwrap_err();
    assert!(matches!(error, SourceError::NoMirror { .. }));
}

#[tokio::test]
async fn a_moved_branch_is_hinted_at() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("a", "1")]);
    let (sender, mut hints) = mpsc::channel(1);
    let _watch = watch_local(&path, "main", sender).unwrap();
    let next = async |hints: &mut mpsc::Receiver<()>| {
        tokio::time::timeout(LONG, hints.recv()).await.expect("a hint comes").expect("the watch lives");
    };
    f.commit(&path, &[("a", "2")]);
    next(&mut hints).await;
    f.git(&path, &["pack-refs", "--all"]);
    next(&mut hints).await;
}

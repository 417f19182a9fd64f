//! Writing branches without a work tree, and the status branch.

use std::collections::BTreeMap;

use kustomize_rs::Files;

use super::{Fixture, LONG, author};
use crate::{CommitId, Edits, ExpectedTip, GitError, Pulled, Pushed, RemoteUrl, Repo, StatusBranch, Written};

fn edits(list: &[(&str, Option<&str>)]) -> Edits {
    list.iter()
        .map(|(path, content)| ((*path).into(), content.map(|text| text.as_bytes().to_vec())))
        .collect()
}

fn commit(written: Written) -> CommitId {
    match written {
        Written::Commit(id) => id,
        other => panic!("not written: {other:?}"),
    }
}

#[test]
fn a_branch_is_written_beside_the_work_tree() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let main = f.commit(&path, &[("kcp.yaml", "one")]);
    let repo = Repo::open(&path).unwrap();
    let write = |list: &[(&str, Option<&str>)], expected| {
        repo.write_branch("kcp/work", &edits(list), "message", &author(), expected)
    };
    // Nothing to write makes no branch.
    assert_eq!(write(&[("x", None)], ExpectedTip::Any).unwrap(), Written::Unchanged(None));
    let first = commit(write(&[("a/b/c", Some("1")), ("d", Some("2"))], ExpectedTip::Absent).unwrap());
    assert_eq!(repo.branch_tip("kcp/work").unwrap(), Some(first));
    assert_eq!(write(&[("d", Some("2"))], ExpectedTip::Any).unwrap(), Written::Unchanged(Some(first)));
    let second = commit(
        write(&[("a/b/c", None), ("gone/x", None), ("e", Some("3"))], ExpectedTip::At(first)).unwrap(),
    );
    let snapshot = repo.snapshot_at(second).unwrap();
    let names: Vec<String> = snapshot.list("").unwrap().into_iter().map(|entry| entry.name).collect();
    // The empty folder went with its last file.
    assert_eq!(names, ["d", "e"]);
    assert_eq!(snapshot.author, "kcp <kcp@acme.example>");
    assert_eq!(f.git(&path, &["rev-list", "--count", "kcp/work"]), "2");
    // Git agrees with every object, and the person's work is untouched.
    f.git(&path, &["fsck", "--strict", "--no-dangling"]);
    assert_eq!(f.git(&path, &["status", "--porcelain"]), "");
    assert_eq!(f.head(&path), main);
}

#[test]
fn a_write_happens_only_on_the_expected_tip() {
    let f = Fixture::new();
    let repo = Repo::init_bare_mirror(f.path("bare")).unwrap();
    let write = |text, expected| {
        repo.write_branch("b", &edits(&[("x", Some(text))]), "m", &author(), expected).unwrap()
    };
    let first = commit(write("1", ExpectedTip::Absent));
    assert_eq!(write("2", ExpectedTip::Absent), Written::Moved(Some(first)));
    let second = commit(write("2", ExpectedTip::At(first)));
    assert_eq!(write("3", ExpectedTip::At(first)), Written::Moved(Some(second)));
    assert_eq!(&*repo.snapshot("b").unwrap().read("x").unwrap(), b"2");
    // Another process moves the branch between our look and our write.
    let other = Repo::open(repo.git_dir()).unwrap();
    let late = repo.write_with(
        "b",
        crate::branch::Base::Tip,
        &edits(&[("x", Some("4"))]),
        &author(),
        ExpectedTip::Any,
        |_| {
            other.write_branch("b", &edits(&[("x", Some("other"))]), "m", &author(), ExpectedTip::Any)?;
            Ok((crate::branch::Parent::Tip, "late".into()))
        },
    );
    assert!(matches!(late.unwrap(), Written::Moved(Some(_))));
    assert_eq!(&*repo.snapshot("b").unwrap().read("x").unwrap(), b"other");
}

#[test]
fn what_would_hurt_is_refused() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let repo = Repo::open(&path).unwrap();
    let write = |branch: &str, list: &[(&str, Option<&str>)]| {
        repo.write_branch(branch, &edits(list), "m", &author(), ExpectedTip::Any)
    };
    // Also before the first commit.
    assert!(matches!(write("main", &[("x", Some("1"))]), Err(GitError::CheckedOut { .. })));
    f.commit(&path, &[("a", "1")]);
    assert!(matches!(write("main", &[("x", Some("1"))]), Err(GitError::CheckedOut { .. })));
    f.git(&path, &["worktree", "add", "--quiet", "-b", "side", "../side"]);
    assert!(matches!(write("side", &[("x", Some("1"))]), Err(GitError::CheckedOut { .. })));
    for branch in ["", "-x", "a..b", "a b", "x.lock", "a/", "HEAD~1"] {
        assert!(
            matches!(write(branch, &[("x", Some("1"))]), Err(GitError::InvalidName { .. })),
            "{branch:?}"
        );
    }
    for path in
        ["", "/x", "../x", "a//b", "a/./b", ".git/config", "a/.GIT/x", "a\\b", "a\nb", ".git./x", "git~1"]
    {
        assert!(matches!(write("b", &[(path, Some("1"))]), Err(GitError::InvalidPath { .. })), "{path:?}");
    }
    assert!(matches!(write("b", &[("x", Some("1")), ("x/y", Some("1"))]), Err(GitError::InvalidPath { .. })));
    commit(write("b", &[("x", Some("1")), ("d/y", Some("1"))]).unwrap());
    assert!(matches!(write("b", &[("x/y", Some("1"))]), Err(GitError::InvalidPath { .. })));
    assert!(matches!(write("b", &[("d", Some("1"))]), Err(GitError::InvalidPath { .. })));
    // A file may become a folder when that is said.
    commit(write("b", &[("x", None), ("x/y", Some("1"))]).unwrap());
}

#[test]
fn status_history_starts_again() {
    let f = Fixture::new();
    let repo = Repo::init_bare_mirror(f.path("bare")).unwrap();
    let status = StatusBranch::new(repo.clone(), "kcp/status").unwrap().with_max_commits(3);
    assert_eq!(status.read("writer.json").unwrap(), None);
    let mut last = None;
    for n in 1..=7 {
        let list = edits(&[("clusters/eu-1.json", Some(&n.to_string())), ("writer.json", Some("me"))]);
        last = Some(commit(status.write(&list, &format!("step {n}"), &author(), ExpectedTip::Any).unwrap()));
    }
    // 3, then 3, then 1.
    assert_eq!(f.git(repo.git_dir(), &["rev-list", "--count", "kcp/status"]), "1");
    assert_eq!(status.read("clusters/eu-1.json").unwrap().as_deref(), Some(&b"7"[..]));
    assert_eq!(status.read("writer.json").unwrap().as_deref(), Some(&b"me"[..]));
    let same = edits(&[("writer.json", Some("me"))]);
    assert_eq!(status.write(&same, "again", &author(), ExpectedTip::Any).unwrap(), Written::Unchanged(last));

    // A commit of somebody else has no number: it is found by walking.
    for n in 0..2 {
        let list = edits(&[("x", Some(&n.to_string()))]);
        repo.write_branch("kcp/status", &list, "by hand", &author(), ExpectedTip::Any).unwrap();
    }
    status.write(&edits(&[("x", Some("new"))]), "m", &author(), ExpectedTip::Any).unwrap();
    assert_eq!(f.git(repo.git_dir(), &["rev-list", "--count", "kcp/status"]), "1");

    let files = BTreeMap::from([("only.json".to_owned(), b"1".to_vec())]);
    commit(status.replace(files, "all", &author(), ExpectedTip::Any).unwrap());
    assert_eq!(status.read("writer.json").unwrap(), None);
}

#[test]
fn what_the_status_branch_holds_can_be_read_however_large() {
    let f = Fixture::new();
    let repo = Repo::init_bare_mirror(f.path("bare")).unwrap();
    let status = StatusBranch::new(repo, "kcp/status").unwrap();
    // A cluster of 10,000 objects, where a file of the fleet itself would be refused.
    let large = "x".repeat(usize::try_from(crate::DEFAULT_MAX_FILE).unwrap() + 1);
    let list = edits(&[("clusters/eu-1.json", Some(large.as_str()))]);
    commit(status.write(&list, "large", &author(), ExpectedTip::Any).unwrap());
    assert_eq!(status.read("clusters/eu-1.json").unwrap().map(|it| it.len()), Some(large.len()));
    assert!(status.snapshot().unwrap().unwrap().read("clusters/eu-1.json").is_ok());
}

#[tokio::test]
async fn status_goes_to_a_remote_and_two_writers_notice() {
    let f = Fixture::new();
    let remote = f.path("remote");
    f.git(f.dir.path(), &["init", "--quiet", "--bare", "remote"]);
    let url = RemoteUrl::parse(remote.to_str().unwrap()).unwrap();
    let git = f.command();
    let open = |name: &str| {
        let repo = Repo::init_bare_mirror(f.path(name)).unwrap();
        StatusBranch::new(repo, "kcp/status").unwrap().with_max_commits(2)
    };
    let (a, b) = (open("a"), open("b"));
    let put = |status: &StatusBranch, text: &str| {
        commit(status.write(&edits(&[("x", Some(text))]), "m", &author(), ExpectedTip::Any).unwrap())
    };
    assert_eq!(a.pull(&git, &url, LONG, false).await.unwrap(), Pulled::Absent);
    assert_eq!(a.push(&git, &url, LONG).await.unwrap(), Pushed::Done);
    let first = put(&a, "a1");
    assert_eq!(a.push(&git, &url, LONG).await.unwrap(), Pushed::Done);
    assert_eq!(f.git(&remote, &["rev-parse", "kcp/status"]), first.to_string());

    assert_eq!(b.pull(&git, &url, LONG, false).await.unwrap(), Pulled::Taken(first));
    assert_eq!(b.read("x").unwrap().as_deref(), Some(&b"a1"[..]));
    // History starts again twice; a reader just follows.
    let mut last = first;
    for text in ["a2", "a3", "a4", "a5"] {
        last = put(&a, text);
        assert_eq!(a.push(&git, &url, LONG).await.unwrap(), Pushed::Done, "{text}");
    }
    assert_eq!(b.pull(&git, &url, LONG, false).await.unwrap(), Pulled::Taken(last));

    // A second writer is refused, and learns of it.
    put(&b, "b1");
    let other = put(&a, "a6");
    assert_eq!(a.push(&git, &url, LONG).await.unwrap(), Pushed::Done);
    assert_eq!(b.push(&git, &url, LONG).await.unwrap(), Pushed::Moved);
    let pulled = b.pull(&git, &url, LONG, false).await.unwrap();
    assert!(matches!(pulled, Pulled::Diverged { remote, .. } if remote == other), "{pulled:?}");
    assert_eq!(b.read("x").unwrap().as_deref(), Some(&b"b1"[..]));
    assert_eq!(b.pull(&git, &url, LONG, true).await.unwrap(), Pulled::Taken(other));
    assert_eq!(b.read("x").unwrap().as_deref(), Some(&b"a6"[..]));

    // The remote is gone: an error, and never "absent".
    std::fs::remove_dir_all(&remote).unwrap();
    assert!(b.pull(&git, &url, LONG, false).await.is_err());
    put(&b, "b2");
    assert!(b.push(&git, &url, LONG).await.is_err());
    assert_eq!(b.read("x").unwrap().as_deref(), Some(&b"b2"[..]));
}

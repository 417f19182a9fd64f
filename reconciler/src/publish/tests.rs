//! Two reconcilers and one status branch, through real repos and the git program.

use std::path::Path;

use kcp_git::GitCommand;

use super::*;
use crate::clock::SystemClock;

struct Remote {
    directory: tempfile::TempDir,
}

impl Remote {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Repo::init_bare_mirror(directory.path().join("remote.git")).unwrap();
        Self { directory }
    }

    fn repo(&self) -> Repo {
        Repo::open(self.directory.path().join("remote.git")).unwrap()
    }

    fn publisher(&self, id: &str) -> Publisher {
        let repo = Repo::init_bare_mirror(self.directory.path().join(format!("{id}.git"))).unwrap();
        let path: &Path = &self.directory.path().join("remote.git");
        let transport: Arc<dyn Transport> = Arc::new(GitCommand::new());
        let url = RemoteUrl::parse(path.to_str().unwrap()).unwrap();
        let writer = Writer { id: id.into(), since: "2026-01-01T00:00:00Z".into(), released: false };
        let target = kcp_api::RecordTarget::default();
        Publisher::new(repo, &target, Some((transport, url)), writer, Arc::new(SystemClock)).unwrap().unwrap()
    }

    fn read(&self) -> Published {
        read_branch(&StatusBranch::new(self.repo(), "kcp/status").unwrap()).unwrap()
    }
}

fn record(commit: &str) -> Record {
    let mut record = Record::default();
    record.fleet.source.commit = commit.into();
    record
}

fn is_rival<T>(result: Result<T, PublishError>, of: &str) -> bool {
    matches!(result, Err(PublishError::Rival { id, .. }) if id == of)
}

#[tokio::test]
async fn of_two_that_start_at_once_one_is_refused_and_who_was_taken_over_must_end() {
    let remote = Remote::new();
    let (mut first, mut second) = (remote.publisher("first"), remote.publisher("second"));
    // Both saw an unclaimed branch.
    first.read().await.unwrap();
    second.read().await.unwrap();
    first.claim().await.unwrap();
    assert!(is_rival(second.claim().await, "first"));
    first.publish(&record("one"), false).await.unwrap();
    // It is started again with --take-over, which is to accept the writer it finds.
    second.read().await.unwrap();
    second.claim().await.unwrap();
    assert!(is_rival(first.publish(&record("two"), false).await, "second"));
    let (send, receive) = watch::channel(None);
    send.send(Some(record("three"))).unwrap();
    assert!(is_rival(first.run(receive).await, "second"), "its loop is told");
    second.publish(&record("four"), true).await.unwrap();
    assert_eq!(remote.read().record, record("four"));
    let mut third = remote.publisher("third");
    assert!(third.read().await.unwrap().writer.unwrap().released);
    third.claim().await.unwrap();
}

#[tokio::test]
async fn while_the_remote_cannot_be_reached_the_copy_counts_only_if_nobody_can_have_followed() {
    let remote = Remote::new();
    let mut publisher = remote.publisher("first");
    publisher.read().await.unwrap();
    publisher.publish(&record("one"), false).await.unwrap();
    let (here, away) = (remote.directory.path().join("remote.git"), remote.directory.path().join("away"));
    std::fs::rename(&here, &away).unwrap();
    assert_eq!(remote.publisher("first").read().await.unwrap().record, record("one"));
    let never_read = remote.publisher("second").read().await;
    assert!(matches!(never_read, Err(PublishError::Transport(_))), "{never_read:?}");
    std::fs::rename(&away, &here).unwrap();
    publisher.publish(&record("two"), true).await.unwrap();
    std::fs::rename(&here, &away).unwrap();
    let released = remote.publisher("first").read().await;
    assert!(matches!(released, Err(PublishError::Transport(_))), "{released:?}");
}

#[tokio::test]
async fn a_branch_that_somebody_removed_or_rewrote_is_published_again() {
    let remote = Remote::new();
    let mut publisher = remote.publisher("first");
    publisher.read().await.unwrap();
    publisher.publish(&record("one"), false).await.unwrap();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.arg("--git-dir").arg(remote.directory.path().join("remote.git")).args(args);
        command.envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.com")]);
        command.envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.com")]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["update-ref", "-d", "refs/heads/kcp/status"]);
    publisher.publish(&record("two"), false).await.unwrap();
    assert_eq!(remote.read().record, record("two"));
    let tree = git(&["rev-parse", "refs/heads/kcp/status^{tree}"]);
    let other = git(&["commit-tree", &tree, "-m", "rewritten"]);
    git(&["update-ref", "refs/heads/kcp/status", &other]);
    publisher.publish(&record("three"), false).await.unwrap();
    assert_eq!(remote.read().record, record("three"));
}

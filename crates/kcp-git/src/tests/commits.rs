//! Commits of the editing verbs in a person's repo.

use super::{Fixture, script, write};
use crate::{CommitError, Dirt, Edits, GitCommand, Repo};

fn change(list: &[(&str, Option<&str>)]) -> Edits {
    list.iter()
        .map(|(path, content)| ((*path).into(), content.map(|text| text.as_bytes().to_vec())))
        .collect()
}

#[tokio::test]
async fn only_our_files_are_committed() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("kcp.yaml", "one"), ("old.yaml", "old"), ("other.yaml", "one")]);
    // Work of the person: staged, unstaged, untracked.
    write(&path.join("staged.yaml"), "mine");
    f.git(&path, &["add", "staged.yaml"]);
    write(&path.join("other.yaml"), "mine");
    write(&path.join("new.txt"), "mine");
    write(&path.join("x1.yaml"), "mine");
    let repo = Repo::open(&path).unwrap();
    // One file the caller wrote already, one it did not.
    write(&path.join("clusters/eu 1.yaml"), "eu");
    let list = change(&[
        ("clusters/eu 1.yaml", Some("eu")),
        ("kcp.yaml", Some("two")),
        ("old.yaml", None),
        ("never.yaml", None),
        // A name, not a pattern.
        ("x[1]*.yaml", Some("x")),
    ]);
    let id = f.command().commit_paths(&repo, &list, "# add \"eu\"\n\nbody").await.unwrap();
    assert_eq!(f.head(&path), id);
    assert_eq!(
        f.git(&path, &["show", "--name-status", "--format=%B", "HEAD"]),
        "# add \"eu\"\n\nbody\n\n\nA\tclusters/eu 1.yaml\nM\tkcp.yaml\nD\told.yaml\nA\tx[1]*.yaml"
    );
    assert_eq!(
        f.git(&path, &["status", "--porcelain"]),
        "M other.yaml\nA  staged.yaml\n?? new.txt\n?? x1.yaml"
    );
    let error = f.command().commit_paths(&repo, &list, "again").await.unwrap_err();
    assert!(matches!(error, CommitError::Nothing), "{error}");
}

#[tokio::test]
async fn foreign_work_is_named_and_kept() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("a.yaml", "1"), ("b.yaml", "1"), ("c.yaml", "1")]);
    write(&path.join("a.yaml"), "mine");
    write(&path.join("b.yaml"), "mine");
    f.git(&path, &["add", "b.yaml"]);
    write(&path.join("d.yaml"), "mine");
    let repo = Repo::open(&path).unwrap();
    let list =
        change(&[("a.yaml", Some("2")), ("b.yaml", Some("2")), ("c.yaml", Some("2")), ("d.yaml", Some("2"))]);
    let error = f.command().commit_paths(&repo, &list, "m").await.unwrap_err();
    let CommitError::Foreign(files) = &error else { panic!("{error}") };
    let found: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.dirt)).collect();
    assert_eq!(found, [("a.yaml", Dirt::Unstaged), ("b.yaml", Dirt::Staged), ("d.yaml", Dirt::Untracked)]);
    for (name, content) in [("a.yaml", "mine"), ("b.yaml", "mine"), ("c.yaml", "1"), ("d.yaml", "mine")] {
        assert_eq!(std::fs::read_to_string(path.join(name)).unwrap(), content);
    }
}

#[tokio::test]
async fn hooks_of_the_person_apply_and_a_refusal_leaves_the_index_alone() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("a.yaml", "1")]);
    let hook = path.join(".git/hooks/pre-commit");
    script(&hook, "echo 'error: policy says no' >&2; exit 1");
    let repo = Repo::open(&path).unwrap();
    let list = change(&[("a.yaml", Some("2")), ("b.yaml", Some("2"))]);
    let error = f.command().commit_paths(&repo, &list, "m").await.unwrap_err();
    assert!(matches!(error, CommitError::Refused { what: "commit", .. }), "{error}");
    assert!(error.to_string().contains("policy says no"), "{error}");
    assert_eq!(f.git(&path, &["status", "--porcelain"]), "M a.yaml\n?? b.yaml");
    // Once the hook agrees, the same call goes on from there.
    std::fs::remove_file(hook).unwrap();
    f.command().commit_paths(&repo, &list, "m").await.unwrap();
    assert_eq!(f.git(&path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn ignored_files_links_and_bare_repos_are_refused() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[(".gitignore", "*.tmp\n"), ("real/a.yaml", "1")]);
    std::os::unix::fs::symlink(f.path("elsewhere"), path.join("link")).unwrap();
    let repo = Repo::open(&path).unwrap();
    let error = f.command().commit_paths(&repo, &change(&[("x.tmp", Some("1"))]), "m").await.unwrap_err();
    assert!(error.to_string().contains("x.tmp is ignored"), "{error}");
    assert!(!path.join("x.tmp").exists());
    for name in ["link/x.yaml", "../x.yaml", ".git/hooks/pre-commit"] {
        let error = f.command().commit_paths(&repo, &change(&[(name, Some("1"))]), "m").await.unwrap_err();
        assert!(matches!(error, CommitError::Repo(crate::GitError::InvalidPath { .. })), "{error}");
    }
    let bare = Repo::init_bare_mirror(f.path("bare")).unwrap();
    let error = f.command().commit_paths(&bare, &change(&[("x", Some("1"))]), "m").await.unwrap_err();
    assert!(matches!(error, CommitError::Bare(_)), "{error}");
}

#[tokio::test]
async fn a_new_repo_takes_its_first_commit_and_needs_a_name() {
    let f = Fixture::new();
    let path = f.path("new/fleet");
    let repo = f.command().init(&path).await.unwrap();
    // Again is no harm.
    f.command().init(&path).await.unwrap();
    let list = change(&[("kcp.yaml", Some("1"))]);
    let nobody = GitCommand::new()
        .env("HOME", f.path("nowhere"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "user.useConfigOnly")
        .env("GIT_CONFIG_VALUE_0", "true");
    let error = nobody.commit_paths(&repo, &list, "m").await.unwrap_err();
    assert!(matches!(error, CommitError::NoIdentity), "{error}");
    assert!(error.to_string().contains("git config --global user.email"), "{error}");
    assert!(!path.join("kcp.yaml").exists(), "nothing is written before it is known who commits");
    f.command().commit_paths(&repo, &list, "m").await.unwrap();
}

//! Reading: snapshots, directories on disk, names of commits.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use kustomize_rs::{DirEntry, EntryKind, Files, FilesError};

use super::{Fixture, write};
use crate::{GitError, Repo, WorkTree};

fn names(entries: &[DirEntry]) -> Vec<(&str, EntryKind)> {
    entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect()
}

#[test]
fn a_snapshot_is_the_commit_and_not_the_disk() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("kcp.yaml", "one"), ("workspaces/shop/web.yaml", "web")]);
    write(&path.join("kcp.yaml"), "uncommitted");
    write(&path.join("new.yaml"), "uncommitted");
    let snapshot = Repo::open(&path).unwrap().snapshot("main").unwrap();
    assert_eq!(&*snapshot.read("kcp.yaml").unwrap(), b"one");
    assert_eq!(snapshot.entry("new.yaml"), Ok(None));
    assert_eq!(
        names(&snapshot.list("").unwrap()),
        [("kcp.yaml", EntryKind::File), ("workspaces", EntryKind::Directory)]
    );
    assert_eq!(snapshot.time, 1_700_000_000);
    assert_eq!(snapshot.author, "Ada <ada@acme.example>");
    assert_eq!(snapshot.subject, "change");
    assert!(matches!(snapshot.read("gone.yaml"), Err(FilesError::NotFound { .. })));
    assert!(matches!(snapshot.read("workspaces"), Err(FilesError::WrongKind { .. })));
    assert!(matches!(snapshot.list("kcp.yaml"), Err(FilesError::WrongKind { .. })));
    assert!(matches!(snapshot.read("../kcp.yaml"), Err(FilesError::Outside { .. })));
    assert!(snapshot.read("/etc/passwd").is_err());
    let small = Repo::open(&path).unwrap().snapshot("main").unwrap().with_max_file(2);
    assert_eq!(
        small.read("kcp.yaml"),
        Err(FilesError::TooLarge { path: "kcp.yaml".into(), size: 3, limit: 2 })
    );
}

/// The same links, read from a commit and from disk.
#[test]
fn links_stay_inside() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    write(&f.path("secret"), "outside");
    write(&path.join("base/a.yaml"), "a");
    write(&path.join("apps/b.yaml"), "b");
    for (target, link) in [
        ("../base/a.yaml", "apps/inside.yaml"),
        ("../base", "apps/base"),
        ("base/../base/./a.yaml", "apps/through.yaml"),
        ("../../secret", "apps/outside.yaml"),
        ("../../fleet/base/a.yaml", "apps/out-and-in.yaml"),
        ("base/../../..", "apps/late.yaml"),
        ("/etc/hostname", "apps/absolute.yaml"),
        ("loop.yaml", "apps/loop.yaml"),
        ("nowhere.yaml", "apps/dangling.yaml"),
        ("../.git/config", "apps/git.yaml"),
    ] {
        symlink(target, path.join(link)).unwrap();
    }
    f.commit(&path, &[]);
    let snapshot = Repo::open(&path).unwrap().snapshot("HEAD").unwrap();
    let disk = WorkTree::open(&path).unwrap();
    let both: [&dyn Files; 2] = [&snapshot, &disk];
    for files in both {
        for (link, content) in [
            ("apps/inside.yaml", "a"),
            ("apps/base/a.yaml", "a"),
            ("apps/through.yaml", "a"),
            ("apps/b.yaml", "b"),
        ] {
            assert_eq!(files.read(link).as_deref(), Ok(content.as_bytes()), "{link}");
        }
        for link in [
            "apps/outside.yaml",
            "apps/out-and-in.yaml",
            "apps/late.yaml",
            "apps/absolute.yaml",
            "apps/loop.yaml",
        ] {
            let read = files.read(link);
            assert!(matches!(read, Err(FilesError::Outside { .. })), "{link}: {read:?}");
        }
        // What a commit has not, the disk does not show either.
        for link in ["apps/dangling.yaml", "apps/git.yaml"] {
            assert!(matches!(files.read(link), Err(FilesError::NotFound { .. })), "{link}");
        }
        let list = files.list("apps").unwrap();
        assert!(list.contains(&DirEntry { name: "base".into(), kind: EntryKind::Directory }));
        // Listed, so that reading it says what is wrong.
        assert!(list.contains(&DirEntry { name: "outside.yaml".into(), kind: EntryKind::File }));
        assert_eq!(files.list("apps/base").unwrap().len(), 1);
    }
}

#[test]
fn a_chain_of_forty_links_is_followed_and_no_more() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    write(&path.join("0"), "end");
    for n in 1..=41 {
        symlink(format!("{}", n - 1), path.join(n.to_string())).unwrap();
    }
    f.commit(&path, &[]);
    let snapshot = Repo::open(&path).unwrap().snapshot("HEAD").unwrap();
    assert_eq!(snapshot.read("40").as_deref(), Ok(&b"end"[..]));
    assert!(matches!(snapshot.read("41"), Err(FilesError::Outside { .. })));
}

#[test]
fn ids_name_content() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("a/x.yaml", "x"), ("b/x.yaml", "x"), ("common.yaml", "1")]);
    std::fs::create_dir(path.join("linked")).unwrap();
    symlink("../common.yaml", path.join("linked/common.yaml")).unwrap();
    f.commit(&path, &[]);
    let repo = Repo::open(&path).unwrap();
    let before = repo.snapshot("HEAD").unwrap();
    assert_eq!(before.content_id("a"), before.content_id("b"));
    assert_eq!(before.content_id("a"), before.subtree_id("a").unwrap());
    assert_eq!(before.content_id("gone"), None);
    f.commit(&path, &[("common.yaml", "2")]);
    let after = repo.snapshot("HEAD").unwrap();
    assert_eq!(before.content_id("a"), after.content_id("a"));
    // Its tree is the same, but what a reader sees through the link is not.
    assert_eq!(before.subtree_id("linked").unwrap(), after.subtree_id("linked").unwrap());
    assert_ne!(before.content_id("linked"), after.content_id("linked"));
    assert_ne!(before.content_id(""), after.content_id(""));
}

#[test]
fn submodules_and_odd_names_are_told() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let odd = path.join(std::ffi::OsStr::from_bytes(b"odd/caf\xe9.yaml"));
    std::fs::create_dir_all(path.join("odd")).unwrap();
    std::fs::write(odd, "odd").unwrap();
    let commit = f.commit(&path, &[("a.yaml", "a")]);
    let entry = format!("160000,{commit},vendor");
    f.git(&path, &["update-index", "--add", "--cacheinfo", &entry]);
    f.git(&path, &["commit", "--quiet", "--message=submodule"]);
    let snapshot = Repo::open(&path).unwrap().snapshot("HEAD").unwrap();
    for error in [snapshot.list("vendor").unwrap_err(), snapshot.read("vendor/x.yaml").unwrap_err()] {
        assert!(error.to_string().contains("submodule"), "{error}");
    }
    assert_eq!(names(&snapshot.list("odd").unwrap()), [("caf\\xe9.yaml", EntryKind::File)]);
    assert_eq!(snapshot.read("odd/caf\\xe9.yaml").as_deref(), Ok(&b"odd"[..]));
    assert_eq!(WorkTree::open(&path).unwrap().list("odd").unwrap().len(), 1);
}

#[test]
fn the_disk_is_shown_as_git_would_commit_it() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    write(&path.join("cache/kept.yaml"), "tracked before it was ignored");
    f.commit(&path, &[("kcp.yaml", "one")]);
    write(&path.join(".gitignore"), "cache/\n*.tmp\n");
    write(&path.join("cache/other.yaml"), "ignored");
    write(&path.join("a.tmp"), "ignored");
    write(&path.join("kcp.yaml"), "two");
    write(&path.join("new/x.yaml"), "new");
    f.git(f.dir.path(), &["init", "--quiet", "fleet/nested"]);
    let disk = WorkTree::open(&path).unwrap();
    assert_eq!(
        names(&disk.list("").unwrap()),
        [
            (".gitignore", EntryKind::File),
            ("cache", EntryKind::Directory),
            ("kcp.yaml", EntryKind::File),
            ("nested", EntryKind::Directory),
            ("new", EntryKind::Directory),
        ]
    );
    assert_eq!(disk.read("kcp.yaml").as_deref(), Ok(&b"two"[..]));
    assert_eq!(names(&disk.list("cache").unwrap()), [("kept.yaml", EntryKind::File)]);
    assert_eq!(disk.entry(".git"), Ok(None));
    assert_eq!(disk.entry("a.tmp"), Ok(None));
    assert!(disk.list("nested").is_err(), "git records only the commit of another repo");
    // From below the top level the same rules hold.
    let below = WorkTree::open(path.join("cache")).unwrap();
    assert_eq!(names(&below.list("").unwrap()), [("kept.yaml", EntryKind::File)]);
}

#[test]
fn a_pipe_on_disk_is_not_waited_for() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let made = std::process::Command::new("mkfifo").arg(path.join("pipe.yaml")).status();
    assert!(made.unwrap().success());
    let error = WorkTree::open(&path).unwrap().read("pipe.yaml").unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn names_of_commits_are_looked_up_and_never_parsed() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let first = f.commit(&path, &[("a", "1")]);
    f.git(&path, &["tag", "--annotate", "v1", "--message=v1"]);
    let second = f.commit(&path, &[("a", "2")]);
    f.git(&path, &["branch", "team/x"]);
    f.git(&path, &["update-ref", "refs/remotes/origin/far", &first.to_string()]);
    let repo = Repo::open(&path).unwrap();
    for (rev, commit) in [
        ("HEAD", second),
        ("main", second),
        ("team/x", second),
        ("refs/heads/main", second),
        ("v1", first),
        ("refs/tags/v1", first),
        ("far", first),
        ("origin/far", first),
        ("HEAD~1", first),
        ("main~", first),
        ("main^", first),
        ("main~0", second),
    ] {
        assert_eq!(repo.resolve(rev).unwrap(), commit, "{rev}");
    }
    assert_eq!(repo.resolve(&first.to_string()).unwrap(), first);
    assert_eq!(repo.resolve(&first.to_string()[..8]).unwrap(), first);
    for rev in [
        "",
        "HEAD~2",
        "main^^",
        "main^2",
        "~1",
        "HEAD~99999999999",
        "main@{1}",
        ":/change",
        "HEAD:a",
        "--all",
        "..",
        "main..v1",
        "a\0b",
        "refs/../HEAD",
        "refs/heads/",
        "abc",
        "0000000000000000000000000000000000000000",
        "@",
        "/etc/passwd",
        "main ",
    ] {
        assert!(matches!(repo.resolve(rev), Err(GitError::UnknownRevision { .. })), "{rev:?}");
    }
    f.git(&path, &["branch", "v1", "main"]);
    let error = repo.resolve("v1").unwrap_err().to_string();
    assert!(error.contains("refs/heads/v1 and refs/tags/v1"), "{error}");
}

#[test]
fn repos_are_found_upwards_and_named() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    write(&path.join("a/b/x"), "");
    assert_eq!(Repo::discover(path.join("a/b")).unwrap().root().map(|p| p.join("")), Some(path.join("")));
    assert!(matches!(Repo::open(path.join("a")), Err(GitError::NotARepository { .. })));
    assert_eq!(Repo::open(&path).unwrap().head_branch().unwrap().as_deref(), Some("main"));
    assert_eq!(Repo::open(&path).unwrap().branch_tip("main").unwrap(), None);
}

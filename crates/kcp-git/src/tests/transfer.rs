//! The git program as transport: what it must not run, show or wait for.

use std::path::Path;
use std::time::Duration;

use kustomize_rs::Files;

use super::{Fixture, LONG, script};
use crate::{FetchRequest, PushRequest, Pushed, RemoteUrl, Repo, Transport, TransportError, Want};

fn fetch(mirror: &Repo, url: &str, deadline: Duration) -> FetchRequest {
    let want = Want { branch: "main".into(), into: "refs/remotes/origin/main".into() };
    FetchRequest {
        git_dir: mirror.git_dir().to_owned(),
        url: RemoteUrl::parse(url).unwrap(),
        wants: vec![want],
        deadline,
    }
}

#[tokio::test]
async fn a_fetch_brings_the_branch_and_nothing_else() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let first = f.commit(&path, &[("a", "1")]);
    f.git(&path, &["tag", "v1"]);
    f.git(&path, &["branch", "other"]);
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    // Hooks that are in the mirror do not run.
    for hook in ["post-checkout", "reference-transaction", "post-merge", "pre-push", "pre-auto-gc"] {
        script(&mirror.git_dir().join("hooks").join(hook), &format!("touch {}", f.path("ran").display()));
    }
    let git = f.command();
    let url = path.to_str().unwrap();
    let updates = git.fetch(fetch(&mirror, url, LONG)).await.unwrap();
    assert_eq!((updates[0].old, updates[0].new), (None, first));
    assert_eq!(f.git(mirror.git_dir(), &["for-each-ref", "--format=%(refname)"]), "refs/remotes/origin/main");
    // Backwards, too, with both ends told.
    f.git(&path, &["commit", "--quiet", "--amend", "--message=amended"]);
    let second = f.head(&path);
    let updates = git.fetch(fetch(&mirror, url, LONG)).await.unwrap();
    assert_eq!((updates[0].old, updates[0].new), (Some(first), second));
    let push = PushRequest {
        git_dir: mirror.git_dir().to_owned(),
        url: RemoteUrl::parse(url).unwrap(),
        branch: "pushed".into(),
        commit: first,
        expected: None,
        deadline: LONG,
    };
    assert_eq!(git.push(push.clone()).await.unwrap(), Pushed::Done);
    assert_eq!(git.push(PushRequest { commit: second, ..push.clone() }).await.unwrap(), Pushed::Moved);
    let on_top = PushRequest { commit: second, expected: Some(first), ..push };
    assert_eq!(git.push(on_top).await.unwrap(), Pushed::Done);
    assert!(!f.path("ran").exists(), "a hook ran");
}

#[tokio::test]
async fn the_remote_says_no() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    let commit = f.commit(&path, &[("a", "1")]);
    script(&path.join(".git/hooks/pre-receive"), "echo 'branch is protected' >&2; exit 1");
    let push = PushRequest {
        git_dir: path.join(".git"),
        url: RemoteUrl::parse(path.to_str().unwrap()).unwrap(),
        branch: "x".into(),
        commit,
        expected: None,
        deadline: LONG,
    };
    let error = f.command().push(push).await.unwrap_err();
    assert!(matches!(&error, TransportError::Rejected { branch, .. } if branch == "x"), "{error}");
}

#[tokio::test]
async fn failures_say_what_and_where() {
    let f = Fixture::new();
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    let gone = f.path("gone");
    let error = f.command().fetch(fetch(&mirror, gone.to_str().unwrap(), LONG)).await.unwrap_err();
    assert!(matches!(error, TransportError::Failed { .. }), "{error}");
    assert!(error.to_string().contains("does not appear to be a git repository"), "{error}");

    let missing = f.command().program(f.path("no-such-git"));
    let error = missing.fetch(fetch(&mirror, gone.to_str().unwrap(), LONG)).await.unwrap_err();
    assert!(matches!(error, TransportError::NoGit { .. }), "{error}");

    let path = f.repo("fleet");
    f.commit(&path, &[("a", "1")]);
    // What lies about in a repo that is not ours stays, also after a failure.
    let own = Repo::open(&path).unwrap();
    let litter = own.git_dir().join("objects/pack/tmp_pack_x");
    super::write(&litter, "");
    f.command().fetch(fetch(&own, gone.to_str().unwrap(), LONG)).await.unwrap_err();
    assert!(litter.exists());
    f.git(&path, &["branch", "--move", "main", "mains"]);
    let error = f.command().fetch(fetch(&mirror, path.to_str().unwrap(), LONG)).await.unwrap_err();
    assert!(matches!(error, TransportError::BranchMissing { .. }), "{error}");
}

#[tokio::test]
async fn credentials_are_in_no_error() {
    let f = Fixture::new();
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    let fake = f.path("fake-git");
    script(
        &fake,
        "echo \"fatal: unable to access 'https://bot:hunter2@git.example/x': $MY_TOKEN \\033[2J refused\" >&2; exit 128",
    );
    let git = f.command().program(&fake).env("MY_TOKEN", "swordfish");
    let error =
        git.fetch(fetch(&mirror, "https://someone@git.example/x", LONG)).await.unwrap_err().to_string();
    assert!(error.contains("unable to access 'https://git.example/x'"), "{error}");
    for secret in ["hunter2", "swordfish", "someone", "\u{1b}"] {
        assert!(!error.contains(secret), "{error}");
    }
    assert!(!format!("{git:?}").contains("swordfish"));
}

/// What the git program is told, seen by a stand-in that records it.
#[tokio::test]
async fn nothing_prompts_and_only_three_schemes_are_left() {
    let f = Fixture::new();
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    let (fake, seen) = (f.path("fake-git"), f.path("seen"));
    script(
        &fake,
        &format!("for a in \"$@\"; do echo \"$a\"; done >> {0}; env >> {0}; exit 1", seen.display()),
    );
    let git = f.command().program(&fake);
    git.fetch(fetch(&mirror, "ssh://git@git.example/x", LONG)).await.unwrap_err();
    let seen = std::fs::read_to_string(seen).unwrap();
    for line in [
        "GIT_TERMINAL_PROMPT=0",
        "GIT_ASKPASS=true",
        "GIT_ALLOW_PROTOCOL=https:ssh:file",
        "core.hooksPath=/dev/null",
        "fetch.fsckObjects=true",
        "core.sshCommand=ssh -o BatchMode=yes",
        "--no-tags",
        "+refs/heads/main:refs/remotes/origin/main",
    ] {
        assert!(seen.lines().any(|found| found == line), "{line} is missing in:\n{seen}");
    }
}

/// Folders whose names lead elsewhere: git itself writes them when told to.
#[tokio::test]
async fn damaged_folders_are_refused_by_fetch_and_by_reading() {
    let f = Fixture::new();
    let path = f.repo("fleet");
    f.commit(&path, &[("a", "1")]);
    let blob = f.git(&path, &["rev-parse", "HEAD:a"]);
    let list = f.path("list");
    std::fs::write(&list, format!("100644 blob {blob}\t..\n")).unwrap();
    let mktree = format!("git mktree < {}", list.display());
    let tree = f.git(&path, &["-c", &format!("alias.mk=!{mktree}"), "mk"]);
    let commit = f.git(&path, &["commit-tree", &tree, "-m", "hostile"]);
    f.git(&path, &["update-ref", "refs/heads/main", &commit]);
    let snapshot = Repo::open(&path).unwrap().snapshot(&commit).unwrap();
    let error = snapshot.list("").unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    let error = f.command().fetch(fetch(&mirror, path.to_str().unwrap(), LONG)).await.unwrap_err();
    assert!(error.to_string().contains("fsck"), "{error}");
    assert_eq!(mirror.ref_commit("refs/remotes/origin/main").unwrap(), None);
}

#[cfg(target_os = "linux")]
fn is_running(pid: &str) -> bool {
    // Ended but not yet collected by its new parent counts as ended.
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

#[cfg(target_os = "linux")]
async fn all_end(pids: &Path) {
    let pids = std::fs::read_to_string(pids).expect("it had started");
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        for _ in 0..200 {
            if !is_running(pid) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(!is_running(pid), "process {pid} is left behind");
    }
}

/// An ssh that never answers, does not listen to a polite request, and has a child. It writes down both.
#[cfg(target_os = "linux")]
fn hanging_ssh(f: &Fixture) -> (std::path::PathBuf, std::path::PathBuf) {
    let (ssh, pids) = (f.path("ssh"), f.path("pids"));
    let text = format!(
        "trap '' TERM\nsleep 1000 & echo $! > {0}.new\necho $$ >> {0}.new\nmv {0}.new {0}\nwait\nwait",
        pids.display()
    );
    script(&ssh, &text);
    (ssh, pids)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_fetch_that_hangs_is_ended_with_all_it_started() {
    let f = Fixture::new();
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    let (ssh, pids) = hanging_ssh(&f);
    let litter = mirror.git_dir().join("objects/pack/tmp_pack_x");
    std::fs::write(&litter, "").unwrap();
    let git = f.command().env("GIT_SSH_COMMAND", &ssh);
    let request = fetch(&mirror, "ssh://git.example/x", Duration::from_secs(3));
    let error = git.fetch(request).await.unwrap_err();
    assert!(matches!(error, TransportError::Deadline { .. }), "{error}");
    assert!(!litter.exists(), "what a stopped fetch leaves is swept");
    all_end(&pids).await;
    // The mirror is free again.
    let path = f.repo("fleet");
    f.commit(&path, &[("a", "1")]);
    git.fetch(fetch(&mirror, path.to_str().unwrap(), LONG)).await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_fetch_that_is_given_up_is_ended_too() {
    let f = Fixture::new();
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    let (ssh, pids) = hanging_ssh(&f);
    let git = f.command().env("GIT_SSH_COMMAND", &ssh);
    let request = fetch(&mirror, "ssh://git.example/x", LONG);
    let task = tokio::spawn(async move { git.fetch(request).await });
    while !pids.exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    task.abort();
    all_end(&pids).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_helper_that_stays_is_not_waited_for() {
    let f = Fixture::new();
    let mirror = Repo::init_bare_mirror(f.path("mirror")).unwrap();
    let (fake, pid) = (f.path("fake-git"), f.path("pid"));
    // As a shared ssh connection does: it keeps our pipe open.
    script(&fake, &format!("sleep 1000 & echo $! > {}; echo 'fatal: no' >&2; exit 1", pid.display()));
    let git = f.command().program(&fake);
    let error = git.fetch(fetch(&mirror, "https://git.example/x", LONG)).await.unwrap_err();
    assert!(matches!(error, TransportError::Failed { .. }), "{error}");
    let pid = std::fs::read_to_string(pid).unwrap();
    assert!(std::process::Command::new("kill").arg(pid.trim()).status().unwrap().success());
}

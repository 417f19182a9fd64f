//! Addresses and names that reach git: what is accepted has one of our schemes, is no option in disguise, and never
//! shows a password; any revision or ref name is looked up or refused without a panic.

#![no_main]

use std::process::Command;
use std::sync::LazyLock;

use kcp_git::{Author, CommitId, Edits, ExpectedTip, RemoteUrl, Repo, Scheme};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static REPO: LazyLock<(TempDir, Repo)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let made = Command::new("git").args(["init", "--quiet", "--bare"]).arg(folder.path()).status();
    assert!(made.is_ok_and(|status| status.success()), "git is needed");
    let repo = Repo::open(folder.path()).expect("it was just made");
    let author = Author { name: "a".into(), email: "a@example".into(), time: 0 };
    for content in ["1", "2"] {
        let edits = Edits::from([("f".into(), Some(content.into()))]);
        repo.write_branch("main", &edits, "m", &author, ExpectedTip::Any)
            .expect("an empty repo can be written");
    }
    (folder, repo)
});

fuzz_target!(|input: &str| {
    let (_, repo) = &*REPO;
    if let Ok(url) = RemoteUrl::parse(input) {
        assert!(!input.starts_with('-') && !input.contains(char::is_control), "{input:?}");
        let shown = url.to_string();
        if url.scheme() != Scheme::File {
            let authority = match input.split_once("://") {
                Some((_, rest)) => rest.split(['/', '?', '#']).next().unwrap_or_default(),
                None => input.split(':').next().unwrap_or_default(),
            };
            let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
            assert!(!user.contains(':'), "a password was accepted: {input:?}");
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            assert!(!host.starts_with('-') && !host.is_empty(), "{input:?}");
            // A host may take a token for a user name.
            let place = shown.strip_prefix("https://").and_then(|rest| rest.split('/').next());
            let hidden = place.is_none_or(|place| !place.contains('@'));
            assert!(hidden, "the user name is shown: {shown:?}");
        } else {
            assert!(url.local_path().is_some_and(|it| it.is_absolute()), "{input:?}");
        }
        assert_eq!(RemoteUrl::parse(input).ok().map(|it| it.to_string()), Some(shown));
    }
    if let Ok(id) = input.parse::<CommitId>() {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    if let Ok(commit) = repo.resolve(input) {
        assert!(repo.snapshot_at(commit).is_ok(), "{input:?} leads to no commit");
    }
    let _ = repo.branch_tip(input);
    let _ = repo.ref_commit(input);
});

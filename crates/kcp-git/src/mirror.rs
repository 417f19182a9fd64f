//! Bare mirrors: made by us, written by one process at a time, swept of what a killed fetch left behind. Must never
//! sweep a repo that we did not make.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::transport::TransportError;
use crate::{GitError, Repo};

/// Marks a repo as one of our mirrors; also the file that is locked.
const MARKER: &str = "kcp-mirror.lock";
/// How often a lock is tried.
const LOCK_POLL: Duration = Duration::from_millis(50);
/// How deep refs may be nested when looking for stale locks.
const MAX_DEPTH: usize = 32;

/// Held while fetching; ends with the process, whatever happens to it.
pub(crate) struct MirrorLock(Option<File>);

impl Repo {
    /// Opens the bare mirror at `dir`, making it if nothing is there, and sweeps what a killed fetch left behind.
    ///
    /// # Errors
    /// [`GitError::NotAMirror`] where something else is; the disk.
    pub fn init_bare_mirror(dir: impl AsRef<Path>) -> Result<Self, GitError> {
        let dir = dir.as_ref();
        let marker = dir.join(MARKER);
        let refuse = |why: &str| GitError::NotAMirror { path: dir.to_owned(), why: why.into() };
        if !marker.is_file() {
            let empty = match fs::read_dir(dir) {
                Ok(mut names) => names.next().is_none(),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => true,
                Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => {
                    return Err(refuse("it is a file"));
                }
                Err(e) => return Err(GitError::io(dir, "read the folder")(e)),
            };
            if !empty {
                return Err(refuse("it holds something that is not a mirror of ours"));
            }
            fs::create_dir_all(dir).map_err(GitError::io(dir, "make the folder"))?;
            // The marker first: cut off in the middle, the next start goes on.
            File::create(&marker).map_err(GitError::io(&marker, "make the file"))?;
        }
        if !dir.join("HEAD").is_file() {
            let mut options = git2::RepositoryInitOptions::new();
            options.bare(true).external_template(false).initial_head("main");
            git2::Repository::init_opts(dir, &options).map_err(GitError::during("make a bare mirror"))?;
        }
        let repo = git2::Repository::open_bare(dir).map_err(|e| refuse(e.message()))?;
        let git_dir = repo.path().to_owned();
        if let Some(lock) = try_lock(&git_dir)? {
            sweep_fetch(&git_dir, &lock);
            for name in ["packed-refs.lock", "HEAD.lock", "config.lock", "shallow.lock"] {
                remove(&git_dir.join(name));
            }
            sweep_locks(&git_dir.join("refs"), MAX_DEPTH);
        }
        Self::wrap(repo)
    }
}

fn try_lock(git_dir: &Path) -> Result<Option<MirrorLock>, GitError> {
    let path = git_dir.join(MARKER);
    let file = match File::open(&path) {
        Ok(file) => file,
        // Not a mirror: a person's own repo, where git's own locks are enough.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Some(MirrorLock(None))),
        Err(e) => return Err(GitError::io(&path, "open the lock")(e)),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(MirrorLock(Some(file)))),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(e)) => Err(GitError::io(&path, "lock")(e)),
    }
}

/// Waits for the mirror to be free, at most until `end`.
pub(crate) async fn lock(git_dir: &Path, end: Instant) -> Result<MirrorLock, TransportError> {
    loop {
        if let Some(lock) = try_lock(git_dir)? {
            return Ok(lock);
        }
        if Instant::now() >= end {
            return Err(TransportError::Busy { git_dir: git_dir.to_owned() });
        }
        sleep(LOCK_POLL).await;
    }
}

/// Removes what a stopped fetch left in a mirror: temporary packs and objects, and locks on remote-tracking refs.
/// What cannot be removed stays: it costs space, not truth.
pub(crate) fn sweep_fetch(git_dir: &Path, lock: &MirrorLock) {
    if lock.0.is_none() {
        return;
    }
    let objects = git_dir.join("objects");
    sweep_names(&objects.join("pack"), &["tmp_", ".tmp-"]);
    for first in 0..=255_u8 {
        sweep_names(&objects.join(format!("{first:02x}")), &["tmp_obj_"]);
    }
    sweep_locks(&git_dir.join("refs").join("remotes"), MAX_DEPTH);
    // Not all of `refs/kcp`: what was accepted may be written at this moment.
    sweep_locks(&git_dir.join("refs").join("kcp").join("remote"), MAX_DEPTH);
}

fn sweep_names(dir: &Path, prefixes: &[&str]) {
    let Ok(names) = fs::read_dir(dir) else { return };
    for entry in names.flatten() {
        if entry
            .file_name()
            .to_str()
            .is_some_and(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        {
            remove(&entry.path());
        }
    }
}

fn sweep_locks(dir: &Path, depth: usize) {
    let Ok(names) = fs::read_dir(dir) else { return };
    for entry in names.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            sweep_locks(&entry.path(), depth - 1);
        } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == "lock") {
            remove(&entry.path());
        }
    }
}

fn remove(path: &Path) {
    match fs::remove_file(path) {
        Ok(()) => tracing::debug!(path = %path.display(), "removed what a stopped fetch left behind"),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => {
            tracing::warn!(path = %path.display(), error = %e, "cannot remove what a stopped fetch left behind")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_its_own_mirror_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mirror");
        Repo::init_bare_mirror(&path).unwrap();
        let litter = ["objects/pack/tmp_pack_x", "refs/remotes/origin/main.lock", "packed-refs.lock"];
        for name in litter {
            fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
            fs::write(path.join(name), "").unwrap();
        }
        fs::write(path.join("objects/pack/pack-1.keep"), "").unwrap();
        // While another process fetches, its files are not ours to remove.
        let held = try_lock(&path).unwrap().unwrap();
        Repo::init_bare_mirror(&path).unwrap();
        assert!(path.join(litter[0]).exists());
        drop(held);
        Repo::init_bare_mirror(&path).unwrap();
        for name in litter {
            assert!(!path.join(name).exists(), "{name}");
        }
        assert!(path.join("objects/pack/pack-1.keep").exists());

        // A repo of somebody else is not taken over, nor a folder with anything in it.
        let other = dir.path().join("other");
        git2::Repository::init_bare(&other).unwrap();
        assert!(matches!(Repo::init_bare_mirror(&other), Err(GitError::NotAMirror { .. })));
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(Repo::init_bare_mirror(&file), Err(GitError::NotAMirror { .. })));
    }
}

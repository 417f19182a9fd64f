//! Tells that a branch of a repo on this machine may have moved. Only a hint: polling finds out. Must never fire
//! because of our own reading.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{EventKind, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::repo::branch_ref;
use crate::{GitError, Repo};

/// A rebase moves a branch many times within a moment: one hint is enough.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// Watches for as long as it lives.
#[derive(Debug)]
pub struct BranchWatch {
    _watcher: notify::RecommendedWatcher,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for BranchWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends `()` soon after `branch` of the repo at `path` may have moved; several moves in a row may send once. Where
/// the receiver is full, nothing is lost: one hint is already waiting. Needs a tokio runtime.
///
/// # Errors
/// No repo there, or the system refuses to watch (too many watches): polling still works.
pub fn watch_local(
    path: impl AsRef<Path>,
    branch: &str,
    sender: mpsc::Sender<()>,
) -> Result<BranchWatch, GitError> {
    let repo = Repo::open(path)?;
    let dir = repo.common_dir().to_owned();
    // Events come with real paths.
    let dir = dir.canonicalize().map_err(GitError::io(&dir, "find the folder"))?;
    let name = branch_ref(branch)?;
    let (raw, mut events) = mpsc::channel::<()>(1);
    let filter = Interesting { branch: dir.join(&name), packed: dir.join("packed-refs") };
    let failed =
        |e: notify::Error| GitError::Git { what: "watch the repository".into(), message: e.to_string() };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // An error means that events were lost: look as well.
        if event.map_or(true, |event| filter.concerns(&event)) {
            let _ = raw.try_send(());
        }
    })
    .map_err(failed)?;
    watcher.watch(&dir, RecursiveMode::NonRecursive).map_err(failed)?;
    watcher.watch(&dir.join("refs"), RecursiveMode::Recursive).map_err(failed)?;
    let task = tokio::spawn(async move {
        while events.recv().await.is_some() {
            tokio::time::sleep(DEBOUNCE).await;
            while events.try_recv().is_ok() {}
            if let Err(mpsc::error::TrySendError::Closed(())) = sender.try_send(()) {
                return;
            }
        }
    });
    Ok(BranchWatch { _watcher: watcher, task })
}

struct Interesting {
    branch: PathBuf,
    packed: PathBuf,
}

impl Interesting {
    fn concerns(&self, event: &notify::Event) -> bool {
        if matches!(event.kind, EventKind::Access(_)) {
            return false;
        }
        event.need_rescan()
            || event.paths.iter().any(|path| {
                // A folder on the way to the branch counts: it may come or go with the branch in it.
                *path == self.packed || self.branch.starts_with(path)
            })
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, ModifyKind, RenameMode};

    use super::*;

    #[test]
    fn only_changes_of_the_branch_count() {
        let filter = Interesting { branch: "/r/refs/heads/team/x".into(), packed: "/r/packed-refs".into() };
        let concerns = |kind, path: &str| filter.concerns(&notify::Event::new(kind).add_path(path.into()));
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        assert!(concerns(renamed, "/r/refs/heads/team/x"));
        assert!(concerns(renamed, "/r/packed-refs"));
        assert!(concerns(EventKind::Create(CreateKind::Folder), "/r/refs/heads/team"));
        // Our own reading, a lock, and other branches, ours among them.
        assert!(!concerns(EventKind::Access(AccessKind::Any), "/r/refs/heads/team/x"));
        for path in
            ["/r/refs/heads/team/x.lock", "/r/refs/heads/kcp/status", "/r/refs/heads/team/xy", "/r/HEAD"]
        {
            assert!(!concerns(renamed, path), "{path}");
        }
        let lost = notify::Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        assert!(filter.concerns(&lost));
    }
}

//! From the files of a commit to the desired state: config first, then each workspace, rendered.
//!
//! Rendering is cached by content: a workspace whose files did not change is not rendered again. A workspace that
//! cannot be rendered keeps the last state that could. No IO but through `Files`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kcp_core::config::Diagnostic;
use kcp_core::config::{self, Config};
use kcp_core::render::{self, Rendered};
use kcp_core::world::{Desired, WorkspaceState};
use kustomize_rs::{DirEntry, EntryKind, Files, FilesError};

/// Makes the desired state of one commit after the other.
#[derive(Debug, Default)]
pub struct Preparer {
    rendered: BTreeMap<String, Cached>,
    last_good: BTreeMap<String, Arc<Rendered>>,
}

#[derive(Debug)]
struct Cached {
    key: String,
    outcome: Result<Arc<Rendered>, Vec<String>>,
}

impl Preparer {
    /// Nothing cached yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the fleet's documents and renders each workspace.
    ///
    /// # Errors
    /// Every error of the fleet's own documents, located. A workspace that cannot be rendered is not an error of the
    /// whole: it becomes `WorkspaceState::Failed`.
    pub fn prepare(&mut self, commit: &str, files: &dyn Files) -> Result<Desired, Vec<Diagnostic>> {
        let config = config::load(files)?;
        let mut workspaces = BTreeMap::new();
        for name in config.workspaces.keys() {
            workspaces.insert(name.clone(), self.workspace(name, &config, files));
        }
        self.rendered.retain(|name, _| config.workspaces.contains_key(name));
        Ok(Desired { commit: commit.into(), config: Arc::new(config), workspaces })
    }

    /// Keeps nothing up that was only prepared so far.
    pub(crate) fn forget_last_good(&mut self) {
        self.last_good.clear();
    }

    fn workspace(&mut self, name: &str, config: &Config, files: &dyn Files) -> WorkspaceState {
        let directory = config.workspaces[name].dir.clone();
        let inside = files.content_id(&directory);
        let whole = files.content_id("");
        let known = |cached: &&Cached| [&inside, &whole].into_iter().flatten().any(|key| *key == cached.key);
        let outcome = match self.rendered.get(name).filter(known) {
            Some(cached) => cached.outcome.clone(),
            None => {
                let watched = Watched { files, directory: directory.clone(), left: AtomicBool::new(false) };
                let outcome = render::render(&watched, config, name)
                    .map(Arc::new)
                    .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>());
                // What reaches outside its own folder depends on the whole tree.
                let key = if watched.left.into_inner() { whole } else { inside };
                match key {
                    Some(key) => {
                        drop(self.rendered.insert(name.into(), Cached { key, outcome: outcome.clone() }))
                    }
                    None => drop(self.rendered.remove(name)),
                }
                outcome
            }
        };
        match outcome {
            Ok(rendered) => {
                self.last_good.insert(name.into(), rendered.clone());
                WorkspaceState::Rendered(rendered)
            }
            Err(errors) => WorkspaceState::Failed { errors, last_good: self.last_good.get(name).cloned() },
        }
    }
}

/// Notes whether anything outside one folder was looked at.
struct Watched<'a> {
    files: &'a dyn Files,
    directory: String,
    left: AtomicBool,
}

impl Watched<'_> {
    fn note(&self, path: &str) {
        let below =
            path.strip_prefix(&self.directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !below {
            self.left.store(true, Ordering::Relaxed);
        }
    }
}

impl Files for Watched<'_> {
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError> {
        self.note(path);
        self.files.entry(path)
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        self.note(path);
        self.files.read(path)
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        self.note(path);
        self.files.list(path)
    }

    fn content_id(&self, path: &str) -> Option<String> {
        self.files.content_id(path)
    }
}

//! What builds share: parsed files, built directories, whole results. Everything is found by content, so that a cache may
//! outlive commits and serve many trees at once; it never answers with anything that another build would not make.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::accumulate::Accumulated;
use crate::item::Item;
use crate::remote::Fetcher;
use crate::trace::{Content, Seens};
use crate::{Files, ResMap};

/// Bytes of sources whose objects are kept, unless told otherwise.
const BYTES: usize = 256 << 20;
/// What an object of a result is taken to weigh: it shares most with the file it came from.
const OBJECT: usize = 1024;
/// Contents of one directory that are kept.
const VERSIONS: usize = 4;

/// Parsed files, built directories and results, shared by builds through [`crate::Options::cache`].
///
/// It is bounded: what was not used for longest is forgotten first.
///
/// ```
/// use std::sync::Arc;
/// use kustomize_rs::{Cache, Kustomization, MemoryFiles, Options};
///
/// let files: MemoryFiles = [
///     ("base/kustomization.yaml", "resources: [cm.yaml]\n"),
///     ("base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"),
///     ("eu/kustomization.yaml", "namePrefix: eu-\nresources: [../base]\n"),
///     ("us/kustomization.yaml", "namePrefix: us-\nresources: [../base]\n"),
/// ]
/// .into_iter()
/// .collect();
/// let cache = Arc::new(Cache::default());
/// let options = Options { cache: Some(cache.clone()), ..Options::default() };
/// Kustomization::load(&files, "eu")?.build(&options)?;
/// Kustomization::load(&files, "us")?.build(&options)?;
/// assert_eq!(cache.statistics().files_parsed, 1);
/// # Ok::<(), kustomize_rs::Error>(())
/// ```
#[derive(Debug)]
pub struct Cache {
    state: Mutex<State>,
    bytes: usize,
}

/// What a [`Cache`] was asked and could answer, since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Files of objects that were parsed, and are kept.
    pub files_parsed: u64,
    /// Files of objects that were here already.
    pub files_shared: u64,
    /// Directories that were built for another one.
    pub directories_built: u64,
    /// Directories that were here already.
    pub directories_shared: u64,
    /// Results that were made.
    pub results_built: u64,
    /// Results that were here already.
    pub results_shared: u64,
}

#[derive(Debug, Default)]
struct State {
    /// What was used since the other half was begun. When it is full, it becomes the other half, and what that held is gone.
    young: Half,
    old: Half,
    statistics: CacheStatistics,
}

#[derive(Debug, Default)]
struct Half {
    files: HashMap<(Arc<str>, Content), Arc<Vec<Item>>>,
    directories: HashMap<Arc<str>, Vec<Arc<Made<Accumulated>>>>,
    results: HashMap<Arc<str>, Vec<Arc<Made<ResMap>>>>,
    weight: usize,
}

/// Something that was made of what was seen.
#[derive(Debug)]
pub(crate) struct Made<T> {
    pub(crate) seen: Seens,
    pub(crate) what: T,
}

impl Default for Cache {
    /// A cache of the objects of 256 MiB of sources.
    fn default() -> Self {
        Self::with_capacity(BYTES)
    }
}

impl PartialEq for Cache {
    /// A cache is equal to itself only.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Cache {}

impl Cache {
    /// A cache of the objects of about this many bytes of sources.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self { state: Mutex::default(), bytes }
    }

    /// What was asked and answered so far.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        self.state().statistics
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whoever panicked has left whole entries only.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The objects of a file.
    pub(crate) fn file(&self, path: &str, content: &Content) -> Option<Arc<Vec<Item>>> {
        let mut state = self.state();
        let key = (Arc::from(path), content.clone());
        let found = match state.young.files.get(&key) {
            Some(found) => Some(found.clone()),
            None => {
                let found = state.old.files.remove(&key);
                if let Some(found) = &found {
                    state.young.files.insert(key, found.clone());
                    state.young.weight += found.len() * OBJECT;
                }
                found
            }
        };
        state.statistics.files_shared += u64::from(found.is_some());
        found
    }

    pub(crate) fn keep_file(&self, path: &str, content: Content, bytes: usize, items: Arc<Vec<Item>>) {
        let mut state = self.state();
        state.statistics.files_parsed += 1;
        state.young.files.insert((path.into(), content), items);
        state.grow(bytes, self.bytes);
    }

    /// What a directory gives to others, where what it was made of is unchanged.
    pub(crate) fn directory(
        &self,
        dir: &str,
        files: &dyn Files,
        fetcher: Option<&dyn Fetcher>,
    ) -> Option<Arc<Made<Accumulated>>> {
        let known = {
            let state = self.state();
            both(&state.young.directories, &state.old.directories, dir)
        };
        // Files are read without the lock.
        let found = known.into_iter().find(|made| made.seen.are_unchanged(files, fetcher))?;
        let mut state = self.state();
        state.statistics.directories_shared += 1;
        keep(&mut state.young.directories, dir, &found);
        Some(found)
    }

    pub(crate) fn keep_directory(&self, dir: &str, made: Made<Accumulated>) {
        let mut state = self.state();
        state.statistics.directories_built += 1;
        let weight = made.what.items.len() * OBJECT;
        keep(&mut state.young.directories, dir, &Arc::new(made));
        state.grow(weight, self.bytes);
    }

    /// The result of a build, where what it was made of is unchanged.
    pub(crate) fn result(
        &self,
        dir: &str,
        files: &dyn Files,
        fetcher: Option<&dyn Fetcher>,
    ) -> Option<ResMap> {
        let known = {
            let state = self.state();
            both(&state.young.results, &state.old.results, dir)
        };
        let found = known.into_iter().find(|made| made.seen.are_unchanged(files, fetcher))?;
        let mut state = self.state();
        state.statistics.results_shared += 1;
        keep(&mut state.young.results, dir, &found);
        Some(found.what.clone())
    }

    pub(crate) fn keep_result(&self, dir: &str, made: Made<ResMap>) {
        let mut state = self.state();
        state.statistics.results_built += 1;
        let weight = made.what.len() * OBJECT;
        keep(&mut state.young.results, dir, &Arc::new(made));
        state.grow(weight, self.bytes);
    }
}

impl State {
    fn grow(&mut self, weight: usize, limit: usize) {
        self.young.weight += weight;
        if self.young.weight > limit / 2 {
            self.old = std::mem::take(&mut self.young);
        }
    }
}

type Versions<T> = HashMap<Arc<str>, Vec<Arc<Made<T>>>>;

/// All that is known about a directory, newest first.
fn both<T>(young: &Versions<T>, old: &Versions<T>, dir: &str) -> Vec<Arc<Made<T>>> {
    let of = |half: &Versions<T>| half.get(dir).cloned().unwrap_or_default();
    of(young).into_iter().rev().chain(of(old).into_iter().rev()).collect()
}

fn keep<T>(versions: &mut Versions<T>, dir: &str, made: &Arc<Made<T>>) {
    let versions = versions.entry(dir.into()).or_default();
    versions.retain(|it| !Arc::ptr_eq(it, made));
    if versions.len() >= VERSIONS {
        versions.remove(0);
    }
    versions.push(made.clone());
}

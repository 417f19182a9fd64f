//! A commit's files, read straight from the object database: no checkout, no filter, no hook. Must never write, and
//! never touch a work tree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use git2::{ErrorCode, ObjectType, Oid};
use kustomize_rs::{DirEntry, EntryKind, Files, FilesError};

use crate::resolve::{self, Found, Node, RawKind, Target, Walk, other};
use crate::{CommitId, GitError};

/// No file of a repo is read above this many bytes, unless told otherwise.
pub const DEFAULT_MAX_FILE: u64 = 4 * 1024 * 1024;
/// No link target is longer on any system that we know.
const MAX_LINK: usize = 4096;
/// A directory with more names is refused: nobody keeps one by hand.
const MAX_NAMES: usize = 100_000;
/// Directory names kept in memory; above it the cache starts again.
const MAX_CACHED_NAMES: usize = 500_000;
/// Directories looked at, at most, to find out whether links are below a path.
const MAX_SCAN: usize = 50_000;

/// One commit and its files. Cheap to keep: files are read when asked for, directories are remembered.
pub struct Snapshot {
    /// The commit.
    pub commit: CommitId,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// Its author, as `name <email>`. Anyone can write anything here.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    root: Oid,
    max_file: u64,
    repo: Mutex<git2::Repository>,
    trees: Mutex<TreeCache>,
}

#[derive(Default)]
struct TreeCache {
    names: usize,
    dirs: HashMap<Oid, Arc<Vec<Item>>>,
    /// Whether a link or a submodule is anywhere below.
    linked: HashMap<Oid, bool>,
}

/// A name in a directory, sorted by name.
struct Item {
    name: String,
    kind: RawKind,
    id: Oid,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("commit", &self.commit).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is a handle and a cache: both are sound after a panic elsewhere.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Snapshot {
    /// Takes its own handle, so that reading never waits for another user of the repo.
    pub(crate) fn new(repo: git2::Repository, commit: CommitId) -> Result<Self, GitError> {
        let (time, author, subject, root) = {
            let found =
                repo.find_commit(commit.0).map_err(GitError::during(format!("read commit {commit}")))?;
            let author = found.author();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (
                found.time().seconds(),
                format!("{} <{}>", text(author.name_bytes()), text(author.email_bytes())),
                text(found.summary_bytes().unwrap_or_default()),
                found.tree_id(),
            )
        };
        Ok(Self {
            commit,
            time,
            author,
            subject,
            root,
            max_file: DEFAULT_MAX_FILE,
            repo: Mutex::new(repo),
            trees: Mutex::default(),
        })
    }

    /// Files above this many bytes are refused when read.
    #[must_use]
    pub fn with_max_file(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// The id of the git tree at `path` (`""` is the root), or `None` where no directory is. Two equal ids mean the
    /// same names and bytes below, but a link below may lead out of the directory: see `content_id`.
    ///
    /// # Errors
    /// A damaged object database, or a link that leaves the tree.
    pub fn subtree_id(&self, path: &str) -> Result<Option<String>, FilesError> {
        Ok(match resolve::resolve(self, path)? {
            Some(Target::Dir(id)) => Some(id.to_string()),
            _ => None,
        })
    }

    fn items(&self, id: Oid, path: &str) -> Result<Arc<Vec<Item>>, FilesError> {
        if let Some(items) = lock(&self.trees).dirs.get(&id) {
            return Ok(items.clone());
        }
        let items = Arc::new(self.parse(id, path)?);
        let mut cache = lock(&self.trees);
        if cache.names + items.len() > MAX_CACHED_NAMES {
            cache.dirs.clear();
            cache.names = 0;
        }
        cache.names += items.len();
        cache.dirs.insert(id, items.clone());
        Ok(items)
    }

    fn parse(&self, id: Oid, path: &str) -> Result<Vec<Item>, FilesError> {
        let repo = lock(&self.repo);
        let tree = repo.find_tree(id).map_err(|e| damaged(path, &e))?;
        if tree.len() > MAX_NAMES {
            return Err(other(path, format!("a directory of {} names, more than {MAX_NAMES}", tree.len())));
        }
        let mut items = Vec::with_capacity(tree.len());
        for entry in &tree {
            let bytes = entry.name_bytes();
            let name = match std::str::from_utf8(bytes) {
                Ok(name) => name.to_owned(),
                // Still shown and readable, by a name that says which bytes they are.
                Err(_) => bytes.escape_ascii().to_string(),
            };
            if matches!(name.as_str(), "" | "." | "..") || name.contains(['/', '\0']) {
                return Err(other(path, format!("a damaged directory: it holds the name {name:?}")));
            }
            let kind = match entry.filemode_raw() & 0o170_000 {
                0o040_000 => RawKind::Dir,
                0o120_000 => RawKind::Link,
                0o160_000 => RawKind::Submodule,
                _ => RawKind::File,
            };
            items.push(Item { name, kind, id: entry.id() });
        }
        items.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = items.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(other(path, format!("a damaged directory: it holds {:?} twice", pair[0].name)));
        }
        Ok(items)
    }

    fn blob(&self, id: Oid, path: &str, limit: u64) -> Result<Arc<[u8]>, FilesError> {
        let repo = lock(&self.repo);
        let odb = repo.odb().map_err(|e| damaged(path, &e))?;
        // The size first: a large file must not be unpacked to be refused.
        let (size, kind) = odb.read_header(id).map_err(|e| damaged(path, &e))?;
        if kind != ObjectType::Blob {
            return Err(other(path, "damaged: the object is not a file"));
        }
        if size as u64 > limit {
            return Err(FilesError::TooLarge { path: path.into(), size: size as u64, limit });
        }
        let object = odb.read(id).map_err(|e| damaged(path, &e))?;
        Ok(Arc::from(object.data()))
    }

    /// Whether a link or a submodule is anywhere below; true also where there is too much to look at.
    fn linked(&self, id: Oid, path: &str) -> Result<bool, FilesError> {
        if let Some(known) = lock(&self.trees).linked.get(&id) {
            return Ok(*known);
        }
        let mut todo = vec![id];
        let mut clean = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(dir) = todo.pop() {
            if !seen.insert(dir) || lock(&self.trees).linked.get(&dir) == Some(&false) {
                continue;
            }
            let items = self.items(dir, path)?;
            let found = items.iter().any(|item| matches!(item.kind, RawKind::Link | RawKind::Submodule))
                || lock(&self.trees).linked.get(&dir) == Some(&true);
            if found || seen.len() > MAX_SCAN {
                lock(&self.trees).linked.insert(id, true);
                return Ok(true);
            }
            clean.push(dir);
            todo.extend(items.iter().filter(|item| item.kind == RawKind::Dir).map(|item| item.id));
        }
        let mut cache = lock(&self.trees);
        cache.linked.extend(clean.into_iter().map(|dir| (dir, false)));
        Ok(false)
    }
}

fn damaged(path: &str, error: &git2::Error) -> FilesError {
    let what = match error.code() {
        ErrorCode::NotFound => "an object is missing from the repository (a shallow or partial clone?)",
        _ => "an object cannot be read",
    };
    other(path, format!("{what}: {}", error.message()))
}

impl Walk for Snapshot {
    type Dir = Oid;
    type File = Oid;

    fn root(&self) -> Oid {
        self.root
    }

    fn child(&self, dir: &Oid, name: &str, path: &str) -> Result<Option<Found<Self>>, FilesError> {
        let items = self.items(*dir, path)?;
        let Ok(at) = items.binary_search_by(|item| item.name.as_str().cmp(name)) else { return Ok(None) };
        let item = &items[at];
        Ok(Some(match item.kind {
            RawKind::Dir => Node::Dir(item.id),
            RawKind::File => Node::File(item.id),
            RawKind::Submodule => Node::Submodule,
            RawKind::Link => {
                let target = self.blob(item.id, path, MAX_LINK as u64)?;
                let target = std::str::from_utf8(&target)
                    .map_err(|_| other(path, "a symlink whose target is not UTF-8"))?;
                Node::Link(target.to_owned())
            }
        }))
    }

    fn names(&self, dir: &Oid, path: &str) -> Result<Vec<(String, RawKind)>, FilesError> {
        Ok(self.items(*dir, path)?.iter().map(|item| (item.name.clone(), item.kind)).collect())
    }
}

impl Files for Snapshot {
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError> {
        resolve::entry(self, path)
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        let id = resolve::file(self, path)?;
        self.blob(id, path, self.max_file)
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        resolve::list(self, path)
    }

    fn content_id(&self, path: &str) -> Option<String> {
        match resolve::resolve(self, path).ok()?? {
            Target::File(id) => Some(id.to_string()),
            // A link below may lead to another part of the tree: the content is then that of the whole tree.
            Target::Dir(id) if self.linked(id, path).ok()? => Some(format!("{id}@{}", self.root)),
            Target::Dir(id) => Some(id.to_string()),
            Target::Submodule => None,
        }
    }
}

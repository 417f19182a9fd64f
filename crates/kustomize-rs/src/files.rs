//! The only way this crate reads anything: a tree of files, named by slash-separated relative paths.
//!
//! Implementations: an in-memory map (here), a git tree (crate kcp-git), a directory. They resolve symlinks inside
//! the tree and refuse those that leave it. Nothing here may touch a disk.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, without its directory.
    pub name: String,
    /// File or directory; a symlink counts as what it leads to.
    pub kind: EntryKind,
}

/// A file could not be read. A path that is not there is not an error of `entry` and `list`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// Nothing is there.
    #[error("{path}: no such file or directory")]
    NotFound {
        /// The path asked for.
        path: String,
    },
    /// A directory where a file was expected, or the other way round.
    #[error("{path}: is a {found}, not a {expected}")]
    WrongKind {
        /// The path asked for.
        path: String,
        /// What is there.
        found: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A symlink that leaves the tree, or a chain of them that is too long.
    #[error("{path}: symlink to {target}, which is outside the tree")]
    Outside {
        /// The path asked for.
        path: String,
        /// Where the link points.
        target: String,
    },
    /// The file is larger than what may be read.
    #[error("{path}: {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The path asked for.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Anything else: a damaged object database, a disk error.
    #[error("{path}: {message}")]
    Other {
        /// The path asked for.
        path: String,
        /// What went wrong.
        message: String,
    },
}

/// A tree of files. Paths are relative to its root, with `/` between names, without `.` and `..`; the root is `""`.
pub trait Files: Send + Sync {
    /// What is at `path`, or `None` if nothing is there.
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError>;
    /// The content of a file.
    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError>;
    /// The names in a directory, sorted by name.
    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError>;
    /// A name for the content below `path`: equal ids mean equal content. `None` where it is not known cheaply.
    /// Callers key their caches by it.
    fn content_id(&self, _path: &str) -> Option<String> {
        None
    }
}

/// Files in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryFiles {
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryFiles {
    /// An empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl Into<String>, content: impl AsRef<[u8]>) {
        self.files.insert(path.into(), Arc::from(content.as_ref()));
    }

    /// Removes a file; says whether it was there.
    pub fn remove(&mut self, path: &str) -> bool {
        self.files.remove(path).is_some()
    }

    fn below<'a>(&'a self, dir: &str) -> impl Iterator<Item = &'a str> {
        let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let start = prefix.clone();
        self.files
            .range(start..)
            .map(|(path, _)| path.as_str())
            .take_while(move |path| path.starts_with(&prefix))
    }
}

impl<P: Into<String>, C: AsRef<[u8]>> FromIterator<(P, C)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (P, C)>>(files: I) -> Self {
        let mut tree = Self::new();
        for (path, content) in files {
            tree.insert(path, content);
        }
        tree
    }
}

impl Files for MemoryFiles {
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError> {
        if self.files.contains_key(path) {
            return Ok(Some(EntryKind::File));
        }
        Ok((path.is_empty() || self.below(path).next().is_some()).then_some(EntryKind::Directory))
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        match (self.files.get(path), self.entry(path)?) {
            (Some(content), _) => Ok(content.clone()),
            (None, Some(_)) => {
                Err(FilesError::WrongKind { path: path.into(), found: "directory", expected: "file" })
            }
            (None, None) => Err(FilesError::NotFound { path: path.into() }),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        match self.entry(path)? {
            None => return Err(FilesError::NotFound { path: path.into() }),
            Some(EntryKind::File) => {
                return Err(FilesError::WrongKind {
                    path: path.into(),
                    found: "file",
                    expected: "directory",
                });
            }
            Some(EntryKind::Directory) => {}
        }
        let skip = if path.is_empty() { 0 } else { path.len() + 1 };
        let mut names: BTreeMap<&str, EntryKind> = BTreeMap::new();
        for file in self.below(path) {
            match file[skip..].split_once('/') {
                Some((directory, _)) => names.insert(directory, EntryKind::Directory),
                None => names.insert(&file[skip..], EntryKind::File),
            };
        }
        Ok(names.into_iter().map(|(name, kind)| DirEntry { name: name.into(), kind }).collect())
    }
}

//! A directory as it is on disk, uncommitted changes included: for looking ahead and editing, never for the daemon.
//! Must never read git's own folder, ignored files, or anything outside the directory.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kustomize_rs::{DirEntry, EntryKind, Files, FilesError};

use crate::resolve::{self, Found, Node, RawKind, Walk, other};
use crate::snapshot::DEFAULT_MAX_FILE;
use crate::{GitError, Repo};

/// The files below a directory. What git ignores and does not track is not there.
pub struct WorkTree {
    root: PathBuf,
    /// `root` relative to the top level of the repo.
    prefix: PathBuf,
    max_file: u64,
    git: Option<Mutex<Tracked>>,
}

struct Tracked {
    repo: git2::Repository,
    /// What the index held when this was opened.
    paths: BTreeSet<PathBuf>,
}

impl std::fmt::Debug for WorkTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkTree").field("root", &self.root).finish_non_exhaustive()
    }
}

impl WorkTree {
    /// Opens a directory; it need not be in a repo (then nothing is ignored) nor at its top level.
    ///
    /// # Errors
    /// Not a directory, or the repo around it cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, GitError> {
        let path = path.as_ref();
        let root = path.canonicalize().map_err(GitError::io(path, "open the directory"))?;
        if !root.is_dir() {
            let source = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(GitError::Io { path: root, what: "open the directory", source });
        }
        let mut prefix = PathBuf::new();
        let git = match git2::Repository::discover(&root) {
            Ok(repo) => {
                let top = repo.workdir().and_then(|top| top.canonicalize().ok());
                match top.as_deref().and_then(|top| root.strip_prefix(top).ok()) {
                    Some(below) => {
                        prefix = below.to_owned();
                        let index = repo.index().map_err(GitError::during("read the index"))?;
                        let name =
                            |entry: git2::IndexEntry| String::from_utf8(entry.path).ok().map(PathBuf::from);
                        let paths = index.iter().filter_map(name).collect();
                        Some(Mutex::new(Tracked { repo, paths }))
                    }
                    None => None,
                }
            }
            Err(e) if e.code() == git2::ErrorCode::NotFound => None,
            Err(e) => return Err(GitError::NotARepository { path: root, message: e.message().into() }),
        };
        Ok(Self { root, prefix, max_file: DEFAULT_MAX_FILE, git })
    }

    /// As [`WorkTree::open`] for the top level of a repo.
    ///
    /// # Errors
    /// The repo is bare.
    pub fn of(repo: &Repo) -> Result<Self, GitError> {
        let path = repo.root().ok_or_else(|| GitError::NotARepository {
            path: repo.git_dir().to_owned(),
            message: "it is bare: there are no files on disk".into(),
        })?;
        Self::open(path)
    }

    /// Files above this many bytes are refused when read.
    #[must_use]
    pub fn with_max_file(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether git leaves it out: ignored, and not tracked.
    fn hidden(&self, full: &Path, is_dir: bool, path: &str) -> Result<bool, FilesError> {
        let Some(git) = &self.git else { return Ok(false) };
        let Ok(below) = full.strip_prefix(&self.root) else { return Ok(true) };
        let name = self.prefix.join(below);
        let git = git.lock().unwrap_or_else(PoisonError::into_inner);
        let mut asked = name.clone();
        if is_dir {
            // A rule may be for folders only.
            asked.push("");
        }
        let ignored = git.repo.is_path_ignored(&asked).map_err(|e| other(path, e.message()))?;
        if !ignored {
            return Ok(false);
        }
        // Paths sort by their names: what is in a folder comes right after it.
        let tracked = git
            .paths
            .range(name.clone()..)
            .next()
            .is_some_and(|next| if is_dir { next.starts_with(&name) } else { *next == name });
        Ok(!tracked)
    }

    fn raw_kind(&self, full: &Path, path: &str) -> Result<Option<RawKind>, FilesError> {
        let meta = match fs::symlink_metadata(full) {
            Ok(meta) => meta,
            Err(e)
                if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(e) => return Err(other(path, e.to_string())),
        };
        if self.hidden(full, meta.is_dir(), path)? {
            return Ok(None);
        }
        Ok(Some(if meta.is_symlink() {
            RawKind::Link
        } else if !meta.is_dir() {
            RawKind::File
        } else if full.join(".git").exists() {
            // Another repo in this one: git records only its commit.
            RawKind::Submodule
        } else {
            RawKind::Dir
        }))
    }
}

/// Whether a name stays in its directory when joined to it.
fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
        && !name.contains('\0')
}

fn is_git_folder(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git")
}

impl Walk for WorkTree {
    type Dir = PathBuf;
    type File = PathBuf;

    fn root(&self) -> PathBuf {
        self.root.clone()
    }

    fn child(&self, dir: &PathBuf, name: &str, path: &str) -> Result<Option<Found<Self>>, FilesError> {
        if !is_plain(name) || is_git_folder(name) {
            return Ok(None);
        }
        let full = dir.join(name);
        Ok(match self.raw_kind(&full, path)? {
            None => None,
            Some(RawKind::Dir) => Some(Node::Dir(full)),
            Some(RawKind::File) => Some(Node::File(full)),
            Some(RawKind::Submodule) => Some(Node::Submodule),
            Some(RawKind::Link) => {
                let target = fs::read_link(&full).map_err(|e| other(path, e.to_string()))?;
                let target =
                    target.to_str().ok_or_else(|| other(path, "a symlink whose target is not UTF-8"))?;
                Some(Node::Link(target.to_owned()))
            }
        })
    }

    fn names(&self, dir: &PathBuf, path: &str) -> Result<Vec<(String, RawKind)>, FilesError> {
        let failed = |e: std::io::Error| other(path, e.to_string());
        let mut names = Vec::new();
        for entry in fs::read_dir(dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let raw = entry.file_name();
            // Shown by its bytes; reading it says that it is not there, as for any name that cannot be asked for.
            let name =
                raw.to_str().map_or_else(|| raw.as_encoded_bytes().escape_ascii().to_string(), str::to_owned);
            if is_git_folder(&name) {
                continue;
            }
            if let Some(kind) = self.raw_kind(&entry.path(), path)? {
                names.push((name, kind));
            }
        }
        Ok(names)
    }
}

impl Files for WorkTree {
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError> {
        resolve::entry(self, path)
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        let full = resolve::file(self, path)?;
        let failed = |e: std::io::Error| other(path, e.to_string());
        let meta = fs::symlink_metadata(&full).map_err(failed)?;
        if !meta.is_file() {
            // Reading a pipe or a device would wait for ever.
            return Err(other(path, "is not a regular file"));
        }
        let limit = self.max_file;
        if meta.len() > limit {
            return Err(FilesError::TooLarge { path: path.into(), size: meta.len(), limit });
        }
        let mut content = Vec::new();
        let file = fs::File::open(&full).map_err(failed)?;
        file.take(limit.saturating_add(1)).read_to_end(&mut content).map_err(failed)?;
        if content.len() as u64 > limit {
            return Err(FilesError::TooLarge { path: path.into(), size: content.len() as u64, limit });
        }
        Ok(Arc::from(content))
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        resolve::list(self, path)
    }
}

//! A directory of the disk as [`Files`]. It must never read what is outside its root, also not by symlinks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kustomize_rs::{DirEntry, EntryKind, Files, FilesError};

/// Larger files are refused unread.
const LARGEST: u64 = 64 << 20;

pub(crate) struct Disk {
    root: PathBuf,
}

impl Disk {
    /// The tree below `root`.
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: root.canonicalize()? })
    }

    /// `dir` as a path of this tree.
    pub(crate) fn relative(&self, dir: &Path) -> Option<String> {
        Some(dir.canonicalize().ok()?.strip_prefix(&self.root).ok()?.to_str()?.to_owned())
    }

    /// Where a path leads, if anywhere.
    fn resolve(&self, path: &str) -> Result<Option<PathBuf>, FilesError> {
        match self.root.join(path).canonicalize() {
            Ok(real) if real.starts_with(&self.root) => Ok(Some(real)),
            Ok(real) => Err(FilesError::Outside { path: path.into(), target: real.display().to_string() }),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(other(path, &error)),
        }
    }

    fn existing(&self, path: &str) -> Result<PathBuf, FilesError> {
        self.resolve(path)?.ok_or_else(|| FilesError::NotFound { path: path.into() })
    }
}

impl Files for Disk {
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError> {
        let kind = |real: PathBuf| if real.is_dir() { EntryKind::Directory } else { EntryKind::File };
        Ok(self.resolve(path)?.map(kind))
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        let real = self.existing(path)?;
        let about = fs::metadata(&real).map_err(|error| other(path, &error))?;
        if !about.is_file() {
            return Err(FilesError::WrongKind { path: path.into(), found: "directory", expected: "file" });
        }
        if about.len() > LARGEST {
            return Err(FilesError::TooLarge { path: path.into(), size: about.len(), limit: LARGEST });
        }
        fs::read(&real).map(Arc::from).map_err(|error| other(path, &error))
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.existing(path)?).map_err(|error| other(path, &error))? {
            let entry = entry.map_err(|error| other(path, &error))?;
            let kind = if entry.path().is_dir() { EntryKind::Directory } else { EntryKind::File };
            entries.push(DirEntry { name: entry.file_name().to_string_lossy().into_owned(), kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }
}

fn other(path: &str, error: &io::Error) -> FilesError {
    FilesError::Other { path: path.into(), message: error.to_string() }
}

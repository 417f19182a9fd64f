//! One reconciler for a fleet: a lock on this machine, and a name in the status branch for all others.
//!
//! The lock is an advisory file lock: the kernel frees it when the process ends, however it ends.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Who writes for a fleet, as the status branch names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Writer {
    /// Stable name of the reconciler; the same name takes over from itself after a crash.
    pub id: String,
    /// RFC 3339.
    pub since: String,
    /// It ended in good order: anybody may follow.
    #[serde(default)]
    pub released: bool,
}

/// The lock could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process of this machine has it.
    #[error(
        "another reconciler works for this fleet on this machine: {holder}. One writer at a time: stop it first, or use \
         `kubectl kcp plan` and `kubectl kcp status`, which only read"
    )]
    Held {
        /// What the other wrote about itself.
        holder: String,
    },
    /// The status branch names another machine's reconciler.
    #[error(
        "another reconciler writes for this fleet: {id}, since {since}. One writer at a time: stop it first; if it is gone \
         for good, start this one with --take-over"
    )]
    Elsewhere {
        /// Its id.
        id: String,
        /// RFC 3339.
        since: String,
    },
    /// The file cannot be used.
    #[error("lock file {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The lock of a fleet on this machine; freed when dropped.
#[derive(Debug)]
pub struct FleetLock {
    _file: File,
}

impl FleetLock {
    /// Takes the lock of `fleet` in `directory`; `holder` is what others are told while it is held.
    ///
    /// # Errors
    /// `Held` if another process has it.
    pub fn take(directory: &Path, fleet: &str, holder: &str) -> Result<Self, LockError> {
        let path = directory.join(format!("{fleet}.lock"));
        let io = |source| LockError::Io { path: path.clone(), source };
        std::fs::create_dir_all(directory).map_err(io)?;
        let mut file =
            File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.take(1024).read_to_string(&mut holder);
                return Err(LockError::Held { holder: holder.trim().into() });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        file.write_all(holder.as_bytes()).map_err(io)?;
        Ok(Self { _file: file })
    }
}

/// Whether `writer`, as the status branch names it, lets the reconciler `id` work.
///
/// # Errors
/// `Elsewhere` if another reconciler wrote last and did not end in good order.
pub fn check_writer(writer: Option<&Writer>, id: &str, take_over: bool) -> Result<(), LockError> {
    match writer {
        Some(writer) if writer.id != id && !writer.released && !take_over => {
            Err(LockError::Elsewhere { id: writer.id.clone(), since: writer.since.clone() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_is_told_who_has_it_and_a_freed_lock_can_be_taken() {
        let directory = tempfile::tempdir().unwrap();
        let first = FleetLock::take(directory.path(), "f1", "process 7").unwrap();
        let error = FleetLock::take(directory.path(), "f1", "process 8").unwrap_err();
        assert!(error.to_string().contains("process 7"), "{error}");
        FleetLock::take(directory.path(), "f2", "process 8").unwrap();
        drop(first);
        FleetLock::take(directory.path(), "f1", "process 8").unwrap();
    }

    #[test]
    fn another_machines_writer_is_refused_until_it_released_or_is_taken_over() {
        let other = Writer { id: "a".into(), since: "2026-01-01T00:00:00Z".into(), released: false };
        assert!(check_writer(Some(&other), "b", false).is_err());
        assert!(check_writer(Some(&other), "a", false).is_ok());
        assert!(check_writer(Some(&other), "b", true).is_ok());
        assert!(check_writer(Some(&Writer { released: true, ..other }), "b", false).is_ok());
        assert!(check_writer(None, "b", false).is_ok());
    }
}

//! Break-glass without git: a file beside the daemon that may only reduce what is done, and ends by itself.

use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use kcp_core::world::{Halt, UnixSeconds};

/// The longest halt: what must last longer belongs into git, as `suspend`.
pub const LONGEST: UnixSeconds = 24 * 3600;

/// The halt file of one fleet.
#[derive(Debug, Clone)]
pub struct HaltFile {
    path: PathBuf,
}

impl HaltFile {
    /// The halt file of `fleet` below `directory`.
    #[must_use]
    pub fn new(directory: &Path, fleet: &str) -> Self {
        Self { path: directory.join(format!("{fleet}.halt.json")) }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The halt in force at `now`. A file that cannot be understood halts: somebody meant to stop. Nothing halts longer
    /// than `LONGEST` after the file was written.
    #[must_use]
    pub fn read(&self, now: UnixSeconds) -> Option<Halt> {
        let unreadable = |error: &dyn std::fmt::Display| {
            format!("the halt file {} cannot be read: {error}", self.path.display())
        };
        let halt = match std::fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice::<Halt>(&bytes)
                .unwrap_or_else(|error| Halt { until: UnixSeconds::MAX, reason: unreadable(&error) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => Halt { until: UnixSeconds::MAX, reason: unreadable(&error) },
        };
        // Counted from a time that stands still: an end that moves with the clock never comes.
        let until = halt.until.min(self.written(now).saturating_add(LONGEST));
        (until > now).then_some(Halt { until, ..halt })
    }

    /// When the file was written; the beginning of this day where that cannot be said.
    fn written(&self, now: UnixSeconds) -> UnixSeconds {
        let modified = std::fs::metadata(&self.path).and_then(|metadata| metadata.modified()).ok();
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let written = since.and_then(|since| since.as_secs().try_into().ok());
        written.unwrap_or(now - now.rem_euclid(LONGEST)).min(now)
    }

    /// Halts until `halt.until`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, halt: &Halt) -> io::Result<()> {
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        // Written beside and renamed, so that a reader never sees half of it.
        let beside = self.path.with_extension("tmp");
        std::fs::write(&beside, serde_json::to_vec_pretty(halt).map_err(io::Error::other)?)?;
        std::fs::rename(&beside, &self.path)
    }

    /// Ends a halt; says whether there was one.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn clear(&self) -> io::Result<bool> {
        match std::fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_halt_ends_by_itself_and_a_damaged_file_halts() {
        let directory = tempfile::tempdir().unwrap();
        let file = HaltFile::new(directory.path(), "f1");
        assert_eq!(file.read(100), None);
        file.write(&Halt { until: 200, reason: "storm".into() }).unwrap();
        assert_eq!(file.read(100).unwrap().reason, "storm");
        assert_eq!(file.read(200), None);
        std::fs::write(file.path(), "{").unwrap();
        assert!(file.read(300).unwrap().reason.contains("cannot be read"));
        file.write(&Halt { until: UnixSeconds::MAX, reason: "for ever".into() }).unwrap();
        let written = file.written(UnixSeconds::MAX);
        for later in [1, 60] {
            assert_eq!(file.read(written + later).unwrap().until, written + LONGEST, "it does not move");
        }
        assert_eq!(file.read(written + LONGEST), None);
        assert!(file.clear().unwrap());
        assert!(!file.clear().unwrap());
    }
}

//! What counts against the budgets, kept on this machine: the status branch is published later than it is done, and a
//! crash in between must not give a budget twice.

use std::fs::{File, rename};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kcp_core::world::Act;

/// The deletes and moves of the last hour, of one fleet.
#[derive(Debug, Clone)]
pub(crate) struct ActFile {
    path: PathBuf,
}

impl ActFile {
    /// The file of `fleet` below `directory`.
    pub(crate) fn new(directory: &Path, fleet: &str) -> Self {
        Self { path: directory.join(format!("{fleet}.acts.json")) }
    }

    /// What was written last; nothing, if there is no such file.
    ///
    /// # Errors
    /// It is there and cannot be read or understood.
    pub(crate) fn read(&self) -> io::Result<Vec<Act>> {
        match std::fs::read(&self.path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Replaces all of it. It is on the disk when this returns.
    ///
    /// # Errors
    /// It could not be written; what was there is still there.
    pub(crate) fn write(&self, acts: &[Act]) -> io::Result<()> {
        // Written beside and renamed, so that a reader never sees half of it.
        let beside = self.path.with_extension("tmp");
        let mut file = File::create(&beside)?;
        file.write_all(&serde_json::to_vec(acts).map_err(io::Error::other)?)?;
        file.sync_all()?;
        rename(&beside, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use kcp_core::world::ActKind;

    use super::*;

    #[test]
    fn what_was_done_is_known_after_a_crash_and_damage_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = ActFile::new(directory.path(), "f1");
        assert!(file.read().unwrap().is_empty());
        let act =
            Act { at: 7, workspace: "web".into(), kind: ActKind::Delete, id: "u-1 ConfigMap web/a".into() };
        file.write(std::slice::from_ref(&act)).unwrap();
        assert_eq!(ActFile::new(directory.path(), "f1").read().unwrap(), [act]);
        std::fs::write(&file.path, "[").unwrap();
        assert!(file.read().is_err());
    }
}

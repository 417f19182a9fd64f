//! The fleet repo: found from where the person stands, read as it is on disk.

use std::path::{Path, PathBuf};

use kcp_core::config::{self, Config};
use kcp_git::{Repo, WorkTree};

use crate::error::{CommandError, findings};

/// The repo that a command works on.
#[derive(Debug)]
pub(crate) struct FleetRepo {
    /// The repo.
    pub(crate) repo: Repo,
}

impl FleetRepo {
    /// The repo that `dir`, or else the current folder, is in.
    pub(crate) fn find(dir: Option<&Path>) -> Result<Self, CommandError> {
        let dir = dir.unwrap_or(Path::new("."));
        if !dir.is_dir() {
            return Err(CommandError::failure(format!("{}: there is no such folder", dir.display())));
        }
        let repo = Repo::discover(dir).map_err(|error| {
            CommandError::from(error)
                .hint("go to the fleet repo or name it with --repo DIR; `kubectl kcp init` makes one")
        })?;
        Ok(Self { repo })
    }

    /// Where it is, as an address for the reconciler.
    pub(crate) fn location(&self) -> &Path {
        self.repo.root().unwrap_or(self.repo.git_dir())
    }

    /// The top level of its files.
    pub(crate) fn root(&self) -> Result<&Path, CommandError> {
        self.repo.root().ok_or_else(|| {
            CommandError::failure(format!(
                "{} is bare: there are no files to edit",
                self.repo.git_dir().display()
            ))
            .hint("clone it and work in the clone")
        })
    }

    /// Its files as they are on disk.
    pub(crate) fn files(&self) -> Result<WorkTree, CommandError> {
        Ok(WorkTree::of(&self.repo)?)
    }

    /// Its documents as they are on disk.
    pub(crate) fn config(&self) -> Result<Config, CommandError> {
        config::load(&self.files()?).map_err(|found| unusable(&found))
    }

    /// A path of the repo for the file at `path` on disk, if it is inside.
    pub(crate) fn relative(&self, path: &Path) -> Option<String> {
        let root = self.repo.root()?.canonicalize().ok()?;
        let below = path.canonicalize().ok()?.strip_prefix(&root).ok().map(PathBuf::from)?;
        let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }
}

/// The documents of the fleet have errors.
pub(crate) fn unusable(found: &[yaml_span::Diagnostic]) -> CommandError {
    if let [only] = found
        && only.file == config::FLEET_FILE
        && only.message.contains("no such file")
    {
        return CommandError::failure("this repo is not a fleet: it has no kcp.yaml")
            .hint("`kubectl kcp init` makes it one");
    }
    findings("the documents of the fleet have", found)
}

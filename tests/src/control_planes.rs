//! Builds the programs of the control planes from the Go modules in `tests/control-planes`, once per version of each.
//! It must never run a program of another version than a module says, nor leave a half-built folder to be found.

pub(crate) mod go;
mod version;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use self::go::Go;
pub use self::version::{Kubernetes, UnknownKubernetes};

/// What every version of Kubernetes is tested with: built in the newest module, taken from there by the others.
const SHARED: [&str; 3] = ["etcd", "kwok", "stages.yaml"];

/// A folder with all programs of a control plane.
#[derive(Debug, Clone)]
pub struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// The folder that holds the programs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path of one program: `etcd`, `kube-apiserver`, `kube-controller-manager`, `kwok` or `kubectl`.
    pub fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The stages for kwok's `--config`.
    pub fn stages(&self) -> PathBuf {
        self.directory.join("stages.yaml")
    }

    /// Takes a folder that was filled before.
    ///
    /// # Errors
    /// [`BuildError::Incomplete`] when a program is missing in it.
    pub fn in_directory(directory: PathBuf) -> Result<Self, BuildError> {
        for name in ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "kwok", "stages.yaml"] {
            if !directory.join(name).is_file() {
                return Err(BuildError::Incomplete { directory, missing: name });
            }
        }
        Ok(Self { directory })
    }
}

/// Why there are no programs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The machine has no Go: tests that need control planes are skipped.
    #[error("no Go on this machine: control planes are built from source; install Go 1.26 or newer")]
    NoGo,
    /// `KCP_CONTROL_PLANES`, or what was built, does not hold all programs.
    #[error("{} has no {missing}; it must hold all programs of a control plane", directory.display())]
    Incomplete {
        /// The folder that was looked at.
        directory: PathBuf,
        /// The first program that is not there.
        missing: &'static str,
    },
    /// A call of `go` failed.
    #[error("`{command}` in {} failed:\n{output}", module.display())]
    Go {
        /// The folder of the Go module.
        module: PathBuf,
        /// The call.
        command: String,
        /// The end of what it wrote.
        output: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The programs of the newest Kubernetes. The environment variable `KCP_CONTROL_PLANES` names a folder to use instead,
/// for instance what [`build_of`] made of an older one.
///
/// # Errors
/// As [`build_of`].
pub fn build() -> Result<Programs, BuildError> {
    match std::env::var_os("KCP_CONTROL_PLANES").filter(|value| !value.is_empty()) {
        Some(directory) => Programs::in_directory(directory.into()),
        None => build_of(Kubernetes::default()),
    }
}

/// The programs of one version of Kubernetes, in `target/control-planes/HASH` of the workspace; builds them when they
/// are not there yet, which takes about ten minutes on two cores and blocks the calling thread. Calls at the same time,
/// also of other processes, build once.
///
/// # Errors
/// [`BuildError::NoGo`] without Go; the other variants when a step of the build fails.
pub fn build_of(kubernetes: Kubernetes) -> Result<Programs, BuildError> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.parent().unwrap_or(package).join("target/control-planes");
    let go = Go::find(&package.join("control-planes").join(kubernetes.as_str()), &go::PROGRAMS)?;
    if kubernetes == Kubernetes::default() {
        return once(&root, kubernetes, &go.hash(&[])?, |scratch| go.build_into(scratch, true));
    }
    // Before the lock is taken: it takes the same one.
    let newest = build_of(Kubernetes::default())?;
    let name = newest.directory.file_name().unwrap_or_default().as_encoded_bytes();
    once(&root, kubernetes, &go.hash(name)?, |scratch| {
        go.build_into(scratch, false)?;
        SHARED.iter().try_for_each(|name| link(&newest.program(name), &scratch.join(name)))
    })
}

/// The folder `name` in `root`, filled by `fill` when it is not complete.
fn once(
    root: &Path,
    kubernetes: Kubernetes,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<(), BuildError>,
) -> Result<Programs, BuildError> {
    let directory = root.join(name);
    if let Ok(programs) = Programs::in_directory(directory.clone()) {
        return Ok(programs);
    }
    fs::create_dir_all(root).map_err(|source| file_error("create", root, source))?;
    let lock_path = root.join("lock");
    let lock = File::create(&lock_path).map_err(|source| file_error("create", &lock_path, source))?;
    lock.lock().map_err(|source| file_error("lock", &lock_path, source))?;
    // Another process may have built them while this one waited.
    if let Ok(programs) = Programs::in_directory(directory.clone()) {
        return Ok(programs);
    }
    crate::skip::say(&format!(
        "building the control planes of Kubernetes {kubernetes} from source, once: about ten minutes on two cores"
    ));
    let scratch = root.join("unfinished");
    let _ = fs::remove_dir_all(&scratch);
    fill(&scratch)?;
    Programs::in_directory(scratch.clone())?;
    // What is at the final place is incomplete, or the second look above would have taken it.
    let _ = fs::remove_dir_all(&directory);
    fs::rename(&scratch, &directory).map_err(|source| file_error("rename", &scratch, source))?;
    Programs::in_directory(directory)
}

/// One file at two places; a copy where the file system has no links.
fn link(from: &Path, to: &Path) -> Result<(), BuildError> {
    fs::hard_link(from, to)
        .or_else(|_| fs::copy(from, to).map(drop))
        .map_err(|source| file_error("link", from, source))
}

pub(crate) fn file_error(action: &'static str, path: &Path, source: io::Error) -> BuildError {
    BuildError::File { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_go_is_told_from_a_broken_checkout() {
        let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("control-planes/1.36");
        let missing = &["no-such-program"];
        assert!(matches!(Go::find(&module, missing), Err(BuildError::NoGo)));
        assert!(matches!(Go::find(&module.join("gone"), missing), Err(BuildError::File { .. })));
    }

    #[test]
    fn an_incomplete_folder_is_refused_by_the_name_of_what_is_missing() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("etcd"), "").unwrap();
        let error = Programs::in_directory(directory.path().to_owned()).unwrap_err();
        assert!(error.to_string().contains("has no kube-apiserver"), "{error}");
    }
}

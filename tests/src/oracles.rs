//! Builds other people's programs that ours are compared with, from the Go modules in `tests/oracles`, once per version of
//! each. It must never take a program that happens to be on the machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::control_planes::{BuildError, file_error, go};

/// What is made of `tests/oracles/kustomize`: the command, and a program that builds many directories in one process.
const KUSTOMIZE: [(&str, &str); 2] =
    [("kustomize", "sigs.k8s.io/kustomize/kustomize/v5"), ("warm", "./warm")];

/// A folder with `kustomize`, the reference, and `warm` (see its source for how to ask it), in `target/oracles/HASH` of the
/// workspace; builds them when they are not there yet, which takes about a minute and blocks the calling thread.
///
/// # Errors
/// [`BuildError::NoGo`] without Go; the other variants when a step of the build fails.
pub fn kustomize() -> Result<PathBuf, BuildError> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let module = package.join("oracles/kustomize");
    let go = go::Go::find(&module, &go::PROGRAMS)?;
    let source = module.join("warm/main.go");
    let source = fs::read(&source).map_err(|error| file_error("read", &source, error))?;
    let root = package.parent().unwrap_or(package).join("target/oracles");
    let directory = root.join(go.hash(&source)?);
    let complete = || KUSTOMIZE.iter().all(|(name, _)| directory.join(name).is_file());
    if complete() {
        return Ok(directory);
    }
    fs::create_dir_all(&root).map_err(|source| file_error("create", &root, source))?;
    let lock_path = root.join("lock");
    let lock = File::create(&lock_path).map_err(|source| file_error("create", &lock_path, source))?;
    lock.lock().map_err(|source| file_error("lock", &lock_path, source))?;
    // Another process may have built them while this one waited.
    if complete() {
        return Ok(directory);
    }
    crate::skip::say("building the reference of kustomize from source, once: about a minute on two cores");
    let scratch = root.join("unfinished");
    let _ = fs::remove_dir_all(&scratch);
    go.build_packages(&scratch, &KUSTOMIZE.map(|(_, package)| package))?;
    let _ = fs::remove_dir_all(&directory);
    fs::rename(&scratch, &directory).map_err(|source| file_error("rename", &scratch, source))?;
    match KUSTOMIZE.iter().find(|(name, _)| !directory.join(name).is_file()) {
        Some(&(missing, _)) => Err(BuildError::Incomplete { directory, missing }),
        None => Ok(directory),
    }
}

/// The folder of [`kustomize`]; `None`, said on stderr, when the machine has no Go and `KCP_REQUIRE_CONTROL_PLANES` is not
/// `1`: the test returns.
///
/// # Panics
/// When the build fails, or where Go is required and missing.
pub fn kustomize_or_skip(test: &str) -> Option<PathBuf> {
    match kustomize() {
        Ok(directory) => Some(directory),
        Err(error) => {
            let required = std::env::var_os("KCP_REQUIRE_CONTROL_PLANES").is_some_and(|value| value == "1");
            assert!(matches!(error, BuildError::NoGo) && !required, "{test}: no reference: {error}");
            crate::skip::say(&format!("skipped: {test}: {error}"));
            None
        }
    }
}

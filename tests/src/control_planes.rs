//! Builds the programs of the control planes from the Go module in `tests/control-planes`, once per version of it.
//! It must never run a program of another version than the module says, nor leave a half-built folder to be found.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

/// Raise it when what is built changes while `go.mod` does not: it is part of the folder's name.
const RECIPE: &str = "2";

/// The official archive installs to a folder that is often not on the PATH of a CI job.
const GO: [&str; 2] = ["go", "/usr/local/go/bin/go"];

/// `go build` names a program after the last part of its package that is no version: etcd's comes out as `server`.
const PACKAGES: [&str; 5] = [
    "go.etcd.io/etcd/server/v3",
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-controller-manager",
    "k8s.io/kubernetes/cmd/kubectl",
    "sigs.k8s.io/kwok/cmd/kwok",
];

/// The stages (rules for what happens to fake nodes and pods) that come with kwok; without them it does nothing.
const STAGES: [&str; 4] = [
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/pod/fast/pod-ready.yaml",
    "kustomize/stage/pod/fast/pod-complete.yaml",
    "kustomize/stage/pod/fast/pod-delete.yaml",
];

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
    #[error("`{command}` in tests/control-planes failed:\n{output}")]
    Go {
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

/// The programs of this version of `tests/control-planes`; builds them when they are not there yet, which takes about
/// ten minutes on two cores and blocks the calling thread. Calls at the same time, also of other processes, build once.
///
/// The folder is `target/control-planes/HASH` of the workspace. The environment variable `KCP_CONTROL_PLANES` names a
/// folder to use instead.
///
/// # Errors
/// [`BuildError::NoGo`] without Go; the other variants when a step of the build fails.
pub fn build() -> Result<Programs, BuildError> {
    if let Some(directory) = std::env::var_os("KCP_CONTROL_PLANES").filter(|value| !value.is_empty()) {
        return Programs::in_directory(directory.into());
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = workspace.parent().unwrap_or(workspace).join("target/control-planes");
    let go = Go::find(&workspace.join("control-planes"), &GO)?;
    let directory = root.join(go.hash()?);
    if let Ok(programs) = Programs::in_directory(directory.clone()) {
        return Ok(programs);
    }
    fs::create_dir_all(&root).map_err(|source| file_error("create", &root, source))?;
    let lock_path = root.join("lock");
    let lock = File::create(&lock_path).map_err(|source| file_error("create", &lock_path, source))?;
    lock.lock().map_err(|source| file_error("lock", &lock_path, source))?;
    // Another process may have built them while this one waited.
    if let Ok(programs) = Programs::in_directory(directory.clone()) {
        return Ok(programs);
    }
    crate::skip::say("building the control planes from source, once: about ten minutes on two cores");
    let scratch = root.join("unfinished");
    let _ = fs::remove_dir_all(&scratch);
    go.build_into(&scratch)?;
    Programs::in_directory(scratch.clone())?;
    // What is at the final place is incomplete, or the second look above would have taken it.
    let _ = fs::remove_dir_all(&directory);
    fs::rename(&scratch, &directory).map_err(|source| file_error("rename", &scratch, source))?;
    Programs::in_directory(directory)
}

/// The Go program and the module it works on.
struct Go {
    program: PathBuf,
    module: PathBuf,
    version: String,
}

impl Go {
    /// The first of `programs` that is there.
    fn find(module: &Path, programs: &[&str]) -> Result<Self, BuildError> {
        // Without the folder, starting any program in it would fail as if the program were missing.
        let path = module.join("go.mod");
        fs::metadata(&path).map_err(|source| file_error("read", &path, source))?;
        for &program in programs {
            match Command::new(program).arg("env").arg("GOVERSION").current_dir(module).output() {
                Ok(output) if output.status.success() => {
                    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                    return Ok(Self { program: program.into(), module: module.to_owned(), version });
                }
                Ok(output) => return Err(go_error("go env GOVERSION", &output.stderr)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(file_error("run", Path::new(program), source)),
            }
        }
        Err(BuildError::NoGo)
    }

    /// Of everything that decides what is built.
    fn hash(&self) -> Result<String, BuildError> {
        let mut hash = Sha256::new();
        for part in [RECIPE, &self.version] {
            hash.update(part);
            hash.update([0]);
        }
        for name in ["go.mod", "go.sum"] {
            let path = self.module.join(name);
            hash.update(fs::read(&path).map_err(|source| file_error("read", &path, source))?);
            hash.update([0]);
        }
        Ok(hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }

    fn build_into(&self, directory: &Path) -> Result<(), BuildError> {
        fs::create_dir_all(directory).map_err(|source| file_error("create", directory, source))?;
        // With a slash at the end `-o` is a folder, also for a single program.
        let mut out = directory.as_os_str().to_owned();
        out.push("/");
        let version = self.list("{{.Version}}", "k8s.io/kubernetes")?;
        let mut build = Command::new(&self.program);
        build.args(["build", "-trimpath", "-ldflags", &linker_flags(&version), "-o"]).arg(out);
        build.args(PACKAGES).env("CGO_ENABLED", "0");
        self.run("go build", &mut build)?;
        let (built, etcd) = (directory.join("server"), directory.join("etcd"));
        fs::rename(&built, &etcd).map_err(|source| file_error("rename", &built, source))?;

        let kwok = PathBuf::from(self.list("{{.Dir}}", "sigs.k8s.io/kwok")?);
        let mut stages = String::new();
        for name in STAGES {
            let path = kwok.join(name);
            let stage = fs::read_to_string(&path).map_err(|source| file_error("read", &path, source))?;
            stages.push_str(&stage);
            stages.push_str("\n---\n");
        }
        let path = directory.join("stages.yaml");
        fs::write(&path, stages).map_err(|source| file_error("write", &path, source))
    }

    /// One fact about a module that `go.mod` requires.
    fn list(&self, format: &str, module: &str) -> Result<String, BuildError> {
        let mut list = Command::new(&self.program);
        list.args(["list", "-m", "-f", format, module]);
        Ok(self.run(&format!("go list -m {module}"), &mut list)?.trim().to_owned())
    }

    fn run(&self, shown: &str, command: &mut Command) -> Result<String, BuildError> {
        let output = command
            .current_dir(&self.module)
            .stdin(Stdio::null())
            .output()
            .map_err(|source| file_error("run", &self.program, source))?;
        if !output.status.success() {
            return Err(go_error(shown, &output.stderr));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Without symbols, and with the version that the programs say they are: the module alone leaves it at v0.0.0.
fn linker_flags(version: &str) -> String {
    let mut parts = version.trim_start_matches('v').split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut flags = "-s -w".to_owned();
    for package in ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] {
        for (name, value) in [("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)] {
            let _ = write!(flags, " -X {package}.{name}={value}");
        }
    }
    flags
}

/// Keeps the end: that is where the compiler says what is wrong.
fn go_error(command: &str, stderr: &[u8]) -> BuildError {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().collect();
    let output = lines[lines.len().saturating_sub(30)..].join("\n");
    BuildError::Go { command: command.to_owned(), output }
}

fn file_error(action: &'static str, path: &Path, source: io::Error) -> BuildError {
    BuildError::File { action, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_go_is_told_from_a_broken_checkout() {
        let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("control-planes");
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

    #[test]
    fn programs_say_the_version_of_the_module() {
        let flags = linker_flags("v1.36.3");
        assert!(flags.contains("k8s.io/component-base/version.gitVersion=v1.36.3"), "{flags}");
        assert!(flags.contains("k8s.io/component-base/version.gitMinor=36"), "{flags}");
    }
}

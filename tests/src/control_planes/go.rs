//! The calls of `go`: what identifies a build, and the build itself. It must only write into the folder it is given.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use super::{BuildError, file_error};

/// Raise it when what is built changes while `go.mod` does not: it is part of the folder's name.
const RECIPE: &str = "2";

/// The official archive installs to a folder that is often not on the PATH of a CI job.
pub(crate) const PROGRAMS: [&str; 2] = ["go", "/usr/local/go/bin/go"];

/// What a version of Kubernetes brings.
const KUBERNETES: [&str; 3] = [
    "k8s.io/kubernetes/cmd/kube-apiserver",
    "k8s.io/kubernetes/cmd/kube-controller-manager",
    "k8s.io/kubernetes/cmd/kubectl",
];

/// `go build` names a program after the last part of its package that is no version: etcd's comes out as `server`.
const AROUND: [&str; 2] = ["go.etcd.io/etcd/server/v3", "sigs.k8s.io/kwok/cmd/kwok"];

/// The stages (rules for what happens to fake nodes and pods) that come with kwok; without them it does nothing.
const STAGES: [&str; 4] = [
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/pod/fast/pod-ready.yaml",
    "kustomize/stage/pod/fast/pod-complete.yaml",
    "kustomize/stage/pod/fast/pod-delete.yaml",
];

/// The Go program and the module it works on.
pub(crate) struct Go {
    program: PathBuf,
    module: PathBuf,
    version: String,
}

impl Go {
    /// The first of `programs` that is there.
    pub(crate) fn find(module: &Path, programs: &[&str]) -> Result<Self, BuildError> {
        // Without the folder, starting any program in it would fail as if the program were missing.
        let path = module.join("go.mod");
        fs::metadata(&path).map_err(|source| file_error("read", &path, source))?;
        for &program in programs {
            match Command::new(program).arg("env").arg("GOVERSION").current_dir(module).output() {
                Ok(output) if output.status.success() => {
                    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                    return Ok(Self { program: program.into(), module: module.to_owned(), version });
                }
                Ok(output) => return Err(go_error(module, "go env GOVERSION", &output.stderr)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(file_error("run", Path::new(program), source)),
            }
        }
        Err(BuildError::NoGo)
    }

    /// Of everything that decides what is built; `from` stands for what comes from elsewhere.
    pub(crate) fn hash(&self, from: &[u8]) -> Result<String, BuildError> {
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
        hash.update(from);
        Ok(hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }

    /// Fills `directory` with the programs of Kubernetes, and with etcd, kwok and its stages where `around` says so.
    pub(super) fn build_into(&self, directory: &Path, around: bool) -> Result<(), BuildError> {
        fs::create_dir_all(directory).map_err(|source| file_error("create", directory, source))?;
        // With a slash at the end `-o` is a folder, also for a single program.
        let mut out = directory.as_os_str().to_owned();
        out.push("/");
        let version = self.list("{{.Version}}", "k8s.io/kubernetes")?;
        let mut build = Command::new(&self.program);
        build.args(["build", "-trimpath", "-ldflags", &linker_flags(&version), "-o"]).arg(out);
        build.args(KUBERNETES).args(AROUND.iter().filter(|_| around)).env("CGO_ENABLED", "0");
        self.run("go build", &mut build)?;
        if around { self.finish_around(directory) } else { Ok(()) }
    }

    /// Fills `directory` with programs of the module.
    pub(crate) fn build_packages(&self, directory: &Path, packages: &[&str]) -> Result<(), BuildError> {
        fs::create_dir_all(directory).map_err(|source| file_error("create", directory, source))?;
        let mut out = directory.as_os_str().to_owned();
        out.push("/");
        let mut build = Command::new(&self.program);
        build.args(["build", "-trimpath", "-ldflags", "-s -w", "-o"]).arg(out).args(packages);
        self.run("go build", build.env("CGO_ENABLED", "0")).map(drop)
    }

    /// Gives etcd its name, and kwok its stages.
    fn finish_around(&self, directory: &Path) -> Result<(), BuildError> {
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
            return Err(go_error(&self.module, shown, &output.stderr));
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
fn go_error(module: &Path, command: &str, stderr: &[u8]) -> BuildError {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().collect();
    let output = lines[lines.len().saturating_sub(30)..].join("\n");
    BuildError::Go { module: module.to_owned(), command: command.to_owned(), output }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_the_version_of_the_module() {
        let flags = linker_flags("v1.36.3");
        assert!(flags.contains("k8s.io/component-base/version.gitVersion=v1.36.3"), "{flags}");
        assert!(flags.contains("k8s.io/component-base/version.gitMinor=36"), "{flags}");
    }
}

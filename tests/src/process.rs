//! Child processes that never outlive the fleet: killed on drop, and by a reaper when this process itself is killed.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::Context as _;

/// How many lines at the end of a log an error quotes.
const TAIL: usize = 15;

/// A shell that waits for its input to end, which happens also when this process is killed, and then removes the
/// folder of the fleet and kills the process group that it leads: all programs of the fleet.
#[derive(Debug)]
pub(crate) struct Reaper {
    shell: Child,
    input: Option<ChildStdin>,
}

impl Reaper {
    /// Starts the reaper of a fleet that keeps its data in `directory`.
    pub(crate) fn start(directory: &Path) -> anyhow::Result<Self> {
        let mut shell = Command::new("sh")
            .args(["-c", "cat >/dev/null; rm -rf -- \"$1\"; kill -KILL 0", "reaper"])
            .arg(directory)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start `sh`, which cleans up after a killed test")?;
        let input = shell.stdin.take();
        Ok(Self { shell, input })
    }

    /// The process group that programs must join.
    pub(crate) fn group(&self) -> i32 {
        i32::try_from(self.shell.id()).expect("process ids are positive i32")
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}

/// A running program of a fleet; its output goes to a file.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command` in the process group of the reaper; its output is added to `DIRECTORY/NAME.log`. It sees nothing
    /// of this process's environment but the search path: a `KUBECONFIG` or a proxy must not change what a fleet does.
    pub(crate) fn start(
        name: &str,
        mut command: Command,
        directory: &Path,
        group: i32,
    ) -> anyhow::Result<Self> {
        let log = directory.join(format!("{name}.log"));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| format!("cannot write {}", log.display()))?;
        let both = file.try_clone().with_context(|| format!("cannot write {}", log.display()))?;
        let child = command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", directory)
            .current_dir(directory)
            .process_group(group)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(both)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(Self { name: name.to_owned(), child, log })
    }

    /// Fails when the program has ended, with the end of its log.
    pub(crate) fn check(&mut self) -> anyhow::Result<()> {
        match self.child.try_wait().with_context(|| format!("cannot ask after {}", self.name))? {
            None => Ok(()),
            Some(status) => anyhow::bail!("{} has ended ({status}):\n{}", self.name, self.log_tail()),
        }
    }

    /// The last lines of what it wrote.
    pub(crate) fn log_tail(&self) -> String {
        let text = String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is collected here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn the_reaper_kills_the_group_and_removes_the_folder_when_its_input_ends() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        fs::create_dir(&data).unwrap();
        let mut reaper = Reaper::start(&data).unwrap();
        let mut sleep = Command::new("sleep");
        sleep.arg("600");
        let mut process = Process::start("sleep", sleep, directory.path(), reaper.group()).unwrap();
        process.check().unwrap();
        // What the kernel does when this process dies.
        drop(reaper.input.take());
        let end = Instant::now() + Duration::from_secs(20);
        while process.check().is_ok() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(process.check().unwrap_err().to_string().contains("sleep has ended"));
        assert!(!data.exists());
    }
}

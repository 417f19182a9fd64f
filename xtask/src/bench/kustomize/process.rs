//! One build as a process: wall time, output, and the most memory that it held.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::Dir;
use crate::bench::proc;

/// What a pipe holds on Linux; a process that prints more waits until somebody reads.
const PIPE: usize = 64 << 10;

/// A program that builds a directory.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// The names of its CPU time and memory in a table.
    pub(super) cpu: &'static str,
    pub(super) memory: &'static str,
    path: PathBuf,
    arguments: &'static [&'static str],
}

pub(super) struct Run {
    pub(super) wall: Duration,
    /// In whole hundredths of a second: only many together say something.
    pub(super) cpu: Duration,
    pub(super) text: Vec<u8>,
}

impl Program {
    /// A program by the names of its wall time, CPU time and memory.
    pub(super) fn new(names: [&'static str; 3], path: &Path, arguments: &'static [&'static str]) -> Self {
        let [name, cpu, memory] = names;
        Self { name, cpu, memory, path: path.to_owned(), arguments }
    }

    fn command(&self, dir: &Dir) -> Command {
        let mut command = Command::new(&self.path);
        command.args(self.arguments);
        if self.arguments == ["--root"] {
            command.arg(dir.project());
        }
        command.arg(&dir.path).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// From the start of the process to its end.
    pub(super) fn run(&self, dir: &Dir) -> anyhow::Result<Run> {
        let (start, before) = (Instant::now(), proc::cpu_of_children()?);
        let output =
            self.command(dir).output().with_context(|| format!("cannot start {}", self.path.display()))?;
        let wall = start.elapsed();
        ensure!(output.status.success(), "{} fails for {}", self.name, dir.name);
        Ok(Run { wall, cpu: proc::cpu_of_children()?.saturating_sub(before), text: output.stdout })
    }

    /// The peak of resident memory, read when all is built and the output does not fit into the pipe; else `None`.
    pub(super) fn peak(&self, dir: &Dir) -> anyhow::Result<Option<u64>> {
        if dir.expected.len() <= PIPE + 1 {
            return Ok(None);
        }
        let mut child = self.command(dir).spawn()?;
        let mut out = child.stdout.take().context("no stdout")?;
        out.read_exact(&mut [0])?;
        let peak = proc::memory(child.id())?.peak;
        out.read_to_end(&mut Vec::new())?;
        child.wait()?;
        Ok(Some(peak))
    }
}

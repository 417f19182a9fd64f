//! A process that builds one directory after the other and says how long each took.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};

pub(super) struct Warm {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Warm {
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let ask = child.stdin.take().context("no stdin")?;
        let answers = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, ask, answers })
    }

    /// The output for a directory, and the time that building and printing into memory took.
    pub(super) fn build(&mut self, dir: &Path) -> anyhow::Result<(Vec<u8>, Duration)> {
        writeln!(self.ask, "{}", dir.display())?;
        let mut header = String::new();
        self.answers.read_line(&mut header)?;
        let mut words = header.split_whitespace();
        let ok = words.next() == Some("ok");
        let nanoseconds = words.next().context("the process ended")?.parse()?;
        let mut text = vec![0; words.next().context("a header without a length")?.parse()?];
        self.answers.read_exact(&mut text)?;
        ensure!(ok, "{}: {}", dir.display(), String::from_utf8_lossy(&text));
        Ok((text, Duration::from_nanos(nanoseconds)))
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

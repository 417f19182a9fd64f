//! The reference in one process that builds one directory after the other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};

/// The running program.
pub(super) struct Warm {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Warm {
    pub(super) fn start(program: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let ask = child.stdin.take().context("no stdin")?;
        let answers = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, ask, answers })
    }

    /// What it prints for a directory, or why it fails.
    pub(super) fn build(&mut self, dir: &Path) -> anyhow::Result<Result<String, String>> {
        writeln!(self.ask, "{}", dir.display())?;
        let mut header = String::new();
        self.answers.read_line(&mut header)?;
        let words: Vec<&str> = header.split_whitespace().collect();
        let [word, _, bytes] = words[..] else { bail!("the reference ended at {}", dir.display()) };
        let mut text = vec![0; bytes.parse()?];
        self.answers.read_exact(&mut text)?;
        let text = String::from_utf8(text).context("the reference prints no UTF-8")?;
        Ok(if word == "ok" { Ok(text) } else { Err(text) })
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

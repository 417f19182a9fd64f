//! The only place that prints. Data goes to stdout, all else to stderr. On a terminal, control characters of whatever
//! came from git or a cluster are shown as text: they must not move the cursor or change what was printed before.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::error::{CommandError, Exit};

/// How a piece of text looks where there are colours; never the only sign of its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    Plain,
    /// It is as it should be, or comes.
    Good,
    /// It is wrong, or goes.
    Bad,
    /// It waits or changes.
    Warn,
    /// Of less weight.
    Dim,
    /// A heading.
    Bold,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Warn => "\x1b[33m",
            Self::Dim => "\x1b[2m",
            Self::Bold => "\x1b[1m",
        }
    }
}

/// A line, or a cell of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text(Vec<(Option<Tone>, String)>);

impl Text {
    /// Text of one tone.
    pub(crate) fn toned(tone: Tone, text: impl Into<String>) -> Self {
        Self(vec![(Some(tone), text.into())])
    }

    /// The same with more at its end.
    pub(crate) fn and(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.0.push((Some(tone), text.into()));
        self
    }

    /// Without blanks at the end of the line.
    fn trimmed(mut self) -> Self {
        while let Some((_, last)) = self.0.last_mut() {
            last.truncate(last.trim_end().len());
            if !last.is_empty() {
                break;
            }
            self.0.pop();
        }
        self
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(vec![(None, text)])
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Rows below headings, in columns.
#[derive(Debug)]
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<Text>>,
}

impl Table {
    /// No rows yet.
    pub(crate) fn new(headings: impl Into<Vec<&'static str>>) -> Self {
        Self { headings: headings.into(), rows: Vec::new() }
    }

    /// Adds a row; cells are kept on one line.
    pub(crate) fn row(&mut self, cells: Vec<Text>) {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cells = cells
            .into_iter()
            .map(|cell| Text(cell.0.into_iter().map(|(tone, text)| (tone, one_line(&text))).collect()));
        self.rows.push(cells.collect());
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Where output goes and how it looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    out_terminal: bool,
    err_terminal: bool,
    colour: bool,
}

impl Ui {
    /// As the environment says.
    pub(crate) fn new() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self {
            out_terminal: io::stdout().is_terminal(),
            err_terminal: io::stderr().is_terminal(),
            colour: !set("NO_COLOR") && !dumb,
        }
    }

    /// Text as it is, on stdout.
    pub(crate) fn data(&self, text: &str) {
        write_out(&safe(text, self.out_terminal));
    }

    /// One line on stdout.
    pub(crate) fn line(&self, text: impl Into<Text>) {
        write_out(&(show(&text.into(), self.out_terminal, self.out_terminal && self.colour) + "\n"));
    }

    /// One line on stderr: what is not the answer itself.
    pub(crate) fn note(&self, text: impl Into<Text>) {
        write_err(&(show(&text.into(), self.err_terminal, self.err_terminal && self.colour) + "\n"));
    }

    /// JSON on stdout.
    pub(crate) fn json<T: Serialize>(&self, value: &T) -> Result<Exit, CommandError> {
        let text = serde_json::to_string_pretty(value);
        let text =
            text.map_err(|error| CommandError::failure(format!("cannot be shown as JSON: {error}")))?;
        self.data(&(text + "\n"));
        Ok(Exit::Yes)
    }

    /// YAML on stdout.
    pub(crate) fn yaml<T: Serialize>(&self, value: &T) -> Result<Exit, CommandError> {
        let value = serde_json::to_value(value);
        let value =
            value.map_err(|error| CommandError::failure(format!("cannot be shown as YAML: {error}")))?;
        self.data(&yaml_span::emit(&value));
        Ok(Exit::Yes)
    }

    /// A table on stdout.
    pub(crate) fn table(&self, table: &Table) {
        let columns = table.headings.len();
        let mut widths: Vec<usize> = table.headings.iter().map(|heading| heading.chars().count()).collect();
        for row in &table.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let headings: Vec<Text> =
            table.headings.iter().map(|heading| Text::toned(Tone::Bold, *heading)).collect();
        for row in std::iter::once(&headings).chain(&table.rows) {
            let mut line = Text::default();
            for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
                line.0.extend(cell.0.iter().cloned());
                if index + 1 < columns {
                    line.0.push((None, " ".repeat(width.saturating_sub(cell.width()) + 3)));
                }
            }
            self.line(line.trimmed());
        }
    }

    /// Why a command failed, on stderr.
    pub(crate) fn error(&self, error: &CommandError) {
        self.note(Text::toned(Tone::Bad, "error: ").and(Tone::Plain, error.message.clone()));
        for detail in &error.details {
            self.note(format!("  {detail}"));
        }
        for hint in &error.hints {
            self.hint(hint.clone());
        }
    }

    /// What to do next, on stderr.
    pub(crate) fn hint(&self, hint: impl Into<String>) {
        self.note(Text::toned(Tone::Dim, "hint: ").and(Tone::Plain, hint));
    }
}

fn show(text: &Text, terminal: bool, colour: bool) -> String {
    let mut out = String::new();
    for (tone, part) in &text.0 {
        let part = safe(part, terminal);
        match tone {
            Some(tone) if colour && !tone.code().is_empty() => {
                out.push_str(tone.code());
                out.push_str(&part);
                out.push_str("\x1b[0m");
            }
            _ => out.push_str(&part),
        }
    }
    out
}

/// Without anything that a terminal would obey, or that would change the order of what is read.
fn safe(text: &str, terminal: bool) -> Cow<'_, str> {
    let bad = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    if !terminal || !text.chars().any(bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if bad(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

fn write_out(text: &str) {
    // Whoever reads us may have seen enough: that is no failure of the command.
    let _ = io::stdout().lock().write_all(text.as_bytes());
}

fn write_err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_text_on_a_terminal_and_colours_are_ours_only() {
        let hostile = Text::toned(Tone::Bad, "a\x1b[2Jb\u{202e}");
        assert_eq!(show(&hostile, true, true), "\x1b[31ma\\u{1b}[2Jb\\u{202e}\x1b[0m");
        assert_eq!(show(&hostile, true, false), "a\\u{1b}[2Jb\\u{202e}");
        assert_eq!(show(&"a\tb\nc".into(), true, false), "a\tb\nc");
        assert_eq!(show(&Text::from("a").and(Tone::Dim, "  ").and(Tone::Dim, "").trimmed(), true, true), "a");
    }
}

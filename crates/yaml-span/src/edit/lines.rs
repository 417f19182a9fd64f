//! A text as lines and comments, and changes to it as replaced ranges. Knows nothing of values.

use std::ops::Range;

use granit_parser::{Event, Options, Parser};

use crate::emit::Layout;

/// A replacement of some bytes.
#[derive(Clone, Debug)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) with: String,
}

impl Splice {
    pub(super) fn new(range: Range<usize>, with: impl Into<String>) -> Self {
        Self { range, with: with.into() }
    }

    pub(super) fn insert(at: usize, with: impl Into<String>) -> Self {
        Self::new(at..at, with)
    }
}

/// A text that can be asked about its lines.
#[derive(Clone, Debug)]
pub(super) struct Text {
    text: String,
    comments: Vec<Range<usize>>,
    newline: &'static str,
}

impl Text {
    pub(super) fn new(text: String) -> Self {
        let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        Self { comments: comments(&text), newline: if crlf { "\r\n" } else { "\n" }, text }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }

    /// The text with its line ends, made of lines that have none.
    pub(super) fn join(&self, lines: &[String]) -> String {
        lines.join(self.newline)
    }

    pub(super) fn newline(&self) -> &'static str {
        self.newline
    }

    /// Where the line of an offset starts.
    pub(super) fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(self.bom(), |n| n + 1)
    }

    /// Where the line of an offset ends, its line end left out.
    pub(super) fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let line = rest.find('\n').map_or(rest, |n| &rest[..n]);
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// Where the next line starts.
    pub(super) fn next_line(&self, at: usize) -> usize {
        self.text[at..].find('\n').map_or(self.text.len(), |n| at + n + 1)
    }

    fn bom(&self) -> usize {
        if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
    }

    /// True when nothing but blanks stands before an offset in its line.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        self.text[self.line_start(at)..at].bytes().all(|b| b == b' ')
    }

    /// True when a comment starts inside a range.
    pub(super) fn has_comment(&self, range: Range<usize>) -> bool {
        let from = self.comments.partition_point(|c| c.start < range.start);
        self.comments.get(from).is_some_and(|c| c.start < range.end)
    }

    /// The first `wanted` byte from an offset on, past blanks, line ends and comments.
    pub(super) fn next_indicator(&self, from: usize, wanted: u8) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = from;
        loop {
            match bytes.get(at)? {
                b if *b == wanted => return Some(at),
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                b'#' => at = self.next_line(at),
                _ => return None,
            }
        }
    }

    /// The lines to add at the end of the text as a document of its own.
    pub(super) fn append(&self, lines: &[&str], marker: bool) -> Splice {
        let mut with = String::new();
        let ends = self.text.is_empty() || self.text.ends_with('\n');
        if !ends {
            with.push_str(self.newline);
        }
        if marker {
            with.push_str("---");
            with.push_str(self.newline);
        }
        with.push_str(&lines.join(self.newline));
        if ends {
            with.push_str(self.newline);
        }
        Splice::insert(self.text.len(), with)
    }

    /// The text with ranges replaced; `None` when they overlap or cut a character.
    pub(super) fn spliced(&self, mut splices: Vec<Splice>) -> Option<String> {
        splices.sort_by_key(|s| s.range.start);
        let mut out = String::with_capacity(self.text.len() + 256);
        let mut at = 0;
        for splice in splices {
            out.push_str(self.text.get(at..splice.range.start)?);
            out.push_str(&splice.with);
            at = splice.range.end.max(splice.range.start);
        }
        out.push_str(self.text.get(at..)?);
        Some(out)
    }
}

/// Where the comments of a text are, in order. A text that cannot be read has as many as were read.
fn comments(text: &str) -> Vec<Range<usize>> {
    if !text.contains('#') {
        return Vec::new();
    }
    let mut options = Options::default();
    options.set_emit_comments(true);
    options.max_buffered_comment_events = text.len();
    let mut found = Vec::new();
    for next in Parser::new_from_str_with_options(text, options) {
        let Ok((event, span)) = next else { break };
        if let (Event::Comment(..), Some(start), Some(end)) =
            (event, span.start.byte_offset(), span.end.byte_offset())
        {
            found.push(start..end);
        }
    }
    found.sort_by_key(|c| c.start);
    found
}

/// How the first nested blocks of a tree are laid out; the usual layout where there is none to learn from.
pub(super) fn layout(root: &crate::Node) -> Layout {
    let (mut step, mut list) = (None, None);
    learn(root, &mut step, &mut list);
    let usual = Layout::default();
    Layout { step: step.unwrap_or(usual.step), list: list.unwrap_or(usual.list) }
}

/// Depth is bounded by what the parser lets through.
fn learn(node: &crate::Node, step: &mut Option<usize>, list: &mut Option<usize>) {
    use crate::{Style, Value};
    if step.is_some() && list.is_some() {
        return;
    }
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(|item| learn(item, step, list)),
        Value::Mapping(entries) => {
            for (key, value) in entries {
                if value.style == Style::Block && value.origin == crate::Origin::Written {
                    let columns = value.span.start.column.checked_sub(key.span.start.column);
                    let target = if value.as_mapping().is_some() { &mut *step } else { &mut *list };
                    *target = target.or(columns);
                }
                learn(value, step, list);
            }
        }
        _ => {}
    }
}

//! The text itself: places by offset, and the indicators that the parser's events leave out.

use crate::{Mark, Span};

/// A text with the offsets of its lines.
pub(super) struct Source<'a> {
    text: &'a str,
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let breaks = bytes
            .iter()
            .enumerate()
            .filter(|(i, b)| **b == b'\n' || (**b == b'\r' && bytes.get(i + 1) != Some(&b'\n')));
        let lines = std::iter::once(0).chain(breaks.map(|(i, _)| i + 1)).collect();
        Self { text, lines }
    }

    /// Line and column of an offset.
    pub(super) fn mark(&self, offset: usize) -> Mark {
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let start = self.lines[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        Mark { offset, line, column: before.chars().filter(|c| *c != '\u{feff}').count() + 1 }
    }

    /// The first indicator that `wanted` accepts after `from`, past blanks, comments, tags, anchors and the
    /// indicators `-`, `?`, `:` and `,`.
    pub(super) fn indicator(&self, from: usize, wanted: fn(char) -> bool) -> Option<usize> {
        let mut rest = self.text.get(from..)?;
        loop {
            let c = rest.chars().next()?;
            let skip = match c {
                _ if wanted(c) => return Some(self.text.len() - rest.len()),
                '#' => rest.find(['\n', '\r'])?,
                '&' | '!' => rest.find(|c: char| c.is_whitespace())?,
                '-' | '?' | ':' | ',' | '\u{feff}' => c.len_utf8(),
                _ if c.is_whitespace() => c.len_utf8(),
                _ => return None,
            };
            rest = &rest[skip..];
        }
    }

    /// The span of a block scalar: from its indicator to the end of its text, trailing blank lines left out
    /// unless the header (`|+`) keeps them.
    pub(super) fn block_scalar(&self, start: usize, content: Span) -> Span {
        let header = &self.text[start..];
        let header_end = start + header.find(['\n', '\r']).unwrap_or(header.len());
        let header = self.text[start..header_end].split('#').next().unwrap_or_default();
        let body = self.text.get(content.bytes()).unwrap_or_default();
        let end = if header.contains('+') {
            content.end.offset
        } else if body.trim().is_empty() {
            start + header.trim_end().len()
        } else {
            content.start.offset + body.trim_end().len()
        };
        Span { start: self.mark(start), end: self.mark(end) }
    }
}

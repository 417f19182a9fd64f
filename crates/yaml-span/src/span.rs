//! Places in a text: a mark is one point, a span is a half-open range.

use std::fmt;

/// One point in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark {
    /// Bytes from the start of the text, a byte-order mark included.
    pub offset: usize,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

impl Mark {
    /// The first character of a text.
    pub const START: Self = Self { offset: 0, line: 1, column: 1 };
}

impl Default for Mark {
    fn default() -> Self {
        Self::START
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A range of a text: `start` is inside, `end` is the first point after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First point of the range.
    pub start: Mark,
    /// First point after the range.
    pub end: Mark,
}

impl Span {
    /// An empty range at `mark`.
    #[must_use]
    pub fn at(mark: Mark) -> Self {
        Self { start: mark, end: mark }
    }

    /// The bytes of the range, for slicing the text it came from.
    #[must_use]
    pub fn bytes(&self) -> std::ops::Range<usize> {
        self.start.offset..self.end.offset
    }
}

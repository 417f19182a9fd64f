//! Lines of a text with their indentation; blank ones and comments are passed over.

/// One line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    /// Blanks before it.
    pub(super) indent: usize,
    /// The rest, without blanks at its end.
    pub(super) text: &'t str,
    /// From 1.
    pub(super) number: usize,
}

pub(super) struct Lines<'t> {
    text: &'t str,
    /// Where the next line begins.
    at: usize,
    /// Its number, from 1.
    number: usize,
    /// The next line that says something, once it was asked for; and where the one after it begins.
    peeked: Option<Line<'t>>,
    after: (usize, usize),
}

impl<'t> Lines<'t> {
    /// `None` for text with characters that need a closer look, and for text that is cut off.
    pub(super) fn new(text: &'t str) -> Option<Self> {
        let control = |byte: &u8| (*byte < b' ' && !matches!(byte, b'\n' | b'\t')) || *byte == 0x7f;
        if !text.ends_with('\n') || text.as_bytes().iter().any(control) {
            return None;
        }
        let printable = |character: char| {
            character.is_ascii()
                || matches!(character, '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}')
                || matches!(character, '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
        };
        if !text.is_ascii() && !text.chars().all(printable) {
            return None;
        }
        Some(Self { text, at: 0, number: 1, peeked: None, after: (0, 1) })
    }

    /// The next line that says something. The outer `None`: it needs a closer look; the inner: there is none.
    #[expect(clippy::option_option, reason = "the two mean what they mean everywhere in this module")]
    pub(super) fn peek(&mut self) -> Option<Option<Line<'t>>> {
        if self.peeked.is_some() {
            return Some(self.peeked);
        }
        let (mut at, mut number) = (self.at, self.number);
        while at < self.text.len() {
            let rest = &self.text[at..];
            let end = rest.find('\n').unwrap_or(rest.len());
            let whole = &rest[..end];
            let text = whole.trim_start_matches(' ');
            let indent = whole.len() - text.len();
            let text = text.trim_end_matches(' ');
            (at, number) = (at + end + 1, number + 1);
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            // Tabs, directives and ends of documents.
            if text.starts_with(['\t', '%'])
                || text.ends_with('\t')
                || (indent == 0 && text.starts_with("..."))
            {
                return None;
            }
            self.peeked = Some(Line { indent, text, number: number - 1 });
            self.after = (at, number);
            return Some(self.peeked);
        }
        Some(None)
    }

    /// Goes on to the line after the next one.
    pub(super) fn next_line(&mut self) -> Option<Line<'t>> {
        let line = self.peek()??;
        self.peeked = None;
        (self.at, self.number) = self.after;
        Some(line)
    }

    /// Puts the rest of the next line in its place.
    pub(super) fn replace(&mut self, line: Line<'t>) {
        self.peeked = Some(line);
    }

    /// Text in a block, whose lines are indented further than `parent`. `chomp`: none of the breaks at its end, or all.
    pub(super) fn block(&mut self, parent: usize, chomp: Option<bool>) -> Option<String> {
        let mut out = String::new();
        let mut indent = None;
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let end = rest.find('\n').unwrap_or(rest.len());
            let whole = &rest[..end];
            let blanks = whole.len() - whole.trim_start_matches(' ').len();
            if blanks == whole.len() {
                // More blanks than the text is indented by are part of it, and before it they are wrong.
                match indent {
                    Some(indent) if blanks > indent => out.push_str(&whole[indent..]),
                    None if blanks > 0 => return None,
                    _ => {}
                }
            } else if blanks <= parent || indent.is_some_and(|indent| blanks < indent) {
                break;
            } else {
                let indent = *indent.get_or_insert(blanks);
                if whole[indent..].starts_with('\t') {
                    return None;
                }
                out.push_str(&whole[indent..]);
            }
            out.push('\n');
            self.at += end + 1;
            self.number += 1;
        }
        indent?;
        let kept = out.trim_end_matches('\n').len();
        match chomp {
            Some(true) => {}
            Some(false) => out.truncate(kept),
            None => out.truncate(kept + 1),
        }
        Some(out)
    }
}

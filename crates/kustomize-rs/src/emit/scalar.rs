//! How one string is written: plain, quoted or as a block, and where long text is folded.

use super::plain::means_string;
use super::{Emitter, WIDTH};

/// Where a string stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before a `:`, on one line.
    Key,
    /// Anywhere else; it may take several lines.
    Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Writes `text`; further lines of it begin at `indent`.
pub(super) fn write(emitter: &mut Emitter<'_>, text: &str, indent: usize, place: Place) {
    let may_fold = place == Place::Value;
    match style(text, place) {
        Style::Plain => plain(emitter, text, indent, may_fold),
        Style::Single => single(emitter, text, indent, may_fold),
        Style::Double => double(emitter, text, indent, may_fold),
        Style::Literal => literal(emitter, text, indent),
    }
}

/// What ends a line for YAML 1.1.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters that need no escape. The tab, the byte order mark and all beyond the basic plane do.
fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// What the characters of a text allow.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one text")]
struct Facts {
    indicator: bool,
    special: bool,
    breaks: bool,
    /// A blank or break at either end.
    loose_end: bool,
    trailing_space: bool,
    space_after_break: bool,
    space_before_break: bool,
}

/// Whether nothing about the characters of a text keeps it from being plain. Most texts are of this kind, and found to be in
/// one pass over their bytes; what is not is looked at closely.
fn is_harmless(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut previous = match bytes.first() {
        Some(first) if first.is_ascii_alphanumeric() || matches!(first, b'/' | b'_' | b'(' | b'$') => *first,
        _ => return false,
    };
    for byte in &bytes[1..] {
        let danger = match byte {
            b' ' => previous == b':',
            b'#' => previous == b' ',
            b'!'..=b'~' => false,
            _ => true,
        };
        if danger {
            return false;
        }
        previous = *byte;
    }
    !matches!(previous, b' ' | b':')
}

fn facts(text: &str) -> Facts {
    let mut facts =
        Facts { indicator: text.starts_with("---") || text.starts_with("..."), ..Facts::default() };
    let mut characters = text.chars().peekable();
    let mut previous: Option<char> = None;
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let blank_follows = next.is_none_or(|next| matches!(next, ' ' | '\t'));
        facts.indicator |= match (character, previous) {
            (
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                | '`',
                None,
            ) => true,
            ('?' | '-', None) | (':', _) => blank_follows,
            ('#', Some(previous)) => matches!(previous, ' ' | '\t') || is_break(previous),
            _ => false,
        };
        facts.special |= !is_printable(character);
        let at_end = previous.is_none() || next.is_none();
        if character == ' ' {
            facts.loose_end |= at_end;
            facts.trailing_space |= next.is_none();
            facts.space_after_break |= previous.is_some_and(is_break);
        } else if is_break(character) {
            facts.breaks = true;
            facts.loose_end |= at_end;
            facts.space_before_break |= previous == Some(' ');
        }
        previous = Some(character);
    }
    facts
}

pub(super) fn needs_style(text: &str) -> bool {
    style(text, Place::Value) != Style::Plain
}

fn style(text: &str, place: Place) -> Style {
    if is_harmless(text) {
        return if means_string(text) { Style::Plain } else { Style::Double };
    }
    let facts = facts(text);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if means_string(text) {
        Style::Plain
    } else {
        Style::Double
    };
    let unquotable = facts.special || facts.space_before_break;
    match wanted {
        _ if place == Place::Key && facts.breaks => Style::Double,
        Style::Plain if unquotable || facts.space_after_break => Style::Double,
        Style::Plain if facts.indicator || facts.breaks || facts.loose_end => Style::Single,
        Style::Literal if unquotable || facts.trailing_space => Style::Double,
        wanted => wanted,
    }
}

fn plain(emitter: &mut Emitter<'_>, text: &str, indent: usize, may_fold: bool) {
    // What ends before the edge cannot fold: no blank stands beyond it.
    if !may_fold || emitter.column + text.len() <= WIDTH {
        return emitter.text(text);
    }
    let mut rest = text;
    let mut after_space = false;
    while let Some(at) = rest.find(' ') {
        let (word, tail) = rest.split_at(at);
        after_space &= word.is_empty();
        emitter.text(word);
        rest = &tail[1..];
        if !after_space && emitter.column > WIDTH && !rest.starts_with(' ') {
            emitter.fold(indent);
        } else {
            emitter.put(' ');
        }
        after_space = true;
    }
    emitter.text(rest);
}

fn single(emitter: &mut Emitter<'_>, text: &str, indent: usize, may_fold: bool) {
    emitter.put('\'');
    let mut characters = text.chars().enumerate().peekable();
    let (mut after_space, mut after_break) = (false, false);
    while let Some((index, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if character == ' ' {
            let folds = may_fold && !after_space && emitter.column > WIDTH && index > 0;
            if folds && next.is_some_and(|next| next != ' ') {
                emitter.fold(indent);
            } else {
                emitter.put(' ');
            }
        } else if is_break(character) {
            emitter.put(character);
            emitter.column = 0;
        } else {
            if after_break {
                emitter.indent(indent);
            }
            if character == '\'' {
                emitter.put('\'');
            }
            emitter.put(character);
        }
        after_space = character == ' ';
        after_break = is_break(character);
    }
    emitter.put('\'');
}

fn double(emitter: &mut Emitter<'_>, text: &str, indent: usize, may_fold: bool) {
    // The reference looks for a byte order mark at the start of the text at every character.
    let escape_all = text.starts_with('\u{feff}');
    emitter.put('"');
    let mut characters = text.chars().enumerate().peekable();
    let mut after_space = false;
    while let Some((index, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if escape_all || !is_printable(character) || is_break(character) || matches!(character, '"' | '\\') {
            escape(emitter, character);
            after_space = false;
        } else if character == ' ' {
            if may_fold && !after_space && emitter.column > WIDTH && index > 0 && next.is_some() {
                emitter.fold(indent);
                if next == Some(' ') {
                    emitter.put('\\');
                }
            } else {
                emitter.put(' ');
            }
            after_space = true;
        } else {
            emitter.put(character);
            after_space = false;
        }
    }
    emitter.put('"');
}

fn escape(emitter: &mut Emitter<'_>, character: char) {
    emitter.put('\\');
    let short = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(character);
            let long = match code {
                0..=0xff => format!("x{code:02X}"),
                0x100..=0xffff => format!("u{code:04X}"),
                _ => format!("U{code:08X}"),
            };
            return emitter.text(&long);
        }
    };
    emitter.put(short);
}

/// `|` text: its lines as they are, with the hints that keep blanks at its start and breaks at its end.
fn literal(emitter: &mut Emitter<'_>, text: &str, indent: usize) {
    emitter.put('|');
    if text.starts_with(|first| first == ' ' || is_break(first)) {
        emitter.put('2');
    }
    let mut ends = text.chars().rev();
    match (ends.next().is_some_and(is_break), ends.next()) {
        (false, _) => emitter.put('-'),
        (true, None) => emitter.put('+'),
        (true, Some(before)) if is_break(before) => emitter.put('+'),
        (true, Some(_)) => {}
    }
    emitter.line_break();
    let mut line_start = true;
    let mut rest = text;
    while let Some(at) = rest.find(is_break) {
        let (line, tail) = rest.split_at(at);
        if !line.is_empty() {
            if line_start {
                emitter.indent(indent);
            }
            emitter.text(line);
        }
        let mut characters = tail.chars();
        if let Some(end) = characters.next() {
            emitter.put(end);
        }
        emitter.column = 0;
        line_start = true;
        rest = characters.as_str();
    }
    if !rest.is_empty() {
        if line_start {
            emitter.indent(indent);
        }
        emitter.text(rest);
    }
}

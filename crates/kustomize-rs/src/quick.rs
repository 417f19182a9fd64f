//! The quick way from text to objects: for files as machines write them, in block style with plain, quoted and `|` text.
//! Whatever is not of that kind, or might be wrong, is left to the full reader, which also tells what is wrong. What is read
//! here is what the full reader would read; a test compares the two.

mod lines;

use serde_json::{Map, Value};

use crate::marks::{self, Leaf, Marks};
use crate::{Origin, Resource, timestamp};
use lines::{Line, Lines};

/// Levels inside each other that are read here.
const DEPTH: usize = 60;
/// Values that are read here.
const VALUES: usize = 300_000;

/// The objects of a file; `None` leaves it to the full reader.
pub(crate) fn objects(file: &str, text: &str) -> Option<Vec<(Resource, Marks)>> {
    let mut lines = Lines::new(text)?;
    let mut objects = Vec::new();
    let (mut document, mut begun) = (0, false);
    while let Some(line) = lines.peek()? {
        if line.indent == 0 && line.text == "---" {
            document += usize::from(begun);
            begun = true;
            lines.next_line();
            continue;
        }
        if line.indent > 0 {
            return None;
        }
        begun = true;
        let number = u32::try_from(line.number).ok()?;
        let mut reader = Reader { lines: &mut lines, leaves: Vec::new(), seen: 0, values: 0 };
        let value = reader.mapping(0, 0)?;
        let leaves = reader.leaves;
        if !is_object(&value) || lines.peek()?.is_some_and(|next| next.text != "---") {
            return None;
        }
        let marks = marks::of_leaves(&value, leaves);
        let origin = Origin { file: file.into(), line: number, document };
        objects.push((Resource { value: value.into(), origin }, marks));
    }
    Some(objects)
}

/// Whether it is one object, and no list of them.
fn is_object(value: &Value) -> bool {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
    let metadata = value.get("metadata");
    let namespace = metadata.and_then(|it| it.get("namespace"));
    !kind.is_empty()
        && !kind.ends_with("List")
        && text(value.get("apiVersion"))
        && text(metadata.and_then(|it| it.get("name")))
        && namespace.is_none_or(Value::is_string)
}

struct Reader<'l, 't> {
    lines: &'l mut Lines<'t>,
    /// Single values whose writing must be known, by their number.
    leaves: Vec<(usize, Leaf)>,
    /// Single values so far.
    seen: usize,
    values: usize,
}

impl Reader<'_, '_> {
    /// A mapping whose keys stand at `indent`.
    fn mapping(&mut self, indent: usize, depth: usize) -> Option<Value> {
        self.count(depth)?;
        let mut map = Map::new();
        while let Some(line) = self.lines.peek()? {
            if line.indent < indent || (indent == 0 && line.text == "---") {
                break;
            }
            if line.indent > indent || is_item(line.text) {
                return None;
            }
            let (key, rest) = key(line.text)?;
            self.values += 1;
            let key = key.to_owned();
            let value = self.value(rest, indent, indent, depth)?;
            if map.insert(key, value).is_some() {
                return None;
            }
        }
        Some(Value::Object(map))
    }

    /// A list whose dashes stand at `indent`.
    fn sequence(&mut self, indent: usize, depth: usize) -> Option<Value> {
        self.count(depth)?;
        let mut items = Vec::new();
        while let Some(line) = self.lines.peek()? {
            if line.indent != indent || !is_item(line.text) {
                if line.indent > indent {
                    return None;
                }
                break;
            }
            let rest = &line.text[1..];
            let inner = rest.trim_start_matches(' ');
            let column = indent + 1 + (rest.len() - inner.len());
            let item = if inner.is_empty() {
                // What is below may be less indented than it looks; the full reader knows.
                return None;
            } else if is_item(inner) {
                self.lines.replace(Line { indent: column, text: inner, ..line });
                self.sequence(column, depth + 1)?
            } else if key(inner).is_some() {
                self.lines.replace(Line { indent: column, text: inner, ..line });
                self.mapping(column, depth + 1)?
            } else {
                self.value(inner, indent, indent, depth)?
            };
            if item.is_null() {
                return None;
            }
            items.push(item);
        }
        Some(Value::Array(items))
    }

    /// What follows a key or a dash on its line, and below it. `parent`: what must be indented further to belong to it.
    fn value(&mut self, rest: &str, parent: usize, indent: usize, depth: usize) -> Option<Value> {
        let line = self.lines.next_line()?;
        match rest.as_bytes().first() {
            // A comment, since a blank is before it.
            None | Some(b'#') => self.below(indent, depth),
            Some(b'|') => self.block(rest, parent),
            Some(quote @ (b'\'' | b'"')) => self.quoted(rest, char::from(*quote), parent, line.number),
            Some(b'[') if rest == "[]" => Some(Value::Array(Vec::new())),
            Some(b'[') => self.words(rest),
            Some(b'{') if rest == "{}" => Some(Value::Object(Map::new())),
            Some(_) => self.plain(rest, parent, line.number),
        }
    }

    /// A list of words, plain or in quotes, on one line.
    fn words(&mut self, text: &str) -> Option<Value> {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let mut items = Vec::new();
        for word in inner.split(',').map(|word| word.trim_matches(' ')) {
            self.values += 1;
            let harmless =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
            if word.starts_with(|first: char| first.is_ascii_alphabetic()) && word.bytes().all(harmless) {
                self.seen += 1;
                items.push(scalar(word)?);
                continue;
            }
            let quote = word.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let quoted = word.strip_prefix(quote)?.strip_suffix(quote)?;
            if quoted.contains(['"', '\'', '\\', '\t']) {
                return None;
            }
            items.push(self.leaf(quoted.to_owned())?);
        }
        Some(Value::Array(items))
    }

    /// Text in quotes, which may go on below.
    fn quoted(&mut self, first: &str, quote: char, parent: usize, mut number: usize) -> Option<Value> {
        let one = |text: &str| if quote == '"' { double(text) } else { single(text) };
        if let Some(text) = without_comment(first, quote).and_then(one) {
            return self.leaf(text);
        }
        // Over several lines only what has no blank lines, and no line that ends with a backslash.
        let mut joined = first.to_owned();
        loop {
            if quote == '"' && joined.ends_with('\\') {
                return None;
            }
            let next = self.lines.peek()??;
            if next.indent <= parent || next.number != number + 1 {
                return None;
            }
            joined.push(' ');
            joined.push_str(next.text);
            number = next.number;
            self.lines.next_line();
            if ends_quoted(&joined, quote) {
                return one(&joined).and_then(|text| self.leaf(text));
            }
        }
    }

    /// What stands below a key that has nothing on its line.
    fn below(&mut self, indent: usize, depth: usize) -> Option<Value> {
        match self.lines.peek()? {
            Some(next) if next.indent > indent => {
                if is_item(next.text) {
                    self.sequence(next.indent, depth + 1)
                } else if key(next.text).is_some() {
                    self.mapping(next.indent, depth + 1)
                } else {
                    None
                }
            }
            Some(next) if next.indent == indent && is_item(next.text) => self.sequence(indent, depth + 1),
            _ => {
                self.leaves.push((self.seen, Leaf::Blank));
                self.seen += 1;
                Some(Value::Null)
            }
        }
    }

    /// Text in quotes.
    fn leaf(&mut self, text: String) -> Option<Value> {
        self.leaves.push((self.seen, Leaf::Quoted));
        self.seen += 1;
        Some(Value::String(text))
    }

    fn plain(&mut self, first: &str, parent: usize, mut number: usize) -> Option<Value> {
        self.seen += 1;
        self.values += 1;
        if !is_plain_start(first) {
            return None;
        }
        if let Some((text, _)) = first.split_once(" #") {
            let text = text.trim_end_matches(' ');
            // A comment ends the text.
            let alone = self.lines.peek()?.is_none_or(|next| next.indent <= parent);
            return if alone && is_plain(text) { scalar(text) } else { None };
        }
        if !is_plain(first) {
            return None;
        }
        let mut joined: Option<String> = None;
        while let Some(next) = self.lines.peek()? {
            if next.indent <= parent {
                break;
            }
            // A line between, blank or a comment, means more than a blank.
            if next.number != number + 1 || next.text.starts_with('#') || !is_plain(next.text) {
                return None;
            }
            let text = joined.get_or_insert_with(|| first.to_owned());
            text.push(' ');
            text.push_str(next.text);
            number = next.number;
            self.lines.next_line();
        }
        match joined {
            // Several words are a date at most, which has no more than three.
            Some(text) if text.len() > 40 || !text.starts_with(|first: char| first.is_ascii_digit()) => {
                Some(Value::String(text))
            }
            Some(_) => None,
            None => scalar(first),
        }
    }

    /// Text after `|`.
    fn block(&mut self, header: &str, parent: usize) -> Option<Value> {
        let chomp = match header {
            "|" => None,
            "|-" => Some(false),
            "|+" => Some(true),
            _ => return None,
        };
        let text = self.lines.block(parent, chomp)?;
        self.leaf(text)
    }

    fn count(&mut self, depth: usize) -> Option<()> {
        self.values += 1;
        (depth <= DEPTH && self.values <= VALUES).then_some(())
    }
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// A key and what follows it on its line.
fn key(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| {
        !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'$'))
    })?;
    let (key, rest) = text.split_at(end);
    let rest = rest.strip_prefix(':')?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')?.trim_start_matches(' ') };
    let first = *key.as_bytes().first()?;
    let starts = first.is_ascii_alphabetic()
        || matches!(first, b'_' | b'$' | b'/')
        || (first == b'.' && key.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic));
    let word = ["true", "false", "null", ".inf", ".nan"].iter().any(|word| word.eq_ignore_ascii_case(key));
    (starts && !word).then_some((key, rest))
}

/// Whether text may begin so without quotes.
fn is_plain_start(text: &str) -> bool {
    match text.as_bytes() {
        [b'-', next, ..] => *next != b' ',
        [b'-' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!', ..]
        | [b'|' | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`' | b'~', ..]
        | [] => false,
        _ => true,
    }
}

/// Whether a line of plain text is nothing but that.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut previous = 0;
    for byte in bytes {
        if matches!((previous, byte), (b':', b' ') | (b' ', b'#') | (_, b'\t')) {
            return false;
        }
        previous = *byte;
    }
    previous != b':'
}

/// The value of plain text on one line.
fn scalar(text: &str) -> Option<Value> {
    match text {
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        "null" => return Some(Value::Null),
        _ => {}
    }
    let first = *text.as_bytes().first()?;
    let word = matches!(first, b't' | b'T' | b'f' | b'F' | b'n' | b'N')
        && ["true", "false", "null"].iter().any(|word| word.eq_ignore_ascii_case(text));
    if word {
        return None;
    }
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return Some(Value::String(text.to_owned()));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let small =
            !digits.is_empty() && digits.len() <= 18 && (digits.len() == 1 || !digits.starts_with('0'));
        return small
            .then(|| text.parse::<i64>().ok())
            .flatten()
            .filter(|it| *it != 0 || text == "0")
            .map(Value::from);
    }
    // No number and no date has such a character.
    let other = |byte: u8| {
        matches!(byte, b'g'..=b'm' | b'p'..=b's' | b'u'..=b'w' | b'G'..=b'M' | b'P'..=b'S' | b'U'..=b'W')
            || matches!(byte, b'%' | b'/' | b'=' | b'(' | b',' | b'@')
    };
    if !matches!(first, b'.') && text.bytes().any(other) || text.starts_with("--") {
        return Some(Value::String(text.to_owned()));
    }
    let read = yaml_span::parse(text, yaml_span::Schema::Kustomize, &yaml_span::Limits::default()).ok()?;
    let [document] = &read[..] else { return None };
    let same = document.root.as_str() == Some(text) && timestamp::canonical(text).is_none();
    same.then(|| Value::String(text.to_owned()))
}

/// Text in quotes without the comment after it; `None` where the quotes are not closed before one.
fn without_comment(text: &str, quote: char) -> Option<&str> {
    if text.len() > 1 && text.ends_with(quote) {
        return Some(text);
    }
    let (quoted, _) = text.rsplit_once(" #")?;
    let quoted = quoted.trim_end_matches(' ');
    (quoted.len() > 1 && quoted.ends_with(quote) && quoted.matches(quote).count() == 2).then_some(quoted)
}

/// Whether text that begins with a quote ends with the one that closes it.
fn ends_quoted(text: &str, quote: char) -> bool {
    text.len() > 1 && text.ends_with(quote) && (quote == '"' || text[1..].matches(quote).count() % 2 == 1)
}

/// Text in single quotes, on one line.
fn single(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    if !inner.contains(['\'', '\t']) {
        return Some(inner.to_owned());
    }
    // Each quote inside is written twice.
    let plain = inner.replace("''", "\0");
    (!plain.contains(['\'', '\t']) && !inner.contains('\0')).then(|| plain.replace('\0', "'"))
}

/// Text in double quotes, on one line, with the usual escapes.
fn double(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\t') {
        return None;
    }
    if !inner.contains(['\\', '"']) {
        return Some(inner.to_owned());
    }
    let mut out = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '"' => return None,
            '\\' => match characters.next()? {
                'n' => '\n',
                't' => '\t',
                same @ ('"' | '\\') => same,
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests;

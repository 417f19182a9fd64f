//! Patterns: API servers use Go's RE2 dialect, this crate the dialect of `regex-syntax`. They agree on what matters but
//! differ in detail (`\d` is ASCII only in Go, `[[a]` is no nested class, `{,3}` is literal text). A pattern is rewritten
//! once; everything else works on the rewritten text.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_syntax::ast::parse::ParserBuilder;

/// A valid pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    rewritten: String,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Too long to be meant.
    #[error("it is longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// A repetition that Go refuses.
    #[error("a repetition may count to 1000 at most")]
    Repetition,
    /// An escape that Go does not know.
    #[error("the escape \\{0} is not known")]
    Escape(char),
    /// A group that Go does not know, look-around for example.
    #[error("the group (?{0} is not known")]
    Group(String),
    /// It ends too early.
    #[error("it ends within {0}")]
    Unfinished(&'static str),
    /// The order of the two ends.
    #[error("a range goes from a higher to a lower character")]
    Range,
    /// Anything else.
    #[error("{0}")]
    Syntax(String),
    /// Compiled, it would take too much memory.
    #[error("it is too large to evaluate")]
    TooLarge,
}

/// Bytes; patterns in real schemas have some hundreds at most.
const MAX_LENGTH: usize = 16 << 10;
/// Go's limit.
const MAX_REPEAT: u32 = 1000;
/// Bytes of one compiled pattern.
const MAX_COMPILED: usize = 4 << 20;

impl Pattern {
    /// Reads a pattern in Go's dialect.
    ///
    /// # Errors
    /// What Go refuses, and what is beyond the limits.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_LENGTH {
            return Err(PatternError::TooLong);
        }
        let mut rewriter = Rewriter { rest: text.chars().peekable(), out: String::new() };
        rewriter.run()?;
        let rewritten = rewriter.out;
        let parsed = ParserBuilder::new().nest_limit(200).build().parse(&rewritten);
        parsed.map_err(|error| PatternError::Syntax(error.kind().to_string()))?;
        Ok(Self { rewritten })
    }

    /// The same pattern in the dialect of the `regex` family of crates. Unanchored: it may match anywhere in the text.
    #[must_use]
    pub fn as_regex(&self) -> &str {
        &self.rewritten
    }

    /// Compiles it for matching.
    ///
    /// # Errors
    /// [`PatternError::TooLarge`]; the pattern is valid, but no answer can be given.
    pub fn compile(&self) -> Result<Regex, PatternError> {
        Regex::builder()
            .configure(Regex::config().nfa_size_limit(Some(MAX_COMPILED)).onepass(false).backtrack(false))
            // Word boundaries are ASCII, which is fine for matching text.
            .syntax(syntax::Config::new().utf8(false))
            .build(&self.rewritten)
            .map_err(|_| PatternError::TooLarge)
    }
}

/// One member of a character class.
enum Member {
    One(char),
    /// Ready text for inside a class.
    Set(&'static str),
    /// A Unicode class, negated or not.
    Unicode(String),
}

struct Rewriter<'t> {
    rest: Peekable<Chars<'t>>,
    out: String,
}

impl Rewriter<'_> {
    fn run(&mut self) -> Result<(), PatternError> {
        while let Some(next) = self.rest.next() {
            match next {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '{' => self.repetition()?,
                '}' | ']' => {
                    self.out.push('\\');
                    self.out.push(next);
                }
                other => self.out.push(other),
            }
        }
        Ok(())
    }

    fn literal(&mut self, literal: char) {
        if literal.is_ascii_alphanumeric() || !literal.is_ascii() {
            self.out.push(literal);
        } else {
            // Writing to text cannot fail.
            let _ = write!(self.out, "\\x{{{:x}}}", literal as u32);
        }
    }

    fn escape(&mut self) -> Result<(), PatternError> {
        match self.rest.peek().copied() {
            Some('Q') => {
                self.rest.next();
                while let Some(next) = self.rest.next() {
                    if next == '\\' && self.rest.peek() == Some(&'E') {
                        self.rest.next();
                        break;
                    }
                    self.literal(next);
                }
                Ok(())
            }
            // The end of a quotation that never began is ignored in Go.
            Some('E') => {
                self.rest.next();
                Ok(())
            }
            Some(edge @ ('A' | 'z')) => {
                self.rest.next();
                self.out.push('\\');
                self.out.push(edge);
                Ok(())
            }
            Some(edge @ ('b' | 'B')) => {
                self.rest.next();
                let _ = write!(self.out, "(?-u:\\{edge})");
                Ok(())
            }
            _ => {
                match self.member()? {
                    Member::One(one) => self.literal(one),
                    Member::Set(set) => {
                        let _ = write!(self.out, "[{set}]");
                    }
                    Member::Unicode(class) => self.out.push_str(&class),
                }
                Ok(())
            }
        }
    }

    /// What stands after a backslash, in or outside of a class.
    fn member(&mut self) -> Result<Member, PatternError> {
        let next = self.rest.next().ok_or(PatternError::Unfinished("an escape"))?;
        Ok(match next {
            'd' => Member::Set("0-9"),
            'D' => Member::Set("[^0-9]"),
            's' => Member::Set(r"\t\n\x0C\r\x20"),
            'S' => Member::Set(r"[^\t\n\x0C\r\x20]"),
            'w' => Member::Set("0-9A-Za-z_"),
            'W' => Member::Set("[^0-9A-Za-z_]"),
            'p' | 'P' => Member::Unicode(self.unicode(next == 'P')?),
            'a' => Member::One('\x07'),
            'f' => Member::One('\x0c'),
            'n' => Member::One('\n'),
            'r' => Member::One('\r'),
            't' => Member::One('\t'),
            'v' => Member::One('\x0b'),
            'x' => Member::One(self.hexadecimal()?),
            '0'..='7' => {
                let follows = self.rest.peek().is_some_and(|digit| ('0'..='7').contains(digit));
                if next != '0' && !follows {
                    return Err(PatternError::Escape(next));
                }
                let mut value = next as u32 - '0' as u32;
                for _ in 0..2 {
                    let Some(digit) = self.rest.peek().and_then(|digit| digit.to_digit(8)) else { break };
                    self.rest.next();
                    value = value * 8 + digit;
                }
                Member::One(char::from_u32(value).ok_or(PatternError::Escape(next))?)
            }
            other if other.is_ascii() && !other.is_ascii_alphanumeric() => Member::One(other),
            other => return Err(PatternError::Escape(other)),
        })
    }

    fn hexadecimal(&mut self) -> Result<char, PatternError> {
        let wrong = PatternError::Escape('x');
        let mut digits = String::new();
        if self.rest.peek() == Some(&'{') {
            self.rest.next();
            loop {
                match self.rest.next() {
                    Some('}') => break,
                    Some(digit) if digit.is_ascii_hexdigit() && digits.len() < 8 => digits.push(digit),
                    _ => return Err(wrong),
                }
            }
        } else {
            for _ in 0..2 {
                digits
                    .push(self.rest.next().filter(char::is_ascii_hexdigit).ok_or(PatternError::Escape('x'))?);
            }
        }
        u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or(wrong)
    }

    fn unicode(&mut self, mut negated: bool) -> Result<String, PatternError> {
        let name = match self.rest.next().ok_or(PatternError::Unfinished("a Unicode class"))? {
            '{' => {
                let mut name = String::new();
                loop {
                    match self.rest.next().ok_or(PatternError::Unfinished("a Unicode class"))? {
                        '}' => break name,
                        letter => name.push(letter),
                    }
                }
            }
            letter => letter.to_string(),
        };
        let name = match name.strip_prefix('^') {
            Some(name) => {
                negated = !negated;
                name.to_owned()
            }
            None => name,
        };
        if name.is_empty() || !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return Err(PatternError::Escape('p'));
        }
        Ok(format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' }))
    }

    fn class(&mut self) -> Result<(), PatternError> {
        const WHERE: PatternError = PatternError::Unfinished("a character class");
        self.out.push('[');
        if self.rest.peek() == Some(&'^') {
            self.rest.next();
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let next = self.rest.next().ok_or(WHERE)?;
            if next == ']' && !first {
                self.out.push(']');
                return Ok(());
            }
            first = false;
            if next == '[' && self.rest.peek() == Some(&':') {
                self.posix()?;
                continue;
            }
            let low = match next {
                '\\' => match self.member()? {
                    Member::One(one) => one,
                    Member::Set(set) => {
                        self.out.push_str(set);
                        continue;
                    }
                    Member::Unicode(class) => {
                        self.out.push_str(&class);
                        continue;
                    }
                },
                other => other,
            };
            self.literal(low);
            if self.rest.peek() != Some(&'-') {
                continue;
            }
            let mut ahead = self.rest.clone();
            ahead.next();
            match ahead.peek() {
                None => return Err(WHERE),
                // A dash at the end is itself.
                Some(']') => continue,
                Some(_) => {}
            }
            self.rest = ahead;
            let high = match self.rest.next().ok_or(WHERE)? {
                '\\' => match self.member()? {
                    Member::One(one) => one,
                    Member::Set(_) | Member::Unicode(_) => return Err(PatternError::Range),
                },
                other => other,
            };
            if high < low {
                return Err(PatternError::Range);
            }
            self.out.push('-');
            self.literal(high);
        }
    }

    /// `[:alpha:]`, inside a class; anything else that begins so is a literal bracket.
    fn posix(&mut self) -> Result<(), PatternError> {
        let rest: String = self.rest.clone().take(12).collect();
        let Some(end) = rest.get(1..).and_then(|rest| rest.find(":]")) else {
            self.literal('[');
            return Ok(());
        };
        let name = &rest[1..=end];
        if !name.chars().all(|letter| letter == '^' || letter.is_ascii_lowercase()) {
            return Err(PatternError::Syntax(format!("the class [:{name}:] is not known")));
        }
        let _ = write!(self.out, "[[:{name}:]]");
        self.rest.nth(end + 2);
        Ok(())
    }

    fn group(&mut self) -> Result<(), PatternError> {
        self.out.push('(');
        if self.rest.peek() != Some(&'?') {
            return Ok(());
        }
        self.rest.next();
        self.out.push('?');
        let mut head = String::new();
        while let Some(&next) = self.rest.peek() {
            head.push(next);
            self.rest.next();
            match next {
                'i' | 'm' | 's' | 'U' | '-' => {}
                ':' | ')' => {
                    self.out.push_str(&head);
                    return Ok(());
                }
                // A name: the rest of the group is as it is.
                '<' if head == "<" || head == "P<" => {
                    if matches!(self.rest.peek(), Some('=' | '!') | None) {
                        return Err(PatternError::Group(head));
                    }
                    self.out.push_str(&head);
                    return Ok(());
                }
                'P' if head == "P" => {}
                _ => return Err(PatternError::Group(head)),
            }
        }
        Err(PatternError::Unfinished("a group"))
    }

    fn repetition(&mut self) -> Result<(), PatternError> {
        let mut ahead = self.rest.clone();
        let number = |ahead: &mut Peekable<Chars<'_>>| {
            let mut digits = String::new();
            while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits
        };
        let least = number(&mut ahead);
        let mut most = None;
        if ahead.next_if_eq(&',').is_some() {
            most = Some(number(&mut ahead));
        }
        if least.is_empty() || ahead.next() != Some('}') {
            self.out.push_str("\\{");
            return Ok(());
        }
        let most_text = most.as_deref().filter(|most| !most.is_empty());
        let bound = |digits: &str| digits.parse().ok().filter(|count: &u32| *count <= MAX_REPEAT);
        let low = bound(&least).ok_or(PatternError::Repetition)?;
        let high = most_text.map(|most| bound(most).ok_or(PatternError::Repetition)).transpose()?;
        if high.is_some_and(|high| high < low) {
            return Err(PatternError::Repetition);
        }
        let _ = match (most.is_some(), high) {
            (true, Some(high)) => write!(self.out, "{{{low},{high}}}"),
            (true, None) => write!(self.out, "{{{low},}}"),
            (false, _) => write!(self.out, "{{{low}}}"),
        };
        self.rest = ahead;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::parse(pattern).unwrap().compile().unwrap().is_match(text)
    }

    #[test]
    fn the_dialect_is_that_of_go() {
        // ASCII only, unlike the Rust crates.
        assert!(matches(r"^\d$", "1") && !matches(r"^\d$", "\u{661}"));
        assert!(matches(r"^\w+$", "a_1") && !matches(r"^\w+$", "\u{e9}"));
        assert!(!matches(r"^\s$", "\u{b}"), "no vertical tab");
        assert!(matches(r"^[^\d]$", "a") && matches(r"^[\D]$", "a") && !matches(r"^[\D]$", "7"));
        // A bracket, an ampersand and tilde in a class are themselves.
        assert!(matches(r"^[[a]$", "[") && matches("^[a&&b~~]+$", "&~") && matches("^[a-c-e]+$", "b-e"));
        assert!(matches(r"^[]a]+$", "]a") && matches(r"^[[:alpha:]-]+$", "x-"));
        // Braces that are no repetition are text.
        assert!(matches(r"^a{,3}$", "a{,3}") && matches(r"^\${.+}$", "${x}") && matches("^a{2}$", "aa"));
        assert!(matches(r"^\Qa.b\E$", "a.b") && !matches(r"^\Qa.b\E$", "axb"));
        assert!(matches(r"^\<\/\_$", "</_") && matches(r"^\101$", "A"));
        assert!(matches(r"(?i)^HTTP(?P<s>s)?$", "https"));
        assert!(matches(r"\bfoo\b", "a foo b"));
    }

    #[test]
    fn what_go_refuses_is_refused() {
        for wrong in [
            "(", "a(?=b)", "(?!x)", "(?<!x)y", "a{1001}", "[z-a]", r"\y", r"\1", "*a", "(?x)a", "[a", r"a\",
            r"\Z",
        ] {
            assert!(Pattern::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_huge_pattern_is_valid_but_not_evaluated() {
        let huge = Pattern::parse(r"^((\pL{1000}){1000}){1000}$");
        assert!(huge.is_err() || huge.unwrap().compile().is_err());
    }
}

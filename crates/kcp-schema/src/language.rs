//! Sets of texts: which texts some patterns match and another does not. One search answers three questions: is every
//! text of one pattern matched by another (inclusion), which shortest text is not (a witness), and what is some text of
//! a pattern (a sample).
//!
//! The search walks the product of lazily built automata, character by character. It must never answer beyond its caps:
//! a search that meets one says so.

use std::collections::{HashMap, VecDeque};
use std::ops::RangeInclusive;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, nfa::thompson};

use crate::pattern::Pattern;

#[cfg(test)]
mod tests;

/// No answer: the automata are larger than the caps, or a pattern cannot be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// States of the product that are looked at.
const MAX_STATES: usize = 20_000;
/// Bytes of one automaton's lazily built states.
const MAX_AUTOMATON: usize = 2 << 20;
/// Bytes of one compiled pattern.
const MAX_COMPILED: usize = 2 << 20;

/// A shortest text (in characters) that all of `inside` match and `outside` does not, of a length in `lengths`; `None` if
/// there is no such text. Patterns are of Go's dialect, and match anywhere in the text.
pub(crate) fn find(
    inside: &[&str],
    outside: Option<&str>,
    lengths: RangeInclusive<u64>,
) -> Result<Option<String>, TooLarge> {
    if lengths.is_empty() {
        return Ok(None);
    }
    let mut parts = Vec::with_capacity(inside.len() + 2);
    for pattern in inside {
        parts.push(Part::new(Pattern::parse(pattern).map_err(|_| TooLarge)?.as_regex(), true)?);
    }
    // Automata read bytes; only those that make characters count.
    parts.push(Part::new(r"\A(?s:.)*\z", true)?);
    if let Some(pattern) = outside {
        parts.push(Part::new(Pattern::parse(pattern).map_err(|_| TooLarge)?.as_regex(), false)?);
    }
    Search::new(parts, *lengths.start(), *lengths.end()).run()
}

/// A pattern that matches exactly the texts given.
pub(crate) fn literally<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut pattern = String::from("^(?:");
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            pattern.push('|');
        }
        for letter in text.chars() {
            if letter.is_ascii_punctuation() {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
    }
    pattern.push_str(")$");
    pattern
}

/// How far one automaton has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    /// It has matched; what follows does not matter.
    Matched,
    /// It cannot match any more.
    Lost,
    /// It goes on.
    Live(LazyStateID),
}

/// One automaton of the product.
struct Part {
    dfa: DFA,
    cache: Cache,
    /// Whether the text must match it, or must not.
    wanted: bool,
}

impl Part {
    fn new(regex: &str, wanted: bool) -> Result<Self, TooLarge> {
        let dfa = DFA::builder()
            .syntax(syntax::Config::new().utf8(false))
            .thompson(thompson::Config::new().utf8(false).nfa_size_limit(Some(MAX_COMPILED)))
            .configure(
                DFA::config()
                    .cache_capacity(MAX_AUTOMATON)
                    .skip_cache_capacity_check(true)
                    // States must stay: they are the keys of the search.
                    .minimum_cache_clear_count(Some(0)),
            )
            .build(regex)
            .map_err(|_| TooLarge)?;
        let cache = dfa.create_cache();
        Ok(Self { dfa, cache, wanted })
    }

    fn start(&mut self) -> Result<At, TooLarge> {
        let config = start::Config::new().anchored(Anchored::No);
        let id = self.dfa.start_state(&mut self.cache, &config).map_err(|_| TooLarge)?;
        Ok(if id.is_dead() { At::Lost } else { At::Live(id) })
    }

    fn step(&mut self, at: At, byte: u8) -> Result<At, TooLarge> {
        let At::Live(id) = at else { return Ok(at) };
        let next = self.dfa.next_state(&mut self.cache, id, byte).map_err(|_| TooLarge)?;
        if next.is_quit() {
            return Err(TooLarge);
        }
        // A state that was reached after a match says so one byte later.
        Ok(if next.is_match() {
            At::Matched
        } else if next.is_dead() {
            At::Lost
        } else {
            At::Live(next)
        })
    }

    /// Whether the text that ends here matches.
    fn ends(&mut self, at: At) -> Result<bool, TooLarge> {
        match at {
            At::Matched => Ok(true),
            At::Lost => Ok(false),
            At::Live(id) => {
                Ok(self.dfa.next_eoi_state(&mut self.cache, id).map_err(|_| TooLarge)?.is_match())
            }
        }
    }

    /// Whether the text can still become what is wanted.
    fn hopeless(&self, at: At) -> bool {
        matches!((at, self.wanted), (At::Lost, true) | (At::Matched, false))
    }
}

/// A state of the product: where each automaton is, and how many characters were read, up to the least number.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key(Vec<At>, u64);

struct Visit {
    key: Key,
    /// Characters read.
    length: u64,
    /// The visit before, and the byte that led here.
    from: Option<(usize, u8)>,
}

struct Search {
    parts: Vec<Part>,
    alphabet: Vec<u8>,
    least: u64,
    most: u64,
    visits: Vec<Visit>,
}

impl Search {
    fn new(parts: Vec<Part>, least: u64, most: u64) -> Self {
        let alphabet = alphabet(&parts);
        Self { parts, alphabet, least, most, visits: Vec::new() }
    }

    /// Breadth first by characters: the bytes that continue a character cost nothing.
    fn run(&mut self) -> Result<Option<String>, TooLarge> {
        let start = self.parts.iter_mut().map(Part::start).collect::<Result<Vec<_>, _>>()?;
        let mut best: HashMap<Key, u64> = HashMap::new();
        let mut open = VecDeque::new();
        let key = Key(start, 0);
        best.insert(key.clone(), 0);
        self.visits.push(Visit { key, length: 0, from: None });
        open.push_back(0);
        while let Some(index) = open.pop_front() {
            let Visit { key, length, .. } = &self.visits[index];
            let (key, length) = (key.clone(), *length);
            if best.get(&key).is_some_and(|known| *known < length) {
                continue;
            }
            if length >= self.least && self.is_found(&key)? {
                return Ok(self.text(index));
            }
            for letter in 0..self.alphabet.len() {
                let byte = self.alphabet[letter];
                let continues = byte & 0xc0 == 0x80;
                let length = if continues { length } else { length + 1 };
                if length > self.most {
                    continue;
                }
                let Some(next) = self.step(&key, byte)? else { continue };
                let key = Key(next, length.min(self.least));
                if best.get(&key).is_some_and(|known| *known <= length) {
                    continue;
                }
                if self.visits.len() >= MAX_STATES {
                    return Err(TooLarge);
                }
                best.insert(key.clone(), length);
                self.visits.push(Visit { key, length, from: Some((index, byte)) });
                let last = self.visits.len() - 1;
                if continues {
                    open.push_front(last);
                } else {
                    open.push_back(last);
                }
            }
        }
        Ok(None)
    }

    fn step(&mut self, key: &Key, byte: u8) -> Result<Option<Vec<At>>, TooLarge> {
        let mut next = Vec::with_capacity(self.parts.len());
        for (part, at) in self.parts.iter_mut().zip(&key.0) {
            let at = part.step(*at, byte)?;
            if part.hopeless(at) {
                return Ok(None);
            }
            next.push(at);
        }
        Ok(Some(next))
    }

    fn is_found(&mut self, key: &Key) -> Result<bool, TooLarge> {
        for (part, at) in self.parts.iter_mut().zip(&key.0) {
            if part.ends(*at)? != part.wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn text(&self, mut index: usize) -> Option<String> {
        let mut bytes = Vec::new();
        while let Some((before, byte)) = self.visits[index].from {
            bytes.push(byte);
            index = before;
        }
        bytes.reverse();
        String::from_utf8(bytes).ok()
    }
}

/// One byte of each class that some automaton tells apart; letters and digits before all else, so that texts read well.
fn alphabet(parts: &[Part]) -> Vec<u8> {
    let nice = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(*b"-./:_");
    let mut seen = std::collections::HashSet::new();
    nice.chain(0..=u8::MAX)
        .filter(|byte| {
            let classes: Vec<u8> = parts.iter().map(|part| part.dfa.byte_classes().get(*byte)).collect();
            // Whether a byte continues a character decides about length, whatever the automata say.
            seen.insert((byte & 0xc0 == 0x80, classes))
        })
        .collect()
}

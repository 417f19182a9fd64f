//! Reading a located tree into plain serde types, with all errors instead of the first.
//!
//! serde stops at the first error. So a wrong value is recorded and a stand-in of the right shape is given in its
//! place; where the type itself refuses (a missing field, an own `Deserialize`), the error is recorded, its path is
//! marked, and the node is read again with a stand-in there. What follows from a stand-in is never reported.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde::de::DeserializeOwned;

use crate::words::SHORT;
use crate::{Diagnostic, Mark, Node, Path, Segment};

mod access;
mod de;
mod fail;

use de::De;

/// Reads a node into a type and collects all errors: unknown and missing fields, wrong types, unknown enum values,
/// numbers out of range, and what the type's own `Deserialize` refuses. Sorted by place; the value is there only
/// when there are none. At most 100 errors are given, then one that says so.
#[must_use]
pub fn from_node<T: DeserializeOwned>(file: &str, node: &Node) -> (Option<T>, Vec<Diagnostic>) {
    let session = Session::new(file);
    let mut value = None;
    for _ in 0..MAX_PASSES {
        let trail = Trail::Root;
        let de = De::new(&session, Some(node), &trail, None);
        match T::deserialize(de) {
            Ok(done) => {
                value = Some(done);
                break;
            }
            Err(fail) => {
                de.fail(fail);
            }
        }
        if session.is_exhausted() || !session.escalate() {
            break;
        }
    }
    let exhausted = session.is_exhausted();
    let mut found = session.found.into_inner();
    if value.is_none() && found.is_empty() {
        found.push(Diagnostic::new(file, node.span.start, &Path::root(), "cannot be read"));
    }
    found.sort_by_key(|d| (d.line, d.column));
    if exhausted && !found.is_empty() {
        let message = "too many errors: there may be more than these";
        found.push(Diagnostic::new(file, node.span.start, &Path::root(), message));
    }
    (value.filter(|_| found.is_empty()), found)
}

/// How often one document is read again, at most.
const MAX_PASSES: usize = 400;
/// How many nodes all readings of one document may visit before no new one starts.
const MAX_WORK: usize = 4_000_000;
/// How many errors are kept.
const MAX_FOUND: usize = 100;
/// Texts that a type with an own `Deserialize` may accept in place of the real one.
const STAND_INS: [&str; 9] = ["", "a", "0", "1s", "1", "1Gi", "2000-01-01T00:00:00Z", "00:00", "a.example/b"];
/// At this level no stand-in was accepted: the entry is left out.
const LEFT_OUT: usize = STAND_INS.len() + 1;

/// The way from the root to a node, kept on the stack.
enum Trail<'a> {
    Root,
    Key(&'a Trail<'a>, &'a str),
    Index(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    fn path(&self) -> Path {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            at = match at {
                Trail::Root => break,
                Trail::Key(parent, key) => {
                    steps.push(Segment::from(*key));
                    parent
                }
                Trail::Index(parent, index) => {
                    steps.push(Segment::from(*index));
                    parent
                }
            };
        }
        steps.into_iter().rev().collect()
    }
}

/// Where one reading stopped.
enum Failure {
    /// The type refused the node at this path.
    Refused(Path),
    /// The mapping at this path lacks a field.
    Missing(Path, &'static str),
}

/// What all readings of one document share.
struct Session<'a> {
    file: &'a str,
    found: RefCell<Vec<Diagnostic>>,
    /// Paths that get a stand-in, from level 1 on; see [`STAND_INS`].
    stand_ins: RefCell<HashMap<Path, usize>>,
    failure: RefCell<Option<Failure>>,
    work: Cell<usize>,
}

impl<'a> Session<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            found: RefCell::default(),
            stand_ins: RefCell::default(),
            failure: RefCell::default(),
            work: Cell::new(0),
        }
    }

    fn is_exhausted(&self) -> bool {
        self.work.get() > MAX_WORK || self.found.borrow().len() >= MAX_FOUND
    }

    /// The stand-in level of exactly this node.
    fn level(&self, trail: &Trail<'_>) -> Option<usize> {
        self.work.set(self.work.get() + 1);
        let stand_ins = self.stand_ins.borrow();
        if stand_ins.is_empty() {
            return None;
        }
        stand_ins.get(&trail.path()).copied()
    }

    /// True when exactly this path has a stand-in or is left out.
    fn is_marked(&self, path: &Path) -> bool {
        self.stand_ins.borrow().contains_key(path)
    }

    /// The deepest path with a stand-in that this path is or lies in.
    fn stand_in_above(&self, path: &Path) -> Option<Path> {
        let stand_ins = self.stand_ins.borrow();
        let mut at = path.clone();
        loop {
            if stand_ins.contains_key(&at) {
                return Some(at);
            }
            at.pop()?;
        }
    }

    /// Keys of a mapping that are not written there but shall be read as stand-ins.
    fn supplied(&self, trail: &Trail<'_>, node: Option<&Node>) -> Vec<String> {
        let stand_ins = self.stand_ins.borrow();
        if stand_ins.is_empty() {
            return Vec::new();
        }
        let path = trail.path();
        let mut keys: Vec<String> = stand_ins
            .iter()
            .filter(|(_, level)| **level < LEFT_OUT)
            .filter_map(|(p, _)| match p.segments().split_last()? {
                (Segment::Key(key), parent) if parent == path.segments() => Some(key.clone()),
                _ => None,
            })
            .filter(|key| node.is_none_or(|n| n.get(key).is_none()))
            .collect();
        keys.sort_unstable();
        keys
    }

    /// Records an error, unless it only follows from a stand-in.
    fn record(&self, at: Mark, path: &Path, message: String, help: Option<String>) {
        if self.stand_in_above(path).is_some() {
            return;
        }
        let mut diagnostic = Diagnostic::new(self.file, at, path, message);
        diagnostic.help = help;
        let mut found = self.found.borrow_mut();
        if found.len() < MAX_FOUND && !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }

    fn stand_in(&self, path: Path, level: usize) {
        self.stand_ins.borrow_mut().insert(path, level);
    }

    /// Notes where this reading stopped: the first note counts.
    fn stopped(&self, failure: Failure) {
        self.failure.borrow_mut().get_or_insert(failure);
    }

    /// Prepares the next reading; false when there is nothing left to try.
    fn escalate(&self) -> bool {
        let failure = self.failure.borrow_mut().take();
        match failure {
            None => false,
            Some(Failure::Refused(path)) => self.raise(&path),
            Some(Failure::Missing(path, name)) => {
                let field = path.clone().key(name);
                if self.is_marked(&field) {
                    return self.raise(&path);
                }
                self.stand_in(field, 1);
                true
            }
        }
    }

    /// The next level for the stand-in that this path lies in, a first one for itself if there is none.
    fn raise(&self, path: &Path) -> bool {
        let mut at = match self.stand_in_above(path) {
            None => {
                self.stand_in(path.clone(), 1);
                return true;
            }
            Some(at) => at,
        };
        loop {
            let level = self.stand_ins.borrow().get(&at).copied().unwrap_or(0);
            if level < LEFT_OUT {
                self.stand_in(at, level + 1);
                return true;
            }
            // Without this entry its parent cannot be read either.
            if at.pop().is_none() {
                return false;
            }
        }
    }
}

/// A message of somebody else's `Deserialize`, without a long text of the document in it.
fn without_value(message: String, node: Option<&Node>) -> String {
    let Some(text) = node.and_then(Node::as_str) else {
        return message;
    };
    let length = text.chars().count();
    if length <= SHORT {
        return message;
    }
    let instead = format!("(a text of {length} characters)");
    let message = message.replace(&text.escape_debug().to_string(), &instead).replace(text, &instead);
    // A message that quotes a part of the text cannot be told apart: keep its start only.
    let tail: String = text.chars().take(SHORT).collect();
    if message.contains(&tail) { format!("not accepted: {instead}") } else { message }
}

#[cfg(test)]
mod tests;

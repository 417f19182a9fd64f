//! Counts of requests to one cluster, by what was asked and what came back.

use std::sync::atomic::{AtomicU64, Ordering};

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Verb {
    /// One object was read.
    Get,
    /// A page of a list was read.
    List,
    /// A watch was opened.
    Watch,
    /// An object was created without server-side apply.
    Create,
    /// Server-side apply.
    Apply,
    /// An object was deleted.
    Delete,
    /// Version, groups or rights were asked for.
    Discover,
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Answer {
    /// Success.
    Ok,
    /// 404 or 410.
    NotFound,
    /// 409.
    Conflict,
    /// 401.
    Unauthorized,
    /// Any other 4xx.
    Refused,
    /// 429.
    Throttled,
    /// 5xx.
    Unavailable,
    /// No answer in time.
    Timeout,
    /// No connection, or it broke, or the answer could not be read.
    Broken,
}

const VERBS: [(Verb, &str); 7] = [
    (Verb::Get, "get"),
    (Verb::List, "list"),
    (Verb::Watch, "watch"),
    (Verb::Create, "create"),
    (Verb::Apply, "apply"),
    (Verb::Delete, "delete"),
    (Verb::Discover, "discover"),
];
const ANSWERS: [(Answer, &str); 9] = [
    (Answer::Ok, "ok"),
    (Answer::NotFound, "not_found"),
    (Answer::Conflict, "conflict"),
    (Answer::Unauthorized, "unauthorized"),
    (Answer::Refused, "refused"),
    (Answer::Throttled, "throttled"),
    (Answer::Unavailable, "unavailable"),
    (Answer::Timeout, "timeout"),
    (Answer::Broken, "broken"),
];

/// Request counts of one cluster. They only grow, over all its connections.
#[derive(Debug, Default)]
pub struct Metrics {
    counts: [[AtomicU64; ANSWERS.len()]; VERBS.len()],
}

impl Metrics {
    pub(crate) fn count(&self, verb: Verb, answer: Answer) {
        self.counts[verb as usize][answer as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often `verb` was answered by `answer`.
    #[must_use]
    pub fn get(&self, verb: Verb, answer: Answer) -> u64 {
        self.counts[verb as usize][answer as usize].load(Ordering::Relaxed)
    }

    /// All counts that are not zero, as (verb, answer, count), in a fixed order.
    #[must_use]
    pub fn all(&self) -> Vec<(&'static str, &'static str, u64)> {
        let mut all = Vec::new();
        for (verb, verb_name) in VERBS {
            for (answer, answer_name) in ANSWERS {
                let count = self.get(verb, answer);
                if count > 0 {
                    all.push((verb_name, answer_name, count));
                }
            }
        }
        all
    }

    /// How many requests could change something.
    #[must_use]
    pub fn writes(&self) -> u64 {
        [Verb::Create, Verb::Apply, Verb::Delete]
            .into_iter()
            .flat_map(|verb| ANSWERS.map(|(answer, _)| self.get(verb, answer)))
            .sum()
    }
}

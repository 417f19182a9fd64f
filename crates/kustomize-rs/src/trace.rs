//! What a build looked at: which paths it asked for, and which contents it found. Two builds that see the same make the
//! same. Nothing is noted where nobody will ask.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::remote::{Fetcher, Remote};
use crate::{EntryKind, Files};

/// What tells contents apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Content {
    /// The name that the tree gives it.
    Id(Arc<str>),
    /// A digest, where the tree knows none.
    Digest([u8; 32]),
}

impl Content {
    /// What `files` calls the content of a path, when it can tell without reading.
    pub(crate) fn known(files: &dyn Files, path: &str) -> Option<Self> {
        files.content_id(path).map(|id| Self::Id(id.into()))
    }

    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self::Digest(Sha256::digest(bytes).into())
    }
}

/// What was found at a path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    /// What kind of entry, where that was asked.
    entry: Option<Option<EntryKind>>,
    /// Its content, where it was read.
    content: Option<Content>,
}

/// Paths and addresses, and what was found there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seens {
    paths: BTreeMap<Arc<str>, Seen>,
    /// The ids of what was fetched.
    pub(crate) fetched: BTreeMap<Remote, String>,
}

impl Seens {
    /// Whether all of it would be seen again.
    pub(crate) fn are_unchanged(&self, files: &dyn Files, fetcher: Option<&dyn Fetcher>) -> bool {
        let paths = self.paths.iter().all(|(path, seen)| {
            seen.entry.is_none_or(|entry| files.entry(path) == Ok(entry))
                && seen.content.as_ref().is_none_or(|content| match content {
                    Content::Id(id) => files.content_id(path).is_some_and(|now| now == **id),
                    digest => files.read(path).is_ok_and(|bytes| Content::of(&bytes) == *digest),
                })
        });
        paths
            && self.fetched.iter().all(|(remote, id)| {
                fetcher.and_then(|it| it.fetch(remote).ok()).is_some_and(|now| now.id == *id)
            })
    }

    fn add(&mut self, other: &Self) {
        for (remote, id) in &other.fetched {
            self.fetched.entry(remote.clone()).or_insert_with(|| id.clone());
        }
        for (path, seen) in &other.paths {
            let own = self.paths.entry(path.clone()).or_default();
            own.entry = own.entry.or(seen.entry);
            own.content = own.content.take().or_else(|| seen.content.clone());
        }
    }
}

/// Notes in levels: what is seen at one level belongs to all levels around it.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    levels: RefCell<Vec<Seens>>,
}

impl Trace {
    /// Begins a level. Nothing is noted outside levels.
    pub(crate) fn begin(&self) {
        self.levels.borrow_mut().push(Seens::default());
    }

    /// Ends the innermost level: what was seen since it began.
    pub(crate) fn end(&self) -> Seens {
        let seen = self.levels.borrow_mut().pop().unwrap_or_default();
        self.include(&seen);
        seen
    }

    /// Adds what another build saw, whose result is used.
    pub(crate) fn include(&self, seen: &Seens) {
        if let Some(level) = self.levels.borrow_mut().last_mut() {
            level.add(seen);
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.levels.borrow().is_empty()
    }

    pub(crate) fn saw(&self, path: &str, found: Option<EntryKind>) {
        if let Some(level) = self.levels.borrow_mut().last_mut() {
            level.paths.entry(path.into()).or_default().entry = Some(found);
        }
    }

    pub(crate) fn read(&self, path: &str, content: Content) {
        if let Some(level) = self.levels.borrow_mut().last_mut() {
            level.paths.entry(path.into()).or_default().content = Some(content);
        }
    }

    pub(crate) fn fetched(&self, remote: &Remote, id: &str) {
        if let Some(level) = self.levels.borrow_mut().last_mut() {
            level.fetched.insert(remote.clone(), id.to_owned());
        }
    }
}

//! What one connection remembers of the objects it saw: so little that no object is read or written twice for
//! nothing, and none is mistaken for another of the same name.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kcp_core::object::ObjectKey;
use kcp_core::world::ObservedObject;

/// Objects by a hash of their key: should two keys share one, an object is read once too often, or its UID does not
/// fit and it is looked at first.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    seen: Mutex<HashMap<u64, Seen>>,
}

#[derive(Debug, Clone)]
struct Seen {
    uid: Box<str>,
    version: Box<str>,
}

fn hash(key: &ObjectKey) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It was read or written.
    pub(crate) fn saw(&self, key: &ObjectKey, object: &ObservedObject) {
        let seen = Seen { uid: object.uid.as_str().into(), version: object.resource_version.as_str().into() };
        self.lock().insert(hash(key), seen);
    }

    /// Whether exactly this state was seen already.
    pub(crate) fn knows(&self, key: &ObjectKey, version: &str) -> bool {
        self.lock().get(&hash(key)).is_some_and(|seen| *seen.version == *version)
    }

    /// Its UID and resource version.
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<(String, String)> {
        self.lock().get(&hash(key)).map(|seen| (seen.uid.to_string(), seen.version.to_string()))
    }

    /// It is gone, unless another of that name is there already.
    pub(crate) fn forget(&self, key: &ObjectKey, uid: &str) -> bool {
        let mut seen = self.lock();
        let other = seen.get(&hash(key)).is_some_and(|seen| !uid.is_empty() && *seen.uid != *uid);
        if !other {
            seen.remove(&hash(key));
        }
        !other
    }
}

/// Objects that we wrote, over all connections of a worker: which fields were ours, how often they were corrected, and
/// which outcomes the planner may not know of yet.
#[derive(Debug, Default)]
pub(crate) struct Written {
    state: Mutex<HashMap<ObjectKey, Entry>>,
    in_the_way: Mutex<BTreeSet<ObjectKey>>,
}

#[derive(Debug, Default)]
struct Entry {
    /// Hashes of the paths of our fields, sorted.
    fields: Box<[u32]>,
    /// When it was corrected.
    corrections: Vec<i64>,
    /// Number of its last outcome.
    outcome: u64,
}

/// Corrections count as a fight within this time.
const FIGHT_WINDOW_SECONDS: i64 = 600;

fn path_hash(path: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    // Half of the bits are enough to tell the fields of one object apart.
    (hasher.finish() >> 32) as u32
}

impl Written {
    fn lock(&self) -> MutexGuard<'_, HashMap<ObjectKey, Entry>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These fields are ours now.
    pub(crate) fn owns(&self, key: &ObjectKey, paths: &[String]) {
        let mut fields: Vec<_> = paths.iter().map(|path| path_hash(path)).collect();
        fields.sort_unstable();
        self.lock().entry(key.clone()).or_default().fields = fields.into();
    }

    /// Whether a field was ours when we last wrote the object.
    pub(crate) fn owned(&self, key: &ObjectKey, path: &str) -> bool {
        self.lock().get(key).is_some_and(|entry| entry.fields.binary_search(&path_hash(path)).is_ok())
    }

    /// It was corrected; how often within the window.
    pub(crate) fn corrected(&self, key: &ObjectKey, now: i64) -> u32 {
        let mut state = self.lock();
        let corrections = &mut state.entry(key.clone()).or_default().corrections;
        corrections.retain(|at| now - at < FIGHT_WINDOW_SECONDS);
        corrections.push(now);
        u32::try_from(corrections.len()).unwrap_or(u32::MAX)
    }

    /// A foreign object has this name; it is looked at again from time to time.
    pub(crate) fn is_in_the_way(&self, key: &ObjectKey) {
        self.in_the_way.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
    }

    /// It is gone, or ours.
    pub(crate) fn is_out_of_the_way(&self, key: &ObjectKey) {
        self.in_the_way.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// Objects in the way.
    pub(crate) fn in_the_way(&self) -> Vec<ObjectKey> {
        self.in_the_way.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Forgets what no plan can be about any more that knows of `seen` outcomes.
    pub(crate) fn trim(&self, seen: u64) {
        self.lock().retain(|_, entry| {
            entry.outcome > seen || !entry.fields.is_empty() || !entry.corrections.is_empty()
        });
    }

    pub(crate) fn outcome(&self, key: &ObjectKey, number: u64) {
        self.lock().entry(key.clone()).or_default().outcome = number;
    }

    /// Whether something was done to it that a planner who knows of `seen` outcomes cannot know.
    pub(crate) fn is_newer(&self, key: &ObjectKey, seen: u64) -> bool {
        self.lock().get(key).is_some_and(|entry| entry.outcome > seen)
    }

    pub(crate) fn forget(&self, key: &ObjectKey) {
        if let Some(entry) = self.lock().get_mut(key) {
            entry.fields = Box::default();
            entry.corrections.clear();
        }
    }
}

//! Made-up schemas and objects for property tests: small, legal for an API server, and full of the constructs that meet
//! badly. The same seed gives the same things.

mod object;
mod schema;
mod variant;

pub(crate) use object::{near, object};
pub(crate) use schema::schema;
pub(crate) use variant::variant;

/// A small generator of numbers (splitmix64): fast, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `limit`, which is above 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True `percent` times of a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// How many cases a test makes: a few in every run, what `KCP_SCHEMA_CASES` says in a long one.
pub(crate) fn cases(few: u64) -> u64 {
    std::env::var("KCP_SCHEMA_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

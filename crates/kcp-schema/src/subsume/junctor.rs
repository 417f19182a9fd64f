//! `anyOf`, `oneOf` and `not`: equal, or implied entry by entry; all else is undecided.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Flat, Kind, Sure, Walk};
use crate::Hash;
use crate::model::Schema;

type Key = BTreeSet<Hash>;

impl Walk {
    pub(super) fn junctors(&mut self, a: &Schema, left: &Flat<'_>, b: &Schema, right: &Flat<'_>) {
        let reason = "the alternatives are not implied by the other side in a way that is decided";
        let own_any: Vec<Key> = left.any_ofs.iter().map(|entries| key(entries)).collect();
        let own_one: Vec<Key> = left.one_ofs.iter().map(|entries| key(entries)).collect();
        for any_of in &right.any_ofs {
            let wanted = key(any_of);
            let known = own_any.iter().chain(&own_one).any(|own| own.is_subset(&wanted));
            if !known && !self.implied(left, any_of) {
                self.undecided(a, b, "anyOf", (&left.any_ofs, any_of), reason);
            }
        }
        for one_of in &right.one_ofs {
            // An alternative that is there twice can never be the only one.
            let known = own_one.contains(&key(one_of)) && key(one_of).len() == one_of.len();
            if !known {
                self.undecided(a, b, "oneOf", (&left.one_ofs, one_of), reason);
            }
        }
        for not in right.nots.iter().filter(|not| !left.nots.contains(not)) {
            let own: Vec<Vec<Schema>> = left.nots.iter().map(|not| vec![not.clone()]).collect();
            self.undecided(a, b, "not", (&own, std::slice::from_ref(not)), reason);
        }
        for entry in right.others.iter().filter(|entry| !left.others.contains(entry)) {
            let own: Vec<Vec<Schema>> = left.others.iter().map(|entry| vec![entry.clone()]).collect();
            self.undecided(a, b, "allOf", (&own, std::slice::from_ref(entry)), reason);
        }
    }

    /// Whether each alternative of the first side, or the first side as it is, implies one of `entries`.
    fn implied(&mut self, left: &Flat<'_>, entries: &[Schema]) -> bool {
        // The product of alternatives is small in all real schemas.
        const TRIED: usize = 64;
        let mut sides: Vec<Vec<Flat<'_>>> = vec![vec![left.clone()]];
        for alternatives in left.any_ofs.iter().chain(&left.one_ofs) {
            sides.push(alternatives.iter().map(|entry| left.clone().with(entry)).collect());
        }
        sides.iter().any(|side| {
            side.len() * entries.len() <= TRIED
                && side.iter().all(|flat| {
                    let schema = flat.to_schema();
                    entries.iter().any(|entry| self.is_inside(&schema, entry))
                })
        })
    }

    /// Whether all values of `a` follow `b`, as values: nothing is pruned or defaulted.
    fn is_inside(&mut self, a: &Schema, b: &Schema) -> bool {
        let mut inner = Self { scope: self.scope, pairs: self.pairs, values_only: true, ..Self::default() };
        inner.pair(a, b, false);
        self.pairs = inner.pairs;
        inner.gaps.is_empty()
    }

    fn undecided(
        &mut self,
        a: &Schema,
        b: &Schema,
        keyword: &str,
        (own, other): (&[Vec<Schema>], &[Schema]),
        reason: &str,
    ) {
        let list = |entries: &[Schema]| Value::Array(entries.iter().map(|entry| entry.to_json()).collect());
        let old = own.first().map(|entries| json!({keyword: list(entries)}));
        let new = json!({keyword: list(other)});
        self.differs(Kind::Junctor, (a, old), (b, Some(new)), Sure::Maybe(reason.into()), Vec::new());
    }
}

fn key(entries: &[Schema]) -> Key {
    entries.iter().map(Schema::hash).collect()
}

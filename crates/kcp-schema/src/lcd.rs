//! The least common denominator of a set of schemas: the largest structural schema whose objects *every* member accepts
//! and keeps.
//!
//! It is computed from the whole set each time, so that order does not matter and a member that leaves widens it again.
//! Every constraint of every member holds in it; what cannot be expressed makes it smaller, never larger, and is listed.
//! It must never hold an object that some member refuses or changes, other than by filling in defaults.

mod crd;
mod emptiness;
mod explicit;
mod facts;
mod junctor;
mod kinds;
mod list;
mod meet;
mod object;
mod report;
mod rules;
mod see;
mod skeleton;
mod spelling;

use std::collections::BTreeMap;

pub use crd::{CrdLcd, LostOffer, NotOneApi, Offer};
pub use report::{Common, Denominator, Empty, Lcd, Loss, Lost, Unknown, WhyEmpty, WhyUnknown};

use crate::Schema;
use meet::{Meeting, Part};
use report::Nothing;

/// How many pairs of node and member are looked at before the answer is "unknown: cost". The largest real CRDs need some
/// 30,000 for each distinct schema.
const BUDGET: usize = 3_000_000;

impl Lcd {
    /// The common denominator of the schemas of whole objects, for one version of one kind. The cost grows with the number
    /// of *distinct* schemas. No schema at all has no denominator: [`WhyUnknown::NoMember`].
    #[must_use]
    pub fn of(schemas: &[Schema]) -> Self {
        Self::within(schemas, BUDGET)
    }

    fn within(schemas: &[Schema], budget: usize) -> Self {
        // Schemas that differ in descriptions only count as one, and the same one is taken whatever the order.
        let mut distinct: BTreeMap<_, &Schema> = BTreeMap::new();
        for schema in schemas {
            let kept = distinct.entry(schema.hash()).or_insert(schema);
            if schema.whole() < kept.whole() {
                *kept = schema;
            }
        }
        let number: BTreeMap<_, usize> =
            distinct.keys().enumerate().map(|(index, hash)| (*hash, index)).collect();
        let members = schemas.iter().map(|schema| number[&schema.hash()]).collect();
        let parts: Vec<Part> = distinct
            .values()
            .enumerate()
            .map(|(index, schema)| Part { schema: (*schema).clone(), members: vec![index] })
            .collect();
        Self { members, outcome: outcome(parts, budget) }
    }
}

fn outcome(parts: Vec<Part>, budget: usize) -> Denominator {
    if parts.is_empty() {
        return Denominator::Unknown(Unknown {
            path: crate::SchemaPath::default(),
            why: WhyUnknown::NoMember,
        });
    }
    let mut meeting = Meeting::new(budget);
    match meeting.root(parts) {
        Ok(schema) => Denominator::Common(Common { schema, losses: meeting.into_losses() }),
        Err(Nothing::Empty(empty)) => Denominator::Empty(empty),
        Err(Nothing::Dark(unknown) | Nothing::Cost(unknown)) => Denominator::Unknown(unknown),
    }
}

#[cfg(test)]
mod tests;

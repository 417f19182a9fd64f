//! A witness is a proof.

use serde_json::json;

use super::*;
use crate::generate::{self, Seed, cases};
use crate::subsume::gaps;

#[test]
fn a_witness_is_accepted_by_one_side_and_not_by_the_other() {
    let (mut sure, mut shown) = (0_u64, 0_u64);
    for case in 0..cases(700) {
        let mut seed = Seed(case);
        let a = generate::schema(&mut seed);
        let b = generate::variant(&mut seed, &a);
        let scope = Scope { resource: true, read_back: false };
        let identity = json!({"apiVersion": "v1", "kind": "Example", "metadata": {"name": "example"}});
        let mut witnesses = Witnesses::new(&a, &b, scope, identity);
        let (own, other) = (Judge::new(&a, Rules::default()), Judge::new(&b, Rules::default()));
        for gap in gaps(&a, &b, scope) {
            sure += u64::from(gap.sure == Sure::Yes);
            let Some(witness) = witnesses.of(&gap) else { continue };
            shown += u64::from(gap.sure == Sure::Yes);
            assert_eq!(own.accepts_and_keeps(&witness.object), Verdict::Yes, "case {case}");
            let after = other.create(&witness.object);
            match witness.effect {
                Effect::Changed => {
                    assert_ne!(after.object, own.create(&witness.object).object, "case {case}")
                }
                _ => assert_ne!(after.verdict(), Verdict::Yes, "case {case}"),
            }
        }
    }
    // Some gaps have none: something else forbids every object that would fall into them.
    assert!(shown * 10 >= sure * 7, "{shown} of {sure}");
}

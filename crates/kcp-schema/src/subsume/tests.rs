//! No gap must mean yes, for any schemas and objects.

use super::*;
use crate::generate::{self, Seed, cases};

#[test]
fn without_a_gap_every_object_is_accepted_and_kept() {
    let mut safe = 0_u64;
    let mut checked = 0_u64;
    for case in 0..cases(1500) {
        let mut seed = Seed(case);
        let a = generate::schema(&mut seed);
        let b = generate::variant(&mut seed, &a);
        let found = gaps(&a, &b, Scope { resource: true, read_back: false });
        if found.iter().any(|gap| gap.sure != Sure::Meaning) {
            continue;
        }
        safe += 1;
        let (own, other) = (Judge::new(&a, Rules::default()), Judge::new(&b, Rules::default()));
        for _ in 0..20 {
            let object = generate::object(&mut seed, &a);
            if own.accepts_and_keeps(&object) == Verdict::Yes {
                checked += 1;
                let verdict = other.accepts_and_keeps(&object);
                assert_eq!(verdict, Verdict::Yes, "case {case}: {object}\n{}\n{}", a.to_json(), b.to_json());
            }
        }
    }
    assert!(safe > 50 && checked > 500, "{safe} {checked}");
}

#[test]
fn without_a_gap_readers_find_what_they_expect() {
    let (mut safe, mut checked) = (0_u64, 0_u64);
    for case in 0..cases(1500) {
        let mut seed = Seed(case);
        let b = generate::schema(&mut seed);
        // Whether readers may do without a field that had a default is a matter of its own rule.
        if b.facts().defaults {
            continue;
        }
        let a = generate::variant(&mut seed, &b);
        let found = gaps(&a, &b, Scope { resource: true, read_back: true });
        if found.iter().any(|gap| gap.sure != Sure::Meaning) {
            continue;
        }
        safe += 1;
        // Readers drop nothing.
        let (own, other) =
            (Judge::new(&a, Rules::default()), Judge::new(&b, Rules { preserve: true, ..Rules::default() }));
        for _ in 0..20 {
            let written = own.create(&generate::object(&mut seed, &a));
            if written.verdict() == Verdict::Yes {
                checked += 1;
                let read = other.create(&written.object);
                assert_eq!(
                    read.violations,
                    [],
                    "case {case}: {}\n{}\n{}",
                    written.object,
                    a.to_json(),
                    b.to_json()
                );
            }
        }
    }
    assert!(safe > 20 && checked > 200, "{safe} {checked}");
}

//! Made-up schemas: the denominator is never too large, and not too small where it says that it is exact.

use crate::generate::{Seed, cases, near, object, schema, variant};
use crate::lcd::see::keeps;
use crate::{Denominator, Judge, Lcd, Options, Pool, Rules, Schema};

fn judge(schema: &Schema) -> Judge {
    Judge::new(schema, Rules { resource: false, ..Rules::default() })
}

fn family(seed: &mut Seed) -> Vec<Schema> {
    let first = schema(seed);
    let mut all = vec![first.clone()];
    for _ in 0..1 + seed.below(3) {
        all.push(variant(seed, &first));
    }
    all
}

fn show(all: &[Schema]) -> String {
    all.iter().map(|schema| format!("  {}\n", schema.to_json())).collect()
}

/// 60 objects for each set of schemas.
#[test]
fn what_the_denominator_accepts_all_members_accept_and_keep() {
    let (mut common, mut exact, mut inside, mut outside) = (0, 0, 0, 0);
    for case in 0..cases(400) {
        let mut seed = Seed(case);
        let members = family(&mut seed);
        let judges: Vec<Judge> = members.iter().map(judge).collect();
        let lcd = Lcd::of(&members);
        let (schema, claims_exact) = match &lcd.outcome {
            Denominator::Common(all) => (Some(&all.schema), all.exact()),
            Denominator::Empty(_) => (None, true),
            Denominator::Unknown(_) => (None, false),
        };
        let lcd_judge = schema.map(judge);
        common += u64::from(schema.is_some());
        exact += u64::from(claims_exact);
        let mut value = object(&mut seed, schema.unwrap_or(&members[0]));
        for round in 0..60 {
            value = match round % 4 {
                0 => object(&mut seed, schema.unwrap_or(&members[0])),
                1 => {
                    let member = seed.below(members.len());
                    object(&mut seed, &members[member])
                }
                _ => near(&mut seed, &value),
            };
            let ours = lcd_judge.as_ref().map_or(Some(false), |judge| keeps(judge, &value));
            let theirs: Vec<Option<bool>> = judges.iter().map(|judge| keeps(judge, &value)).collect();
            let context = || {
                let lcd = schema
                    .map_or_else(|| format!("{:?}", lcd.outcome), |schema| schema.to_json().to_string());
                format!(
                    "seed {case}\nmembers\n{}lcd\n  {lcd}\nobject\n  {value}\nverdicts {theirs:?}",
                    show(&members)
                )
            };
            if ours == Some(true) {
                inside += 1;
                assert!(!theirs.contains(&Some(false)), "too large: {}", context());
            }
            if theirs.iter().all(|verdict| *verdict == Some(true)) {
                outside += 1;
                assert!(!claims_exact || ours != Some(false), "too small: {}", context());
            }
        }
    }
    // The test tests something.
    assert!(
        common > 100 && exact > 50 && inside > 1000 && outside > 1000,
        "{common} {exact} {inside} {outside}"
    );
}

#[test]
fn order_does_not_matter_and_nothing_changes_twice() {
    for case in 0..cases(600) {
        let mut seed = Seed(case);
        let mut members = family(&mut seed);
        let lcd = Lcd::of(&members);
        let spelled = |lcd: &Lcd| lcd.schema().map(|schema| schema.to_json().to_string());
        for _ in 0..members.len() {
            members.rotate_left(1);
            assert_eq!(spelled(&Lcd::of(&members)), spelled(&lcd), "seed {case}\n{}", show(&members));
        }
        members.reverse();
        let reversed = Lcd::of(&members);
        assert_eq!(spelled(&reversed), spelled(&lcd), "seed {case}\n{}", show(&members));
        let Some(schema) = lcd.schema() else { continue };
        let schema = schema.clone();
        assert_eq!(spelled(&Lcd::of(std::slice::from_ref(&schema))), spelled(&lcd));
        members.push(schema.clone());
        let again = Lcd::of(&members);
        assert_eq!(spelled(&again), spelled(&lcd), "seed {case}\n{}{:?}", show(&members), again.outcome);
        // And it is a schema that may stand in a CRD.
        let read = Schema::parse(&schema.to_json(), &Options::default(), &mut Pool::new());
        assert_eq!(read.map_err(|error| format!("seed {case}: {error}\n{}", schema.to_json())), Ok(schema));
    }
}

//! Every rule has a pair of CRDs that shows it, and one snapshot says what all rules say about all pairs: a rule that
//! says too much shows up at the pairs of others. To write the snapshot again: `KCP_WRITE_SNAPSHOTS=1 cargo test -p kcp-schema`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::tests::corpus::yaml;
use crate::{CompareOptions, Comparison, Crd, Impact, Options, Pool, Proof, RULES, compare_crds};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rules")
}

fn pair(rule: &str) -> (Crd, Crd) {
    let options = Options { descriptions: true, ..Options::default() };
    let mut pool = Pool::new();
    let mut read = |name: &str| {
        let path = fixtures().join(rule).join(name);
        let path = path.as_path();
        Crd::parse(&yaml(path), &options, &mut pool)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    (read("old.yaml"), read("new.yaml"))
}

fn said(found: &Comparison) -> String {
    let mut out = String::new();
    for difference in &found.differences {
        let word = |impact: &Impact| match impact {
            Impact::None => "-",
            Impact::Meaning(_) => "meaning",
            Impact::Breaks(Proof::Rule) => "breaks",
            Impact::Breaks(Proof::Witness(_)) => "witness",
            Impact::Breaks(Proof::Unproven) => "unproven",
            Impact::Unknown(_) => "unknown",
        };
        let version = difference.version.as_deref().unwrap_or("-");
        let (writers, readers, stored) =
            (word(&difference.writers), word(&difference.readers), word(&difference.stored));
        let rule = difference.rule.id;
        writeln!(
            out,
            "  {rule} {version} {} writers:{writers} readers:{readers} stored:{stored}",
            difference.path
        )
        .unwrap();
        if let Some(witness) = difference.witness() {
            writeln!(out, "    {}", witness.object).unwrap();
        }
    }
    out
}

#[test]
fn every_rule_is_shown_by_its_pair_and_the_snapshot_holds() {
    let mut all = String::new();
    for rule in RULES {
        // What cannot be read is in no CRD: only references of built-in types lead there.
        if rule.id == "unreadable" {
            continue;
        }
        let (old, new) = pair(rule.id);
        let found = compare_crds(&old, &new, &CompareOptions::default());
        assert!(found.differences.iter().any(|it| it.rule == rule), "{}:\n{}", rule.id, said(&found));
        let same = compare_crds(&new, &new, &CompareOptions::default());
        assert_eq!(same.differences, [], "{}: a CRD differs from itself", rule.id);
        writeln!(all, "{}\n{}", rule.id, said(&found)).unwrap();
    }
    let file = fixtures().join("snapshot.txt");
    if std::env::var_os("KCP_WRITE_SNAPSHOTS").is_some() {
        std::fs::write(&file, &all).unwrap();
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(known == all, "the snapshot {} differs; now it is:\n{all}", file.display());
}

#[test]
fn rules_have_names_of_their_own() {
    for (index, rule) in RULES.iter().enumerate() {
        assert!(rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id);
        assert!(!RULES[..index].iter().any(|other| other.id == rule.id), "{} is there twice", rule.id);
    }
}

#[test]
fn every_rule_is_explained_where_its_link_leads() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api-compat.md");
    let text = std::fs::read_to_string(&file).unwrap();
    for rule in RULES {
        assert!(
            text.contains(&format!("\n#### {}\n", rule.id)),
            "docs/api-compat.md has no heading for {}",
            rule.id
        );
    }
}

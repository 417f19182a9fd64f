//! The corpus of real CRDs: the changes of ten projects, as they were declared.

use std::collections::BTreeMap;

use crate::tests::corpus::crds;
use crate::{
    Answer, CompareOptions, Comparison, Crd, Direction, Effect, Impact, Judge, Level, Proof, Rules, Verdict,
    compare_crds,
};

fn crd(project: &str, tag: &str, name: &str) -> Option<&'static Crd> {
    let wanted = format!("{project}/{tag}/{name}.");
    crds()
        .iter()
        .find(|file| {
            file.name.starts_with(&wanted)
                && (name.contains("-experimental") || !file.name.contains("-experimental"))
        })
        .map(|file| &file.crd)
}

fn compare(project: &str, name: &str, old: &str, new: &str) -> Option<Comparison> {
    if crds().is_empty() {
        return None;
    }
    let find = |tag| crd(project, tag, name).unwrap_or_else(|| panic!("{project} {tag} {name}"));
    Some(compare_crds(find(old), find(new), &CompareOptions::default()))
}

/// Neighbouring versions of one CRD, in order.
pub(super) fn neighbours() -> Vec<(String, &'static Crd, &'static Crd)> {
    let key = |tag: &str| -> Vec<u32> {
        tag.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    type Release = (Vec<u32>, &'static str, &'static Crd);
    let mut series: BTreeMap<(&str, &str), Vec<Release>> = BTreeMap::new();
    for file in crds() {
        let [project, tag, name] = file.name.split('/').collect::<Vec<_>>()[..] else {
            panic!("{}", file.name)
        };
        series.entry((project, name)).or_default().push((key(tag), tag, &file.crd));
    }
    let mut pairs = Vec::new();
    for ((_, name), mut files) in series {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        for pair in files.windows(2) {
            pairs.push((format!("{name} {} {}", pair[0].1, pair[1].1), pair[0].2, pair[1].2));
        }
    }
    pairs
}

/// The rules that weigh as errors for writers and stored objects, with version and path.
fn breaks(found: &Comparison) -> Vec<(&'static str, String, String)> {
    let directions = [Direction::Writers, Direction::Stored];
    let errors = found.differences.iter().filter(|it| it.weight(&directions, it.rule.level) == Level::Error);
    errors
        .map(|it| (it.rule.id, it.version.as_deref().unwrap_or("").to_owned(), it.path.to_string()))
        .collect()
}

fn count(found: &Comparison, rule: &str) -> usize {
    breaks(found).iter().filter(|it| it.0 == rule).count()
}

/// The versions for which nothing is decided about stored objects.
fn unknown(found: &Comparison, rule: &str) -> Vec<String> {
    let all =
        found.differences.iter().filter(|it| it.rule.id == rule && matches!(it.stored, Impact::Unknown(_)));
    all.map(|it| it.version.as_deref().unwrap_or("").to_owned()).collect()
}

/// Whether there is a break of this rule at this place.
fn has(found: &Comparison, rule: &str, version: &str, path: &str) -> bool {
    breaks(found).iter().any(|it| (it.0, &*it.1, &*it.2) == (rule, version, path))
}

macro_rules! pair {
    ($project:literal, $name:literal, $old:literal, $new:literal) => {
        match compare($project, $name, $old, $new) {
            Some(found) => found,
            None => return,
        }
    };
}

#[test]
fn row_1_2_3_cert_manager_unserves_removes_and_limits() {
    let found = pair!("cert-manager", "certificates", "v1.5.0", "v1.6.0");
    let gone = ["v1alpha2", "v1alpha3", "v1beta1"];
    assert_eq!(breaks(&found), gone.map(|it| ("version-unserved", it.to_owned(), ".".to_owned())));
    // They were not served before, so that only stored objects could miss them; a file does not say whether there are any.
    let found = pair!("cert-manager", "certificates", "v1.6.0", "v1.7.0");
    assert_eq!(breaks(&found), []);
    assert_eq!(unknown(&found, "stored-version-removed"), gone);
    assert_eq!(found.answer(Direction::Stored), Answer::Unknown);
    let mut old = crd("cert-manager", "v1.6.0", "certificates").unwrap().clone();
    old.stored_versions = vec!["v1alpha2".into(), "v1".into()];
    let found = compare_crds(
        &old,
        crd("cert-manager", "v1.7.0", "certificates").unwrap(),
        &CompareOptions::default(),
    );
    assert_eq!(breaks(&found), [("stored-version-removed", "v1alpha2".to_owned(), ".".to_owned())]);
    let found = pair!("cert-manager", "certificates", "v1.7.0", "v1.8.0");
    assert!(has(&found, "enum-added", "v1", "spec.privateKey.rotationPolicy"));
    assert!(has(&found, "list-type-tightened", "v1", "status.conditions"));
    assert_eq!(breaks(&found).len(), 2);
}

#[test]
fn row_4_5_6_7_gateway_api_versions_go() {
    for name in ["gateways", "httproutes", "gatewayclasses"] {
        let Some(found) = compare("gateway-api", name, "v0.5.0", "v0.8.0") else { return };
        assert!(has(&found, "version-unserved", "v1alpha2", "."), "{name}");
    }
    for name in ["grpcroutes", "referencegrants"] {
        let Some(found) = compare("gateway-api", name, "v1.1.0", "v1.2.0") else { return };
        assert_eq!(unknown(&found, "stored-version-removed"), ["v1alpha2"], "{name}");
    }
    let crds =
        |tag| crd("gateway-api", tag, "gatewayclasses.gateway.networking.k8s.io-experimental").unwrap();
    let found = compare_crds(crds("v1.1.0"), crds("v1.2.0"), &CompareOptions::default());
    assert!(has(&found, "type-changed", "v1", "status.supportedFeatures[]"));
    let found = compare_crds(crds("v1.2.0"), crds("v1.2.1"), &CompareOptions::default());
    assert_eq!(found.differences, []);
    let found = pair!("gateway-api", "backendtlspolicies", "v1.0.0", "v1.1.0");
    assert_eq!(found.answer(Direction::Writers), Answer::No);
    assert!(has(&found, "version-removed", "v1alpha2", "."));
}

#[test]
fn row_8_9_gateway_api_requires_and_widens() {
    let found = pair!("gateway-api", "grpcroutes", "v1.3.0", "v1.4.0");
    assert!(has(&found, "required-added", "v1", "spec"));
    assert!(has(&found, "required-added", "v1", "status.parents[].conditions"));
    let found = pair!("gateway-api", "gateways", "v0.4.0", "v0.5.0");
    assert_eq!(breaks(&found), []);
    assert_eq!(
        (found.answer(Direction::Writers), found.answer(Direction::Readers)),
        (Answer::Yes, Answer::No)
    );
}

#[test]
fn row_10_11_12_keda_takes_values_away() {
    let found = pair!("keda", "triggerauthentications", "v2.14.0", "v2.15.0");
    assert_eq!((count(&found, "enum-value-removed"), breaks(&found).len()), (4, 4));
    assert_eq!(found.answer(Direction::Stored), Answer::No);
    let detail = found.differences.iter().find_map(|it| it.detail.clone());
    assert_eq!(detail.as_deref(), Some("removed: \"azure\", \"aws-kiam\""));
    let found = pair!("keda", "scaledobjects", "v2.19.0", "v2.20.0");
    for rule in ["bound-tightened", "enum-added"] {
        assert!(count(&found, rule) > 0, "{rule}: {:?}", breaks(&found));
    }
    assert!(found.differences.iter().any(|it| it.rule.id == "cel-rule-added"));
    let found = pair!("keda", "scaledobjects", "v2.16.0", "v2.17.0");
    assert_eq!(
        breaks(&found),
        [("enum-added", "v1alpha1".to_owned(), "spec.advanced.scalingModifiers.metricType".to_owned())]
    );
}

#[test]
fn row_13_14_15_prometheus_operator_tightens() {
    let found = pair!("prometheus-operator", "scrapeconfigs", "v0.80.0", "v0.81.0");
    assert!(
        has(&found, "enum-value-removed", "v1alpha1", "spec.openstackSDConfigs[].role"),
        "{:?}",
        breaks(&found)
    );
    let found = pair!("prometheus-operator", "prometheuses", "v0.55.0", "v0.56.0");
    assert_eq!(
        (count(&found, "pattern-added"), count(&found, "enum-added")),
        (11, 4),
        "{:?}",
        breaks(&found)
    );
    assert!(found.differences.iter().any(|it| it.rule.id == "status-subresource-added"));
    assert_eq!(found.differences.iter().filter(|it| it.rule.id.starts_with("default-")).count(), 2);
    let found = pair!("prometheus-operator", "prometheusrules", "v0.60.0", "v0.61.0");
    assert_eq!(count(&found, "pattern-added"), 3);
    assert!(has(&found, "bound-tightened", "v1", "spec.groups[].name"));
    assert!(has(&found, "list-type-tightened", "v1", "spec.groups"));
}

#[test]
fn row_16_argo_rollouts_breaks_among_traps() {
    let found = pair!("argo-rollouts", "rollouts", "v1.8.0", "v1.9.1");
    let pod = "spec.template.spec";
    assert!(has(&found, "required-added", "v1alpha1", &format!("{pod}.hostAliases[].ip")));
    assert!(has(&found, "field-removed", "v1alpha1", &format!("{pod}.resourceClaims[].source")));
    assert!(
        !breaks(&found).iter().any(|it| it.2.starts_with(&format!("{pod}.volumes"))),
        "volumes were widened"
    );
    assert!(found.differences.iter().any(|it| it.rule.id == "cel-transition-rule-added"));
    assert!(
        !found
            .differences
            .iter()
            .any(|it| it.new == Some("atomic".into()) && it.old == Some("atomic".into()))
    );
}

#[test]
fn row_17_velero_opens_a_parent() {
    let found = pair!("velero", "restores", "v1.9.0", "v1.10.0");
    assert_eq!(breaks(&found), []);
    assert_eq!(found.answer(Direction::Writers), Answer::Yes);
}

#[test]
fn row_18_19_20_external_secrets_removes() {
    let found = pair!("external-secrets", "externalsecrets", "v0.15.0", "v0.16.0");
    assert!(has(&found, "version-removed", "v1alpha1", "."));
    assert!(has(&found, "enum-value-removed", "v1beta1", "spec.target.template.engineVersion"));
    let found = pair!("external-secrets", "secretstores", "v0.15.0", "v0.16.0");
    assert!(has(&found, "version-removed", "v1alpha1", "."));
    assert!(has(&found, "field-removed", "v1beta1", "spec.provider.fake.data[].valueMap"));
    assert!(has(&found, "required-added", "v1beta1", "spec.provider.fake.data[].value"));
    let found = pair!("external-secrets", "externalsecrets", "v0.16.0", "v0.17.0");
    assert!(has(&found, "version-unserved", "v1beta1", "."));
    let found = pair!("external-secrets", "secretstores", "v1.3.0", "v2.0.0");
    for name in ["alibaba", "device42"] {
        let path = format!("spec.provider.{name}");
        assert!(has(&found, "field-removed", "v1", &path));
        // Pruned first, then refused: the provider is empty.
        let difference = found.differences.iter().find(|it| it.path.to_string() == path).unwrap();
        let effect = &difference.witness().unwrap().effect;
        assert!(
            matches!(effect, Effect::Refused(why) if why.path.to_string() == "spec.provider"),
            "{effect:?}"
        );
    }
}

#[test]
fn row_21_22_23_versions_go_and_limits_come() {
    for (name, new) in [("kafkatopics", "1.0.0"), ("kafkausers", "1.0.0"), ("kafkas", "1.2.0")] {
        let Some(found) = compare("strimzi", name, "0.51.0", new) else { return };
        assert!(has(&found, "version-removed", "v1beta2", "."), "{name} {:?}", breaks(&found));
    }
    let found = pair!("cluster-api", "clusters", "v1.5.0", "v1.6.0");
    assert!(has(&found, "version-unserved", "v1alpha4", "."));
    assert_eq!(unknown(&found, "stored-version-removed"), ["v1alpha3"]);
    let found = pair!("cluster-api", "clusters", "v1.6.0", "v1.7.0");
    assert!(!breaks(&found).iter().any(|it| it.0.contains("version-")));
    assert_eq!(unknown(&found, "stored-version-removed"), Vec::<String>::new());
    let found = pair!("cluster-api", "clusters", "v1.12.0", "v1.13.0");
    assert_eq!(unknown(&found, "stored-version-removed"), ["v1alpha3", "v1alpha4"]);
    let found = pair!("cluster-api", "clusters", "v1.9.0", "v1.10.0");
    let bounds = |keyword: &str| {
        let tightened = found.differences.iter().filter(|it| it.rule.id == "bound-tightened");
        tightened
            .filter(|it| it.version.as_deref() == Some("v1beta1") && it.detail.as_deref() == Some(keyword))
            .count()
    };
    // Two of the 21 new least lengths say nothing: a pattern there allows no empty text anyway.
    assert_eq!((bounds("maxItems"), bounds("maxLength"), bounds("minLength")), (11, 27, 19));
}

#[test]
fn row_24_25_nothing_is_said_where_nothing_breaks() {
    for (project, name, old, new) in [
        ("cert-manager", "certificates", "v1.12.0", "v1.17.0"),
        ("gateway-api", "gatewayclasses", "v1.2.0", "v1.6.1"),
        ("keda", "triggerauthentications", "v2.15.0", "v2.19.0"),
        ("tekton", "customruns", "v1.0.0", "v1.15.0"),
        // A controller's default changed, which no schema shows.
        ("cert-manager", "certificates", "v1.17.0", "v1.21.1"),
    ] {
        let Some(found) = compare(project, name, old, new) else { return };
        let directions = [Direction::Writers, Direction::Stored];
        let said = found.differences.iter().filter(|it| it.weight(&directions, it.rule.level) > Level::Info);
        let said: Vec<String> = said.map(|it| format!("{} {}", it.rule.id, it.path)).collect();
        if (name, new) == ("certificates", "v1.21.1") {
            assert!(
                !said.iter().any(|it| it.contains("rotationPolicy") || it.contains("revisionHistoryLimit")),
                "{said:?}"
            );
        } else {
            assert_eq!(said, Vec::<String>::new(), "{name} {old} {new}");
        }
    }
}

#[test]
fn every_witness_of_the_corpus_is_one() {
    for (name, old, new) in neighbours() {
        let found = compare_crds(old, new, &CompareOptions { witnesses: 8, ..CompareOptions::default() });
        for difference in &found.differences {
            let Some(version) = &difference.version else { continue };
            let judge = |crd: &Crd| {
                let schema = crd.version(version).and_then(|it| it.schema.clone()).unwrap_or_default();
                Judge::new(&schema, Rules::default())
            };
            if let Impact::Breaks(Proof::Witness(witness)) = &difference.writers {
                let (before, after) = (judge(old), judge(new));
                assert_eq!(
                    before.accepts_and_keeps(&witness.object),
                    Verdict::Yes,
                    "{name} {}",
                    difference.path
                );
                let (stored, other) = (before.create(&witness.object), after.create(&witness.object));
                let differs = other.verdict() != Verdict::Yes || stored.object != other.object;
                assert!(differs, "{name} {}", difference.path);
            }
        }
    }
}

/// What crdify said about a pair: whether it flags it, and how often by which of its rules.
fn crdify() -> BTreeMap<String, (i64, BTreeMap<String, u64>)> {
    let Some(folder) = crate::tests::corpus::folder() else { return BTreeMap::new() };
    let text = std::fs::read_to_string(folder.join("crdify-verdicts.json")).unwrap();
    let verdicts: serde_json::Value = serde_json::from_str(&text).unwrap();
    let pairs = verdicts["pairs"].as_array().unwrap();
    let word = |pair: &serde_json::Value, key: &str| pair[key].as_str().unwrap().to_owned();
    let one = |pair: &serde_json::Value| {
        let rules = pair["rules"].as_object().unwrap().iter();
        let rules = rules.map(|(rule, count)| (rule.clone(), count.as_u64().unwrap())).collect();
        let name = format!("{} {} {}", word(pair, "crd"), word(pair, "old"), word(pair, "new"));
        (name, (pair["exit"].as_i64().unwrap(), rules))
    };
    pairs.iter().map(one).collect()
}

fn counted<'r>(rules: impl Iterator<Item = &'r str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rules.for_each(|rule| *counts.entry(rule).or_default() += 1);
    let words: Vec<String> = counts.iter().map(|(rule, count)| format!("{count} {rule}")).collect();
    words.join(", ")
}

/// The table of docs/api-compat.md: our verdict beside crdify's for each neighbouring pair.
fn table() -> String {
    use std::fmt::Write as _;
    let theirs = crdify();
    let directions = [Direction::Writers, Direction::Stored];
    let mut out = String::new();
    for (name, old, new) in neighbours() {
        let found = compare_crds(old, new, &CompareOptions { witnesses: 20, ..CompareOptions::default() });
        let weigh = |level: Level| {
            let all = found.differences.iter();
            counted(all.filter(|it| it.weight(&directions, it.rule.level) == level).map(|it| it.rule.id))
        };
        let (errors, warnings) = (weigh(Level::Error), weigh(Level::Warning));
        let ours = match (errors.is_empty(), warnings.is_empty()) {
            (false, _) => "breaks",
            (true, false) => "warns",
            (true, true) => "safe",
        };
        let (exit, rules) = &theirs[&name];
        let said = match exit {
            0 => "passes".to_owned(),
            1 => rules.iter().map(|(rule, count)| format!("{count} {rule}")).collect::<Vec<_>>().join(", "),
            _ => "crashes".into(),
        };
        let only_words = rules.keys().all(|rule| rule == "description");
        let why = match (exit, ours) {
            (0, "safe") | (1, "breaks") => String::new(),
            (1, _) if only_words => "only descriptions changed for it".into(),
            (1, _) => {
                let others =
                    found.differences.iter().filter(|it| it.weight(&directions, it.rule.level) == Level::Off);
                let others = counted(others.map(|it| it.rule.id).filter(|rule| *rule != "field-added"));
                if others.is_empty() && warnings.is_empty() {
                    "other spellings, descriptions, or served versions of one CRD held against each other"
                        .to_owned()
                } else if others.is_empty() {
                    "all else is spelling, or served versions held against each other".to_owned()
                } else {
                    format!("nothing that was accepted is refused or dropped; changed: {others}")
                }
            }
            (0, _) => {
                "it compares neither versions and subresources, nor what a new parent or rule demands".into()
            }
            _ => "it reads a v1beta1 CRD without a schema per version".into(),
        };
        let all: Vec<String> = [errors, warnings].into_iter().filter(|it| !it.is_empty()).collect();
        writeln!(out, "| {name} | {said} | {ours} | {} | {why} |", all.join("; ")).unwrap();
    }
    out
}

#[test]
#[ignore = "long: to see what is new there, compare the rows"]
fn the_table_of_verdicts_is_the_one_in_the_documentation() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api-compat.md");
    let text = std::fs::read_to_string(file).unwrap();
    for row in table().lines() {
        assert!(text.contains(row), "docs/api-compat.md lacks the row:\n{row}");
    }
}

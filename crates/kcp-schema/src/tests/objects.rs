//! The 54 real objects against every CRD version that knows their kind: verdicts computed by an independent script.

use std::collections::BTreeMap;

use serde_json::Value;

use super::corpus;
use crate::{Crd, Judge, Release};

/// The record knows one version at a time: what is lost between versions is not in it.
fn judge(crd: &Crd, version: &str) -> Option<Judge> {
    let alone = Crd { versions: crd.version(version).cloned().into_iter().collect(), ..crd.clone() };
    Judge::of_crd(&alone, version, Release(36))
}

#[test]
fn real_objects_are_judged_as_recorded() {
    let Some(folder) = corpus::folder() else { return };
    let objects = folder.join("objects");
    let text = std::fs::read_to_string(objects.join("expected.json")).unwrap();
    let expected: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(expected.len(), 54);
    let mut verdicts = BTreeMap::new();
    let mut differences = Vec::new();
    for entry in &expected {
        let file = entry["file"].as_str().unwrap();
        let object = corpus::yaml(&objects.join(file));
        let (group, version) = entry["apiVersion"].as_str().unwrap().split_once('/').unwrap();
        for result in entry["results"].as_array().unwrap() {
            let release = result["crd"].as_str().unwrap();
            let wanted = result["verdict"].as_str().unwrap();
            let crd = corpus::crds().iter().find(|file| {
                file.name.split('/').nth(1) == Some(release)
                    && !file.name.contains("-experimental")
                    && *file.crd.group == *group
                    && Some(&*file.crd.names.kind) == object["kind"].as_str()
            });
            let crd = &crd.unwrap_or_else(|| panic!("{file} {release}")).crd;
            let verdict = match crd.version(version) {
                None => "absent".to_owned(),
                Some(version) => {
                    let judge = judge(crd, &version.name);
                    let outcome = judge.unwrap().create(&object);
                    let wrong = outcome
                        .violations
                        .iter()
                        .any(|finding| !format!("{:?}", finding.violation).starts_with("Cel"));
                    let judged = match () {
                        () if wrong => "invalid",
                        () if !outcome.dropped.is_empty() => "pruned",
                        () => "ok",
                    };
                    assert!(outcome.doubts.is_empty(), "{file} {release}: {:?}", outcome.doubts);
                    format!("{}{judged}", if version.served { "" } else { "unserved+" })
                }
            };
            if verdict != wanted {
                differences.push(format!("{file} on {release}: {verdict}, recorded {wanted}"));
            }
            *verdicts.entry(verdict).or_insert(0) += 1;
        }
    }
    assert!(differences.is_empty(), "{differences:#?}\n{verdicts:?}");
}

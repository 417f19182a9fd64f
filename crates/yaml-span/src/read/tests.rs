use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Limits, Schema, from_node, parse};

#[derive(Debug, Deserialize, PartialEq)]
struct Doc {
    kind: Kind,
    metadata: Meta,
    #[serde(default)]
    spec: Option<Spec>,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Kind {
    Fleet,
    Placement,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Meta {
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    exactly: u8,
    interval: Seconds,
    #[serde(default)]
    cluster_selector: BTreeMap<String, String>,
    #[serde(default)]
    items: Vec<Item>,
    #[serde(default)]
    free: serde_json::Value,
    #[serde(default)]
    ratio: f64,
    #[serde(default)]
    on_loss: Option<Kind>,
    #[serde(default)]
    enabled: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Item {
    name: String,
    timeout: Seconds,
}

/// A duration such as `30s`: refuses by its own `Deserialize`.
#[derive(Debug, PartialEq)]
struct Seconds(u64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_suffix('s').and_then(|n| n.parse().ok());
        number
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no duration such as 30s")))
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> (Option<T>, Vec<String>) {
    let documents = parse(text, Schema::Strict, &Limits::default()).expect("valid YAML");
    let (value, found) = from_node("f.yaml", &documents[0].root);
    (value, found.iter().map(ToString::to_string).collect())
}

#[test]
fn a_valid_document_is_read_as_serde_would() {
    let text = "kind: Fleet\nmetadata: {name: a, labels: {x: \"1\"}}\nspec:\n  exactly: 2\n  interval: 30s\n  free: {b: [1, 2.5, null], a: \"y\"}\n  ratio: 2\n  onLoss: Placement\n  items:\n  - {name: i, timeout: 1s}\n";
    let (value, found) = read::<Doc>(text);
    assert_eq!(found, [""; 0]);
    let value = value.expect("a document");
    let json: serde_json::Value =
        parse(text, Schema::Strict, &Limits::default()).expect("valid")[0].root.to_json();
    assert_eq!(value, serde_json::from_value(json.clone()).expect("serde_json reads the same"));
    let free = value.spec.expect("spec").free;
    assert_eq!(free.to_string(), r#"{"b":[1,2.5,null],"a":"y"}"#);
}

#[test]
fn all_errors_are_found_at_once_with_their_places() {
    let text = "\
kind: Fleat
metadata:
  labels: {a: 1, b: x}
  extra: 1
spec:
  exactl: 3
  interval: soon
  cluster_selector: {}
  enabled: \"true\"
  ratio: big
  onLoss: Nothing
  items:
  - timeout: 5
  - {name: [1], timeout: later}
  - text
";
    let (value, found) = read::<Doc>(text);
    assert_eq!(value, None);
    assert_eq!(
        found,
        [
            "f.yaml:1:7: kind: unknown value `Fleat`, did you mean `Fleet`? Expected one of: Fleet, Placement",
            "f.yaml:3:3: metadata: missing field `name`",
            "f.yaml:3:15: metadata.labels.a: expected string, found integer 1; quote it",
            "f.yaml:4:3: metadata.extra: unknown field `extra`; known fields: name, labels",
            "f.yaml:6:3: spec.exactl: unknown field `exactl`, did you mean `exactly`?",
            "f.yaml:6:3: spec: missing field `exactly`",
            "f.yaml:7:13: spec.interval: \"soon\" is no duration such as 30s",
            "f.yaml:8:3: spec.cluster_selector: unknown field `cluster_selector`, did you mean `clusterSelector`?",
            "f.yaml:9:12: spec.enabled: expected boolean, found string \"true\"; write true or false",
            "f.yaml:10:10: spec.ratio: expected number, found string \"big\"",
            "f.yaml:11:11: spec.onLoss: unknown value `Nothing`, expected one of: Fleet, Placement",
            "f.yaml:13:5: spec.items[0]: missing field `name`",
            "f.yaml:13:14: spec.items[0].timeout: expected string, found integer 5; quote it",
            "f.yaml:14:12: spec.items[1].name: expected string, found a list",
            "f.yaml:14:26: spec.items[1].timeout: \"later\" is no duration such as 30s",
            "f.yaml:15:5: spec.items[2]: expected mapping, found string \"text\"",
        ]
    );
}

#[test]
fn numbers_are_checked_against_the_range_of_their_type() {
    let (_, found) = read::<BTreeMap<String, u8>>("a: 255\nb: 256\nc: -1\nd: 2.0\ne: 2.5\nf:\n");
    assert_eq!(
        found,
        [
            "f.yaml:2:4: b: expected an integer from 0 to 255, found integer 256",
            "f.yaml:3:4: c: expected an integer from 0 to 255, found integer -1",
            "f.yaml:5:4: e: expected integer, found number `2.5`",
            "f.yaml:6:2: f: expected integer, found nothing",
        ]
    );
}

#[test]
fn long_values_never_reach_a_message() {
    let secret = "s3cr3t-".repeat(10);
    let text = format!(
        "kind: {secret}\nmetadata: {{name: a}}\nspec: {{exactly: {secret}, interval: {secret}, {secret}: 1}}\n"
    );
    let (_, found) = read::<Doc>(&text);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert!(found.iter().all(|m| !m.contains("s3cr3t")), "{found:#?}");
}

#[test]
fn a_type_that_accepts_no_stand_in_still_ends() {
    #[derive(Debug)]
    struct Never;
    impl<'de> Deserialize<'de> for Never {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            serde::de::IgnoredAny::deserialize(deserializer)?;
            Err(serde::de::Error::custom("never"))
        }
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Holder {
        never: Never,
        number: u8,
    }
    let (value, found) = read::<Vec<Holder>>("- never: 1\n  number: x\n- number: z\n  never: 2\n");
    assert!(value.is_none());
    assert_eq!(
        found,
        [
            "f.yaml:1:10: [0].never: never",
            "f.yaml:2:11: [0].number: expected integer, found string \"x\"",
            "f.yaml:3:11: [1].number: expected integer, found string \"z\"",
            "f.yaml:4:10: [1].never: never",
        ]
    );
}

#[test]
fn too_many_errors_end_with_one_that_says_so() {
    let text: String = (0..150).map(|i| format!("k{i}: x\n")).collect();
    let (value, found) = read::<BTreeMap<String, u8>>(&text);
    assert!(value.is_none());
    assert_eq!(found.len(), 101);
    assert_eq!(found[99], "f.yaml:100:6: k99: expected integer, found string \"x\"");
    assert_eq!(found[100], "f.yaml:1:1: too many errors: there may be more than these");
}

//! What is written is what a server takes, and says everything about each field.

use std::collections::BTreeSet;

use kcp_api::Kind;
use serde_json::{Value, json};

use super::{definition, differing, files, folder};

fn schema_of(kind: Kind) -> Value {
    definition(kind).unwrap()["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

/// Calls `see` for each schema below and including this one, with its path.
fn walk(path: &str, schema: &Value, see: &mut impl FnMut(&str, &Value)) {
    see(path, schema);
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        walk(&format!("{path}.{name}"), property, see);
    }
    for (key, mark) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(inner) = schema.get(key) {
            walk(&format!("{path}{mark}"), inner, see);
        }
    }
}

#[test]
fn schemas_are_structural_and_every_property_is_described() {
    for kind in Kind::ALL {
        walk(kind.as_str(), &schema_of(kind), &mut |path, schema| {
            for never in ["$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "const", "nullable", "title"] {
                assert!(schema.get(never).is_none(), "{path} has {never}");
            }
            let free = schema["x-kubernetes-preserve-unknown-fields"] == true;
            assert!(schema["type"].is_string() || free, "{path} has no type: {schema}");
            assert_eq!(schema["type"] == "array", schema.get("items").is_some(), "{path}");
            assert!(schema["default"] != Value::Null || schema.get("default").is_none(), "{path}");
            assert!(
                schema.get("properties").is_none() || schema.get("additionalProperties").is_none(),
                "{path}"
            );
            let format = schema["format"].as_str().unwrap_or("int64");
            assert!(["int32", "int64", "date-time"].contains(&format), "{path}: {format}");
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let described = property["description"].as_str().is_some_and(|text| text.len() >= 5);
                // The server describes metadata itself and takes nothing of ours about it.
                assert!(described || (path == kind.as_str() && name == "metadata"), "{path}.{name}");
            }
        });
    }
}

#[test]
fn named_lists_and_only_those_are_maps() {
    let mut maps = BTreeSet::new();
    for kind in Kind::ALL {
        walk(kind.as_str(), &schema_of(kind), &mut |path, schema| {
            if schema["x-kubernetes-list-type"] == "map" {
                let key = schema["x-kubernetes-list-map-keys"][0].as_str().unwrap();
                assert_eq!(schema["items"]["properties"][key]["type"], "string", "{path}");
                let kept = schema["items"]["required"].as_array().unwrap().contains(&json!(key));
                assert!(kept, "{path}: the key {key} is not required");
                maps.insert(path.to_owned());
            }
        });
    }
    for named in [
        "Fleet.spec.windows",
        "Workspace.spec.variants",
        "Workspace.spec.overrides",
        "Workspace.spec.health",
        "Workspace.status.clusters",
        "Placement.spec.targets",
        "Placement.spec.rollout.waves",
        "SyncPolicy.spec.filters",
        "SyncPolicy.spec.transforms",
        "SyncPolicy.spec.admission",
        "Cluster.status.conditions",
    ] {
        assert!(maps.contains(named), "{named} is not a map: {maps:?}");
    }
    for other in ["Approval.spec.actions", "Workspace.status.clusters[].notCurrent", "Cluster.spec.taints"] {
        assert!(!maps.contains(other), "{other} has items of one name that differ");
    }
}

/// Where the value has something that the schema would drop or refuse.
fn misfit(path: &str, schema: &Value, value: &Value) -> Option<String> {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return None;
    }
    let fits = match (schema["type"].as_str().unwrap_or_default(), value) {
        ("object", Value::Object(_)) | ("array", Value::Array(_)) | ("boolean", Value::Bool(_)) => true,
        ("string", Value::String(_)) => schema["enum"].as_array().is_none_or(|words| words.contains(value)),
        ("integer", Value::Number(number)) => {
            let within = |key: &str, ok: fn(f64, f64) -> bool| {
                schema[key].as_f64().is_none_or(|limit| number.as_f64().is_some_and(|n| ok(n, limit)))
            };
            within("minimum", |n, limit| n >= limit) && within("maximum", |n, limit| n <= limit)
        }
        _ => false,
    };
    if !fits {
        return Some(format!("{path}: {value} does not fit {}", schema["type"]));
    }
    for field in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(field).is_none() {
            return Some(format!("{path}.{field} is missing"));
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let Some(schema) = schema["properties"].get(key).or_else(|| schema.get("additionalProperties"))
        else {
            return Some(format!("{path}.{key} would be dropped"));
        };
        if let Some(misfit) = misfit(&format!("{path}.{key}"), schema, inner) {
            return Some(misfit);
        }
    }
    let items = value.as_array().into_iter().flatten().enumerate();
    items.into_iter().find_map(|(i, item)| misfit(&format!("{path}[{i}]"), &schema["items"], item))
}

#[test]
fn the_examples_of_the_format_fit_and_keep_every_field() {
    for (kind, example) in [
        (Kind::Fleet, include_str!("../../../crates/kcp-api/testdata/fleet.yaml")),
        (Kind::Cluster, include_str!("../../../crates/kcp-api/testdata/cluster.yaml")),
        (Kind::Workspace, include_str!("../../../crates/kcp-api/testdata/workspace.yaml")),
        (Kind::Placement, include_str!("../../../crates/kcp-api/testdata/placement.yaml")),
        (Kind::SyncPolicy, include_str!("../../../crates/kcp-api/testdata/syncpolicy.yaml")),
        (Kind::Tenant, include_str!("../../../crates/kcp-api/testdata/tenant.yaml")),
        (Kind::Approval, include_str!("../../../crates/kcp-api/testdata/approval.yaml")),
    ] {
        let mut example: Value = serde_yaml::from_str(example).unwrap();
        example["metadata"] = json!({});
        assert_eq!(misfit(kind.as_str(), &schema_of(kind), &example), None);
        example["spec"]["unheardOf"] = json!(1);
        assert!(misfit(kind.as_str(), &schema_of(kind), &example).is_some());
    }
}

#[test]
fn defaults_fit_their_own_schema_and_are_those_of_the_format() {
    for kind in Kind::ALL {
        walk(kind.as_str(), &schema_of(kind), &mut |path, schema| {
            if let Some(default) = schema.get("default") {
                assert_eq!(misfit(path, schema, default), None);
            }
        });
    }
    let fleet = &schema_of(Kind::Fleet)["properties"]["spec"];
    assert_eq!(fleet["required"], json!(["id"]));
    assert_eq!(fleet["properties"]["interval"]["default"], "30s");
    assert_eq!(fleet["properties"]["safety"]["default"]["maxDelete"], json!({"percent": 10, "floor": 5}));
    let placement = &schema_of(Kind::Placement)["properties"]["spec"];
    assert_eq!(placement["required"], json!(["workspaces", "clusters"]));
    assert_eq!(placement["properties"]["movement"]["properties"]["healthTimeout"]["default"], "5m");
    assert_eq!(placement["properties"]["unit"]["enum"], json!(["Workspace", "Namespace", "Object"]));
}

#[test]
fn the_files_are_up_to_date() {
    let differing = differing(&folder(), &files().unwrap()).unwrap();
    assert!(differing.is_empty(), "run `cargo xtask crds`: {differing:?}");
}

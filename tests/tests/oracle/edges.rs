//! The table "Who may use what" of docs/architecture.md is the truth about crate edges: cargo must agree with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

type Edges = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests folder is in the workspace")
}

fn documented() -> Edges {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let names = cells[2].split(',').map(str::trim).filter(|name| !name.is_empty());
            (cells[1].to_owned(), names.map(str::to_owned).collect())
        })
        .collect()
}

fn actual() -> Edges {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let ours: BTreeSet<_> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            // What tests use crosses no boundary of the product.
            let normal = dependencies.filter(|dependency| dependency["kind"].is_null());
            let names = normal.map(|dependency| dependency["name"].as_str().unwrap());
            let inner = names.filter(|name| ours.contains(name)).map(str::to_owned).collect();
            (package["name"].as_str().unwrap().to_owned(), inner)
        })
        .collect()
}

#[test]
fn every_crate_is_in_the_table_and_uses_only_what_the_table_allows() {
    let documented = documented();
    let actual = actual();
    assert_eq!(
        documented.keys().collect::<Vec<_>>(),
        {
            let mut names: Vec<_> = actual.keys().collect();
            names.sort();
            names
        },
        "docs/architecture.md and the workspace name different crates"
    );
    for (name, uses) in &actual {
        let more: Vec<_> = uses.difference(&documented[name]).collect();
        assert!(more.is_empty(), "{name} depends on {more:?}, which docs/architecture.md does not allow");
    }
}

#[test]
fn the_pure_crates_name_no_clock_no_file_and_no_runtime() {
    let forbidden =
        ["std::fs", "std::net", "std::process", "std::env", "SystemTime::now", "Instant::now", "tokio"];
    for name in ["kcp-core", "kcp-merge", "kcp-api", "kustomize-rs", "yaml-span"] {
        let mut open = vec![root().join("crates").join(name).join("src")];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            // Tests of a pure crate may read test data.
            if path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("tests")) {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let product = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code = product.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                for word in forbidden {
                    assert!(!line.contains(word), "{}: {line}", path.display());
                }
            }
        }
    }
}

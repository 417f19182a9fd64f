//! `cargo xtask crds`: the CustomResourceDefinitions of our kinds, made from the types of kcp-api.

mod structural;
mod yaml;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use kcp_api::{Approval, Cluster, Fleet, GROUP, Kind, Placement, SyncPolicy, Tenant, VERSION, Workspace};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

const HEADER: &str =
    "# Made by `cargo xtask crds` from the types of crates/kcp-api. Change those, not this file.\n";

/// Write the CRDs into manifests/crds
///
/// Example: cargo xtask crds --check
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail when a file is not what would be written
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let folder = folder();
    let wanted = files()?;
    let differing = differing(&folder, &wanted)?;
    if args.check {
        if differing.is_empty() {
            return Ok(());
        }
        bail!("not up to date in manifests/crds: {}; run `cargo xtask crds`", differing.join(", "));
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    for name in &differing {
        let path = folder.join(name);
        let done = match wanted.iter().find(|(wanted, _)| wanted == name) {
            Some((_, content)) => fs::write(&path, content),
            None => fs::remove_file(&path),
        };
        done.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../manifests/crds")
}

/// Names of files that are missing, different, or of no kind of ours.
fn differing(folder: &Path, wanted: &[(String, String)]) -> anyhow::Result<Vec<String>> {
    let mut differing: Vec<String> = wanted
        .iter()
        .filter(|(name, content)| fs::read_to_string(folder.join(name)).ok().as_ref() != Some(content))
        .map(|(name, _)| name.clone())
        .collect();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".yaml") && !wanted.iter().any(|(wanted, _)| *wanted == name) {
                differing.push(name);
            }
        }
    }
    differing.sort();
    Ok(differing)
}

/// Name and content of each file.
fn files() -> anyhow::Result<Vec<(String, String)>> {
    Kind::ALL
        .into_iter()
        .map(|kind| {
            let name = format!("{}.{GROUP}.yaml", kind.plural());
            Ok((name, format!("{HEADER}{}", yaml::emit(&definition(kind)?))))
        })
        .collect()
}

/// The CustomResourceDefinition of a kind.
fn definition(kind: Kind) -> anyhow::Result<Value> {
    let schema = match kind {
        Kind::Fleet => schema::<Fleet>(),
        Kind::Cluster => schema::<Cluster>(),
        Kind::Workspace => schema::<Workspace>(),
        Kind::Placement => schema::<Placement>(),
        Kind::SyncPolicy => schema::<SyncPolicy>(),
        Kind::Tenant => schema::<Tenant>(),
        Kind::Approval => schema::<Approval>(),
    };
    let schema = schema.with_context(|| format!("the schema of {kind} is not structural"))?;
    let plural = kind.plural();
    Ok(json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {
                "kind": kind.as_str(),
                "listKind": format!("{kind}List"),
                "plural": plural,
                "singular": kind.as_str().to_ascii_lowercase(),
                "categories": ["kcp"],
            },
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
                    {"name": "Reason", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].reason"},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    }))
}

/// The structural schema of a document.
fn schema<T: JsonSchema>() -> anyhow::Result<Value> {
    let settings = SchemaSettings::openapi3().with(|settings| {
        settings.inline_subschemas = true;
        settings.transforms.clear();
    });
    structural::document(settings.into_generator().into_root_schema_for::<T>().to_value())
}

#[cfg(test)]
mod tests;

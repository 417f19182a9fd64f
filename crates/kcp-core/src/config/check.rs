//! How the documents fit together: names, references, and claims that exclude each other.

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::{Document, Suspension};
use kustomize_rs::{EntryKind, Files};
use yaml_span::{Diagnostic, did_you_mean};

use super::DEFAULT_POLICY;
use super::read::{Documents, Folder, Read};
use crate::render::variant_dir;

/// Adds all findings about documents that are right by themselves and wrong together.
pub(super) fn check(files: &dyn Files, documents: &Documents, found: &mut Vec<Diagnostic>) {
    unique_names(&documents.clusters, found);
    unique_names(&documents.placements, found);
    unique_names(&documents.policies, found);
    unique_names(&documents.approvals, found);
    unique_names(&documents.tenants, found);
    unique_uids(documents, found);
    suspensions(documents, found);
    for (name, folder) in &documents.workspaces {
        workspace(files, name, folder, found);
    }
    references(documents, found);
    claims(documents, found);
}

/// One kind, one name, one document.
fn unique_names<T: Document>(documents: &[Read<T>], found: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<&str, &Read<T>> = BTreeMap::new();
    for document in documents {
        let name = document.located.value.metadata().name.as_str();
        if let Some(other) = first.get(name) {
            let message = format!("a second {} `{name}`; the first is at {}", T::KIND, other.place());
            found.push(document.finding("metadata.name", message).with_help("rename or remove one of them"));
        } else {
            first.insert(name, document);
        }
    }
}

/// One cluster, one document.
fn unique_uids(documents: &Documents, found: &mut Vec<Diagnostic>) {
    let mut first = BTreeMap::new();
    for cluster in &documents.clusters {
        let Some(uid) = cluster.located.value.spec.uid.as_deref().filter(|uid| !uid.is_empty()) else {
            continue;
        };
        if let Some(other) = first.insert(uid, cluster) {
            let name = &other.located.value.metadata.name;
            let message =
                format!("the Cluster `{name}` at {} has the same uid: both are one cluster", other.place());
            found.push(cluster.finding("spec.uid", message).with_help("remove one of them"));
        }
    }
}

/// Suspensions must name clusters that are there, or they would stop nothing.
fn suspensions(documents: &Documents, found: &mut Vec<Diagnostic>) {
    if documents.unreadable {
        return;
    }
    let mut known: BTreeSet<&str> =
        documents.clusters.iter().map(|it| it.located.value.metadata.name.as_str()).collect();
    known.extend(documents.broken.iter().map(String::as_str));
    if let Some(fleet) = &documents.fleet {
        suspended(fleet, &fleet.located.value.spec.suspend, &known, found);
    }
    for cluster in &documents.clusters {
        suspended(cluster, &cluster.located.value.spec.suspend, &known, found);
    }
    for placement in &documents.placements {
        suspended(placement, &placement.located.value.spec.suspend, &known, found);
    }
}

fn suspended<T>(
    document: &Read<T>,
    list: &[Suspension],
    known: &BTreeSet<&str>,
    found: &mut Vec<Diagnostic>,
) {
    for (item, suspension) in list.iter().enumerate() {
        for (index, name) in
            suspension.clusters.iter().enumerate().filter(|(_, name)| !known.contains(name.as_str()))
        {
            let path = format!("spec.suspend[{item}].clusters[{index}]");
            found.push(unknown(document, &path, "cluster", name, known));
        }
    }
}

/// A finding about a name that nothing has.
fn unknown<T>(document: &Read<T>, path: &str, what: &str, name: &str, known: &BTreeSet<&str>) -> Diagnostic {
    let finding = document.finding(path, format!("there is no {what} `{name}`"));
    match did_you_mean(name, known.iter().copied()) {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding,
    }
}

/// The document of a workspace names its own folder, and its variants are folders in it.
fn workspace(files: &dyn Files, name: &str, folder: &Folder, found: &mut Vec<Diagnostic>) {
    let Some(document) = &folder.document else { return };
    let value = &document.located.value;
    if value.metadata.name != name {
        let message = format!("the Workspace in folder `{}` must be called `{name}`", folder.dir);
        found.push(
            document.finding("metadata.name", message).with_help("a workspace is called like its folder"),
        );
    }
    for (index, variant) in value.spec.variants.iter().enumerate().filter(|(_, it)| it.source.is_none()) {
        let field = format!("spec.variants[{index}].path");
        let path = variant.path.as_deref().unwrap_or_default();
        if path.starts_with('/') || path.split('/').any(|part| part == "..") {
            // Told when the document was read by itself.
            continue;
        }
        let dir = variant_dir(&folder.dir, variant.path.as_deref());
        // A tree that cannot be read is told when it is rendered.
        if matches!(files.entry(&dir), Ok(None | Some(EntryKind::File))) {
            found.push(document.finding(&field, format!("there is no folder `{dir}`")));
        }
    }
}

/// Placements name workspaces and policies that are there.
fn references(documents: &Documents, found: &mut Vec<Diagnostic>) {
    let workspaces: BTreeSet<&str> = documents.workspaces.keys().map(String::as_str).collect();
    let mut policies: BTreeSet<&str> =
        documents.policies.iter().map(|it| it.located.value.metadata.name.as_str()).collect();
    policies.insert(DEFAULT_POLICY);
    policies.extend(documents.broken.iter().map(String::as_str));
    for placement in &documents.placements {
        let spec = &placement.located.value.spec;
        for (index, name) in spec.workspaces.names.iter().enumerate() {
            if !workspaces.contains(name.as_str()) {
                let path = format!("spec.workspaces.names[{index}]");
                let mut finding = unknown(placement, &path, "workspace", name, &workspaces);
                if finding.help.is_none() {
                    let dir = &documents.paths.workspaces;
                    finding =
                        finding.with_help(format!("make the folder `{dir}/{name}`, or correct the name"));
                }
                found.push(finding);
            }
        }
        if !documents.unreadable && !policies.contains(spec.policy_name.as_str()) {
            found.push(unknown(placement, "spec.policyName", "sync policy", &spec.policy_name, &policies));
        }
    }
}

/// A workspace belongs to one placement: two that claim it are told at both places.
fn claims(documents: &Documents, found: &mut Vec<Diagnostic>) {
    let none = BTreeMap::new();
    for (name, folder) in &documents.workspaces {
        let labels = folder.document.as_ref().map_or(&none, |it| &it.located.value.metadata.labels);
        let claiming: Vec<_> =
            documents.placements.iter().filter(|it| super::claims(&it.located.value, name, labels)).collect();
        if claiming.len() < 2 {
            continue;
        }
        for placement in &claiming {
            let others: Vec<String> = claiming
                .iter()
                .filter(|other| !std::ptr::eq(**other, *placement))
                .map(|other| format!("`{}` at {}", other.located.value.metadata.name, other.place()))
                .collect();
            let message =
                format!("the workspace `{name}` is also claimed by the placement {}", others.join(" and "));
            let help = "a workspace belongs to one placement: take it out of all others";
            found.push(placement.finding("spec.workspaces", message).with_help(help));
        }
    }
}

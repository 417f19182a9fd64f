//! Checks of `kind: Workspace`.

use super::Check;
use crate::{Substitute, Variant, Workspace};

pub(crate) fn workspace(workspace: &Workspace, check: &mut Check) {
    let spec = &workspace.spec;
    if let Some(namespace) = &spec.default_namespace {
        check.dns_label("spec.defaultNamespace", namespace);
    }
    variants(&spec.variants, check);
    check.refuse("spec.variables", spec.variables.is_empty());
    check.refuse_other_than("spec.substitute", spec.substitute == Substitute::Disabled, "Disabled");
    check.refuse("spec.overrides", spec.overrides.is_empty());
    check.unique_names("spec.overrides", spec.overrides.iter().map(|item| item.name.as_str()));
    check.refuse("spec.dependsOn", spec.depends_on.is_empty());
    check.refuse("spec.health", spec.health.is_empty());
    check.unique_names("spec.health", spec.health.iter().map(|item| item.name.as_str()));
    check.refuse("spec.formerly", spec.formerly.is_none());
}

fn variants(variants: &[Variant], check: &mut Check) {
    check.unique_names("spec.variants", variants.iter().map(|item| item.name.as_str()));
    for (i, variant) in variants.iter().enumerate() {
        let path = format!("spec.variants[{i}]");
        if let Some(selector) = &variant.cluster_selector {
            check.selector(&format!("{path}.clusterSelector"), selector);
        } else if i + 1 < variants.len() {
            check.error_with_help(
                &path,
                "has no clusterSelector and fits every cluster, so the variants after it are never used",
                "put it last",
            );
        }
        if let Some(folder) = &variant.path {
            check.repo_path(&format!("{path}.path"), folder);
        }
        check.refuse(&format!("{path}.source"), variant.source.is_none());
    }
}

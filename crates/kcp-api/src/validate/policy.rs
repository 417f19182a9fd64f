//! Checks of `kind: SyncPolicy`.

use super::{Check, quoted};
use crate::object_match::split_path;
use crate::{
    Apply, Delete, IgnoreRule, NamespaceRewrite, SchemaRules, StatusRules, SyncPolicy, SyncPolicySpec,
    TakeOver, TakeOverPolicy,
};

pub(crate) fn sync_policy(policy: &SyncPolicy, check: &mut Check) {
    // Taken apart, so that a new field cannot be forgotten here.
    let SyncPolicySpec { filters, namespaces, transforms, admission, schema, apply, delete, status } =
        &policy.spec;
    check.refuse("spec.filters", filters.is_empty());
    check.unique_names("spec.filters", filters.iter().map(|item| item.name.as_str()));
    check.refuse("spec.namespaces", *namespaces == NamespaceRewrite::default());
    check.refuse("spec.transforms", transforms.is_empty());
    check.unique_names("spec.transforms", transforms.iter().map(|item| item.name.as_str()));
    check.refuse("spec.admission", admission.is_empty());
    check.unique_names("spec.admission", admission.iter().map(|item| item.name.as_str()));
    check.refuse("spec.schema", *schema == SchemaRules::default());
    self::apply(apply, check);
    self::delete(delete, check);
    check.refuse("spec.status", *status == StatusRules::default());
}

fn apply(apply: &Apply, check: &mut Check) {
    let Apply { conflicts: _, take_over, drift: _, ignore_fields } = apply;
    let TakeOver { policy, managers } = take_over;
    check.unique_texts("spec.apply.takeOver.managers", managers);
    match (policy, managers.is_empty()) {
        (TakeOverPolicy::FromManagers, true) => check.error(
            "spec.apply.takeOver.managers",
            "at least one field manager is needed with policy FromManagers",
        ),
        (TakeOverPolicy::Never | TakeOverPolicy::IfUnowned, false) => check.error_with_help(
            "spec.apply.takeOver.managers",
            "has no effect with this policy",
            "set policy: FromManagers, or leave managers out",
        ),
        _ => {}
    }
    for (i, rule) in ignore_fields.iter().enumerate() {
        ignore_rule(&format!("spec.apply.ignoreFields[{i}]"), rule, check);
    }
}

fn ignore_rule(path: &str, rule: &IgnoreRule, check: &mut Check) {
    check.unique_texts(&format!("{path}.paths"), &rule.paths);
    if rule.paths.is_empty() {
        check.error(format!("{path}.paths"), "at least one path is needed");
    }
    for (i, text) in rule.paths.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        let path = format!("{path}.paths[{i}]");
        let keys = split_path(text);
        if keys.iter().any(String::is_empty) || text.starts_with('/') {
            check.error_with_help(
                &path,
                format!("{} is not a path of keys", quoted(text)),
                "write it like spec.replicas",
            );
        } else if keys.iter().any(|key| key.contains(['[', ']', '*'])) {
            check.error_with_help(
                &path,
                format!("{} points into a list", quoted(text)),
                "name the list itself, or a field that is in maps only",
            );
        } else if matches!(keys[0].as_str(), "apiVersion" | "kind")
            || (keys[0] == "metadata"
                && keys.get(1).is_none_or(|key| matches!(key.as_str(), "name" | "namespace")))
        {
            check.error(&path, format!("{} is what the object is known by", quoted(text)));
        }
    }
}

fn delete(delete: &Delete, check: &mut Check) {
    for (i, rule) in delete.keep.iter().enumerate() {
        if rule.group.is_none() && rule.kind.is_none() {
            check.error(format!("spec.delete.keep[{i}]"), "a group, a kind or both are needed");
        }
    }
}

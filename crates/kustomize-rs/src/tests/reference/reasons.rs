//! Why each failing case fails, so that none fails for a reason of its own: a field that nobody supports would do for all.

use crate::ProblemKind::{
    self, Cycle, Duplicate, Invalid, Outside, Patch, Read, Syntax, UnknownField, Unsupported,
};

/// The cases in `fail`, by the class of their first problem.
const REASONS: [(ProblemKind, &[&str]); 9] = [
    (Cycle, &["cycle-self", "cycle-two"]),
    (
        Duplicate,
        &[
            "base-included-twice",
            "gen-create-exists",
            "gen-dup-key",
            "gen-dup-names",
            "namespace-collision",
            "resource-dup-key",
            "resource-id-conflict",
            "two-kustomization-files",
            "var-dup",
        ],
    ),
    (
        Invalid,
        &[
            "bad-openapi-version",
            "bad-sort-order",
            "component-as-resource",
            "component-file",
            "empty-kustomization",
            "fifo-with-legacy-opts",
            "gen-bad-literal",
            "gen-merge-nothing",
            "gen-no-name",
            "generatename",
            "int-commonlabel",
            "kustomization-as-component",
            "only-typemeta",
            "patch-bad-labelselector",
            "patch-bad-regex",
            "patch-both-path-and-inline",
            "patch-garbage",
            "patch-neither",
            "replacement-index-out-of-range",
            "replacement-multi-source",
            "replacement-no-select",
            "replacement-no-source-match",
            "replacement-source-path-missing",
            "replacement-target-path-missing",
            "replicas-no-match",
            "resource-is-kustomization",
            "resource-missing-kind",
            "resource-missing-name",
            "resource-not-map",
            "validator-modifies",
            "var-bad-field",
            "var-not-found",
            "wrong-apiversion",
            "wrong-kind",
            "wrong-type",
        ],
    ),
    (Outside, &["gen-outside-root", "missing-dir", "resource-outside-root"]),
    (
        Patch,
        &[
            "json6902-bad-op",
            "json6902-index-range",
            "json6902-legacy-no-name",
            "json6902-no-target",
            "json6902-test-fails",
            "patch-no-target",
            "sm-legacy-multi-match-none",
            "sm-patch-bad-directive",
        ],
    ),
    (Read, &["gen-file-missing", "missing-resource", "no-kustomization-file", "patch-file-missing"]),
    (
        Syntax,
        &[
            "alias-cycle",
            "anchor-undefined",
            "invalid-yaml-kustomization",
            "malformed-resource",
            "tab-indent-resource",
            "yaml-inf",
            "yaml-int-key",
        ],
    ),
    (UnknownField, &["bad-config-file", "unknown-field"]),
    (Unsupported, &["exec-plugin-disabled", "helm-disabled", "krm-exec-disabled", "unknown-builtin"]),
];

/// The class of problem that a case of `fail` must show; `None` for a case that is not in the table.
pub(super) fn of(case: &str) -> Option<ProblemKind> {
    let name = case.strip_prefix("fail/")?;
    REASONS.iter().find(|(_, names)| names.contains(&name)).map(|&(kind, _)| kind)
}

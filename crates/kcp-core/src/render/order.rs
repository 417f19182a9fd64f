//! The order in which objects of one set are applied; deletes go the other way round.

use crate::object::GroupKind;

/// The phase of the last objects.
pub const LAST_PHASE: u8 = 4;

/// The phase in which objects of a kind are applied, from 0: namespaces, CRDs, what others refer to (accounts,
/// rights, configuration, storage, quotas), the rest, and last what intercepts requests (webhooks, admission policies,
/// aggregated APIs), so that a set cannot lock itself out.
#[must_use]
pub fn phase(kind: &GroupKind) -> u8 {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Namespace") => 0,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => 1,
        (
            "",
            "ServiceAccount"
            | "ConfigMap"
            | "Secret"
            | "ResourceQuota"
            | "LimitRange"
            | "PersistentVolume"
            | "PersistentVolumeClaim",
        )
        | ("rbac.authorization.k8s.io", _)
        | ("storage.k8s.io", _)
        | ("scheduling.k8s.io", "PriorityClass")
        | ("node.k8s.io", "RuntimeClass")
        | ("networking.k8s.io", "NetworkPolicy" | "IngressClass") => 2,
        ("admissionregistration.k8s.io", _) | ("apiregistration.k8s.io", "APIService") => LAST_PHASE,
        _ => 3,
    }
}

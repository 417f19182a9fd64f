//! Which built-in kinds live outside namespaces.
//!
//! Kinds that are not listed count as namespaced, also the cluster-scoped kinds of custom resources: `namespace:` of a
//! kustomization is written into them too, as the reference does.

/// (group, kind), sorted.
const CLUSTER_SCOPED: &[(&str, &str)] = &[
    ("", "ComponentStatus"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "TokenReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "IngressClass"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
];

/// Whether the kind is known to be cluster-scoped.
pub(crate) fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    CLUSTER_SCOPED.binary_search(&(group, kind)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{CLUSTER_SCOPED, is_cluster_scoped};

    #[test]
    fn the_table_is_sorted_so_that_every_entry_is_found() {
        assert!(CLUSTER_SCOPED.is_sorted());
        assert!(is_cluster_scoped("", "Namespace") && is_cluster_scoped("storage.k8s.io", "StorageClass"));
        assert!(!is_cluster_scoped("apps", "Namespace"));
    }
}

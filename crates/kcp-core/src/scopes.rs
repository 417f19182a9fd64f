//! Which built-in kinds are namespaced: the answer where no cluster was asked yet. A kind of a built-in group that is
//! not listed, and every other kind, is unknown: never a guess.

use crate::object::GroupKind;

/// (group, namespaced kinds, cluster-scoped kinds), separated by spaces.
const BUILT_IN: &[(&str, &str, &str)] = &[
    (
        "",
        "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController \
         ResourceQuota Secret Service ServiceAccount",
        "ComponentStatus Namespace Node PersistentVolume",
    ),
    (
        "admissionregistration.k8s.io",
        "",
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy \
         ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "", "APIService"),
    ("apps", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", ""),
    ("autoscaling", "HorizontalPodAutoscaler", ""),
    ("batch", "CronJob Job", ""),
    ("certificates.k8s.io", "", "CertificateSigningRequest"),
    ("coordination.k8s.io", "Lease", ""),
    ("discovery.k8s.io", "EndpointSlice", ""),
    ("events.k8s.io", "Event", ""),
    ("flowcontrol.apiserver.k8s.io", "", "FlowSchema PriorityLevelConfiguration"),
    ("networking.k8s.io", "Ingress NetworkPolicy", "IPAddress IngressClass ServiceCIDR"),
    ("node.k8s.io", "", "RuntimeClass"),
    ("policy", "PodDisruptionBudget", ""),
    ("rbac.authorization.k8s.io", "Role RoleBinding", "ClusterRole ClusterRoleBinding"),
    ("resource.k8s.io", "ResourceClaim ResourceClaimTemplate", "DeviceClass ResourceSlice"),
    ("scheduling.k8s.io", "", "PriorityClass"),
    (
        "storage.k8s.io",
        "CSIStorageCapacity",
        "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    ),
];

/// Whether a built-in kind is namespaced; `None` for all others.
#[must_use]
pub fn built_in(kind: &GroupKind) -> Option<bool> {
    let (_, namespaced, cluster) = BUILT_IN.iter().find(|(group, ..)| *group == kind.group)?;
    let has = |kinds: &str| kinds.split(' ').any(|it| it == kind.kind);
    if has(namespaced) { Some(true) } else { has(cluster).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::built_in;
    use crate::object::GroupKind;

    #[test]
    fn known_kinds_have_a_scope_and_others_are_unknown() {
        let scope = |group: &str, kind: &str| built_in(&GroupKind::new(group, kind));
        assert_eq!(scope("", "ConfigMap"), Some(true));
        assert_eq!(scope("", "Namespace"), Some(false));
        assert_eq!(scope("storage.k8s.io", "VolumeAttributesClass"), Some(false));
        assert_eq!(scope("apps", "Namespace"), None);
        assert_eq!(scope("", ""), None);
        assert_eq!(scope("shop.example", "Widget"), None);
    }
}

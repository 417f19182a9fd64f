//! The fields that are changed without being told: facts about the built-in kinds, as the reference has them.

use std::borrow::Cow;

use super::{Config, NameReference};
use crate::field_path::Field;

const fn just(kind: &'static str) -> Target {
    Target { group: "", version: "", kind }
}

/// A kind that is named; `""` is any.
struct Target {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
}

/// Where the pod specification is in kinds that run pods.
const POD: (&str, &str) = ("Pod", "spec");
const DEPLOYMENT: (&str, &str) = ("Deployment", "spec/template/spec");
const REPLICA_SET: (&str, &str) = ("ReplicaSet", "spec/template/spec");
const DAEMON_SET: (&str, &str) = ("DaemonSet", "spec/template/spec");
const STATEFUL_SET: (&str, &str) = ("StatefulSet", "spec/template/spec");
const REPLICATION_CONTROLLER: (&str, &str) = ("ReplicationController", "spec/template/spec");
const JOB: (&str, &str) = ("Job", "spec/template/spec");
const CRON_JOB: (&str, &str) = ("CronJob", "spec/jobTemplate/spec/template/spec");

/// Kinds whose references to ConfigMaps and Secrets follow.
const DATA_USERS: &[(&str, &str)] = &[
    POD,
    ("PodTemplate", "template/spec"),
    DEPLOYMENT,
    REPLICA_SET,
    DAEMON_SET,
    STATEFUL_SET,
    JOB,
    CRON_JOB,
];

/// Kinds whose references to service accounts, claims and priorities follow.
const RUNNERS: &[(&str, &str)] =
    &[POD, STATEFUL_SET, DEPLOYMENT, REPLICATION_CONTROLLER, CRON_JOB, JOB, DAEMON_SET];

/// Kinds whose pods may hold `$(VAR)`.
const VAR_USERS: &[(&str, &str)] = &[CRON_JOB, DAEMON_SET, DEPLOYMENT, JOB, POD, REPLICA_SET, STATEFUL_SET];

fn field(group: &'static str, kind: &'static str, path: &'static str, create: bool) -> Field {
    Field::new(group, "", kind, path, create)
}

pub(super) fn config() -> Config {
    let name = || vec![field("", "", "metadata/name", false)];
    let replicas = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];
    let mut config = Config {
        name_prefix: name(),
        name_suffix: name(),
        namespace: vec![
            field("", "Namespace", "metadata/name", true),
            field("apiregistration.k8s.io", "APIService", "spec/service/namespace", true),
            field(
                "apiextensions.k8s.io",
                "CustomResourceDefinition",
                "spec/conversion/webhook/clientConfig/service/namespace",
                false,
            ),
        ],
        common_labels: [selectors(), metadata("labels")].concat(),
        labels: Vec::new(),
        template_labels: metadata("labels"),
        common_annotations: metadata("annotations"),
        name_reference: name_references(),
        var_reference: var_references(),
        images: [
            "spec/containers[]/image",
            "spec/initContainers[]/image",
            "spec/template/spec/containers[]/image",
            "spec/template/spec/initContainers[]/image",
        ]
        .map(|path| field("", "", path, true))
        .to_vec(),
        replicas: replicas.map(|kind| field("", kind, "spec/replicas", true)).to_vec(),
        complete: true,
    };
    config.sort();
    config
}

/// Labels or annotations of objects, and of what makes pods and claims.
fn metadata(what: &str) -> Vec<Field> {
    let labels = what == "labels";
    let stateful = if labels { "apps" } else { "" };
    let mut rows = vec![
        ("", "", "", ""),
        ("", "v1", "ReplicationController", "spec/template/"),
        ("", "", "Deployment", "spec/template/"),
        ("", "", "ReplicaSet", "spec/template/"),
        ("", "", "DaemonSet", "spec/template/"),
        (stateful, "", "StatefulSet", "spec/template/"),
    ];
    if labels {
        rows.push(("apps", "", "StatefulSet", "spec/volumeClaimTemplates[]/"));
    }
    rows.extend([
        ("batch", "", "Job", "spec/template/"),
        ("batch", "", "CronJob", "spec/jobTemplate/"),
        ("batch", "", "CronJob", "spec/jobTemplate/spec/template/"),
    ]);
    let field =
        |(group, version, kind, at)| Field::new(group, version, kind, format!("{at}metadata/{what}"), true);
    rows.into_iter().map(field).collect()
}

/// What selects pods by their labels.
fn selectors() -> Vec<Field> {
    let mut fields = vec![
        Field::new("", "v1", "Service", "spec/selector", true),
        Field::new("", "v1", "ReplicationController", "spec/selector", true),
    ];
    let rows = [
        ("", "Deployment", "spec/selector/matchLabels", true),
        ("", "ReplicaSet", "spec/selector/matchLabels", true),
        ("", "DaemonSet", "spec/selector/matchLabels", true),
        ("apps", "StatefulSet", "spec/selector/matchLabels", true),
        ("batch", "Job", "spec/selector/matchLabels", false),
        ("batch", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
        ("policy", "PodDisruptionBudget", "spec/selector/matchLabels", false),
        ("networking.k8s.io", "NetworkPolicy", "spec/podSelector/matchLabels", false),
        ("networking.k8s.io", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
        ("networking.k8s.io", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    ];
    fields.extend(rows.map(|(group, kind, path, create)| field(group, kind, path, create)));
    let preferred = "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm";
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    for kind in ["Deployment", "StatefulSet"] {
        for within in [
            format!("affinity/podAffinity/{preferred}"),
            format!("affinity/podAffinity/{required}"),
            format!("affinity/podAntiAffinity/{preferred}"),
            format!("affinity/podAntiAffinity/{required}"),
            "topologySpreadConstraints".to_owned(),
        ] {
            let path = format!("spec/template/spec/{within}/labelSelector/matchLabels");
            fields.push(Field::new("apps", "", kind, path, false));
        }
    }
    fields
}

/// References of pods to an object whose field names begin with `key` (`configMap` or `secret`).
fn of_pods(key: &str, volume: &str, users: &[(&'static str, &str)], extra: &[&str]) -> Vec<Field> {
    let mut fields = Vec::new();
    for (kind, pod) in users {
        // The reference knows the version of pods only.
        let version = if *kind == "Pod" { "v1" } else { "" };
        let mut add = |path: String| fields.push(Field::new("", version, *kind, path, false));
        add(format!("{pod}/volumes/{volume}"));
        add(format!("{pod}/containers/env/valueFrom/{key}KeyRef/name"));
        add(format!("{pod}/initContainers/env/valueFrom/{key}KeyRef/name"));
        add(format!("{pod}/containers/envFrom/{key}Ref/name"));
        add(format!("{pod}/initContainers/envFrom/{key}Ref/name"));
        for path in extra {
            add(format!("{pod}/{path}"));
        }
        add(format!("{pod}/volumes/projected/sources/{key}/name"));
    }
    fields
}

fn of_runners(path: &str) -> Vec<Field> {
    RUNNERS.iter().map(|(kind, pod)| Field::new("", "", *kind, format!("{pod}/{path}"), false)).collect()
}

fn name_references() -> Vec<NameReference> {
    let mut all: Vec<(Target, Vec<Field>)> = Vec::new();
    for kind in ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"] {
        all.push((just(kind), vec![field("", "HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false)]));
    }
    let core = |kind| Target { group: "", version: "v1", kind };
    let rules = |kind| field("", kind, "rules/resourceNames", false);

    let mut config_maps = of_pods("configMap", "configMap/name", DATA_USERS, &[]);
    config_maps.extend([
        field("", "Node", "spec/configSource/configMap", false),
        rules("Role"),
        rules("ClusterRole"),
        field(
            "",
            "Ingress",
            r"metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap",
            false,
        ),
    ]);
    all.push((core("ConfigMap"), config_maps));

    let mut secrets = of_pods("secret", "secret/secretName", DATA_USERS, &["imagePullSecrets/name"]);
    for (kind, path) in [
        ("Ingress", "spec/tls/secretName"),
        ("Ingress", r"metadata/annotations/ingress.kubernetes.io\/auth-secret"),
        ("Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-secret"),
        ("Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret"),
        ("ServiceAccount", "imagePullSecrets/name"),
        ("StorageClass", "parameters/secretName"),
        ("StorageClass", "parameters/adminSecretName"),
        ("StorageClass", "parameters/userSecretName"),
        ("StorageClass", "parameters/secretRef"),
        ("Role", "rules/resourceNames"),
        ("ClusterRole", "rules/resourceNames"),
        ("PersistentVolume", "spec/azureFile/secretName"),
    ] {
        secrets.push(field("", kind, path, false));
    }
    let knative = "spec/template/spec/containers/env/valueFrom/secretKeyRef/name";
    secrets.push(Field::new("serving.knative.dev", "v1", "Service", knative, false));
    all.push((core("Secret"), secrets));

    let webhooks = "admissionregistration.k8s.io";
    all.push((
        core("Service"),
        vec![
            field("apps", "StatefulSet", "spec/serviceName", false),
            field("", "Ingress", "spec/rules/http/paths/backend/serviceName", false),
            field("", "Ingress", "spec/backend/serviceName", false),
            field("", "Ingress", "spec/rules/http/paths/backend/service/name", false),
            field("", "Ingress", "spec/defaultBackend/service/name", false),
            field("apiregistration.k8s.io", "APIService", "spec/service/name", false),
            field(webhooks, "ValidatingWebhookConfiguration", "webhooks/clientConfig/service", false),
            field(webhooks, "MutatingWebhookConfiguration", "webhooks/clientConfig/service", false),
        ],
    ));

    let rbac = "rbac.authorization.k8s.io";
    let role = field(rbac, "RoleBinding", "roleRef/name", false);
    let cluster_role = field(rbac, "ClusterRoleBinding", "roleRef/name", false);
    all.push((Target { group: rbac, version: "", kind: "Role" }, vec![role.clone()]));
    all.push((Target { group: rbac, version: "", kind: "ClusterRole" }, vec![role, cluster_role]));

    let mut accounts = vec![
        field(rbac, "RoleBinding", "subjects", false),
        field(rbac, "ClusterRoleBinding", "subjects", false),
    ];
    accounts.extend(of_runners("serviceAccountName"));
    all.push((core("ServiceAccount"), accounts));
    all.push((core("PersistentVolumeClaim"), of_runners("volumes/persistentVolumeClaim/claimName")));
    all.push((
        core("PersistentVolume"),
        vec![field("", "PersistentVolumeClaim", "spec/volumeName", false), rules("ClusterRole")],
    ));
    all.push((
        Target { group: "storage.k8s.io", version: "v1", kind: "StorageClass" },
        vec![
            field("", "PersistentVolume", "spec/storageClassName", false),
            field("", "PersistentVolumeClaim", "spec/storageClassName", false),
            field("", "StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName", false),
        ],
    ));
    all.push((
        Target { group: "scheduling.k8s.io", version: "v1", kind: "PriorityClass" },
        of_runners("priorityClassName"),
    ));
    all.push((
        // The reference writes the version into the group, so that no object is ever of this kind.
        Target { group: "networking.k8s.io/v1", version: "v1", kind: "IngressClass" },
        vec![field("", "Ingress", "spec/ingressClassName", false)],
    ));
    all.push((
        Target { group: webhooks, version: "", kind: "ValidatingAdmissionPolicy" },
        vec![field(webhooks, "ValidatingAdmissionPolicyBinding", "spec/policyName", false)],
    ));
    let reference = |(target, fields): (Target, Vec<Field>)| NameReference {
        group: Cow::Borrowed(target.group),
        version: Cow::Borrowed(target.version),
        kind: Cow::Borrowed(target.kind),
        fields,
    };
    all.into_iter().map(reference).collect()
}

fn var_references() -> Vec<Field> {
    let mut fields = Vec::new();
    for (kind, pod) in VAR_USERS {
        for containers in ["containers", "initContainers"] {
            for path in ["args", "command", "env/value", "volumeMounts/mountPath"] {
                fields.push(Field::new("", "", *kind, format!("{pod}/{containers}/{path}"), false));
            }
        }
        let server = match *kind {
            "CronJob" => "spec/jobTemplate/spec/template/volumes/nfs/server".to_owned(),
            "StatefulSet" => "spec/volumeClaimTemplates/spec/nfs/server".to_owned(),
            _ => format!("{pod}/volumes/nfs/server"),
        };
        fields.push(Field::new("", "", *kind, server, false));
    }
    fields.extend([
        field("", "Deployment", "spec/template/metadata/annotations", false),
        field("", "Ingress", "spec/rules/host", false),
        field("", "Ingress", "spec/tls/hosts", false),
        field("", "Ingress", "spec/tls/secretName", false),
        field("", "Service", "spec/ports/port", false),
        field("", "Service", "spec/ports/targetPort", false),
        field("", "PersistentVolume", "spec/nfs/server", false),
        field("", "", "metadata/labels", false),
        field("", "", "metadata/annotations", false),
    ]);
    fields
}

#[cfg(test)]
mod tests {
    use super::config;

    #[test]
    fn the_defaults_are_as_many_as_the_reference_has() {
        let config = config();
        let references: usize = config.name_reference.iter().map(|it| it.fields.len()).sum();
        // `spec/tls/secretName` of Ingress stands twice in the reference, which so has one more.
        assert_eq!((config.name_reference.len(), references), (16, 166));
        assert_eq!((config.common_labels.len(), config.template_labels.len()), (32, 10));
        assert_eq!((config.common_annotations.len(), config.var_reference.len()), (9, 72));
    }
}

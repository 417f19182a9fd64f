//! What cases are made of beside the corpus: small objects that refer to each other, and texts that are hard to print.

use serde_json::{Value, json};

use super::random::Random;

const TEXTS: [&str; 36] = [
    "plain",
    "yes",
    "no",
    "On",
    "n",
    "null",
    "~",
    "",
    "0x1F",
    "007",
    "1e3",
    "1_000",
    "12:30",
    "2020-01-01",
    "3.10",
    "true",
    "a: b",
    "#x",
    " lead",
    "trail ",
    "'q'",
    "\"dq\"",
    "- item",
    "*star",
    "&amp",
    "!bang",
    "%pct",
    "@at",
    "`tick`",
    "{a}",
    "first\nsecond\n",
    "first\n\n  indented\nlast",
    "tab\there",
    "snow \u{2603} and \u{1F600}",
    "a long line of words that goes on and on until it is well beyond the eighty columns at which it is folded, and on",
    "key=value,other=<&>",
];

/// A text, often one that must be quoted.
pub(super) fn text(random: &mut Random) -> String {
    if random.chance(50) {
        return format!("v{}", random.below(50));
    }
    (*random.pick(&TEXTS)).to_owned()
}

/// A text without lines, for where only those are allowed.
pub(super) fn word(random: &mut Random) -> String {
    format!("{}{}", random.pick(&["alpha", "beta", "gamma", "delta", "web", "db"]), random.below(4))
}

/// A pod template that refers to the ConfigMap, Secret, ServiceAccount and claim `name`.
fn pod(random: &mut Random, name: &str, labels: &Value) -> Value {
    let image = *random.pick(&[
        "nginx",
        "nginx:1.25",
        "registry.example:5000/team/app:v1",
        "busybox@sha256:0123",
        "app",
    ]);
    let mut container = json!({
        "name": "main", "image": image,
        "env": [
            {"name": "PLAIN", "value": text(random)},
            {"name": "FROM_MAP", "valueFrom": {"configMapKeyRef": {"name": name, "key": "k"}}},
            {"name": "FROM_SECRET", "valueFrom": {"secretKeyRef": {"name": name, "key": "k"}}},
        ],
        "envFrom": [{"configMapRef": {"name": name}}, {"secretRef": {"name": name}}],
        "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "UDP", "name": "udp"}],
        "args": ["--a=$(PLAIN)", "$(SOME_VAR)/x", "$$(SOME_VAR)"],
    });
    if random.chance(30) {
        container["resources"] = json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": 0.5}});
        container["volumeMounts"] = json!([{"name": "data", "mountPath": "/data"}]);
    }
    let mut spec = json!({
        "serviceAccountName": name,
        "containers": [container],
        "volumes": [
            {"name": "config", "configMap": {"name": name}},
            {"name": "data", "persistentVolumeClaim": {"claimName": name}},
            {"name": "all", "projected": {"sources": [{"configMap": {"name": name}}, {"secret": {"name": name}}]}},
        ],
    });
    if random.chance(40) {
        spec["initContainers"] = json!([{"name": "init", "image": "busybox:1.36"}]);
    }
    if random.chance(20) {
        spec["imagePullSecrets"] = json!([{"name": name}]);
        spec["tolerations"] = json!([{"key": "a", "operator": "Exists"}]);
    }
    if random.chance(20) {
        let term = json!({"topologyKey": "zone", "labelSelector": {"matchLabels": labels}});
        spec["affinity"] =
            json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
        spec["topologySpreadConstraints"] = json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": labels}}]);
    }
    json!({"metadata": {"labels": labels}, "spec": spec})
}

/// One object of any of the kinds for which the reference has rules of its own; `name` is what others call it too.
pub(super) fn object(random: &mut Random, name: &str) -> Value {
    let labels = json!({"app": name});
    let selector = json!({"matchLabels": labels});
    let template = pod(random, name, &labels);
    let mut object = match random.below(27) {
        0..4 => json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "spec": {"replicas": 1, "selector": selector, "template": template}}),
        4 => {
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"serviceName": name, "selector": selector,
            "template": template, "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "storageClassName": name}}]}})
        }
        5 => {
            json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {"selector": selector, "template": template}})
        }
        6 => json!({"apiVersion": "batch/v1", "kind": "CronJob",
            "spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": template}}}}),
        7 => json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": template}}),
        8..10 => json!({"apiVersion": "v1", "kind": "Service",
            "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": "http"}, {"port": 443, "name": "tls"}]}}),
        10..12 => json!({"apiVersion": "v1", "kind": "ConfigMap",
            "data": {"k": text(random), "other.txt": text(random), "host": name}}),
        12 => {
            json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "stringData": {"k": text(random)}})
        }
        13 => {
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "imagePullSecrets": [{"name": name}], "secrets": [{"name": name}]})
        }
        14..16 => {
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": random.pick(&["RoleBinding", "ClusterRoleBinding"]),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": random.pick(&["Role", "ClusterRole"]), "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": random.pick(&[name, "default"]), "namespace": random.pick(&["default", "other"])},
                {"kind": "User", "name": name}]})
        }
        16 => json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": [name], "verbs": ["get"]}]}),
        17 => {
            json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "spec": {"ingressClassName": name,
            "tls": [{"hosts": ["x"], "secretName": name}], "rules": [{"host": "x", "http": {"paths": [{"path": "/",
            "pathType": "Prefix", "backend": {"service": {"name": name, "port": {"number": 80}}}}]}}]}})
        }
        18 => {
            json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": random.pick(&["Deployment", "StatefulSet"]), "name": name}}})
        }
        19 => {
            json!({"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": selector,
            "ingress": [{"from": [{"podSelector": selector}]}]}})
        }
        20 => {
            json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"minAvailable": 1, "selector": selector}})
        }
        21 => json!({"apiVersion": "v1", "kind": "Namespace"}),
        22 => {
            json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"storageClassName": name, "volumeName": name}})
        }
        23 => json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"size": 1, "ratio": 0.5,
            "items": [{"name": "a", "v": 1}, {"name": "b", "v": 2}], "ref": {"configMap": name}, "containers": [{"name": "c", "image": "nginx"}]}}),
        24 => {
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "webhooks": [{"name": "w.example.com", "clientConfig": {"service": {"name": name, "namespace": "default", "path": "/v"}}}]})
        }
        25 => json!({"apiVersion": "v1", "kind": "Pod", "spec": template["spec"]}),
        _ => {
            json!({"apiVersion": random.pick(&["storage.k8s.io/v1", "scheduling.k8s.io/v1"]), "kind": random.pick(&["StorageClass", "PriorityClass"])})
        }
    };
    let mut metadata = json!({"name": name});
    if random.chance(25) {
        metadata["namespace"] = json!(random.pick(&["default", "other", "team"]));
    }
    if random.chance(40) {
        metadata["labels"] = json!({"app": name, "tier": random.pick(&["front", "back"])});
    }
    if random.chance(15) {
        metadata["annotations"] = json!({"note": text(random)});
    }
    object["metadata"] = metadata;
    object
}

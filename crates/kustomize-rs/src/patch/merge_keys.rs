//! Which lists of built-in kinds are merged item by item, and by which fields. Lists that are not here, and all lists
//! of kinds that are not here, are replaced as a whole.
//!
//! Written by hand for the kinds that people patch; a table made from the Kubernetes schema takes its place.

/// What a merge knows about a mapping: the fields that need care.
#[derive(Debug)]
pub(super) struct Shape {
    fields: &'static [(&'static str, Field)],
}

/// A field that needs care.
#[derive(Debug)]
pub(super) enum Field {
    /// A mapping with such fields inside.
    Map(&'static Shape),
    /// A list of mappings that are told apart by the keys, the first being the one that counts most.
    List {
        /// Names of the fields.
        keys: &'static [&'static str],
        /// The shape of an item.
        item: &'static Shape,
    },
    /// A list of strings that is a set.
    Set,
}

impl Shape {
    /// What is known about a field.
    pub(super) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, field)| field)
    }
}

/// The shape of a kind, where it is known.
pub(super) fn of(api_version: &str, kind: &str) -> Option<&'static Shape> {
    let shape = match (api_version, kind) {
        ("apps/v1", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | ("v1", "ReplicationController")
        | ("batch/v1", "Job") => &WORKLOAD,
        ("batch/v1" | "batch/v1beta1", "CronJob") => &CRON_JOB,
        ("v1", "Pod") => &POD,
        ("v1", "PodTemplate") => &POD_TEMPLATE,
        ("v1", "Service") => &SERVICE,
        ("v1", "ServiceAccount") => &SERVICE_ACCOUNT,
        (
            "admissionregistration.k8s.io/v1" | "admissionregistration.k8s.io/v1beta1",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => &WEBHOOKS,
        (
            "v1"
            | "policy/v1"
            | "networking.k8s.io/v1"
            | "rbac.authorization.k8s.io/v1"
            | "storage.k8s.io/v1"
            | "apiextensions.k8s.io/v1"
            | "scheduling.k8s.io/v1"
            | "autoscaling/v1",
            _,
        ) => &OBJECT,
        _ => return None,
    };
    Some(shape)
}

const fn list(keys: &'static [&'static str], item: &'static Shape) -> Field {
    Field::List { keys, item }
}

static PLAIN: Shape = Shape { fields: &[] };
static METADATA: Shape =
    Shape { fields: &[("finalizers", Field::Set), ("ownerReferences", list(&["uid"], &PLAIN))] };
static OBJECT: Shape = Shape { fields: &[("metadata", Field::Map(&METADATA))] };

static CONTAINER: Shape = Shape {
    fields: &[
        ("env", list(&["name"], &PLAIN)),
        ("ports", list(&["containerPort", "protocol"], &PLAIN)),
        ("volumeMounts", list(&["mountPath"], &PLAIN)),
        ("volumeDevices", list(&["devicePath"], &PLAIN)),
    ],
};
static POD_SPEC: Shape = Shape {
    fields: &[
        ("containers", list(&["name"], &CONTAINER)),
        ("initContainers", list(&["name"], &CONTAINER)),
        ("ephemeralContainers", list(&["name"], &CONTAINER)),
        ("volumes", list(&["name"], &PLAIN)),
        ("imagePullSecrets", list(&["name"], &PLAIN)),
        ("hostAliases", list(&["ip"], &PLAIN)),
        ("topologySpreadConstraints", list(&["topologyKey", "whenUnsatisfiable"], &PLAIN)),
    ],
};
static POD: Shape = Shape { fields: &[("metadata", Field::Map(&METADATA)), ("spec", Field::Map(&POD_SPEC))] };
static POD_TEMPLATE: Shape =
    Shape { fields: &[("metadata", Field::Map(&METADATA)), ("template", Field::Map(&POD))] };

static WORKLOAD_SPEC: Shape = Shape { fields: &[("template", Field::Map(&POD))] };
static WORKLOAD: Shape =
    Shape { fields: &[("metadata", Field::Map(&METADATA)), ("spec", Field::Map(&WORKLOAD_SPEC))] };
static CRON_JOB_SPEC: Shape = Shape { fields: &[("jobTemplate", Field::Map(&WORKLOAD))] };
static CRON_JOB: Shape =
    Shape { fields: &[("metadata", Field::Map(&METADATA)), ("spec", Field::Map(&CRON_JOB_SPEC))] };

static SERVICE_SPEC: Shape = Shape { fields: &[("ports", list(&["port", "protocol"], &PLAIN))] };
static SERVICE: Shape =
    Shape { fields: &[("metadata", Field::Map(&METADATA)), ("spec", Field::Map(&SERVICE_SPEC))] };
static SERVICE_ACCOUNT: Shape =
    Shape { fields: &[("metadata", Field::Map(&METADATA)), ("secrets", list(&["name"], &PLAIN))] };
static WEBHOOKS: Shape =
    Shape { fields: &[("metadata", Field::Map(&METADATA)), ("webhooks", list(&["name"], &PLAIN))] };

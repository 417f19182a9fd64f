//! `labels`, `commonLabels` and `commonAnnotations`: which fields of which kinds they are written to.

use serde_json::{Map, Value};

use crate::field_path::Field;
use crate::item::Item;
use crate::kustomization::Labels;

const fn field(group: &'static str, kind: &'static str, path: &'static str, create: bool) -> Field<'static> {
    Field { group, version: "", kind, path, create }
}

const METADATA_LABELS: Field<'static> = field("", "", "metadata/labels", true);

/// The labels of pods and claims, in what makes them.
const TEMPLATES: &[Field<'static>] = &[
    Field {
        group: "",
        version: "v1",
        kind: "ReplicationController",
        path: "spec/template/metadata/labels",
        create: true,
    },
    field("", "Deployment", "spec/template/metadata/labels", true),
    field("", "ReplicaSet", "spec/template/metadata/labels", true),
    field("", "DaemonSet", "spec/template/metadata/labels", true),
    field("apps", "StatefulSet", "spec/template/metadata/labels", true),
    field("apps", "StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true),
    field("batch", "Job", "spec/template/metadata/labels", true),
    field("batch", "CronJob", "spec/jobTemplate/metadata/labels", true),
    field("batch", "CronJob", "spec/jobTemplate/spec/template/metadata/labels", true),
];

/// What selects pods by their labels.
const SELECTORS: &[Field<'static>] = &[
    Field { group: "", version: "v1", kind: "Service", path: "spec/selector", create: true },
    Field { group: "", version: "v1", kind: "ReplicationController", path: "spec/selector", create: true },
    field("", "Deployment", "spec/selector/matchLabels", true),
    field("", "ReplicaSet", "spec/selector/matchLabels", true),
    field("", "DaemonSet", "spec/selector/matchLabels", true),
    field("apps", "StatefulSet", "spec/selector/matchLabels", true),
    field("batch", "Job", "spec/selector/matchLabels", false),
    field("batch", "CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
    field("policy", "PodDisruptionBudget", "spec/selector/matchLabels", false),
    field("networking.k8s.io", "NetworkPolicy", "spec/podSelector/matchLabels", false),
    field("networking.k8s.io", "NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
    field("networking.k8s.io", "NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
];

/// Selectors inside the pod templates of these kinds of group apps.
const SPREADING: &[&str] = &[
    "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels",
];

const ANNOTATIONS: &[Field<'static>] = &[
    field("", "", "metadata/annotations", true),
    Field {
        group: "",
        version: "v1",
        kind: "ReplicationController",
        path: "spec/template/metadata/annotations",
        create: true,
    },
    field("", "Deployment", "spec/template/metadata/annotations", true),
    field("", "ReplicaSet", "spec/template/metadata/annotations", true),
    field("", "DaemonSet", "spec/template/metadata/annotations", true),
    field("apps", "StatefulSet", "spec/template/metadata/annotations", true),
    field("batch", "Job", "spec/template/metadata/annotations", true),
    field("batch", "CronJob", "spec/jobTemplate/metadata/annotations", true),
    field("batch", "CronJob", "spec/jobTemplate/spec/template/metadata/annotations", true),
];

/// Writes one entry of `labels` into an object.
pub(crate) fn label(item: &mut Item, labels: &Labels) -> Result<(), String> {
    let mut fields = vec![METADATA_LABELS];
    if labels.include_selectors || labels.include_templates {
        fields.extend(TEMPLATES);
    }
    if labels.include_selectors {
        fields.extend(SELECTORS);
        for kind in ["Deployment", "StatefulSet"] {
            fields.extend(SPREADING.iter().map(|path| field("apps", kind, path, false)));
        }
    }
    fields.extend(labels.fields.iter().map(|it| Field {
        group: &it.group,
        version: &it.version,
        kind: &it.kind,
        path: &it.path,
        create: it.create,
    }));
    write(item, &fields, &labels.pairs)
}

/// Writes `commonAnnotations` into an object.
pub(crate) fn annotate(item: &mut Item, pairs: &[(String, String)]) -> Result<(), String> {
    write(item, ANNOTATIONS, pairs)
}

fn write(item: &mut Item, fields: &[Field<'_>], pairs: &[(String, String)]) -> Result<(), String> {
    if pairs.is_empty() {
        return Ok(());
    }
    let resource = &mut item.resource;
    let (group, version, kind) =
        (resource.group().to_owned(), resource.version().to_owned(), resource.kind().to_owned());
    for field in fields.iter().filter(|field| field.applies_to(&group, &version, &kind)) {
        let mut in_the_way = false;
        let made = Value::Object(Map::new());
        let visited = field.visit(&mut resource.value, &made, &mut |found| {
            if found.is_null() {
                *found = made.clone();
            }
            match found {
                Value::Object(map) => {
                    map.extend(pairs.iter().map(|(key, value)| (key.clone(), Value::String(value.clone()))));
                }
                _ => in_the_way = true,
            }
        });
        if in_the_way || visited.is_err() {
            return Err(format!("{} is not a mapping", field.path.replace('/', ".")));
        }
    }
    Ok(())
}

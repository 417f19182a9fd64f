//! Whose an object is that is in our way.

use kcp_core::applyset::PART_OF_LABEL;
use kcp_core::world::Foreign;
use serde_json::Value;

use crate::reduce;

/// Marks that tools leave on what they own: (map, key, tool).
const MARKS: [(&str, &str, &str); 8] = [
    ("labels", "argocd.argoproj.io/instance", "Argo CD application"),
    ("annotations", "argocd.argoproj.io/tracking-id", "Argo CD application"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "Flux kustomization"),
    ("labels", "helm.toolkit.fluxcd.io/name", "Flux Helm release"),
    ("annotations", "meta.helm.sh/release-name", "Helm release"),
    ("labels", "objectset.rio.cattle.io/hash", "Fleet or k3s bundle"),
    ("annotations", "work.karmada.io/name", "Karmada work"),
    ("labels", "addonmanager.kubernetes.io/mode", "addon manager, mode"),
];

/// Says whose `object` is, which is not ours.
pub(crate) fn of(object: &Value) -> Foreign {
    let managers = reduce::managers(object);
    Foreign { uid: reduce::uid(object), owner: owner(object, &managers), managers }
}

fn owner(object: &Value, managers: &[String]) -> String {
    let metadata = object.get("metadata");
    let text = |map: &str, key: &str| metadata?.get(map)?.get(key)?.as_str();
    let is_ours = reduce::is_managed(object);
    if is_ours && let Some(workspace) = reduce::workspace(object) {
        return format!("workspace `{workspace}` of this or another fleet");
    }
    // A controller's object carries the labels of what it was made from, so its controller counts first.
    let owners = metadata.and_then(|metadata| metadata.get("ownerReferences")).and_then(Value::as_array);
    let is_controller = |owner: &&Value| owner.get("controller").and_then(Value::as_bool) == Some(true);
    if let Some(controller) = owners.into_iter().flatten().find(is_controller) {
        let part = |field: &str| controller.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        return format!("its controller {} {}", part("kind"), part("name"));
    }
    for (map, key, tool) in MARKS {
        if let Some(value) = text(map, key) {
            return format!("{tool} `{value}`");
        }
    }
    if let Some(set) = text("labels", PART_OF_LABEL) {
        return format!("the ApplySet {set}");
    }
    match managers {
        [] => "nobody that left a mark".to_owned(),
        managers => format!("field managers {}", managers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn owner(metadata: Value) -> String {
        super::of(&json!({ "metadata": metadata })).owner
    }

    #[test]
    fn owners_are_recognised() {
        assert_eq!(
            owner(json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}})),
            "Flux kustomization `apps`"
        );
        assert_eq!(owner(json!({"annotations": {"meta.helm.sh/release-name": "db"}})), "Helm release `db`");
        let copied = json!({
            "labels": {"applyset.kubernetes.io/part-of": "x"},
            "ownerReferences": [{"kind": "Service", "name": "web", "controller": true}],
        });
        assert_eq!(owner(copied), "its controller Service web");
        assert_eq!(owner(json!({"labels": {"applyset.kubernetes.io/part-of": "x"}})), "the ApplySet x");
        let fields =
            json!({"managedFields": [{"manager": "kubectl"}, {"manager": "a"}, {"manager": "kubectl"}]});
        assert_eq!(owner(fields), "field managers a, kubectl");
        let other = json!({
            "annotations": {"kcp.dev/workspace": "db"},
            "managedFields": [{"manager": "kcp", "operation": "Apply", "apiVersion": "v1"}],
        });
        assert!(owner(other).contains("workspace `db`"));
        assert_eq!(owner(json!({})), "nobody that left a mark");
    }
}

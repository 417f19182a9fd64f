use std::collections::BTreeMap;

use kcp_api::{IgnoreRule, Reason, SyncPolicySpec};
use kustomize_rs::MemoryFiles;

use super::{Bundle, Rendered, bundle, phase, render};
use crate::config::{Config, load};
use crate::object::GroupKind;

/// A repo with one workspace `shop` of these files, and its document's spec.
fn repo(spec: &str, files: &[(&str, &str)]) -> (MemoryFiles, Config) {
    let head = "apiVersion: kcp.dev/v1alpha1\n";
    let mut tree = MemoryFiles::new();
    tree.insert("kcp.yaml", format!("{head}kind: Fleet\nmetadata: {{name: acme}}\nspec: {{id: f1}}\n"));
    tree.insert(
        "workspaces/shop/workspace.yaml",
        format!("{head}kind: Workspace\nmetadata: {{name: shop}}\nspec: {spec}\n"),
    );
    for (path, text) in files {
        tree.insert(format!("workspaces/shop/{path}"), text);
    }
    let config = load(&tree).unwrap_or_else(|errors| panic!("{errors:#?}"));
    (tree, config)
}

fn rendered(spec: &str, files: &[(&str, &str)]) -> (Rendered, Config) {
    let (tree, config) = repo(spec, files);
    let rendered = render(&tree, &config, "shop").unwrap_or_else(|errors| panic!("{errors:#?}"));
    (rendered, config)
}

/// The findings of one manifest.
fn refused(manifest: &str) -> String {
    let (tree, config) = repo("{}", &[("a.yaml", manifest)]);
    let errors = render(&tree, &config, "shop").expect_err("a wrong manifest");
    Vec::from_iter(errors.iter().map(ToString::to_string)).join("\n")
}

fn bundled_with(spec: &str, files: &[(&str, &str)], policy: &SyncPolicySpec, commit: &str) -> Bundle {
    placed("everywhere", spec, files, policy, commit)
}

fn placed(
    placement: &str,
    spec: &str,
    files: &[(&str, &str)],
    policy: &SyncPolicySpec,
    commit: &str,
) -> Bundle {
    let (rendered, config) = rendered(spec, files);
    let variant = rendered.for_cluster(&BTreeMap::new()).expect("a variant");
    bundle(variant, &config.workspaces["shop"], placement, policy, &|_| None, "applyset-x-v1", commit)
}

fn bundled(spec: &str, files: &[(&str, &str)]) -> Bundle {
    bundled_with(spec, files, &SyncPolicySpec::default(), "c1")
}

fn keys(bundle: &Bundle) -> Vec<String> {
    bundle.objects.iter().map(|object| object.key.to_string()).collect()
}

const CONFIG: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata: {a: b}\n";

#[test]
fn objects_are_cleaned_of_what_servers_write() {
    let manifest = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  creationTimestamp: null\n  uid: x\n  \
                    resourceVersion: '1'\n  generation: 2\n  managedFields: []\n  labels: null\nstringData: {a: hello}\n\
                    data: {a: b2xk, b: eA==}\ntype: Opaque\nstatus: {x: 1}\nimmutable: null\n";
    let (rendered, _) = rendered("{}", &[("a.yaml", manifest)]);
    let body = &rendered.variants[""].objects[0].body;
    let expected = serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "data": {"a": "aGVsbG8=", "b": "eA=="}, "type": "Opaque",
    });
    assert_eq!(**body, expected);
}

#[test]
fn what_no_workspace_may_have_is_refused_with_its_place() {
    let config = |metadata: &str| {
        format!("# words\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, {metadata}}}\n")
    };
    for (manifest, part) in [
        (
            "---\napiVersion: kcp.dev/v1alpha1\nkind: Placement\nmetadata: {name: a}\n".to_owned(),
            "must not come out",
        ),
        (config("labels: {applyset.kubernetes.io/part-of: x}"), "says who owns the object"),
        (config("labels: {a: 1}"), "label `a` is not a string"),
        (config("annotations: {kcp.dev/ignor: \"true\"}"), "did you mean `kcp.dev/ignore`"),
        (config("annotations: {kcp.dev/ignore: \"maybe\"}"), "neither"),
        (config("annotations: {kcp.dev/commit: \"x\"}"), "written by us alone"),
        (config("namespace: a/../b"), "metadata.namespace is too long, or holds"),
        (config("annotations: {kcp.dev/singleton: \"true\"}"), "not supported yet"),
        (format!("{}data: {{a: {}}}\n", config(""), "x".repeat(1 << 20)), "etcd"),
    ] {
        let shown = refused(&manifest);
        assert!(shown.starts_with("workspaces/shop/a.yaml:2:1: ") && shown.contains(part), "{part}: {shown}");
        assert!(shown.len() < 400, "{} bytes", shown.len());
    }
    let generated = refused("apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: job-}\n");
    assert!(generated.contains("workspaces/shop/a.yaml"), "{generated}");
    let secret = refused("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {pin: 123987}\n");
    assert!(secret.contains("`pin` is not a string") && !secret.contains("123987"), "{secret}");
}

#[test]
fn an_empty_folder_is_an_empty_workspace() {
    let (rendered, _) = rendered("{}", &[]);
    assert!(rendered.variants[""].objects.is_empty());
    let (tree, config) = repo("{}", &[]);
    assert!(render(&tree, &config, "none").is_err());
}

#[test]
fn the_first_variant_that_fits_is_for_a_cluster() {
    let spec = "{variants: [{name: prod, clusterSelector: {matchLabels: {stage: prod}}, path: prod}, {name: dev, \
                clusterSelector: {matchLabels: {stage: dev}}, path: base}]}";
    let kustomization = "resources: [../base]\nnamespace: prod\n";
    let (rendered, _) = rendered(
        spec,
        &[
            ("base/cm.yaml", CONFIG),
            ("base/kustomization.yaml", "resources: [cm.yaml]\n"),
            ("prod/kustomization.yaml", kustomization),
        ],
    );
    let of = |stage: &str| rendered.for_cluster(&BTreeMap::from([("stage".to_owned(), stage.to_owned())]));
    let prod = of("prod").expect("prod");
    assert_eq!((prod.name.as_str(), prod.objects[0].namespace.as_deref()), ("prod", Some("prod")));
    assert_eq!(prod.objects[0].origin.to_string(), "workspaces/shop/base/cm.yaml:1");
    assert_eq!(of("dev").map(|it| it.name.as_str()), Some("dev"));
    assert!(of("test").is_none());
}

#[test]
fn a_mistake_in_a_shared_base_is_told_once() {
    let spec = "{variants: [{name: a, path: a, clusterSelector: {matchLabels: {a: b}}}, {name: b, path: b}]}";
    let over = "resources: [../base]\n";
    let (tree, config) = repo(
        spec,
        &[
            ("base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: 1}}\n"),
            ("base/kustomization.yaml", "resources: [cm.yaml]\n"),
            ("a/kustomization.yaml", over),
            ("b/kustomization.yaml", over),
        ],
    );
    let errors = render(&tree, &config, "shop").expect_err("a wrong base");
    assert_eq!(errors.len(), 1, "{errors:#?}");
}

#[test]
fn namespaces_are_settled() {
    let bare = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bare}\n";
    let role =
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r, namespace: shop}\n";
    let widget = "apiVersion: shop.example/v1\nkind: Widget\nmetadata: {name: w}\n";
    let files = [("a.yaml", bare), ("b.yaml", role), ("c.yaml", widget), ("d.yaml", CONFIG)];

    let without = bundled("{}", &files);
    assert_eq!(keys(&without), ["ConfigMap shop/web"]);
    let problems: Vec<(Reason, &str)> = without
        .problems
        .iter()
        .map(|it| (it.reason, it.object.as_ref().map_or("", |key| key.name.as_str())))
        .collect();
    assert_eq!(
        problems,
        [(Reason::InvalidObject, "r"), (Reason::KindMissing, "w"), (Reason::NamespaceMissing, "bare")],
    );
    // It may be on the cluster, in whatever namespace: desired all the same, so never to be deleted.
    let mut lost = without.objects[0].key.clone();
    assert!(!without.withholds(&lost));
    lost.name = "bare".to_owned();
    assert!(without.withholds(&lost));

    let with = bundled("{defaultNamespace: web, createNamespaces: true}", &files);
    assert_eq!(keys(&with), ["Namespace shop", "Namespace web", "ConfigMap shop/web", "ConfigMap web/bare"]);
    assert_eq!(with.implied.len(), 2);
    assert_eq!(with.objects[0].origin.to_string(), "workspaces/shop/workspace.yaml:1");
    assert_eq!(with.objects[3].body["metadata"]["namespace"], "web");
}

#[test]
fn a_namespace_of_the_manifests_is_not_made_twice_and_default_never() {
    let own = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {a: b}}\n";
    let other = CONFIG.replace("namespace: shop", "namespace: default");
    let bundle =
        bundled("{createNamespaces: true}", &[("a.yaml", CONFIG), ("b.yaml", own), ("c.yaml", &other)]);
    assert_eq!(keys(&bundle), ["Namespace shop", "ConfigMap default/web", "ConfigMap shop/web"]);
    assert!(bundle.implied.is_empty());
}

#[test]
fn the_scope_comes_from_the_cluster_then_from_crds_of_the_set() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.shop.example}\n\
               spec: {group: shop.example, scope: Cluster, names: {kind: Widget}}\n";
    let widget = "apiVersion: shop.example/v1\nkind: Widget\nmetadata: {name: w}\n";
    let (rendered, config) = rendered("{defaultNamespace: web}", &[("a.yaml", crd), ("b.yaml", widget)]);
    let make = |scope: Option<bool>| {
        let scopes = move |kind: &GroupKind| scope.filter(|_| kind.kind == "Widget");
        let policy = SyncPolicySpec::default();
        keys(&bundle(&rendered.variants[""], &config.workspaces["shop"], "p", &policy, &scopes, "x", "c"))
    };
    assert_eq!(make(None)[1], "Widget.shop.example w");
    assert_eq!(make(Some(true))[1], "Widget.shop.example web/w");
}

#[test]
fn kustomize_may_write_a_namespace_into_a_cluster_scoped_object() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.shop.example}\n\
               spec: {group: shop.example, scope: Cluster, names: {kind: Widget}}\n---\n\
               apiVersion: shop.example/v1\nkind: Widget\nmetadata: {name: w}\n";
    let made =
        bundled("{}", &[("a.yaml", crd), ("kustomization.yaml", "namespace: shop\nresources: [a.yaml]\n")]);
    assert_eq!(keys(&made)[1], "Widget.shop.example w");
    assert!(made.problems.is_empty() && made.objects[1].body["metadata"].get("namespace").is_none());
}

#[test]
fn marks_are_written_and_commit_file_and_placement_do_not_count() {
    let one = bundled("{}", &[("a.yaml", CONFIG)]);
    let metadata = &one.objects[0].body["metadata"];
    assert_eq!(metadata["labels"]["applyset.kubernetes.io/part-of"], "applyset-x-v1");
    let expected = serde_json::json!({
        "kcp.dev/workspace": "shop", "kcp.dev/placement": "everywhere", "kcp.dev/commit": "c1",
        "kcp.dev/source": "workspaces/shop/a.yaml",
    });
    assert_eq!(metadata["annotations"], expected);
    let policy = SyncPolicySpec::default();
    let other = placed("renamed", "{}", &[("moved/b.yaml", CONFIG)], &policy, "c2");
    assert_eq!(one.objects[0].hash, other.objects[0].hash);
    let changed = bundled("{}", &[("a.yaml", &CONFIG.replace("a: b", "a: c"))]);
    assert_ne!(one.objects[0].hash, changed.objects[0].hash);
}

#[test]
fn ignored_fields_are_never_sent() {
    let deployment = |replicas: u32, name: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{replicas: {replicas}, paused: true}}\n"
        )
    };
    let mut policy = SyncPolicySpec::default();
    policy.apply.ignore_fields = vec![IgnoreRule {
        kind: Some("Deployment".into()),
        names: vec!["web".into()],
        paths: vec!["spec.replicas".into(), "metadata.name".into(), "spec.none.deeper".into()],
        ..IgnoreRule::default()
    }];
    let make = |replicas: u32| {
        let files = [("a.yaml", &*deployment(replicas, "web")), ("b.yaml", &*deployment(replicas, "api"))];
        bundled_with("{}", &files, &policy, "c").objects
    };
    let (three, five) = (make(3), make(5));
    assert_eq!(three[1].body["spec"], serde_json::json!({"paused": true}));
    assert_eq!(three[1].body["metadata"]["name"], "web");
    assert_eq!(three[1].hash, five[1].hash);
    assert_ne!(three[0].hash, five[0].hash);
}

#[test]
fn doubles_are_told_at_each_and_none_is_sent() {
    let bare = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";
    let made = bundled("{defaultNamespace: shop}", &[("a.yaml", CONFIG), ("b.yaml", bare)]);
    assert!(made.objects.is_empty());
    let shown: Vec<String> = made.problems.iter().map(|it| it.message.clone()).collect();
    assert!(shown.iter().any(|it| it.contains("also defined at workspaces/shop/b.yaml:1")), "{shown:?}");
    assert!(shown.iter().any(|it| it.contains("also defined at workspaces/shop/a.yaml:1")), "{shown:?}");
    assert!(made.withholds(&made.problems[0].object.clone().expect("an object")));
}

#[test]
fn our_own_records_cannot_be_written_by_a_workspace() {
    let manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: kcp-f1-shop, namespace: kcp-system}\n";
    let made = bundled("{}", &[("a.yaml", manifest)]);
    assert!(made.objects.is_empty() && made.problems[0].reason == Reason::InvalidObject, "{made:?}");
}

#[test]
fn objects_to_be_ignored_are_left_out_and_still_desired() {
    let manifest =
        CONFIG.replace("namespace: shop", "namespace: shop, annotations: {kcp.dev/ignore: \"true\"}");
    let made = bundled("{}", &[("a.yaml", &manifest)]);
    assert!(made.objects.is_empty() && made.problems.is_empty() && made.withheld.len() == 1);
}

#[test]
fn the_order_lets_each_object_find_what_it_needs() {
    let kinds = [
        ("", "Namespace"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
        ("apps", "Deployment"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ];
    let phases = kinds.map(|(group, kind)| phase(&GroupKind::new(group, kind)));
    assert_eq!(phases, [0, 1, 2, 3, 4]);
    for (group, kind) in
        [("", "ConfigMap"), ("", "Secret"), ("", "ServiceAccount"), ("storage.k8s.io", "StorageClass")]
    {
        assert_eq!(phase(&GroupKind::new(group, kind)), 2, "{kind}");
    }
    for (group, kind) in [("", "Service"), ("shop.example", "Secret"), ("shop.example", "Widget")] {
        assert_eq!(phase(&GroupKind::new(group, kind)), 3, "{kind}");
    }
}

//! Features together, with the text that the reference prints.

use super::{built as build_tree, text, tree};
use crate::{MemoryFiles, Options, ProblemKind, build, to_yaml};

/// Builds a directory of files that are written one after the other, each after a line with its path.
fn built(texts: &str, dir: &str) -> String {
    let file = |text: &'_ str| text.split_once('\n').map(|(path, text)| (path.to_owned(), text.to_owned()));
    let files: Vec<_> = texts.split("=== ").filter_map(file).collect();
    let files: MemoryFiles = files.iter().map(|(path, text)| (path.as_str(), text)).collect();
    to_yaml(&build(&files, dir, &Options::default()).expect("builds"))
}

#[test]
fn generated_objects_are_merged_hashed_and_followed() {
    let tree = r##"=== g/base/conf/app.ini
k = v
=== g/base/kustomization.yaml
resources: [web.yaml]
generatorOptions: {labels: {made: here}}
configMapGenerator:
- name: settings
  literals: ["a=1", "quoted='x y'"]
  files: [conf/app.ini]
  envs: [vars.env]
secretGenerator:
- {name: token, literals: [t=s], options: {disableNameSuffixHash: true, immutable: true}}
=== g/base/vars.env
# no
 FROM=env=1
EMPTY
=== g/base/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: c
        envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: token}}, {configMapRef: {name: other}}]
=== g/over/kustomization.yaml
namePrefix: eu-
namespace: shop
resources: [../base]
configMapGenerator:
- {name: settings, behavior: merge, literals: [a=2, b=3]}
"##;
    assert_eq!(
        built(tree, "g/over"),
        r##"apiVersion: v1
data:
  EMPTY: ""
  FROM: env=1
  a: "2"
  app.ini: |
    k = v
  b: "3"
  quoted: x y
kind: ConfigMap
metadata:
  labels:
    made: here
  name: eu-settings-gggt4hkf7t
  namespace: shop
---
apiVersion: v1
data:
  t: cw==
immutable: true
kind: Secret
metadata:
  labels:
    made: here
  name: eu-token
  namespace: shop
type: Opaque
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: eu-web
  namespace: shop
spec:
  template:
    spec:
      containers:
      - envFrom:
        - configMapRef:
            name: eu-settings-gggt4hkf7t
        - secretRef:
            name: eu-token
        - configMapRef:
            name: other
        name: c
"##
    );
}

#[test]
fn components_change_what_their_parent_has() {
    let tree = r##"=== c/app/cm.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
=== c/app/kustomization.yaml
nameSuffix: -x
resources: [cm.yaml]
components: [../comp]
configMapGenerator: [{name: gen, literals: [a=b]}]
commonAnnotations: {from: app}
=== c/comp/extra.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: extra}
=== c/comp/kustomization.yaml
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
namePrefix: c-
resources: [extra.yaml]
configMapGenerator: [{name: gen, behavior: merge, literals: [c=d]}]
commonAnnotations: {from: comp, only: comp}
"##;
    assert_eq!(
        built(tree, "c/app"),
        r##"apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    from: app
    only: comp
  name: c-extra-x
---
apiVersion: v1
data:
  a: b
  c: d
kind: ConfigMap
metadata:
  annotations:
    from: app
    only: comp
  name: c-gen-x-fh478f99mk
---
apiVersion: v1
kind: ConfigMap
metadata:
  annotations:
    from: app
    only: comp
  name: c-own-x
"##
    );
}

#[test]
fn variables_references_and_annotations_follow_configurations() {
    let tree = r##"=== v/all.yaml
apiVersion: v1
kind: Service
metadata: {name: svc}
spec: {ports: [{port: 8080}]}
---
apiVersion: x.example/v1
kind: Widget
metadata: {name: w, annotations: {a: "$(NAME):$(PORT) $$(NAME) $(NONE)"}}
spec: {service: svc, port: $(PORT), other: $(NAME)}
=== v/conf.yaml
varReference: [{kind: Widget, path: spec/port}]
nameReference: [{kind: Service, fieldSpecs: [{kind: Widget, path: spec/service}]}]
commonAnnotations: [{kind: Widget, path: spec/notes, create: true}]
=== v/kustomization.yaml
namePrefix: p-
resources: [all.yaml]
vars:
- {name: PORT, objref: {apiVersion: v1, kind: Service, name: svc}, fieldref: {fieldPath: "spec.ports[0].port"}}
- {name: NAME, objref: {apiVersion: v1, kind: Service, name: svc}}
configurations: [conf.yaml]
"##;
    assert_eq!(
        built(tree, "v"),
        r##"apiVersion: v1
kind: Service
metadata:
  name: p-svc
spec:
  ports:
  - port: 8080
---
apiVersion: x.example/v1
kind: Widget
metadata:
  annotations:
    a: p-svc:8080 $(NAME) $(NONE)
  name: p-w
spec:
  other: $(NAME)
  port: 8080
  service: p-svc
"##
    );
}

#[test]
fn built_in_plugins_are_configured_by_objects() {
    let tree = r##"=== p/d.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec: {replicas: 1, template: {spec: {containers: [{name: c, image: "web:1"}]}}}
=== p/kustomization.yaml
resources: [d.yaml]
generators:
- |
  apiVersion: builtin
  kind: ConfigMapGenerator
  metadata: {name: gen, namespace: n}
  literals: [a=b]
transformers: [t.yaml]
=== p/t.yaml
apiVersion: builtin
kind: LabelTransformer
metadata: {name: l}
labels: {a: b}
fieldSpecs: [{path: metadata/labels, create: true}, {path: spec/x, kind: Deployment, create: true}]
---
apiVersion: builtin
kind: PrefixSuffixTransformer
metadata: {name: ps}
prefix: a-
suffix: -z
fieldSpecs: [{path: metadata/name}]
---
apiVersion: builtin
kind: NamespaceTransformer
metadata: {name: n, namespace: ns}
unsetOnly: true
---
apiVersion: builtin
kind: ImageTagTransformer
metadata: {name: i}
imageTag: {name: web, newTag: "2"}
---
apiVersion: builtin
kind: ReplicaCountTransformer
metadata: {name: r}
replica: {name: d, count: 3}
fieldSpecs: [{path: spec/replicas, kind: Deployment, create: true}]
---
apiVersion: builtin
kind: PatchTransformer
metadata: {name: pt}
target: {kind: Deployment}
patch: '[{"op": "add", "path": "/spec/paused", "value": true}]'
---
apiVersion: builtin
kind: HashTransformer
metadata: {name: h}
"##;
    assert_eq!(
        built(tree, "p"),
        r##"apiVersion: v1
data:
  a: b
kind: ConfigMap
metadata:
  labels:
    a: b
  name: a-gen-z-4h2mbtbbt6-4h2mbtbbt6
  namespace: "n"
---
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    a: b
  name: a-d-z
  namespace: ns
spec:
  paused: true
  replicas: 3
  template:
    spec:
      containers:
      - image: web:2
        name: c
  x:
    a: b
"##
    );
}

#[test]
fn data_that_is_no_text_is_base64_and_lines_lose_their_ends() {
    let files = MemoryFiles::from_iter([
        ("kustomization.yaml", &b"configMapGenerator: [{name: a, files: [raw=bin], envs: [env]}]\n"[..]),
        ("bin", b"\xff\xfe"),
        ("env", b"\xef\xbb\xbfA=1\r\n"),
    ]);
    let text = to_yaml(&build(&files, "", &Options::default()).expect("builds"));
    assert!(text.contains("binaryData:\n  raw: //4=\ndata:\n  A: \"1\"\n"), "{text}");
}

#[test]
fn a_label_written_into_several_fields_at_once_is_one_value() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n";
    let overlaid = |overlay: &str| {
        text(&[
            ("kustomization.yaml", overlay),
            ("base/kustomization.yaml", "commonLabels: {app: web}\nresources: [d.yaml]\n"),
            ("base/d.yaml", deployment),
        ])
    };
    let everywhere = |text: &str, value: &str| text.matches(&format!("app: {value}\n")).count();
    assert_eq!(everywhere(&overlaid("resources: [base]\n"), "web"), 3);
    let labelled = overlaid("resources: [base]\nlabels: [{pairs: {app: other}}]\n");
    assert_eq!(everywhere(&labelled, "other"), 3, "{labelled}");
    let patch = "apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: d, labels: {app: other}}\n";
    let patched = overlaid(&format!("resources: [base]\npatches:\n- patch: |\n    {patch}"));
    assert_eq!(everywhere(&patched, "other"), 3, "{patched}");
    let operation = "[{\"op\": \"replace\", \"path\": \"/metadata/labels/app\", \"value\": \"other\"}]";
    let operated = overlaid(&format!(
        "resources: [base]\npatches:\n- target: {{kind: Deployment}}\n  patch: '{operation}'\n"
    ));
    assert_eq!((everywhere(&operated, "other"), everywhere(&operated, "web")), (1, 2), "{operated}");
}

#[test]
fn what_the_reference_cannot_do_is_an_error_at_its_place() {
    let map = ("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    for (kustomization, kind, line) in [
        ("resources: [a.yaml]\nreplicas: [{name: a, count: 2}]\n", ProblemKind::Invalid, 2),
        ("configMapGenerator:\n- {name: a, behavior: merge}\n", ProblemKind::Invalid, 2),
        ("resources: [a.yaml]\nconfigMapGenerator:\n- {name: a}\n", ProblemKind::Duplicate, 3),
        ("configMapGenerator:\n- {name: a, literals: [a=b, a=c]}\n", ProblemKind::Duplicate, 2),
        ("configMapGenerator:\n- {name: a, literals: ['1=c']}\n", ProblemKind::Invalid, 2),
        ("secretGenerator:\n- {name: a, literals: [hush]}\n", ProblemKind::Invalid, 2),
        ("configMapGenerator:\n- {name: a, files: [../x]}\n", ProblemKind::Outside, 2),
        ("components: [a.yaml]\n", ProblemKind::Invalid, 1),
        ("resources: [a.yaml]\nvars: [{name: A, objref: {kind: Pod, name: p}}]\n", ProblemKind::Invalid, 2),
        ("resources: [a.yaml]\nconfigurations: [a.yaml]\n", ProblemKind::UnknownField, 1),
        ("resources: [a.yaml]\ntransformers: [a.yaml]\n", ProblemKind::Unsupported, 1),
        ("resources: [a.yaml]\nhelmCharts: [{name: x}]\n", ProblemKind::Unsupported, 2),
    ] {
        let error = build_tree(&[("kustomization.yaml", kustomization), map]).expect_err(kustomization);
        assert_eq!((error.problems[0].kind, error.problems[0].line), (kind, line), "{error}");
        assert!(!error.to_string().contains("hush"), "{error}");
    }
    assert!(build(&tree(&[map]), "", &Options::default()).is_err());
}

#[test]
fn fields_of_the_past_are_told_as_warnings() {
    let built = build_tree(&[
        ("kustomization.yaml", "bases: [base]\ncommonLabels: {a: b}\n"),
        ("base/kustomization.yaml", "namePrefix: x\nimageTags: []\n"),
    ])
    .expect("builds");
    let told: Vec<String> = built.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("kustomization.yaml:1:1: bases"), "{told:?}");
}

//! Each feature with the smallest input.

use super::{built, problems, text, tree};
use crate::{Options, ProblemKind, load_plain};

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n";
const POD: &str =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - {name: c, image: 'web:1'}\n";
const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  \
                          selector: {matchLabels: {app: d}}\n  template: {metadata: {labels: {app: d}}}\n";

fn config(name: &str) -> String {
    CONFIG.replace("name: a", &format!("name: {name}"))
}

#[test]
fn resources_are_files_documents_lists_and_directories() {
    let list = format!(
        "kind: List\nitems:\n- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: l}}}}\n---\n---\n{CONFIG}"
    );
    let objects = built(&[
        ("kustomization.yaml", "resources: [list.yaml, sub]\n"),
        ("list.yaml", &list),
        ("sub/Kustomization", "resources: [b.json]\n"),
        ("sub/b.json", r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}"#),
    ])
    .expect("builds");
    let names: Vec<&str> = objects.iter().map(crate::Resource::name).collect();
    assert_eq!(names, ["a", "b", "l"]);
    let a = objects.get("", "ConfigMap", None, "a").expect("is there");
    assert_eq!((a.origin.line, a.origin.document), (6, 2));
    assert!(objects.get("", "ConfigMap", Some("x"), "a").is_none());
}

#[test]
fn files_stay_inside_and_directories_may_be_anywhere_in_the_tree() {
    let base = ("base/kustomization.yaml", "resources: [a.yaml]\n");
    let a = ("base/a.yaml", CONFIG);
    let overlay = |resource: &str| format!("resources: ['{resource}']\n");
    let build_overlay = |resource: &str| {
        let overlay = overlay(resource);
        crate::build(
            &tree(&[base, a, ("overlay/kustomization.yaml", &overlay)]),
            "overlay",
            &Options::default(),
        )
    };
    assert_eq!(build_overlay("../base").expect("builds").len(), 1);
    for (resource, kind) in [
        ("../base/a.yaml", ProblemKind::Outside),
        ("../../x", ProblemKind::Outside),
        ("/base", ProblemKind::Outside),
        ("https://host.example/org/repo//base?ref=v1", ProblemKind::Unsupported),
        ("../nothing", ProblemKind::Read),
        (".", ProblemKind::Cycle),
        ("..", ProblemKind::Cycle),
    ] {
        let error = build_overlay(resource).expect_err(resource);
        assert_eq!(error.problems[0].kind, kind, "{error}");
        assert_eq!((error.problems[0].line, error.problems[0].column), (1, 13), "{error}");
    }
}

#[test]
fn what_is_refused_is_named_and_all_problems_are_told() {
    let kustomization = "resources: [bad.yaml]\nhelmCharts: []\nresorces: []\npatches: [{}]\n";
    let error =
        built(&[("kustomization.yaml", kustomization), ("bad.yaml", "kind: X\n")]).expect_err("refused");
    let lines: Vec<String> = error.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "kustomization.yaml:2:1: helmCharts is refused: nothing is started or fetched while rendering; render the \
             chart beforehand and commit the result",
            "kustomization.yaml:3:1: resorces is not a field of the kustomization; did you mean resources?",
            "kustomization.yaml:4:11: a patch needs either `patch` or `path`, this one has neither",
        ]
    );
    let two = [
        ("kustomization.yaml", "resources: [a.yaml, b.yaml]\n"),
        ("a.yaml", "kind: X\n"),
        ("b.yaml", "- x\n"),
    ];
    assert_eq!(problems(&two), [ProblemKind::Invalid, ProblemKind::Invalid]);
}

#[test]
fn two_objects_of_one_name_are_an_error_that_names_both() {
    let error = built(&[
        ("kustomization.yaml", "resources: [a.yaml, b.yaml]\n"),
        ("a.yaml", CONFIG),
        ("b.yaml", &format!("\n{CONFIG}")),
    ])
    .expect_err("twice");
    let told = error.to_string();
    assert!(told.contains("a.yaml:1") && told.contains("b.yaml:2"), "{told}");
}

#[test]
fn namespace_reaches_objects_and_what_refers_to_them() {
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\n\
                   roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n\
                   subjects:\n- {kind: ServiceAccount, name: mine}\n- {kind: ServiceAccount, name: other, namespace: x}\n\
                   ---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: mine}\n\
                   ---\napiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n\
                   ---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: s}\nprovisioner: x\n";
    let out = text(&[("kustomization.yaml", "namespace: shop\nresources: [a.yaml]\n"), ("a.yaml", binding)]);
    assert!(out.contains("kind: Namespace\nmetadata:\n  name: shop\n"), "{out}");
    assert!(out.contains("name: mine\n  namespace: shop\n"), "{out}");
    assert!(out.contains("name: other\n  namespace: x\n"), "{out}");
    assert!(out.contains("kind: StorageClass\nmetadata:\n  name: s\nprovisioner"), "{out}");
}

#[test]
fn namespace_that_makes_two_objects_one_is_refused() {
    let two = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: x}\n---\n\
               apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: y}\n";
    let files = [("kustomization.yaml", "namespace: z\nresources: [a.yaml]\n"), ("a.yaml", two)];
    assert!(problems(&files).contains(&ProblemKind::Duplicate));
}

#[test]
fn images_change_name_tag_and_digest() {
    for (image, entry, expected) in [
        ("web:1", "{name: web, newTag: '2'}", "web:2"),
        ("web", "{name: web, newName: host.example:5000/w}", "host.example:5000/w"),
        ("host.example:5000/web:1", "{name: host.example:5000/web, newName: w}", "w:1"),
        ("web:1", "{name: web, digest: 'sha256:aa'}", "web@sha256:aa"),
        ("web@sha256:aa", "{name: web, newTag: '2'}", "web:2"),
        ("website:1", "{name: web, newTag: '2'}", "website:1"),
    ] {
        let pod = POD.replace("web:1", image);
        let kustomization = format!("resources: [a.yaml]\nimages: [{entry}]\n");
        let out = text(&[("kustomization.yaml", &kustomization), ("a.yaml", &pod)]);
        assert!(out.contains(&format!("image: {expected}\n")), "{entry}: {out}");
    }
}

#[test]
fn labels_go_to_metadata_templates_and_selectors_as_told() {
    let with = |options: &str| {
        let kustomization = format!("resources: [a.yaml]\nlabels: [{{pairs: {{x: 'y'}}{options}}}]\n");
        text(&[("kustomization.yaml", &kustomization), ("a.yaml", DEPLOYMENT)]).matches("x: \"y\"").count()
    };
    assert_eq!(with(""), 1);
    assert_eq!(with(", includeTemplates: true"), 2);
    assert_eq!(with(", includeSelectors: true"), 3);
    let common = "resources: [a.yaml]\ncommonLabels: {x: z}\ncommonAnnotations: {note: m}\n";
    let out = text(&[("kustomization.yaml", common), ("a.yaml", DEPLOYMENT)]);
    assert_eq!((out.matches("x: z").count(), out.matches("note: m").count()), (3, 2), "{out}");
}

fn patched(object: &str, patch: &str) -> Result<String, crate::Error> {
    let indented: String = patch.lines().map(|line| format!("    {line}\n")).collect();
    let kustomization = format!("resources: [a.yaml]\npatches:\n- patch: |\n{indented}");
    built(&[("kustomization.yaml", &kustomization), ("a.yaml", object)]).map(|it| crate::to_yaml(&it))
}

#[test]
fn strategic_merge_merges_by_key_deletes_by_null_and_obeys_directives() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {a: b}}\nspec:\n  nodeName: n\n  containers:\n  \
               - {name: c, env: [{name: A, value: a}, {name: B, value: b}]}\n  - {name: gone}\n  tolerations: [{key: x}]\n";
    let patch = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeName: null\n  containers:\n  - {name: new}\n  \
                 - {name: c, env: [{name: B, value: c}]}\n  - {name: gone, $patch: delete}\n  tolerations: [{key: z}]";
    let out = patched(pod, patch).expect("applies");
    let expected = "spec:\n  containers:\n  - name: new\n  - env:\n    - name: B\n      value: c\n    - name: A\n      value: a\n    \
                    name: c\n  tolerations:\n  - key: z\n";
    assert!(out.ends_with(expected), "{out}");
    let replaced =
        patched(pod, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {$patch: replace, nodeName: m}");
    assert!(replaced.expect("applies").ends_with("spec:\n  nodeName: m\n"));
    let deleted = patched(pod, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n$patch: delete");
    assert_eq!(deleted.expect("applies"), "");
}

#[test]
fn a_merge_drops_keys_without_a_value_and_keeps_written_nulls() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  blank:\n  written: null\n";
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}";
    let out = patched(object, patch).expect("applies");
    assert!(out.contains("data:\n  k: v\n  written: null\n"), "{out}");
}

#[test]
fn annotations_are_text_and_null_in_a_patch_deletes_one() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {n: 1, m: x}}\n";
    let patch = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {m: null}}";
    assert!(patched(object, patch).expect("applies").contains("annotations:\n    \"n\": \"1\"\n  name"));
}

#[test]
fn ports_are_told_apart_by_number_and_protocol_and_keep_their_place() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  ports:\n  - {port: 53, protocol: TCP}\n  \
                   - {port: 53, protocol: UDP}\n";
    let patch = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec:\n  ports:\n  - {port: 80}\n  \
                 - {port: 53, protocol: UDP, name: u}\n  - {port: 53, $patch: delete}";
    let expected = "  ports:\n  - port: 80\n  - port: 53\n    protocol: TCP\n  - name: u\n    port: 53\n    protocol: UDP\n";
    assert!(patched(service, patch).expect("applies").ends_with(expected));
}

#[test]
fn lists_of_unknown_kinds_are_replaced() {
    let object = "apiVersion: x.example/v1\nkind: X\nmetadata: {name: x}\nspec: {containers: [{name: a}, {name: b}]}\n";
    let patch = "apiVersion: x.example/v1\nkind: X\nmetadata: {name: x}\nspec: {containers: [{name: c}]}";
    assert!(patched(object, patch).expect("applies").ends_with("containers:\n  - name: c\n"));
}

#[test]
fn a_patch_that_fits_nothing_says_what_is_near() {
    let error =
        patched(CONFIG, "apiVersion: v2\nkind: ConfigMap\nmetadata: {name: a}").expect_err("wrong version");
    assert_eq!(error.problems[0].kind, ProblemKind::Patch);
    assert!(error.to_string().contains("there is v1 ConfigMap a in a.yaml:1"), "{error}");
}

#[test]
fn json_operations_change_what_the_target_selects() {
    let patch = |operations: &str| {
        let kustomization = format!(
            "resources: [a.yaml, b.yaml]\npatches:\n- target: {{kind: Config.*, name: a|x}}\n  patch: |\n    {operations}\n"
        );
        built(&[("kustomization.yaml", &kustomization), ("a.yaml", CONFIG), ("b.yaml", &config("b"))])
            .map(|it| crate::to_yaml(&it))
    };
    let out = patch("[{\"op\": \"add\", \"path\": \"/data/x~1y\", \"value\": \"1\"}]").expect("applies");
    assert_eq!(out.matches("x/y: \"1\"").count(), 1, "{out}");
    let annotated = patch("[{\"op\": \"add\", \"path\": \"/metadata/annotations/n\", \"value\": \"1\"}]");
    assert_eq!(annotated.expect("annotations are always there").matches("annotations").count(), 1);
    for wrong in [
        "[{\"op\": \"test\", \"path\": \"/data/k\", \"value\": \"w\"}]",
        "[{\"op\": \"remove\", \"path\": \"/data/none\"}]",
        "[{\"op\": \"add\", \"path\": \"/none/x\", \"value\": 1}]",
        "[{\"op\": \"frob\", \"path\": \"/data/k\"}]",
        "[{\"op\": \"remove\", \"path\": \"/kind\"}]",
    ] {
        let error = patch(wrong).expect_err(wrong);
        assert_eq!(error.problems[0].kind, ProblemKind::Patch, "{error}");
        assert_eq!(error.problems[0].line, 4, "{error}");
    }
}

#[test]
fn an_overlay_may_call_an_object_by_its_earlier_namespace() {
    let out = crate::build(
        &tree(&[
            ("base/kustomization.yaml", "namespace: shop\nresources: [a.yaml]\n"),
            ("base/a.yaml", CONFIG),
            ("kustomization.yaml", "resources: [base]\npatches: [{path: p.yaml}]\n"),
            ("p.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {new: '1'}\n"),
        ]),
        "",
        &Options::default(),
    )
    .expect("builds");
    let object = out.get("", "ConfigMap", Some("shop"), "a").expect("keeps its namespace");
    assert_eq!(object.value["data"]["new"], "1");
}

#[test]
fn secrets_never_reach_an_error() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hunter2}\n";
    let patch =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: {l: hunter3}}\ndata: {$patch: x}";
    let error = patched(secret, patch).expect_err("a mapping over text");
    assert!(!format!("{error} {error:?}").contains("hunter"), "{error}");
    let objects =
        built(&[("kustomization.yaml", "resources: [a.yaml]\n"), ("a.yaml", secret)]).expect("builds");
    assert!(!format!("{objects:?}").contains("hunter"));
}

#[test]
fn plain_directories_are_read_in_order_without_the_workspace_document() {
    let files = tree(&[
        ("w/workspace.yaml", "kind: Workspace\n"),
        ("w/z/b.yml", &config("b")),
        ("w/a.yaml", &format!("# nothing\n---\n{CONFIG}")),
        ("w/notes.txt", "not: [yaml"),
    ]);
    let objects = load_plain(&files, "w", &Options::default()).expect("loads");
    let names: Vec<&str> = objects.iter().map(crate::Resource::name).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn every_problem_of_a_plain_directory_is_told() {
    let files =
        tree(&[("a.yaml", CONFIG), ("b.yaml", CONFIG), ("c.yaml", "x: [\n"), ("d.yaml", "kind: X\n")]);
    let error = load_plain(&files, "", &Options::default()).expect_err("wrong");
    let kinds: Vec<ProblemKind> = error.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [ProblemKind::Syntax, ProblemKind::Invalid, ProblemKind::Duplicate]);
    assert!(error.to_string().contains("b.yaml:1:1: ConfigMap a is already written at a.yaml:1"), "{error}");
}

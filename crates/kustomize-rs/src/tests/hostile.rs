//! Whatever is in a tree, the answer is objects or an error, never a panic or an endless run.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};

use super::{problems, tree};
use crate::{Limits, MemoryFiles, Options, ProblemKind, build, load_plain, to_yaml};

/// Text that is nearly a kustomization or a manifest.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("resources: [a.yaml]\n"),
        Just("resources:\n- ../x\n- .\n- a.yaml\n"),
        Just("patches:\n- patch: |\n    [{op: copy, from: /data, path: /data/a}]\n  target: {kind: .*}\n"),
        Just("patches:\n- path: a.yaml\n- patch: '{}'\n"),
        Just("labels: [{pairs: {a: b}, includeSelectors: true, fields: [{path: a/b[], create: true}]}]\n"),
        Just("images: [{name: '.*', newTag: x}, {name: '('}]\n"),
        Just("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"),
        Just("spec: {ports: [{port: 1}, x, null], template: 3}\n"),
        Just("data: {b10: \u{feff}, b9: \"\\u2028 \\n\", 0: x, 00: y}\n"),
        Just("---\n"),
        Just("&a [*a, *a]\n"),
        Just("  - "),
        Just("\t"),
        Just(": "),
        Just("\u{0}"),
    ];
    proptest::collection::vec(fragment, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_an_answer(kustomization in any::<Vec<u8>>(), manifest in any::<Vec<u8>>()) {
        let files: MemoryFiles = [("kustomization.yaml", kustomization), ("a.yaml", manifest)].into_iter().collect();
        let _ = build(&files, "", &Options::default());
        let _ = load_plain(&files, "", &Options::default());
    }

    #[test]
    fn any_composition_is_an_answer(kustomization in fragments(), manifest in fragments()) {
        let files = tree(&[("kustomization.yaml", &kustomization), ("a.yaml", &manifest)]);
        if let Ok(resources) = build(&files, "", &Options::default()) {
            let _ = to_yaml(&resources);
        }
    }

    #[test]
    fn any_text_survives_the_emitter(
        // Line separators end a line in YAML 1.1 only, which the emitter writes and the reader does not speak.
        key in "[^\u{2028}\u{2029}\n]{0,12}",
        value in "[^\u{2028}\u{2029}]{0,120}",
    ) {
        let key = format!("k{key}");
        let text = emitted(&key, &value);
        let limits = yaml_span::Limits::default();
        let documents = yaml_span::parse(&text, yaml_span::Schema::Kubernetes, &limits).expect("reads back");
        let read = documents[0].root.to_json();
        proptest::prop_assert_eq!(read, serde_json::json!({ key: value }));
    }
}

fn emitted(key: &str, value: &str) -> String {
    let mut text = String::new();
    crate::emit::document(&serde_json::json!({ key: value }), &mut text);
    text
}

#[test]
fn copies_that_double_an_object_end() {
    let copies: String =
        (0..60).map(|it| format!("    - {{op: copy, from: /data, path: /data/a{it}}}\n")).collect();
    let kustomization =
        format!("resources: [a.yaml]\npatches:\n- target: {{kind: ConfigMap}}\n  patch: |\n{copies}");
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: {y: z}}\n";
    let files = [("kustomization.yaml", kustomization.as_str()), ("a.yaml", manifest)];
    assert_eq!(problems(&files), [ProblemKind::Patch]);
}

#[test]
fn limits_are_errors() {
    let chain: Vec<(String, String)> = (0..40)
        .map(|level| (format!("{level}/kustomization.yaml"), format!("resources: [../{}]\n", level + 1)))
        .collect();
    let files: MemoryFiles = chain.iter().map(|(path, text)| (path.as_str(), text)).collect();
    let error = build(&files, "0", &Options::default()).expect_err("too deep");
    assert_eq!(error.problems[0].kind, ProblemKind::Limit);

    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n\
                    apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
    let files = tree(&[
        ("kustomization.yaml", "resources: [a.yaml]\nimages: [{name: a, newTag: b}]\n"),
        ("a.yaml", manifest),
    ]);
    for limits in [
        Limits { changes: 0, ..Limits::default() },
        Limits { kustomizations: 0, ..Limits::default() },
        Limits { resources: 1, ..Limits::default() },
        Limits { file_bytes: 30, ..Limits::default() },
        Limits { total_bytes: 30, ..Limits::default() },
    ] {
        let options = Options { limits, ..Options::default() };
        let error = build(&files, "", &options).expect_err("above the limit");
        assert_eq!(error.problems[0].kind, ProblemKind::Limit, "{options:?}");
    }
}

#[test]
fn a_tree_that_doubles_at_each_level_ends() {
    let level = |level: usize| format!("resources: [../{0}a, ../{0}b]\n", level + 1);
    let names = (0..31).flat_map(|it| [(format!("{it}a"), it), (format!("{it}b"), it)]);
    let files: MemoryFiles =
        names.map(|(name, it)| (format!("{name}/kustomization.yaml"), level(it))).collect();
    let error = build(&files, "0a", &Options::default()).expect_err("too many");
    assert!(error.problems.iter().any(|problem| problem.kind == ProblemKind::Limit));
}

//! What random composition found: places where we once printed something else than the reference, each as small as it got.
//! The outputs are those of the reference.

use super::{built, text};

/// A tree and what it prints; `None` where it must not build.
type Case = (&'static [(&'static str, &'static str)], Option<&'static str>);

fn check((files, expected): Case) {
    match expected {
        Some(expected) => assert_eq!(text(files), expected),
        None => assert!(built(files).is_err(), "built, but must not"),
    }
}

#[test]
fn a_replacement_needs_targets() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: cm}\n  targets: []\n",
            ),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n"),
        ],
        None,
    ));
}

#[test]
fn a_label_key_that_is_a_number_is_refused() {
    check((
        &[
            ("kustomization.yaml", "resources: [o.yaml]\nlabels:\n- pairs: {'1': shop}\n"),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n"),
        ],
        None,
    ));
}

#[test]
fn a_configuration_adds_to_the_defaults() {
    check((
        &[
            ("kustomization.yaml", "resources: [o.yaml]\nnamePrefix: dev-\nconfigurations: [c.yaml]\n"),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n"),
            ("c.yaml", "namePrefix:\n- {path: metadata/annotations/note}\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: dev-cm\n"),
    ));
}

#[test]
fn values_of_annotations_keep_their_text() {
    check((
        &[
            ("kustomization.yaml", "resources: [o.yaml]\n"),
            (
                "o.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n  annotations: {day: 2020-01-01, count: 1_000}\n",
            ),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    count: \"1_000\"\n    day: \"2020-01-01\"\n  name: cm\n",
        ),
    ));
}

#[test]
fn what_has_no_namespace_is_found_in_default() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: cm}\n  targets:\n  - select: {kind: Deployment, namespace: default}\n    fieldPaths: [metadata.labels.from]\n    options: {create: true}\n",
            ),
            (
                "o.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
            ),
        ],
        Some(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels:\n    from: cm\n  name: web\n",
        ),
    ));
}

#[test]
fn a_later_label_reaches_where_an_earlier_one_was_put() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\nlabels:\n- {pairs: {part: one}, includeTemplates: true}\n- {pairs: {part: two}}\n",
            ),
            ("o.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"),
        ],
        Some(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels:\n    part: two\n  name: web\nspec:\n  template:\n    metadata:\n      labels:\n        part: two\n",
        ),
    ));
}

#[test]
fn legacy_order_without_lists_has_no_first_kinds() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\nsortOptions: {order: legacy, legacySortOptions: {}}\n",
            ),
            (
                "o.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
            ),
        ],
        Some(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"n\"\n",
        ),
    ));
}

#[test]
fn a_list_as_value_of_an_annotation_is_empty_text() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: cm, fieldPath: items}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [metadata.annotations.copied]\n    options: {create: true}\n",
            ),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\nitems: [{a: b}]\n"),
        ],
        Some(
            "apiVersion: v1\nitems:\n- a: b\nkind: ConfigMap\nmetadata:\n  annotations:\n    copied: \"\"\n  name: cm\n",
        ),
    ));
}

#[test]
fn what_was_moved_away_cannot_be_removed() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    [{\"op\": \"move\", \"from\": \"/data/a\", \"path\": \"/data/b\"}, {\"op\": \"remove\", \"path\": \"/data/a\"}]\n",
            ),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: x}\n"),
        ],
        None,
    ));
}

#[test]
fn a_scalar_where_the_object_has_a_map_is_left_out() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: cm, labels: 12}}\n",
            ),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, labels: {}}\n"),
        ],
        Some("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}\n  name: cm\n"),
    ));
}

#[test]
fn annotations_that_are_no_map_are_dropped() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |\n    [{\"op\": \"copy\", \"from\": \"/data/a\", \"path\": \"/metadata/annotations\"}]\n",
            ),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {a: x}\n"),
        ],
        Some("apiVersion: v1\ndata:\n  a: x\nkind: ConfigMap\nmetadata:\n  name: cm\n"),
    ));
}

#[test]
fn a_reference_through_a_text_is_refused() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\npatches:\n- target: {kind: Deployment}\n  patch: |\n    [{\"op\": \"add\", \"path\": \"/spec/template\", \"value\": 8}]\n",
            ),
            ("o.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n"),
        ],
        None,
    ));
}

#[test]
fn an_empty_text_that_is_copied_is_no_null() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\nreplacements:\n- source: {kind: ConfigMap, name: cm, fieldPath: data.k}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [metadata.annotations.a, data.b]\n    options: {create: true}\n",
            ),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {k: ''}\n"),
        ],
        Some(
            "apiVersion: v1\ndata:\n  b: \"\"\n  k: \"\"\nkind: ConfigMap\nmetadata:\n  annotations:\n    a: \"\"\n  name: cm\n",
        ),
    ));
}

#[test]
fn a_brace_that_counts_nothing_is_plain() {
    check((
        &[
            (
                "kustomization.yaml",
                "resources: [o.yaml]\nnamePrefix: p-\npatches:\n- target: {name: '${NAME}|a{2}'}\n  patch: |\n    [{\"op\": \"add\", \"path\": \"/data\", \"value\": {\"a\": \"b\"}}]\n",
            ),
            ("o.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aa}\n"),
        ],
        Some("apiVersion: v1\ndata:\n  a: b\nkind: ConfigMap\nmetadata:\n  name: p-aa\n"),
    ));
}

const CM: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n";

/// A kustomization of one file of objects.
fn of(rest: &str, objects: &str) -> Result<String, crate::Error> {
    let kustomization = format!("resources: [o.yaml]\n{rest}");
    built(&[("kustomization.yaml", &kustomization), ("o.yaml", objects)]).map(|it| crate::to_yaml(&it))
}

#[test]
fn a_type_that_does_not_fit_counts_only_where_the_field_stays() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 443}]}\n";
    let copy = |paths: &str| {
        of(
            &format!(
                "replacements:\n- source: {{kind: Service}}\n  targets:\n  - select: {{kind: Service}}\n    fieldPaths: [{paths}]\n"
            ),
            service,
        )
    };
    let taken_away = copy("spec.ports.0.port, spec.ports.0").expect("builds");
    assert!(taken_away.ends_with("spec:\n  ports:\n  - web\n"), "{taken_away}");
    let error = copy("spec.ports.0.port").expect_err("web is no port").to_string();
    assert!(error.contains("spec.ports.0.port: the field is a whole number"), "{error}");
}

#[test]
fn a_word_for_nothing_stays_text_in_annotations_only() {
    let text = of(
        "replacements:\n- source: {kind: ConfigMap, fieldPath: data.k}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [metadata.annotations.a, metadata.labels.b]\n    options: {create: true}\n",
        &format!("{CM}data: {{k: '~'}}\n"),
    );
    let text = text.expect("builds");
    assert!(text.contains("annotations:\n    a: \"~\"\n  labels:\n    b: null\n"), "{text}");
}

#[test]
fn a_source_is_copied_as_it_is_by_then() {
    let text = of(
        "replacements:\n- source: {kind: ConfigMap, fieldPath: spec.list}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [spec.list.0, spec]\n",
        &format!("{CM}spec: {{list: [{{}}]}}\n"),
    );
    assert!(text.expect("builds").ends_with("spec:\n- - {}\n"));
}

#[test]
fn origins_are_lost_with_all_annotations() {
    let text = of(
        "replacements:\n- source: {kind: ConfigMap}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [metadata.annotations]\nbuildMetadata: [originAnnotations]\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, annotations: {a: b}}\n",
    );
    let text = text.expect("builds");
    assert!(text.contains("configuredBy:\n        apiVersion: builtin\n        kind: Replacement"), "{text}");
}

#[test]
fn an_item_that_is_not_there_is_neither_copied_nor_tested() {
    for operation in [
        r#""op": "copy", "from": "/items/1", "path": "/data""#,
        r#""op": "test", "path": "/items/1", "value": null"#,
    ] {
        let patch = format!("patches:\n- target: {{kind: ConfigMap}}\n  patch: '[{{{operation}}}]'\n");
        assert!(of(&patch, &format!("{CM}items: [a]\n")).is_err(), "{operation}");
    }
    let patch = "patches:\n- target: {kind: ConfigMap}\n  patch: '[{\"op\": \"copy\", \"from\": \"/none\", \"path\": \"/data\"}]'\n";
    assert!(of(patch, CM).expect("a key may be missing").contains("data: null\n"));
}

#[test]
fn a_generator_merges_over_the_text_that_was_written() {
    let text =
        of("configMapGenerator: [{name: cm, behavior: merge}]\n", &format!("{CM}data: {{a: 1_000}}\n"));
    assert!(text.expect("builds").contains("data:\n  a: \"1_000\"\n"));
}

#[test]
fn an_added_list_with_a_null_key_is_empty() {
    let patch = "patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {template: {spec: {containers: [{name: null, image: x}, {name: a}]}}}\n";
    let text = of(patch, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n");
    assert!(text.expect("builds").ends_with("containers: []\n"));
}

//! OpenAPI documents: a small one in the form that clusters serve.

use serde_json::{Value, json};

use crate::{Judge, OpenApi, Options, Pool, Problem, Rules, Schema, Scope, Verdict};

fn operation(group: &str, kind: &str) -> Value {
    json!({"post": {"x-kubernetes-group-version-kind": {"group": group, "version": "v1", "kind": kind}}})
}

fn document() -> Value {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let default = |name: &str| json!({"allOf": [reference(name)], "default": {}});
    let gvk = |group: &str, kind: &str| json!([{"group": group, "version": "v1", "kind": kind}]);
    json!({
        "openapi": "3.0.0",
        "paths": {
            "/apis/apps/v1/deployments": {"get": {}},
            "/apis/apps/v1/namespaces/{namespace}/deployments": operation("apps", "Deployment"),
            "/apis/apps/v1/namespaces/{namespace}/deployments/{name}": operation("apps", "Deployment"),
            "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status": operation("apps", "Deployment"),
            "/apis/apps/v1/watch/deployments": {"get": {}},
            "/apis/g.io/v1/trees": operation("g.io", "Tree"),
        },
        "components": {"schemas": {
            "io.k8s.api.apps.v1.Deployment": {"type": "object", "x-kubernetes-group-version-kind": gvk("apps", "Deployment"), "properties": {
                "apiVersion": {"type": "string"}, "kind": {"type": "string"},
                "metadata": default("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                "spec": default("io.k8s.api.apps.v1.DeploymentSpec")}},
            "io.k8s.api.apps.v1.DeploymentSpec": {"type": "object", "required": ["selector"], "properties": {
                "replicas": {"type": "integer", "format": "int32"},
                "name": {"type": "string", "default": ""},
                "port": reference("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
                "limit": reference("io.k8s.apimachinery.pkg.api.resource.Quantity"),
                "raw": reference("io.k8s.apimachinery.pkg.runtime.RawExtension"),
                "empty": {"type": "object"},
                "selector": {"type": "object", "additionalProperties": {"type": "string", "default": ""}}}},
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}}},
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"},
            "io.k8s.apimachinery.pkg.api.resource.Quantity": {"oneOf": [{"type": "string"}, {"type": "number"}]},
            "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
            "io.g.v1.Tree": {"type": "object", "x-kubernetes-group-version-kind": gvk("g.io", "Tree"), "required": ["spec"], "properties": {
                "spec": {"type": "object", "properties": {"child": reference("io.g.v1.Branch")}}}},
            "io.g.v1.Branch": {"type": "object", "properties": {"leaf": {"type": "string"}, "child": reference("io.g.v1.Branch")}},
        }},
    })
}

#[test]
fn kinds_are_read_with_scope_and_subresources_and_references_resolved() {
    let mut pool = Pool::new();
    let kinds = OpenApi::parse(&document(), &Options::default(), &mut pool).unwrap().kinds;
    let [deployment, tree] = &kinds[..] else { panic!("{kinds:?}") };
    assert_eq!(
        (&*deployment.plural, deployment.scope, deployment.built_in),
        ("deployments", Scope::Namespaced, true)
    );
    assert!(deployment.subresources.contains("status"));
    assert_eq!((&*tree.kind, tree.scope, tree.built_in), ("Tree", Scope::Cluster, false));

    let judge = Judge::new(&deployment.schema, Rules { built_in: true, ..Rules::default() });
    let object = |spec: Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": spec});
    let verdict = |spec| judge.accepts_and_keeps(&object(spec));
    // Required is for clients, nulls are nothing, and a default in a document is the zero value of Go.
    assert_eq!(
        verdict(
            json!({"replicas": 1, "port": "http", "limit": 1.5, "raw": {"x": [1]}, "name": null, "empty": {}})
        ),
        Verdict::Yes
    );
    assert_eq!(judge.create(&object(json!({}))).object, object(json!({})));
    assert!(matches!(verdict(json!({"replicas": "1"})), Verdict::No { .. }));
    assert!(matches!(verdict(json!({"port": true})), Verdict::No { .. }));
    let Verdict::No { path, .. } = verdict(json!({"newField": {"x": 1}})) else { panic!() };
    assert_eq!(path.to_string(), "spec.newField");
    // Nothing is known of what is inside.
    assert!(matches!(verdict(json!({"empty": {"x": 1}})), Verdict::Unknown(_)));

    // A recursive type is a tree that ends in a part nobody claims anything about.
    let judge = Judge::new(&tree.schema, Rules::default());
    let tree_of = |child: Value| json!({"apiVersion": "g.io/v1", "kind": "Tree", "metadata": {"name": "x"}, "spec": {"child": child}});
    assert_eq!(judge.accepts_and_keeps(&tree_of(json!({"leaf": "x"}))), Verdict::Yes);
    assert!(matches!(judge.accepts_and_keeps(&tree_of(json!({"leaf": 1}))), Verdict::No { .. }));
    assert!(matches!(
        judge.accepts_and_keeps(&tree_of(json!({"child": {"leaf": "x"}}))),
        Verdict::Unknown(_)
    ));

    for kind in &kinds {
        let stored = Schema::from_stored(&kind.schema.to_json(), &Options::default(), &mut pool).unwrap();
        assert!(stored == kind.schema, "{}", kind.kind);
    }
}

#[test]
fn documents_that_cannot_be_used_say_why() {
    let error = |value: &Value| OpenApi::parse(value, &Options::default(), &mut Pool::new()).unwrap_err();
    assert!(matches!(error(&json!({"swagger": "2.0"})).problem, Problem::NotOpenApi { .. }));
    let mut lost = document();
    lost["components"]["schemas"]["io.g.v1.Tree"]["properties"]["spec"] =
        json!({"$ref": "#/components/schemas/none"});
    assert_eq!(
        error(&lost).to_string(),
        "components.schemas[io.g.v1.Tree].properties[spec]: the reference \"#/components/schemas/none\" leads nowhere in this document"
    );
    // A small document that stands for a tree of 2^30 nodes.
    let mut bomb = document();
    for level in 0..30 {
        let next = json!({"$ref": format!("#/components/schemas/l{}", level + 1)});
        bomb["components"]["schemas"][format!("l{level}")] =
            json!({"type": "object", "properties": {"a": next, "b": next}});
    }
    bomb["components"]["schemas"]["l30"] = json!({"type": "string"});
    bomb["components"]["schemas"]["io.g.v1.Tree"]["properties"]["spec"] =
        json!({"$ref": "#/components/schemas/l0"});
    assert!(matches!(error(&bomb).problem, Problem::TooManyNodes { .. }));
}

//! `kubectl kcp api`: two states of CRDs, from files, folders and commits, without a fleet.

use super::runner::World;

fn crd(fields: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: widgets, kind: Widget}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
{fields}"
    )
}

const BOTH: &str =
    "              size: {type: integer}\n              color: {type: string, enum: [red, green]}\n";
const LESS: &str = "              color: {type: string, enum: [red]}\n";
const MORE: &str =
    "              size: {type: integer}\n              color: {type: string, enum: [red, green, blue]}\n";

#[test]
fn what_breaks_is_found_shown_and_counted_by_the_exit_code() {
    let world = World::new();
    world.write("old/a.yaml", &crd(BOTH));
    world.write("new/a.yaml", &crd(LESS));
    world.write("more.yaml", &crd(MORE));
    let found = world.run("api check old new").code(1);
    for says in [
        "error field-removed widgets.example.com v1 spec.size",
        "error enum-value-removed widgets.example.com v1 spec.color",
        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"example\"},\"spec\":{\"size\":1}}",
        "dropped: spec.size",
        "new/a.yaml:18",
        "2 errors in 1 CRD",
    ] {
        assert!(found.out.contains(says), "{says:?} in\n{}", found.out);
    }
    assert!(world.run("api check old old").code(0).out.contains("nothing breaks in 1 CRD"));
    // A new value is a matter of those who read.
    world.run("api check old/a.yaml more.yaml").code(0);
    world.run("api check old/a.yaml more.yaml --for readers").code(1);
    assert!(world.run("api diff old/a.yaml more.yaml").code(1).out.contains("enum-value-added"));
    world.run("api diff old old").code(0);
}

#[test]
fn forms_for_programs_say_the_same() {
    let world = World::new();
    world.write("old.yaml", &crd(BOTH));
    world.write("new.yaml", &crd(LESS));
    let out = |form: &str| world.run(&format!("api check old.yaml new.yaml -o {form}")).code(1).out;
    let json: serde_json::Value = serde_json::from_str(&out("json")).unwrap();
    assert_eq!(json["summary"]["errors"], 2);
    let sarif: serde_json::Value = serde_json::from_str(&out("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 2);
    assert_eq!(
        out("github-actions").lines().filter(|line| line.starts_with("::error file=new.yaml,line=")).count(),
        2
    );
    assert_eq!(out("junit").matches("<failure ").count(), 2);
    assert_eq!(out("markdown").matches("| error |").count(), 2);
}

#[test]
fn a_commit_is_compared_with_files_and_a_waiver_holds_until_its_day() {
    let world = World::with_fleet();
    world.write("crds/a.yaml", &crd(BOTH));
    world.git("add -A");
    world.git("commit -m crds");
    world.write("crds/a.yaml", &crd(LESS));
    world.run("api check git:HEAD:crds crds").code(1);
    let waiver = |day: &str| {
        let end = format!("until: {day}, reason: nobody used it");
        format!(
            "waivers:\n- {{rule: field-removed, path: spec.size, {end}}}\n- {{rule: enum-value-removed, {end}}}\n"
        )
    };
    world.write("c.yaml", &waiver("2999-12-31"));
    let waived = world.run("api check git:HEAD:crds crds --config c.yaml").code(0);
    assert!(
        waived.out.contains("2 waived in 1 CRD") && waived.out.contains("nobody used it"),
        "{}",
        waived.out
    );
    world.write("c.yaml", &waiver("2001-12-31"));
    let expired = world.run("api check git:HEAD:crds crds --config c.yaml").code(1);
    assert!(expired.out.contains("its waiver ended on 2001-12-31"), "{}", expired.out);
}

#[test]
fn what_cannot_be_read_is_told_apart_from_findings() {
    let world = World::new();
    world.write("good.yaml", &crd(BOTH));
    world.write("bad.yaml", &crd("              size: {type: integr}\n"));
    world.write("other.yaml", "apiVersion: v1\nkind: ConfigMap\n");
    world.write("c.yaml", "rules: {field-remove: error}\n");
    for (words, says) in [
        ("api check nowhere.yaml good.yaml", "nowhere.yaml"),
        ("api check bad.yaml good.yaml", "bad.yaml:19"),
        ("api check good.yaml other.yaml", "no CustomResourceDefinition"),
        ("api check good.yaml git:HEAD", "git:REF:PATH"),
        ("api check good.yaml good.yaml --config c.yaml", "did you mean `field-removed`?"),
        ("api check good.yaml", "NEW"),
    ] {
        let ended = world.run(words).code(2);
        assert!(ended.err.contains(says), "{words}: {says:?} in\n{}", ended.err);
    }
}

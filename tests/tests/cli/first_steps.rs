//! The shortest way in, as far as it goes without a cluster, and looking ahead.

use super::runner::{CLUSTER, WEB, World};

#[test]
fn from_an_empty_folder_to_a_plan() {
    let world = World::new();
    world.run("init").code(0);
    let made = world.read("kcp.yaml");
    let again = world.run("init").code(0);
    assert!(again.out.contains("the fleet fleet already"), "{}", again.out);
    assert_eq!((world.read("kcp.yaml"), world.log().len()), (made, 1), "a second run changes nothing");

    world.write("clusters/eu-1.yaml", CLUSTER);
    world.commit("a cluster");
    world.write("../web.yaml", WEB);
    world.run("workspace add web --namespace web -f ../web.yaml").code(0);
    let unplaced = world.run("plan").code(0);
    assert!(unplaced.err.contains("kubectl kcp place web"), "{}", unplaced.err);
    world.run("place web --exactly 1").code(0);
    assert_eq!(world.log()[..2], ["place web", "add workspace web"]);
    assert_eq!(world.read("workspaces/web/web.yaml"), WEB, "manifests are copied as they are");

    let plan = world.run("plan").code(0);
    for object in ["Namespace web", "Deployment.apps web/web", "Secret web/login", "3 to create"] {
        assert!(plan.out.contains(object), "{object} in {}", plan.out);
    }
    assert!(plan.err.contains("nothing was recorded yet"), "what is assumed is said: {}", plan.err);
    world.run("plan --exit-code").code(1);
    let status = world.run("status").code(1);
    assert!(status.err.contains("kubectl kcp run"), "{}", status.err);
}

#[test]
fn a_plan_for_programs_and_one_for_pull_requests() {
    let world = World::with_fleet();
    let json: serde_json::Value = serde_json::from_str(&world.run("plan -o json").code(0).out).unwrap();
    assert_eq!(json["summary"]["create"], 3);
    let created = json["clusters"]["eu-1"]["workspaces"]["web"]["create"].as_array().unwrap();
    assert!(
        created.iter().any(|it| it["object"]["kind"] == "Secret" && it["origin"]["line"] == 11),
        "{created:?}"
    );
    assert_eq!(json["workspaces"]["web"]["clusters"]["eu-1"]["role"], "Chosen");
    let markdown = world.run("plan -o markdown").code(0).out;
    assert!(markdown.contains("| `eu-1` | `web` | 3 | 0 | 0 | 0 |"), "{markdown}");
    for output in ["text", "json", "markdown"] {
        let plan = world.run(&format!("plan -o {output}")).code(0);
        assert!(!plan.out.contains("hunter2"), "no value of a Secret in -o {output}");
    }
}

#[test]
fn a_plan_is_of_the_working_tree_or_of_a_commit() {
    let world = World::with_fleet();
    let before = world.git("rev-parse HEAD").trim().to_owned();
    world.write("workspaces/web/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n");
    assert!(world.run("plan").code(0).out.contains("ConfigMap web/more"), "also what is not committed");
    assert!(!world.run(&format!("plan --commit {before}")).code(0).out.contains("ConfigMap"));
    world.commit("more");
    assert!(world.run("plan --branch main").code(0).out.contains("ConfigMap web/more"));
}

#[test]
fn every_error_of_a_repo_is_told_at_once_with_its_place() {
    let world = World::with_fleet();
    world.write("clusters/eu-1.yaml", &CLUSTER.replace("  connection:", "  conection:"));
    world.write("clusters/us-1.yaml", &CLUSTER.replace("uid: ", "mode: Pusch\n  uid: "));
    world.write("placements/web.yaml", "apiVersion: kcp.dev/v1alpha1\nkind: Placement\nmetadata: {name: web}\nspec:\n  workspaces: {names: [wbe]}\n  clusters: {exactly: 1, all: true}\n");
    let plan = world.run("plan").code(1);
    for place in [
        "clusters/eu-1.yaml:",
        "clusters/us-1.yaml:12:9: ",
        "placements/web.yaml:5:24: ",
        "placements/web.yaml:6:3: ",
    ] {
        assert!(plan.out.lines().any(|line| line.starts_with(place)), "{place} in\n{}", plan.out);
    }
    assert!(plan.out.contains("did you mean `web`?"), "{}", plan.out);
    let json: serde_json::Value = serde_json::from_str(&world.run("plan -o json").code(1).out).unwrap();
    assert_eq!(json["errors"].as_array().unwrap().len(), plan.out.lines().count());
}

#[test]
fn manifests_that_cannot_be_rendered_are_told_with_their_place() {
    let world = World::with_fleet();
    world.write("workspaces/web/bad.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {}\n");
    let plan = world.run("plan").code(1);
    assert!(plan.out.contains("error: workspaces/web/bad.yaml:"), "{}", plan.out);
}

#[test]
fn why_shows_every_cluster_also_those_that_lost() {
    let world = World::with_fleet();
    let second = CLUSTER.replace("eu-1", "us-1").replace("uid: 1", "uid: 2") + "  unschedulable: true\n";
    world.write("clusters/us-1.yaml", &second);
    let why = world.run("why web").code(0).out;
    assert!(why.lines().any(|line| line.starts_with("eu-1") && line.contains("Chosen")), "{why}");
    assert!(why.lines().any(|line| line.starts_with("us-1") && line.contains("Cordoned")), "{why}");
    assert!(!world.run("why web -C eu-1").code(0).out.contains("us-1"));
    let object = world.run("why deployment/web -n web").code(0).out;
    assert!(object.contains("workspaces/web/web.yaml:1") && object.contains("ToCreate"), "{object}");
    world.run("why deployment/wob").code(3);
}

#[test]
fn secrets_of_a_workspace_are_masked_until_they_are_asked_for() {
    let world = World::with_fleet();
    assert!(!world.run("render web --cluster eu-1").code(0).out.contains("hunter2"));
    assert!(!world.run("render web -o json").code(0).out.contains("aHVudGVyMg"));
    let shown = world.run("render web --cluster eu-1 --show-secrets").code(0).out;
    assert!(shown.contains("hunter2") || shown.contains("aHVudGVyMg"), "{shown}");
    assert!(shown.contains("namespace: web"), "as the cluster gets it: {shown}");
    world.write("kustomized/kustomization.yaml", "resources: [cm.yaml]\nnamespace: shop\n");
    world.write("kustomized/cm.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n");
    let folder = world.run("render ./kustomized").code(0).out;
    assert_eq!(folder, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n");
}

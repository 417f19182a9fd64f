//! What a reconciler recorded: shown by `status`, let through by `approve`.

use serde_json::json;

use super::runner::World;

/// Puts one file on the status branch, as a reconciler would.
fn record(world: &World) {
    let made = world.read("kcp.yaml");
    let id = made.lines().find_map(|line| line.trim().strip_prefix("id: ")).unwrap().to_owned();
    let commit = world.git("rev-parse HEAD").trim().to_owned();
    let fleet = json!({
        "name": "fleet",
        "id": id,
        "source": {
            "repo": ".", "branch": "main", "commit": commit,
            "trouble": {"reason": "FetchFailed", "message": "the remote does not answer", "since": 1_000_000_000},
        },
        "holds": [{
            "id": "3f9a1c20b7de", "reason": "BudgetExceeded", "subject": "workspace web", "message": "7 deletes, 5 are allowed",
            "actions": [{
                "verb": "delete", "clusterUid": "11111111-2222-3333-4444-555555555555", "cluster": "eu-1",
                "object": {"group": "apps", "kind": "Deployment", "namespace": "web", "name": "old"}, "uid": "u-1",
            }],
        }],
        "problems": [],
    });
    let blob = world.git_with(&["hash-object", "-w", "--stdin"], &fleet.to_string());
    let tree = world.git_with(&["mktree"], &format!("100644 blob {}\tfleet.json\n", blob.trim()));
    let commit = world.git_with(&["commit-tree", "-m", "record", tree.trim()], "");
    world.git(&format!("update-ref refs/heads/kcp/status {}", commit.trim()));
}

#[test]
fn status_shows_trouble_and_holds_first_and_says_no() {
    let world = World::with_fleet();
    record(&world);
    let status = world.run("status").code(1).out;
    assert!(status.contains("FetchFailed for ") && status.contains("the remote does not answer"), "{status}");
    assert!(status.contains("kubectl kcp approve 3f9a1c20b7de"), "{status}");
    let json: serde_json::Value = serde_json::from_str(&world.run("status -o json").code(1).out).unwrap();
    assert_eq!(json["fleet"]["holds"][0]["id"], "3f9a1c20b7de");
}

#[test]
fn status_needs_no_valid_documents_and_says_that_they_are_broken() {
    let world = World::with_fleet();
    record(&world);
    world.write("placements/broken.yaml", "kind: [\n");
    let status = world.run("status").code(1);
    assert!(status.out.contains("FetchFailed for "), "{}", status.out);
    assert!(status.err.contains("this is what was recorded"), "{}", status.err);
}

#[test]
fn approve_writes_exactly_what_is_held() {
    let world = World::with_fleet();
    record(&world);
    assert!(world.run("approve --list").code(0).out.starts_with("3f9a1c20b7de  workspace web: 7 deletes"));
    world.run("approve").code(2);
    let unknown = world.run("approve aaaa").code(3);
    assert!(unknown.err.contains("3f9a1c20b7de  workspace web: 7 deletes"), "{}", unknown.err);
    world.words(&["approve", "3f9a", "--reason", "it is gone for good"]).code(0);
    assert_eq!(world.log()[0], "approve 3f9a1c20b7de: workspace web");
    let approval = world.read("approvals/3f9a1c20b7de.yaml");
    let expected = "\
apiVersion: kcp.dev/v1alpha1
kind: Approval
metadata:
  name: 3f9a1c20b7de
spec:
  hold: 3f9a1c20b7de
  actions:
  - verb: Delete
    clusterUid: \"11111111-2222-3333-4444-555555555555\"
    group: apps
    kind: Deployment
    namespace: web
    name: old
    uid: u-1
  reason: it is gone for good
  at: ";
    assert!(approval.starts_with(expected), "{approval}");
    world.run("plan").code(0);
}

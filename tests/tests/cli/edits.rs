//! Editing verbs change the lines they must and no other, and each is one commit of these lines alone.

use super::runner::{CLUSTER, World};

/// The lines that differ, as a diff without context.
fn changed(world: &World) -> Vec<String> {
    let diff = world.git("diff --unified=0 HEAD~1 HEAD");
    let is_line = |line: &&str| {
        (line.starts_with('+') || line.starts_with('-'))
            && !line.starts_with("+++")
            && !line.starts_with("---")
    };
    diff.lines().filter(is_line).map(str::to_owned).collect()
}

#[test]
fn cluster_edits_keep_every_comment_and_blank_line() {
    let world = World::with_fleet();
    world.run("cluster cordon eu-1").code(0);
    assert_eq!(world.read("clusters/eu-1.yaml"), format!("{CLUSTER}  unschedulable: true\n"));
    world.run("cluster uncordon eu-1").code(0);
    assert_eq!(changed(&world), ["-  unschedulable: true", "+  unschedulable: false"]);
    world.run("cluster label eu-1 tier=edge").code(0);
    assert_eq!(
        changed(&world),
        ["-  labels: {stage: prod}   # one line", "+  labels: {stage: prod, tier: edge}   # one line"]
    );
    world.run("cluster label eu-1 tier-").code(0);
    world.run("cluster taint eu-1 gpu=a100:NoSchedule").code(0);
    assert_eq!(
        changed(&world),
        ["+  taints:", "+  - key: gpu", "+    value: a100", "+    effect: NoSchedule"]
    );
    world.run("cluster taint eu-1 gpu-").code(0);
    assert_eq!(world.read("clusters/eu-1.yaml"), format!("{CLUSTER}  unschedulable: false\n"));
    world.run("suspend --cluster eu-1 --reason swap --until 2h").code(0);
    assert_eq!(changed(&world)[..2], ["+  suspend:", "+  - reason: swap"]);
    assert!(world.run("plan").code(1).out.contains("swap"), "what is suspended is held, and says why");
    world.run("resume --cluster eu-1").code(0);
    assert_eq!(world.read("clusters/eu-1.yaml"), format!("{CLUSTER}  unschedulable: false\n"));
    let removed = world.run("cluster remove eu-1").code(0);
    assert!(removed.err.contains("everything there stays"), "{}", removed.err);
}

#[test]
fn doing_it_twice_changes_nothing() {
    let world = World::with_fleet();
    world.run("cluster cordon eu-1").code(0);
    let commits = world.log().len();
    for words in ["cluster cordon eu-1", "place web --exactly 1", "resume --fleet"] {
        let again = world.run(words).code(0);
        assert!(again.out.starts_with("nothing to change"), "{words}: {}", again.out);
    }
    assert_eq!(world.log().len(), commits);
}

#[test]
fn place_edits_the_placement_that_claims_the_workspace() {
    let world = World::with_fleet();
    let written = "\
# Where the web is.
apiVersion: kcp.dev/v1alpha1
kind: Placement
metadata: {name: front}
spec:
  workspaces:
    names: [web]   # and no other

  clusters: {exactly: 1}   # for now
";
    world.write("placements/web.yaml", written);
    world.commit("by hand");
    world
        .words(&["place", "web", "--exactly", "2", "-L", "stage=prod", "--toleration", "gpu:NoSchedule"])
        .code(0);
    let expected = written.replace("exactly: 1", "exactly: 2")
        + "  clusterSelector:\n    matchLabels:\n      stage: prod\n  tolerations:\n  - key: gpu\n    operator: Exists\n    effect: NoSchedule\n";
    assert_eq!(world.read("placements/web.yaml"), expected);
    world.run("place web --all").code(0);
    assert!(world.read("placements/web.yaml").contains("clusters: {all: true}   # for now"));
    let other = world.run("place web --all --name other").code(3);
    assert!(other.err.contains("belongs to the placement front: placements/web.yaml:2"), "{}", other.err);
}

#[test]
fn a_dry_run_shows_the_diff_and_writes_nothing() {
    let world = World::with_fleet();
    let commits = world.log().len();
    let shown = world.run("cluster cordon eu-1 --dry-run=client").code(0);
    assert!(
        shown.out.starts_with("--- a/clusters/eu-1.yaml\n+++ b/clusters/eu-1.yaml\n@@ "),
        "{}",
        shown.out
    );
    assert!(shown.out.ends_with("+  unschedulable: true\n"), "{}", shown.out);
    assert_eq!((world.git("status --porcelain"), world.log().len()), (String::new(), commits));
}

#[test]
fn an_edit_commits_its_own_files_and_leaves_other_work_alone() {
    let world = World::with_fleet();
    world.write("notes.md", "mine");
    world.git("add notes.md");
    world.words(&["cluster", "cordon", "eu-1", "-m", "eu-1: swap disks"]).code(0);
    assert_eq!(world.log()[0], "eu-1: swap disks");
    assert_eq!(world.git("status --porcelain"), "A  notes.md\n");
    world.run("cluster uncordon eu-1 --no-commit").code(0);
    assert_eq!(world.git("status --porcelain"), " M clusters/eu-1.yaml\nA  notes.md\n");
    let refused = world.run("cluster label eu-1 a=b").code(3);
    assert!(refused.err.contains("clusters/eu-1.yaml has changes that are not committed"), "{}", refused.err);
}

#[test]
fn push_sends_the_branch_to_its_remote() {
    let world = World::with_fleet();
    world.git("init --quiet --bare ../remote.git");
    let no_remote = world.run("cluster cordon eu-1 --push").code(3);
    assert!(no_remote.err.contains("git push --set-upstream"), "{}", no_remote.err);
    world.git("remote add origin ../remote.git");
    world.run("cluster uncordon eu-1 --push").code(0);
    assert_eq!(world.git("--git-dir ../remote.git rev-parse main"), world.git("rev-parse HEAD"));
}

#[test]
fn a_folder_and_stdin_become_workspaces() {
    let world = World::with_fleet();
    world.write("../shop/kustomization.yaml", "resources: [base/cm.yaml]\nnamespace: shop\n");
    world.write("../shop/base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    world.run("workspace add shop -f ../shop --label team=shop").code(0);
    assert_eq!(
        world.read("workspaces/shop/base/cm.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    );
    assert!(world.read("workspaces/shop/workspace.yaml").contains("    team: shop\n"));
    let piped = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: default}\n";
    world.with_input("workspace add piped -f -", piped).code(0);
    assert_eq!(world.read("workspaces/piped/manifests.yaml"), piped);
}

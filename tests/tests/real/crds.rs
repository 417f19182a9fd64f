//! The CRDs of our kinds on a real API server, and every example against them.

use kcp_tests::{Fleet, fleet_or_skip};

use super::harness::root;

#[tokio::test(flavor = "multi_thread")]
async fn our_crds_are_served_and_take_every_example() -> anyhow::Result<()> {
    let builder = Fleet::builder(["eu-1"]).controllers(false);
    let Some(fleet) = fleet_or_skip("crds", builder).await else { return Ok(()) };
    let cluster = fleet.cluster("eu-1");
    let crds = root().join("manifests/crds");
    let made = cluster.kubectl(&["create", "--validate=strict", "-f", &crds.to_string_lossy()]).await?;
    assert!(made.success, "{}", made.stderr);
    let files = std::fs::read_dir(&crds)?.count();
    assert_eq!(made.stdout.lines().count(), files, "{}", made.stdout);
    let served =
        cluster.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]).await?;
    assert!(served.success, "{}", served.stderr);
    // Not served means not structural, or names that are taken; a warning here means a part that is ignored.
    let wrong = cluster
        .kubectl(&[
            "get",
            "crd",
            "-o",
            "jsonpath={.items[*].status.conditions[?(@.type==\"NonStructuralSchema\")].message}",
        ])
        .await?;
    assert_eq!(wrong.stdout, "");

    let mut examples = 0;
    for entry in std::fs::read_dir(root().join("crates/kcp-api/testdata"))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        examples += 1;
        let path = path.to_string_lossy();
        let taken =
            cluster.kubectl(&["create", "--dry-run=server", "--validate=strict", "-f", &path]).await?;
        assert!(taken.success, "{path}: {}", taken.stderr);
    }
    assert_eq!(examples, files, "there is an example of each kind");

    // And they are no rubber stamp.
    let wrong = "apiVersion: kcp.dev/v1alpha1\nkind: Placement\nmetadata: {name: x}\nspec: {workspaces: {names: [x]}, clusters: {exactly: many}}\n";
    let refused = cluster.kubectl_with_input(&["create", "--dry-run=server", "-f", "-"], wrong).await?;
    assert!(!refused.success && refused.stderr.contains("spec.clusters.exactly"), "{}", refused.stderr);
    Ok(())
}

//! What somebody changes on a cluster: put back, unless the policy leaves that field to others.

use kcp_tests::{Fleet, fleet_or_skip, wait_until};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, NOTHING, SOON, Setup, at, document, map, once};

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
";

async fn deployment(setup: &Setup<'_>, pointer: &str) -> anyhow::Result<serde_json::Value> {
    let web = setup.cluster("eu-1").get("apps/v1", "Deployment", "drift", "web").await?;
    Ok(at(&web.unwrap_or_default(), pointer)?.clone())
}

async fn by_hand(setup: &Setup<'_>, args: &[&str]) -> anyhow::Result<()> {
    let done = setup.cluster("eu-1").kubectl(args).await?;
    anyhow::ensure!(done.success, "{}", done.stderr);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manual_edit_is_corrected_and_an_ignored_field_is_left_alone() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("drift", builder).await else { return Ok(()) };
    // Nothing is deleted or moved here.
    let setup = Setup::new(&fleet, "drift", NOTHING)?;
    setup.workspace("drift", &[("web.yaml", WEB.to_owned()), ("a.yaml", map("a", "1"))])?;
    setup.place("drift", "clusters: {all: true}, policyName: scaled")?;
    let ignore = "{apply: {ignoreFields: [{group: apps, kind: Deployment, paths: [spec.replicas]}]}}";
    setup.write("policies/scaled.yaml", &document("SyncPolicy", "scaled", ignore))?;
    setup.commit("web")?;
    let daemon = Daemon::start(&setup)?;
    wait_until("web to be there", SOON, || deployment(&setup, "/spec/replicas")).await?;
    setup.wait_for_map(&CLUSTERS, "drift", "a", Some("1")).await?;
    setup.quiet().await?;

    // A value that git sets comes back; a key that git does not know is nobody's business.
    let mark = setup.mark().await;
    by_hand(
        &setup,
        &["-n", "drift", "patch", "configmap", "a", "-p", r#"{"data":{"value":"2","more":"x"}}"#],
    )
    .await?;
    by_hand(&setup, &["-n", "drift", "set", "image", "deployment/web", "web=evil:1"]).await?;
    setup.wait_for_map(&["eu-1"], "drift", "a", Some("1")).await?;
    wait_until("the image to come back", SOON, async || {
        let image = deployment(&setup, "/spec/template/spec/containers/0/image").await?;
        anyhow::ensure!(image == "web:1", "it is {image}");
        anyhow::Ok(())
    })
    .await?;
    setup.quiet().await?;
    let objects = mark.objects().await?;
    let corrected = once(["patch configmaps drift/a", "patch deployments drift/web"]);
    assert_eq!((&objects["eu-1"], &objects["eu-2"], &objects["us-1"]), (&corrected, &once([]), &once([])));
    let map = setup.cluster("eu-1").get("v1", "ConfigMap", "drift", "a").await?.unwrap_or_default();
    assert_eq!(map["data"]["more"], "x");

    // Something deleted by hand is made again.
    by_hand(&setup, &["-n", "drift", "delete", "configmap", "a"]).await?;
    setup.wait_for_map(&["eu-1"], "drift", "a", Some("1")).await?;
    setup.quiet().await?;

    // The number of replicas is an autoscaler's, also when the rest of the object changes.
    let mark = setup.mark().await;
    by_hand(&setup, &["-n", "drift", "scale", "deployment/web", "--replicas=5"]).await?;
    setup.quiet().await?;
    assert_eq!(mark.writes().await?["eu-1"], once([]));
    setup.edit("workspaces/drift/web.yaml", "image: web:1", "image: web:2")?;
    setup.edit("workspaces/drift/web.yaml", "replicas: 2", "replicas: 3")?;
    daemon.in_force(&setup.commit("a newer web")?).await?;
    wait_until("the new image", SOON, async || {
        let image = deployment(&setup, "/spec/template/spec/containers/0/image").await?;
        anyhow::ensure!(image == "web:2", "it is {image}");
        anyhow::Ok(())
    })
    .await?;
    setup.quiet().await?;
    assert_eq!(deployment(&setup, "/spec/replicas").await?, 5);
    daemon.stop().await
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_what_was_ours_is_taken_back_and_what_never_was_is_a_conflict() -> anyhow::Result<()>
{
    let builder = Fleet::builder(["eu-1"]).controllers(false);
    let Some(fleet) = fleet_or_skip("restarted", builder).await else { return Ok(()) };
    // Nothing is deleted or moved here.
    let setup = Setup::new(&fleet, "restarted", NOTHING)?;
    setup.workspace("drift", &[("web.yaml", WEB.to_owned()), ("a.yaml", map("a", "1"))])?;
    setup.place("drift", "clusters: {all: true}")?;
    setup.commit("web")?;
    let daemon = Daemon::start(&setup)?;
    setup.wait_for_map(&["eu-1"], "drift", "a", Some("1")).await?;
    wait_until("web to be there", SOON, || deployment(&setup, "/spec/replicas")).await?;
    setup.quiet().await?;
    daemon.stop().await?;

    // Nobody looks, while a field of ours is taken and another one comes that git does not know yet.
    by_hand(&setup, &["-n", "drift", "set", "image", "deployment/web", "web=evil:1"]).await?;
    by_hand(&setup, &["-n", "drift", "patch", "configmap", "a", "-p", r#"{"data":{"more":"theirs"}}"#])
        .await?;
    setup.edit(
        "workspaces/drift/web.yaml",
        "metadata: {name: web}\nspec",
        "metadata: {name: web, labels: {tier: front}}\nspec",
    )?;
    setup.edit("workspaces/drift/a.yaml", "value: \"1\"", "value: \"1\", more: \"git\"")?;
    setup.commit("a label and a key")?;

    let daemon = Daemon::start(&setup)?;
    wait_until("label and image to be as git has them", SOON, async || {
        let image = deployment(&setup, "/spec/template/spec/containers/0/image").await?;
        let label = deployment(&setup, "/metadata/labels/tier").await?;
        anyhow::ensure!(image == "web:1" && label == "front", "they are {image} and {label}");
        anyhow::Ok(())
    })
    .await?;
    let is_conflict = |problem: &kcp_core::plan::Problem| {
        problem.reason == kcp_api::Reason::FieldConflict
            && problem.object.as_ref().is_some_and(|key| key.name == "a")
            && problem.message.contains(".data.more")
    };
    let record = setup
        .wait_for_record("the conflict", |record| {
            record.workspaces.values().flat_map(|it| &it.problems).any(is_conflict)
        })
        .await?;
    let problems: Vec<_> = record.workspaces.values().flat_map(|it| &it.problems).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    let theirs = setup.cluster("eu-1").get("v1", "ConfigMap", "drift", "a").await?.unwrap_or_default();
    assert_eq!(theirs["data"]["more"], "theirs");
    daemon.stop().await
}

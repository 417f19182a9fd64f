//! The fleet repo is on another machine, followed through a mirror, and that machine cannot be reached for a while.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kcp_reconciler::GitCommand;
use kcp_tests::{Fleet, fleet_or_skip};

use super::daemon::Daemon;
use super::harness::{CLUSTERS, Setup, map};

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_that_cannot_be_reached_changes_nothing_and_is_followed_again() -> anyhow::Result<()> {
    let builder = Fleet::builder(CLUSTERS).controllers(false);
    let Some(fleet) = fleet_or_skip("mirror", builder).await else { return Ok(()) };
    let setup = Setup::new(&fleet, "mirror", "{maxDelete: {percent: 50, floor: 1}}")?;
    setup.workspace("mirror", &[("a.yaml", map("a", "1")), ("b.yaml", map("b", "1"))])?;
    setup.place("mirror", "clusters: {all: true}")?;
    let first = setup.commit("two maps")?;
    let remote = Remote::new(&setup)?;
    let daemon = remote.daemon(&setup)?;
    setup.wait_for_map(&CLUSTERS, "mirror", "b", Some("1")).await?;
    daemon.ready().await?;
    setup.wait_for_record("it is told to the remote", |record| record.fleet.source.commit == first).await?;

    let mark = setup.mark().await;
    remote.unplug()?;
    daemon.not_ready(&["FetchFailed", "the last good commit stays in force"]).await?;
    setup.remove("workspaces/mirror/b.yaml")?;
    let second = setup.commit("without b")?;
    still_kept(&setup, "by hand").await?;
    // Started again meanwhile, it goes on from its mirror: its own name is on the branch, so nobody followed it.
    daemon.kill().await;
    let daemon = remote.daemon(&setup)?;
    daemon.not_ready(&["FetchFailed", "the last good commit stays in force"]).await?;
    still_kept(&setup, "by hand again").await?;
    assert_eq!(mark.deletes().await?, Vec::<String>::new());
    // Ended in good order, another one may have followed it: nothing is done until the branch says that none did.
    daemon.stop().await?;
    let daemon = remote.daemon(&setup)?;
    daemon.not_ready(&["status branch", "nothing is done until"]).await?;

    remote.plug()?;
    daemon.in_force(&second).await?;
    setup.wait_for_map(&CLUSTERS, "mirror", "b", None).await?;
    assert_eq!(mark.deletes().await?.len(), CLUSTERS.len(), "b, once on each cluster");
    daemon.ready().await?;
    let told = |record: &kcp_reconciler::record::Record| {
        record.fleet.source.commit == second && record.fleet.source.trouble.is_none()
    };
    setup.wait_for_record("the remote is well again", told).await?;
    daemon.stop().await
}

/// Drift is corrected from the commit in force, and nothing else is done.
async fn still_kept(setup: &Setup<'_>, value: &str) -> anyhow::Result<()> {
    let patch = serde_json::json!({"data": {"value": value}});
    let api = setup.cluster("eu-1").api("v1", "ConfigMap", "mirror").await?;
    api.patch("a", &kube::api::PatchParams::default(), &kube::api::Patch::Merge(patch)).await?;
    setup.wait_for_map(&["eu-1"], "mirror", "a", Some("1")).await?;
    setup.wait_for_map(&CLUSTERS, "mirror", "b", Some("1")).await
}

/// The repo of the setup as ssh shows it: the "host" runs what it is asked to on this machine, while it can be reached.
struct Remote {
    ssh: PathBuf,
    unplugged: PathBuf,
    url: String,
}

impl Remote {
    fn new(setup: &Setup<'_>) -> anyhow::Result<Self> {
        let repo = setup.repo();
        let folder = repo.parent().unwrap_or(Path::new("/"));
        let (ssh, unplugged) = (folder.join("ssh"), folder.join("unplugged"));
        let text = format!(
            "#!/bin/sh\n[ -e '{}' ] && {{ echo 'ssh: connect to host git.invalid: No route to host' >&2; exit 255; }}\n\
             for command; do :; done\nexec sh -c \"$command\"\n",
            unplugged.display()
        );
        std::fs::write(&ssh, text)?;
        std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self { ssh, unplugged, url: format!("ssh://git.invalid{}", repo.display()) })
    }

    fn daemon(&self, setup: &Setup<'_>) -> anyhow::Result<Daemon> {
        let git = GitCommand::new().env("GIT_SSH_COMMAND", &self.ssh).env("GIT_SSH_VARIANT", "simple");
        Daemon::start_at(setup, self.url.clone(), |builder| builder.branch("main").transport(Arc::new(git)))
    }

    fn unplug(&self) -> anyhow::Result<()> {
        Ok(std::fs::write(&self.unplugged, "")?)
    }

    fn plug(&self) -> anyhow::Result<()> {
        Ok(std::fs::remove_file(&self.unplugged)?)
    }
}

//! What a test asks a cluster, and the kubectl that asks for it. It goes past the proxy and is never counted.

use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use kube::api::{Api, DynamicObject, GroupVersionKind};
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use super::Cluster;
use crate::wait_until;

/// What a program wrote and how it ended.
#[derive(Debug, Clone)]
pub struct Output {
    /// Whether it ended with exit code 0.
    pub success: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Cluster {
    /// Reads an object of any kind; `None` when it is not there. Empty `namespace`: the object has none.
    ///
    /// # Errors
    /// When the kind is not served or the cluster cannot be reached.
    pub async fn get(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> anyhow::Result<Option<Value>> {
        let object = self.api(api_version, kind, namespace).await?.get_opt(name).await;
        let object =
            object.with_context(|| format!("{}: cannot read {kind} {namespace}/{name}", self.spec.name))?;
        Ok(object.map(serde_json::to_value).transpose()?)
    }

    /// Access to objects of any kind. Empty `namespace`: all namespaces, or none.
    ///
    /// # Errors
    /// When the kind is not served or the cluster cannot be reached.
    pub async fn api(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
    ) -> anyhow::Result<Api<DynamicObject>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = GroupVersionKind::gvk(group, version, kind);
        let (resource, _) = kube::discovery::pinned_kind(&self.client, &kind)
            .await
            .with_context(|| format!("{}: cannot discover {kind:?}", self.spec.name))?;
        Ok(match namespace {
            "" => Api::all_with(self.client(), &resource),
            _ => Api::namespaced_with(self.client(), namespace, &resource),
        })
    }

    /// Waits until all replicas of a Deployment are there, updated and available.
    ///
    /// # Errors
    /// When `deadline` passes first.
    pub async fn wait_for_deployment(
        &self,
        namespace: &str,
        name: &str,
        deadline: Duration,
    ) -> anyhow::Result<()> {
        let what = format!("Deployment {namespace}/{name} on {}", self.spec.name);
        wait_until(&what, deadline, async || -> anyhow::Result<()> {
            let object =
                self.get("apps/v1", "Deployment", namespace, name).await?.context("it is not there")?;
            let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default();
            let (wanted, generation) = (number("/spec/replicas"), number("/metadata/generation"));
            let current = number("/status/observedGeneration") == generation
                && ["/status/replicas", "/status/updatedReplicas", "/status/availableReplicas"]
                    .iter()
                    .all(|pointer| number(pointer) == wanted);
            anyhow::ensure!(current, "its status is {}", object["status"]);
            Ok(())
        })
        .await
    }

    /// Runs the kubectl that was built with the control planes, as the fixture's administrator.
    ///
    /// # Errors
    /// When it cannot be started; that it fails is in the [`Output`].
    pub async fn kubectl(&self, args: &[&str]) -> anyhow::Result<Output> {
        self.kubectl_with_input(args, "").await
    }

    /// As [`Cluster::kubectl`], with `input` on its standard input (for `-f -`).
    ///
    /// # Errors
    /// As there.
    pub async fn kubectl_with_input(&self, args: &[&str], input: &str) -> anyhow::Result<Output> {
        let mut child = tokio::process::Command::new(self.around.programs.program("kubectl"))
            .arg("--kubeconfig")
            .arg(self.admin_kubeconfig())
            .arg("--cache-dir")
            .arg(self.directory.join("kubectl-cache"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start kubectl")?;
        let mut stdin = child.stdin.take().context("kubectl has no input")?;
        let feed = async move {
            // One that does not read its input has ended, or does not need it.
            let _ = stdin.write_all(input.as_bytes()).await;
        };
        let ((), output) = tokio::join!(feed, child.wait_with_output());
        let output = output.context("cannot wait for kubectl")?;
        Ok(Output {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

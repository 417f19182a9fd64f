//! The sample shop, twice: as a workspace for us, and in a namespace of its own for kubectl. Both get the same change.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::site::{Site, copy, document};
use crate::demo::root;

/// Where we apply it.
pub(super) const OURS: &str = "shop";
/// Where kubectl does.
pub(super) const PEER: &str = "shop-peer";
/// What cannot be there twice: a cluster-scoped CRD has one owner, and its resources go with it.
const LEFT_OUT: [&str; 2] = ["promotion-crd.yaml", "promotions.yaml"];
const OVERLAY: &str = "overlays/prod/kustomization.yaml";
/// A label that each change gives another value.
const LABEL: &str = "bench";

/// Both copies.
pub(super) struct Shop<'a> {
    site: &'a Site,
    /// Of one copy on one cluster.
    pub(super) objects: usize,
}

impl<'a> Shop<'a> {
    /// Lays them out, with a first value of the label; nothing is committed nor applied.
    pub(super) async fn new(site: &'a Site) -> anyhow::Result<Self> {
        let sample = root().join("manifests/samples/shop");
        let workspace = site.repo().join("workspaces/shop");
        for folder in [&workspace, &site.beside(PEER)] {
            copy(&sample, folder)?;
            std::fs::remove_file(folder.join("workspace.yaml"))?;
            let base = folder.join("base/kustomization.yaml");
            let text = std::fs::read_to_string(&base)?;
            let lines = text.lines().filter(|line| !LEFT_OUT.iter().any(|out| line.ends_with(out)));
            std::fs::write(base, lines.collect::<Vec<_>>().join("\n") + "\n")?;
        }
        let spec =
            "{defaultNamespace: shop, createNamespaces: true, variants: [{name: prod, path: overlays/prod}]}";
        site.write("workspaces/shop/workspace.yaml", &document("Workspace", "shop", spec))?;
        site.place("shop")?;
        for cluster in site.fleet.clusters() {
            let made = cluster.kubectl(&["create", "namespace", PEER]).await?;
            ensure!(made.success, "cannot make the namespace of the peer: {}", made.stderr);
        }
        let mut shop = Self { site, objects: 0 };
        shop.change_ours(0)?;
        shop.change_peer(0)?;
        shop.objects = shop.count().await?;
        Ok(shop)
    }

    /// The folder that kubectl applies.
    pub(super) fn peer(&self) -> PathBuf {
        self.site.beside(PEER).join("overlays/prod")
    }

    /// Changes a label of every object in the repo.
    pub(super) fn change_ours(&self, number: u32) -> anyhow::Result<()> {
        overlay(&self.site.repo().join("workspaces/shop").join(OVERLAY), "", number)
    }

    /// The same for kubectl.
    pub(super) fn change_peer(&self, number: u32) -> anyhow::Result<()> {
        overlay(&self.site.beside(PEER).join(OVERLAY), &format!("namespace: {PEER}\n"), number)
    }

    /// kubectl with these words on the peer's copy, once for each cluster.
    pub(super) fn peer_commands(&self, words: &[&str]) -> anyhow::Result<Vec<Command>> {
        let peer = self.peer();
        let peer = peer.to_str().context("the folder for benchmarks is not UTF-8 text")?;
        let words: Vec<&str> = words.iter().copied().chain(["-k", peer]).collect();
        Ok(self.site.fleet.clusters().iter().map(|cluster| self.site.kubectl(cluster, &words)).collect())
    }

    async fn count(&self) -> anyhow::Result<usize> {
        let peer = self.peer();
        let rendered = self.site.fleet.clusters()[0].kubectl(&["kustomize", &peer.to_string_lossy()]).await?;
        ensure!(rendered.success, "kubectl kustomize: {}", rendered.stderr);
        Ok(rendered.stdout.lines().filter(|line| line.starts_with("kind: ")).count())
    }

    /// Makes sure that every object in `namespace` of every cluster has the label of the last change.
    pub(super) async fn check(&self, namespace: &str, number: u32) -> anyhow::Result<()> {
        let kinds = "configmap,cronjob,deployment,horizontalpodautoscaler,ingress,networkpolicy,poddisruptionbudget,role,\
                     rolebinding,secret,service,serviceaccount,statefulset";
        for cluster in self.site.fleet.clusters() {
            let label = format!("{LABEL}=v{number}");
            let found = cluster.kubectl(&["get", kinds, "-n", namespace, "-l", &label, "-o", "name"]).await?;
            let count = found.stdout.lines().count();
            ensure!(
                found.success && count == self.objects,
                "{}: {count} of {} objects of {namespace} have {label}. {}",
                cluster.name(),
                self.objects,
                found.stderr
            );
        }
        Ok(())
    }
}

/// Writes the sample's overlay with `more`, and the label on objects but not in their templates: no pod starts anew.
fn overlay(path: &Path, more: &str, number: u32) -> anyhow::Result<()> {
    let sample = root().join("manifests/samples/shop").join(OVERLAY);
    let text =
        std::fs::read_to_string(&sample).with_context(|| format!("cannot read {}", sample.display()))?;
    let label = format!("labels:\n  - pairs:\n      {LABEL}: v{number}\n");
    ensure!(text.contains("\nlabels:\n"), "{} has no labels to add to", sample.display());
    std::fs::write(path, text.replacen("labels:\n", &label, 1) + more)?;
    Ok(())
}

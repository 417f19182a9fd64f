//! What the scenarios stand on: a fleet repo, real clusters, and short words for what is asked of them. It must never
//! use the git settings or the state of the person who runs the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use kcp_git::{DEFAULT_STATUS_BRANCH, Repo, StatusBranch};
use kcp_reconciler::publish::read_branch;
use kcp_reconciler::record::Record;
use kcp_tests::{Cluster, Fleet, Mark, Output, Request, wait_until};
use serde_json::Value;
use tempfile::TempDir;

/// Long against anything that works, also on a machine that does other things.
pub(crate) const SOON: Duration = Duration::from_secs(60);
/// A budget that never holds anything: for scenarios that are about something else.
pub(crate) const ANYTHING: &str =
    "{maxDelete: {percent: 100, floor: 1000}, maxMove: {percent: 100, floor: 1000}}";
/// Nothing may be deleted or moved without being asked: for scenarios that delete nothing.
pub(crate) const NOTHING: &str = "{maxDelete: {percent: 0, floor: 0}, maxMove: {percent: 0, floor: 0}}";
/// The clusters of every scenario.
pub(crate) const CLUSTERS: [&str; 3] = ["eu-1", "eu-2", "us-1"];

/// A fleet repo and the clusters it is about. Several can use one [`Fleet`], if their ids and namespaces differ.
pub(crate) struct Setup<'a> {
    pub(crate) fleet: &'a Fleet,
    folder: TempDir,
}

impl<'a> Setup<'a> {
    /// A repo with `kcp.yaml` of this fleet id and these safety budgets, and one document for each cluster.
    pub(crate) fn new(fleet: &'a Fleet, id: &str, safety: &str) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("kcp-repo-").tempdir_in(fleet.directory())?;
        let setup = Self { fleet, folder };
        std::fs::create_dir(setup.repo())?;
        setup.git(&["init", "--quiet", "--initial-branch=main"])?;
        setup.budget(id, safety)?;
        for cluster in fleet.clusters() {
            setup.cluster_document(cluster.name(), "")?;
        }
        Ok(setup)
    }

    /// Writes `kcp.yaml`.
    pub(crate) fn budget(&self, id: &str, safety: &str) -> anyhow::Result<()> {
        let spec = format!("{{id: {id}, interval: 1s, safety: {safety}}}");
        self.write("kcp.yaml", &document("Fleet", "tests", &spec))
    }

    /// The folder of the repo.
    pub(crate) fn repo(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// What a reconciler keeps on its machine.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let path = self.repo().join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Removes a file or a folder.
    pub(crate) fn remove(&self, path: &str) -> anyhow::Result<()> {
        let path = self.repo().join(path);
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        removed.with_context(|| format!("cannot remove {}", path.display()))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> anyhow::Result<()> {
        std::fs::rename(self.repo().join(from), self.repo().join(to))
            .with_context(|| format!("cannot rename {from} to {to}"))
    }

    /// Replaces text that must be in the file.
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) -> anyhow::Result<()> {
        let text = std::fs::read_to_string(self.repo().join(path))?;
        anyhow::ensure!(text.contains(from), "{path} does not contain {from:?}");
        self.write(path, &text.replace(from, to))
    }

    /// The document of a cluster of the fleet; `more` is YAML for its spec, as in `unschedulable: true`.
    pub(crate) fn cluster_document(&self, name: &str, more: &str) -> anyhow::Result<()> {
        self.write(&format!("clusters/{name}.yaml"), &self.cluster_text(name, name, more))
    }

    /// The text of a Cluster document called `name` for the cluster `of`.
    pub(crate) fn cluster_text(&self, name: &str, of: &str, more: &str) -> String {
        let uid = self.fleet.cluster(of).uid();
        let region = of.split('-').next().unwrap_or(of);
        let stage = if region == "us" { "staging" } else { "prod" };
        format!(
            "apiVersion: kcp.dev/v1alpha1\nkind: Cluster\nmetadata:\n  name: {name}\n  labels: {{name: {of}, stage: {stage}, \
             topology.kubernetes.io/region: {region}, topology.kubernetes.io/zone: {of}}}\nspec:\n  connection: \
             {{context: {of}}}\n  uid: {uid}\n  {more}\n"
        )
    }

    /// A workspace of plain files in its own namespace; `objects` are (file name, YAML).
    pub(crate) fn workspace(&self, name: &str, objects: &[(&str, String)]) -> anyhow::Result<()> {
        let spec = format!("{{defaultNamespace: {name}, createNamespaces: true}}");
        self.write(&format!("workspaces/{name}/workspace.yaml"), &document("Workspace", name, &spec))?;
        for (file, text) in objects {
            self.write(&format!("workspaces/{name}/{file}"), text)?;
        }
        Ok(())
    }

    /// A placement of one workspace, both called `name`; `spec` is YAML beside `workspaces`, as in `clusters: {all: true}`.
    pub(crate) fn place(&self, name: &str, spec: &str) -> anyhow::Result<()> {
        let spec = format!("{{workspaces: {{names: [{name}]}}, {spec}}}");
        self.write(&format!("placements/{name}.yaml"), &document("Placement", name, &spec))
    }

    /// The sample shop as workspace `shop`: `overlays/prod` in the regions of stage prod (eu), the staging overlay elsewhere.
    pub(crate) fn sample_shop(&self) -> anyhow::Result<()> {
        let sample = root().join("manifests/samples/shop");
        copy_folder(&sample, &self.repo().join("workspaces/shop"))
    }

    /// Commits all, and says the commit.
    pub(crate) fn commit(&self, message: &str) -> anyhow::Result<String> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message])?;
        Ok(self.git(&["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// Runs git in the repo.
    pub(crate) fn git(&self, args: &[&str]) -> anyhow::Result<String> {
        let output = self.hermetic(Command::new("git").args(args)).output().context("cannot start git")?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "git {args:?}: {stderr}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs `kubectl kcp` in the repo, against the clusters.
    pub(crate) fn kcp(&self, args: &[&str]) -> anyhow::Result<Output> {
        let program = kubectl_kcp()?;
        let mut command = Command::new(&program);
        self.hermetic(command.args(args))
            .env("KUBECONFIG", self.fleet.kubeconfig())
            .env("KCP_STATE_DIR", self.state());
        let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Output {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    fn hermetic<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .current_dir(self.repo())
            .envs([
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_TERMINAL_PROMPT", "0"),
            ])
            .envs([("GIT_AUTHOR_NAME", "tests"), ("GIT_COMMITTER_NAME", "tests")])
            .envs([("GIT_AUTHOR_EMAIL", "tests@kcp.invalid"), ("GIT_COMMITTER_EMAIL", "tests@kcp.invalid")])
            .env("HOME", self.folder.path())
    }

    /// What the status branch says now.
    pub(crate) fn record(&self) -> anyhow::Result<Record> {
        record_of(&self.repo())
    }

    /// Waits until the status branch says it: it is written at most every ten seconds.
    pub(crate) async fn wait_for_record(
        &self,
        what: &str,
        check: impl Fn(&Record) -> bool,
    ) -> anyhow::Result<Record> {
        wait_until(&format!("the status to say: {what}"), SOON, async || {
            let record = self.record()?;
            anyhow::ensure!(check(&record), "it says {}", said(&record));
            anyhow::Ok(record)
        })
        .await
    }

    pub(crate) fn cluster(&self, name: &str) -> &'a Cluster {
        self.fleet.cluster(name)
    }

    /// A moment on all clusters.
    pub(crate) async fn mark(&self) -> Marks<'a> {
        let clusters = self.fleet.clusters();
        let marks = futures::future::join_all(clusters.iter().map(Cluster::mark)).await;
        Marks { of: clusters.iter().zip(marks).collect() }
    }

    /// Waits until no cluster was written to for a second and a half.
    pub(crate) async fn quiet(&self) -> anyhow::Result<()> {
        wait_until("the reconciler to write nothing any more", SOON, async || {
            let mark = self.mark().await;
            tokio::time::sleep(Duration::from_millis(1500)).await;
            let writes = mark.writes().await?;
            anyhow::ensure!(writes.values().all(BTreeMap::is_empty), "it writes {writes:?}");
            anyhow::Ok(())
        })
        .await
    }

    /// Waits until these clusters have a ConfigMap of a namespace with this content (`None`: until it is gone).
    pub(crate) async fn wait_for_map(
        &self,
        clusters: &[&str],
        namespace: &str,
        name: &str,
        value: Option<&str>,
    ) -> anyhow::Result<()> {
        for cluster in clusters {
            let what = format!("ConfigMap {namespace}/{name} on {cluster} to be {value:?}");
            wait_until(&what, SOON, async || {
                let found = self.map(cluster, namespace, name).await?;
                anyhow::ensure!(found.as_deref() == value, "it is {found:?}");
                anyhow::Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// The value of a ConfigMap made by [`map`]; `None` if it is not there.
    pub(crate) async fn map(
        &self,
        cluster: &str,
        namespace: &str,
        name: &str,
    ) -> anyhow::Result<Option<String>> {
        let map = self.cluster(cluster).get("v1", "ConfigMap", namespace, name).await?;
        Ok(map.map(|map| map["data"]["value"].as_str().unwrap_or_default().to_owned()))
    }

    /// Names of all ConfigMaps of a namespace.
    pub(crate) async fn maps(&self, cluster: &str, namespace: &str) -> anyhow::Result<BTreeSet<String>> {
        let api = self.cluster(cluster).api("v1", "ConfigMap", namespace).await?;
        let all = api.list(&kube::api::ListParams::default()).await?;
        let names = all.items.into_iter().filter_map(|map| map.metadata.name);
        Ok(names.filter(|name| name != "kube-root-ca.crt").collect())
    }
}

/// A moment on several clusters.
pub(crate) struct Marks<'a> {
    of: Vec<(&'a Cluster, Mark)>,
}

/// Writes as `verb resource namespace/name`, and how often each was done.
pub(crate) type Writes = BTreeMap<String, usize>;

impl Marks<'_> {
    /// All writes since then, by cluster.
    pub(crate) async fn writes(&self) -> anyhow::Result<BTreeMap<String, Writes>> {
        self.collect(|_| true).await
    }

    /// Those that the cluster accepted, other than to `kcp-system`, where our own parents are.
    pub(crate) async fn objects(&self) -> anyhow::Result<BTreeMap<String, Writes>> {
        let ours =
            |request: &Request| [&request.namespace, &request.name].iter().any(|it| *it == "kcp-system");
        self.collect(|request| !ours(request) && (200..300).contains(&request.code)).await
    }

    /// Objects whose delete was accepted, on all clusters together.
    pub(crate) async fn deletes(&self) -> anyhow::Result<Vec<String>> {
        let deletes = |request: &Request| request.verb.starts_with("delete") && request.code < 300;
        let by_cluster = self.collect(deletes).await?;
        let flat = by_cluster.into_iter().flat_map(|(cluster, writes)| {
            writes.into_iter().flat_map(move |(write, count)| vec![format!("{cluster}: {write}"); count])
        });
        Ok(flat.collect())
    }

    async fn collect(&self, wanted: impl Fn(&Request) -> bool) -> anyhow::Result<BTreeMap<String, Writes>> {
        let mut all = BTreeMap::new();
        for (cluster, mark) in &self.of {
            let mut writes = Writes::new();
            for request in cluster.writes(*mark).await?.iter().filter(|request| wanted(request)) {
                // To the audit log a Namespace is in itself.
                let object = match request.namespace.as_str() {
                    "" => request.name.clone(),
                    _ if request.resource == "namespaces" => request.name.clone(),
                    namespace => format!("{namespace}/{}", request.name),
                };
                *writes.entry(format!("{} {} {object}", request.verb, request.resource)).or_default() += 1;
            }
            all.insert(cluster.name().to_owned(), writes);
        }
        Ok(all)
    }
}

/// Expected writes, once each.
pub(crate) fn once<const N: usize>(writes: [&str; N]) -> Writes {
    writes.into_iter().map(|write| (write.to_owned(), 1)).collect()
}

/// One of our documents on few lines; `spec` is YAML in flow style.
pub(crate) fn document(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: kcp.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

/// A ConfigMap with one value.
pub(crate) fn map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{value: \"{value}\"}}\n")
}

/// What the status branch of a repo says now.
pub(crate) fn record_of(repo: &Path) -> anyhow::Result<Record> {
    let branch = StatusBranch::new(Repo::open(repo)?, DEFAULT_STATUS_BRANCH)?;
    Ok(read_branch(&branch)?.record)
}

/// The short form of a record, for failures.
pub(crate) fn said(record: &Record) -> String {
    let source = &record.fleet.source;
    let mut text = format!("commit {:.8}, trouble {:?}", source.commit, source.trouble);
    for hold in &record.fleet.holds {
        text += &format!("; hold {} {} ({})", hold.reason, hold.subject, hold.message);
    }
    let problems = record.workspaces.values().flat_map(|it| &it.problems).chain(&record.fleet.problems);
    for problem in problems {
        text +=
            &format!("; {} {:?} {:?}: {}", problem.reason, problem.cluster, problem.object, problem.message);
    }
    for (name, workspace) in &record.workspaces {
        for condition in &workspace.status.conditions {
            text +=
                &format!("; {name} {}={} {}", condition.condition_type, condition.status, condition.reason);
        }
    }
    text
}

/// The value at a JSON pointer, which must be there.
pub(crate) fn at<'v>(value: &'v Value, pointer: &str) -> anyhow::Result<&'v Value> {
    value.pointer(pointer).with_context(|| format!("there is no {pointer} in {value}"))
}

/// The top of the work tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// The plugin, which cargo builds into the folder above that of this test.
fn kubectl_kcp() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe()?;
    let program = here.parent().and_then(Path::parent).context("no target folder")?.join("kubectl-kcp");
    if !program.is_file() {
        let mut build = Command::new(env!("CARGO"));
        let status = build.args(["build", "--quiet", "-p", "kubectl-kcp"]).current_dir(root()).status();
        let status = status.context("cannot start cargo")?;
        anyhow::ensure!(status.success() && program.is_file(), "kubectl-kcp could not be built");
    }
    Ok(program)
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

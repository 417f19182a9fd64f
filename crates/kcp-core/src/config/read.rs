//! Reading: every file of the config folders, each document into its type, all findings kept.
//!
//! Only the form of single documents is judged here; how they fit together is the matter of the checks that follow.

use std::collections::{BTreeMap, BTreeSet};

use kcp_api::{
    API_VERSION, Approval, Cluster, Document, Fleet, Kind, Paths, Placement, SyncPolicy, Tenant, Workspace,
};
use kustomize_rs::{EntryKind, Files};
use yaml_span::{Diagnostic, Limits, Node, Path, Schema, did_you_mean, from_node, parse};

use super::workspace::WORKSPACE_FILE;
use super::{Config, FLEET_FILE, Located, WorkspaceConfig};
use crate::render::whole_file;

/// Config files of one repo; far beyond any fleet that one process is made for.
const MAX_FILES: usize = 50_000;
/// Folders inside each other below a config folder.
const MAX_DEPTH: usize = 8;
/// Bytes of one config file.
const MAX_BYTES: usize = 4 << 20;

/// A document with its tree, so that a finding can say where.
pub(super) struct Read<T> {
    pub(super) located: Located<T>,
    pub(super) node: Node,
}

impl<T> Read<T> {
    /// A finding at a path of this document, or at the nearest place that is written.
    pub(super) fn finding(&self, path: &str, message: impl Into<String>) -> Diagnostic {
        at(&self.located.file, &self.node, path, message)
    }

    /// `file:line`, for the message of a finding elsewhere.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.located.file, self.located.line)
    }
}

/// What was read of one workspace's folder.
pub(super) struct Folder {
    pub(super) dir: String,
    pub(super) document: Option<Read<Workspace>>,
}

/// All documents in the order of files; two may still have one name.
#[derive(Default)]
pub(super) struct Documents {
    pub(super) fleet: Option<Read<Fleet>>,
    pub(super) paths: Paths,
    pub(super) clusters: Vec<Read<Cluster>>,
    pub(super) placements: Vec<Read<Placement>>,
    pub(super) policies: Vec<Read<SyncPolicy>>,
    pub(super) approvals: Vec<Read<Approval>>,
    pub(super) tenants: Vec<Read<Tenant>>,
    pub(super) workspaces: BTreeMap<String, Folder>,
    /// Names of documents that could not be read: they are there, and a reference to one is no second mistake.
    pub(super) broken: BTreeSet<String>,
    /// Some text could not be read at all, so that nothing can be said about names that are missing.
    pub(super) unreadable: bool,
}

impl Documents {
    /// The result, once nothing was found to be wrong; `None` without a fleet.
    pub(super) fn into_config(self) -> Option<Config> {
        fn by_name<T: Document>(documents: Vec<Read<T>>) -> BTreeMap<String, Located<T>> {
            let named = |it: Read<T>| (it.located.value.metadata().name.clone(), it.located);
            documents.into_iter().map(named).collect()
        }
        let workspace = |(name, folder): (String, Folder)| {
            let document = folder.document.map(|it| it.located);
            (name.clone(), WorkspaceConfig { name, dir: folder.dir, document })
        };
        Some(Config {
            fleet: self.fleet?.located,
            clusters: by_name(self.clusters),
            workspaces: self.workspaces.into_iter().map(workspace).collect(),
            placements: by_name(self.placements),
            policies: by_name(self.policies),
            approvals: by_name(self.approvals),
            tenants: by_name(self.tenants),
        })
    }
}

/// Reads all there is. Without a `kcp.yaml` that is the only finding: whatever else is there is no fleet.
pub(super) fn read(files: &dyn Files, found: &mut Vec<Diagnostic>) -> Option<Documents> {
    let mut reader = Reader { files, found, count: 0, broken: BTreeSet::new(), unreadable: false };
    if reader.entry(FLEET_FILE)? != Some(EntryKind::File) {
        let missing = whole_file(FLEET_FILE, "there is no such file, so this is not the repo of a fleet");
        reader.found.push(missing.with_help("run `kubectl kcp init` to make it one"));
        return None;
    }
    let mut fleets = Vec::new();
    let before = reader.found.len();
    reader.file(FLEET_FILE, &mut fleets);
    if fleets.is_empty() && reader.found.len() == before {
        let empty = whole_file(FLEET_FILE, "it has no document, and must hold the Fleet");
        reader.found.push(empty.with_help("run `kubectl kcp init` in an empty folder to see one"));
    }
    for extra in fleets.iter().skip(1) {
        let message = format!("a second Fleet; a repo has one, and it is at {}", fleets[0].place());
        reader.found.push(extra.finding("", message));
    }
    let fleet = fleets.into_iter().next();
    let paths = match &fleet {
        Some(fleet) => reader.usable_paths(fleet),
        // The defaults serve to find as many of the other mistakes as possible.
        None => Paths::default(),
    };
    let mut documents = Documents { fleet, ..Documents::default() };
    reader.folder(&paths.clusters, 0, &mut documents.clusters);
    reader.folder(&paths.placements, 0, &mut documents.placements);
    reader.folder(&paths.policies, 0, &mut documents.policies);
    reader.folder(&paths.approvals, 0, &mut documents.approvals);
    reader.folder(&paths.tenants, 0, &mut documents.tenants);
    documents.workspaces = reader.workspaces(&paths.workspaces);
    documents.paths = paths;
    documents.broken = reader.broken;
    documents.unreadable = reader.unreadable;
    Some(documents)
}

struct Reader<'a> {
    files: &'a dyn Files,
    found: &'a mut Vec<Diagnostic>,
    count: usize,
    broken: BTreeSet<String>,
    unreadable: bool,
}

impl Reader<'_> {
    /// The folders of the fleet, each cleaned. One that leads out of the repo was told already and is read at its
    /// default.
    fn usable_paths(&mut self, fleet: &Read<Fleet>) -> Paths {
        let mut paths = fleet.located.value.spec.paths.clone();
        let defaults = Paths::default();
        let mut taken: Vec<(&str, String)> = Vec::new();
        for (name, path, default) in [
            ("clusters", &mut paths.clusters, defaults.clusters),
            ("placements", &mut paths.placements, defaults.placements),
            ("policies", &mut paths.policies, defaults.policies),
            ("tenants", &mut paths.tenants, defaults.tenants),
            ("approvals", &mut paths.approvals, defaults.approvals),
            ("workspaces", &mut paths.workspaces, defaults.workspaces),
        ] {
            let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
            let inside = !parts.is_empty() && !path.starts_with('/') && !parts.contains(&"..");
            let clean = if inside { parts.join("/") } else { default };
            let field = format!("spec.paths.{name}");
            let nested = |other: &str| {
                clean == other
                    || clean.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
                    || other.strip_prefix(&clean).is_some_and(|rest| rest.starts_with('/'))
            };
            if let Some((other, _)) = taken.iter().find(|(_, other)| nested(other)) {
                let message = format!("overlaps with spec.paths.{other}");
                let finding = fleet.finding(&field, message).with_help("give each kind a folder of its own");
                if !self.found.iter().any(|it| it.path == field) {
                    self.found.push(finding);
                }
            }
            taken.push((name, clean.clone()));
            *path = clean;
        }
        paths
    }

    /// All documents of a folder and of the folders in it. A folder that is not there is an empty one.
    fn folder<T: Document>(&mut self, dir: &str, depth: usize, out: &mut Vec<Read<T>>) {
        match self.entry(dir).flatten() {
            Some(EntryKind::Directory) => {}
            Some(EntryKind::File) => {
                self.found.push(whole_file(
                    dir,
                    format!("must be a folder: it holds documents of kind {}", T::KIND),
                ));
                return;
            }
            None => return,
        }
        if depth == MAX_DEPTH {
            self.found.push(whole_file(dir, format!("more than {MAX_DEPTH} folders inside each other")));
            return;
        }
        for (name, kind) in self.list(dir) {
            let path = format!("{dir}/{name}");
            match kind {
                EntryKind::Directory => self.folder(&path, depth + 1, out),
                EntryKind::File if is_yaml(&name) => self.file(&path, out),
                // Scripts of transforms, notes for people.
                EntryKind::File => {}
            }
        }
    }

    /// Each folder of workspaces with its document.
    fn workspaces(&mut self, dir: &str) -> BTreeMap<String, Folder> {
        let mut workspaces = BTreeMap::new();
        if self.entry(dir).flatten().is_none() {
            return workspaces;
        }
        for (name, kind) in self.list(dir) {
            let path = format!("{dir}/{name}");
            if kind == EntryKind::File {
                if is_yaml(&name) {
                    let stray = whole_file(&path, "this manifest is in no workspace and goes nowhere");
                    self.found.push(stray.with_help(format!("move it into a folder, such as `{dir}/shop/`")));
                }
                continue;
            }
            if !is_dns_label(&name) {
                let message = format!("`{name}` cannot be the name of a workspace");
                let help = "name the folder with at most 63 lower-case letters, digits and dashes, and a letter or \
                            digit at both ends";
                self.found.push(whole_file(&path, message).with_help(help));
                continue;
            }
            let file = format!("{path}/{WORKSPACE_FILE}");
            let mut documents: Vec<Read<Workspace>> = Vec::new();
            if self.entry(&file).flatten().is_some() {
                self.file(&file, &mut documents);
            }
            if let Some(second) = documents.get(1) {
                let message =
                    format!("a second Workspace; a folder has one, and it is at {}", documents[0].place());
                self.found.push(second.finding("", message));
            }
            let document = documents.into_iter().next();
            workspaces.insert(name, Folder { dir: path, document });
        }
        workspaces
    }

    /// All documents of one file, which must be of one kind.
    fn file<T: Document>(&mut self, file: &str, out: &mut Vec<Read<T>>) {
        self.count += 1;
        if self.count >= MAX_FILES {
            if self.count == MAX_FILES {
                self.found.push(whole_file(
                    file,
                    format!("more than {MAX_FILES} config files; the rest is not read"),
                ));
            }
            return;
        }
        let bytes = match self.files.read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.unreadable = true;
                self.found.push(whole_file(file, format!("cannot be read: {error}")));
                return;
            }
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            self.unreadable = true;
            self.found.push(whole_file(file, "is not UTF-8 text"));
            return;
        };
        let limits = Limits { bytes: MAX_BYTES, ..Limits::default() };
        match parse(text, Schema::Strict, &limits) {
            Ok(documents) => {
                for document in documents.into_iter().filter(|it| !it.empty) {
                    self.document(file, document.root, out);
                }
            }
            Err(errors) => {
                self.unreadable = true;
                self.found.extend(errors.diagnostics(file));
            }
        }
    }

    fn document<T: Document>(&mut self, file: &str, node: Node, out: &mut Vec<Read<T>>) {
        if let Err(finding) = right_kind::<T>(file, &node) {
            self.found.push(finding);
            return;
        }
        let (value, findings) = from_node::<T>(file, &node);
        self.found.extend(findings);
        let Some(value) = value else {
            let name = node.get("metadata").and_then(|it| it.get("name")).and_then(Node::as_str);
            self.broken.extend(name.map(str::to_owned));
            return;
        };
        for finding in value.validate() {
            let mut located = at(file, &node, &finding.path, finding.message);
            located.help = finding.help;
            self.found.push(located);
        }
        let line = u32::try_from(node.span.start.line).unwrap_or(u32::MAX);
        out.push(Read { located: Located { value, file: file.to_owned(), line }, node });
    }

    /// What is at a path; `None` after a finding.
    fn entry(&mut self, path: &str) -> Option<Option<EntryKind>> {
        match self.files.entry(path) {
            Ok(entry) => Some(entry),
            Err(error) => {
                self.found.push(whole_file(path, format!("cannot be read: {error}")));
                None
            }
        }
    }

    /// Names of a folder, without hidden ones.
    fn list(&mut self, dir: &str) -> Vec<(String, EntryKind)> {
        match self.files.list(dir) {
            Ok(entries) => {
                let visible = entries.into_iter().filter(|it| !it.name.starts_with('.'));
                visible.map(|it| (it.name, it.kind)).collect()
            }
            Err(error) => {
                self.found.push(whole_file(dir, format!("cannot be read: {error}")));
                Vec::new()
            }
        }
    }
}

/// Whether a document says that it is of the kind that belongs where it is; if not, that is all to say about it.
fn right_kind<T: Document>(file: &str, node: &Node) -> Result<(), Diagnostic> {
    if node.as_mapping().is_none() {
        return Err(at(
            file,
            node,
            "",
            format!("expected a document of kind {}, found a {}", T::KIND, node.type_name()),
        ));
    }
    let word = |key: &str| node.get(key).and_then(Node::as_str);
    let expected = format!("`apiVersion: {API_VERSION}` and `kind: {}`", T::KIND);
    let (Some(api_version), Some(kind)) = (word("apiVersion"), word("kind")) else {
        let field = if word("apiVersion").is_some() { "kind" } else { "apiVersion" };
        return Err(at(file, node, field, format!("{field} is missing or no text"))
            .with_help(format!("write {expected}")));
    };
    if api_version != API_VERSION {
        let message = format!("unknown apiVersion `{}`", brief(api_version));
        let help = format!("write {expected}; manifests of workloads belong into the folder of a workspace");
        return Err(at(file, node, "apiVersion", message).with_help(help));
    }
    if kind == T::KIND.as_str() {
        return Ok(());
    }
    if kind.parse::<Kind>().is_ok() {
        let message =
            format!("a document of kind {kind} does not belong here: this place is for kind {}", T::KIND);
        return Err(at(file, node, "kind", message).with_help("move it to the folder of its kind"));
    }
    let help = match did_you_mean(kind, Kind::ALL.iter().map(|kind| kind.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write {expected}"),
    };
    Err(at(file, node, "kind", format!("unknown kind `{}`", brief(kind))).with_help(help))
}

/// A finding at a path of a tree, or at the nearest place that is written.
fn at(file: &str, node: &Node, path: &str, message: impl Into<String>) -> Diagnostic {
    let path: Path = path.parse().unwrap_or_default();
    Diagnostic::new(file, node.locate(&path).start, &path, message)
}

fn is_yaml(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// A name that Kubernetes takes as a label of DNS.
fn is_dns_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty()
        && name.len() <= 63
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// The beginning of a word, short enough for a message.
fn brief(text: &str) -> String {
    text.chars().take(40).collect()
}

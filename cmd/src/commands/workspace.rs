//! `kubectl kcp workspace add`: manifests become a workspace. They are rendered before anything is written.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use kcp_api::{Kind, SyncPolicySpec};
use kcp_core::config::{self, WORKSPACE_FILE};
use kcp_core::{render, scopes};
use kcp_git::Edits;
use serde_json::{Map, Value, json};

use super::Context;
use crate::documents;
use crate::edit::{Edit, EditArgs, apply};
use crate::error::{CommandError, Outcome, findings};
use crate::labels;
use crate::overlay::Overlay;
use crate::repo::unusable;

/// Files that one call may copy, and their bytes.
const MAX_FILES: usize = 5_000;
const MAX_BYTES: u64 = 64 << 20;
const MAX_DEPTH: usize = 32;

/// Add what shall run
#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    Add(AddArgs),
}

/// Add a workspace: a folder of manifests that goes to clusters as one
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp workspace add web --namespace web -f ./web.yaml
  kubectl kcp workspace add shop -f ./shop/ --label team=shop
  kubectl create deployment web --image nginx --dry-run=client -o yaml | kubectl kcp workspace add web -n web -f -")]
pub(crate) struct AddArgs {
    /// Name of the workspace, and of its folder
    name: String,
    /// Namespace of objects that name none; it is made where it is missing
    #[arg(short, long)]
    namespace: Option<String>,
    /// Manifests to copy: a file, a folder (its content, with all below it), or `-` for stdin
    #[arg(short, long = "filename", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// Label of the workspace; may be given more than once
    #[arg(short, long = "label", value_name = "KEY=VALUE", value_parser = labels::pair)]
    labels: Vec<(String, String)>,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) async fn run(context: &Context, command: WorkspaceCommand) -> Outcome {
    let WorkspaceCommand::Add(args) = command;
    args.edit.check()?;
    let fleet = context.fleet()?;
    let config = fleet.config()?;
    let name = args.name.as_str();
    if let Some(there) = config.workspaces.get(name) {
        return Err(CommandError::failure(format!("the workspace {name} is there already: {}", there.dir))
            .hint("edit its files, or choose another name"));
    }
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']) {
        return Err(
            CommandError::usage(format!("{name:?}: not a name of a workspace")).hint("write it like web")
        );
    }
    let dir = format!("{}/{name}", config.fleet.value.spec.paths.workspaces);
    let mut copied = Copied { dir: dir.clone(), files: Edits::new(), bytes: 0 };
    for path in &args.files {
        copied.add(path)?;
    }
    let mut files = copied.files;
    let document = format!("{dir}/{WORKSPACE_FILE}");
    let wanted = args.namespace.is_some() || !args.labels.is_empty() || files.is_empty();
    if wanted {
        if files.contains_key(&document) {
            let message = format!("the files hold a {WORKSPACE_FILE} already");
            return Err(CommandError::failure(message)
                .hint("write namespace and labels there, and leave out --namespace and --label"));
        }
        files.insert(document, Some(workspace_document(&args)));
    }
    judge(&fleet.files()?, &files, name)?;
    let edit = Edit {
        files,
        subject: format!("add workspace {name}"),
        unchanged: String::new(),
        next: vec![format!("say where it runs: kubectl kcp place {name} --exactly 1")],
    };
    apply(context, &fleet, &args.edit, edit).await
}

fn workspace_document(args: &AddArgs) -> Vec<u8> {
    let mut metadata = json!({ "name": args.name });
    if !args.labels.is_empty() {
        metadata["labels"] =
            args.labels.iter().map(|(key, value)| (key.clone(), json!(value))).collect::<Map<_, _>>().into();
    }
    let mut spec = Map::new();
    if let Some(namespace) = &args.namespace {
        spec.insert("defaultNamespace".into(), json!(namespace));
        spec.insert("createNamespaces".into(), json!(true));
    }
    documents::text(Kind::Workspace, metadata, Value::Object(spec))
}

/// Renders the workspace as it will be, so that a mistake is told before it is committed.
fn judge(base: &dyn kustomize_rs::Files, files: &Edits, name: &str) -> Result<(), CommandError> {
    let after = Overlay::new(base, files);
    let config = config::load(&after).map_err(|found| unusable(&found).hint("nothing was written"))?;
    let rendered = render::render(&after, &config, name)
        .map_err(|found| findings("not added: the manifests have", &found).hint("nothing was written"))?;
    let workspace = config
        .workspaces
        .get(name)
        .ok_or_else(|| CommandError::failure(format!("{name}: no folder of that name would be read")))?;
    let policy = SyncPolicySpec::default();
    let mut problems = BTreeSet::new();
    for variant in rendered.variants.values() {
        let bundle = render::bundle(variant, workspace, "", &policy, &scopes::built_in, "", "");
        for problem in bundle.problems {
            let place = problem.origin.map(|origin| format!("{origin}: ")).unwrap_or_default();
            problems.insert(format!("{place}{}", problem.message));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(CommandError::failure("not added: some objects could not be applied")
        .details(problems)
        .hint("nothing was written; --namespace NAME gives a namespace to objects that name none"))
}

/// Files on their way into the workspace.
struct Copied {
    dir: String,
    files: Edits,
    bytes: u64,
}

impl Copied {
    fn add(&mut self, path: &Path) -> Result<(), CommandError> {
        let shown = path.display();
        if path == Path::new("-") {
            return self.content("manifests.yaml", "stdin", std::io::stdin().lock());
        }
        if path.to_str().is_some_and(|text| text.starts_with("https://") || text.starts_with("http://")) {
            let message = format!("{shown}: manifests from the network are not taken");
            return Err(CommandError::usage(message).hint("fetch the file first, and look at it"));
        }
        let meta = fs::metadata(path)
            .map_err(|error| CommandError::failure(format!("{shown}: cannot be read: {error}")))?;
        if meta.is_dir() {
            return self.folder(path, "", 0);
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(CommandError::failure(format!("{shown}: its name is not UTF-8 text")));
        };
        self.file(path, name)
    }

    /// The content of a folder, without hidden files.
    fn folder(&mut self, dir: &Path, below: &str, depth: usize) -> Result<(), CommandError> {
        let failed = |error: std::io::Error| {
            CommandError::failure(format!("{}: cannot be read: {error}", dir.display()))
        };
        if depth > MAX_DEPTH {
            return Err(CommandError::failure(format!(
                "{}: more than {MAX_DEPTH} folders inside each other",
                dir.display()
            )));
        }
        let mut entries: Vec<_> =
            fs::read_dir(dir).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                return Err(CommandError::failure(format!(
                    "{}: its name is not UTF-8 text",
                    entry.path().display()
                )));
            };
            if name.starts_with('.') {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            let inside = format!("{below}{name}");
            if kind.is_symlink() {
                let message = format!("{}: is a symlink, which is not copied", entry.path().display());
                return Err(CommandError::failure(message).hint("copy what it leads to into the folder"));
            }
            if kind.is_dir() {
                self.folder(&entry.path(), &format!("{inside}/"), depth + 1)?;
            } else {
                self.file(&entry.path(), &inside)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: &str) -> Result<(), CommandError> {
        let shown = path.display().to_string();
        let failed =
            |error: std::io::Error| CommandError::failure(format!("{shown}: cannot be read: {error}"));
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(CommandError::failure(format!("{shown}: is not a regular file")));
        }
        self.content(name, &shown, fs::File::open(path).map_err(failed)?)
    }

    fn content(&mut self, name: &str, shown: &str, source: impl Read) -> Result<(), CommandError> {
        let mut content = Vec::new();
        source
            .take(MAX_BYTES + 1)
            .read_to_end(&mut content)
            .map_err(|error| CommandError::failure(format!("{shown}: cannot be read: {error}")))?;
        self.bytes += content.len() as u64;
        if self.bytes > MAX_BYTES || self.files.len() >= MAX_FILES {
            let message = format!("{shown}: more than {MAX_FILES} files or {} MiB in all", MAX_BYTES >> 20);
            return Err(
                CommandError::failure(message).hint("a workspace holds manifests; leave everything else out")
            );
        }
        if self.files.insert(format!("{}/{name}", self.dir), Some(content)).is_some() {
            let message = format!("{shown}: another file of the name {name} was given before");
            return Err(
                CommandError::usage(message).hint("rename one of them, or give the folder they are in")
            );
        }
        Ok(())
    }
}

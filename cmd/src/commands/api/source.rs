//! Where CRDs come from: a file, a folder, or a path in a commit of a git repo. Everything is read through `Files`, so
//! that size limits and symlink rules are those of the fleet repo.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kcp_git::{Repo, WorkTree};
use kcp_schema::{Crd, Options, Pool, SchemaPath, SchemaStep, Step};
use kustomize_rs::{EntryKind, Files};
use yaml_span::{Limits, Node, Segment};

use crate::error::CommandError;

/// Levels of folders looked into.
const MAX_DEPTH: usize = 32;
/// Bytes of one file; real CRDs have two million at most.
const MAX_BYTES: usize = 16 << 20;

/// A CRD, and where it was written.
#[derive(Debug)]
pub(crate) struct Found {
    /// The CRD.
    pub(crate) crd: Crd,
    /// The file, as it was named; for a commit, `REF:PATH`.
    pub(crate) file: String,
    root: Arc<Node>,
}

impl Found {
    /// The line, from 1, of a place in the schema of `version`, or of what is nearest above it.
    pub(crate) fn line(&self, version: Option<&str>, path: &SchemaPath) -> usize {
        let mut at = yaml_span::Path::root();
        if let Some(version) = version {
            let index = self.crd.versions.iter().position(|it| *it.name == *version);
            let own = index.map(|index| yaml_span::Path::root().key("spec").key("versions").index(index));
            if let Some(own) = own {
                at = own.clone();
                let schema = own.key("schema").key("openAPIV3Schema");
                if !path.0.is_empty() && self.root.at(&schema).is_some() {
                    at = schema;
                    path.0.iter().for_each(|step| follow(&mut at, step));
                }
            }
        }
        self.root.locate(&at).start.line
    }
}

fn follow(at: &mut yaml_span::Path, step: &SchemaStep) {
    let mut entry = |word: &str, index: usize| {
        at.push(word);
        at.push(index);
    };
    match step {
        SchemaStep::Property(name) => {
            at.push("properties");
            at.push(&**name);
        }
        SchemaStep::Items => at.push("items"),
        SchemaStep::Values => at.push("additionalProperties"),
        SchemaStep::AllOf(index) => entry("allOf", *index),
        SchemaStep::AnyOf(index) => entry("anyOf", *index),
        SchemaStep::OneOf(index) => entry("oneOf", *index),
        SchemaStep::Not => at.push("not"),
    }
}

/// All CRDs at `place`: `FILE`, `DIR` or `git:REF:PATH`. Documents that are not CRDs are passed over.
pub(crate) fn read(
    place: &str,
    repo: Option<&Path>,
    descriptions: bool,
    pool: &mut Pool,
) -> Result<Vec<Found>, CommandError> {
    let mut reader =
        Reader { options: Options { descriptions, ..Options::default() }, pool, found: Vec::new() };
    if let Some(rest) = place.strip_prefix("git:") {
        let Some((rev, path)) = rest.split_once(':') else {
            return Err(usage(format!("{place}: a place in git is written git:REF:PATH"))
                .hint("for example git:main:config/crd"));
        };
        let repo =
            Repo::discover(repo.unwrap_or(Path::new("."))).map_err(|error| usage(error.to_string()))?;
        let files = repo.snapshot(rev).map_err(|error| usage(error.to_string()))?;
        reader.entry(&files, path.trim_matches('/'), &format!("{rev}:"), 0)?;
    } else if place.starts_with("cluster:") {
        return Err(usage(format!("{place}: clusters cannot be compared yet"))
            .hint("write the CRDs to a file: kubectl get crds -o yaml > crds.yaml"));
    } else {
        let path = PathBuf::from(place);
        if path.is_dir() {
            let files = WorkTree::open(&path).map_err(|error| usage(error.to_string()))?;
            reader.entry(&files, "", &format!("{}/", place.trim_end_matches('/')), 0)?;
        } else {
            let name = path.file_name().and_then(|name| name.to_str());
            let parent =
                path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let Some(name) = name.filter(|_| path.exists()) else {
                return Err(usage(format!("{place}: there is no such file or folder")));
            };
            let files = WorkTree::open(parent).map_err(|error| usage(error.to_string()))?;
            reader.entry(&files, name, place.strip_suffix(name).unwrap_or(""), 0)?;
        }
    }
    if reader.found.is_empty() {
        return Err(usage(format!("{place}: there is no CustomResourceDefinition")));
    }
    let mut found = reader.found;
    found.sort_by_key(|it| it.crd.name());
    for pair in found.windows(2) {
        if pair[0].crd.name() == pair[1].crd.name() {
            let message = format!("{place}: {} is there twice", pair[0].crd.name());
            return Err(usage(message).details([&pair[0].file, &pair[1].file]));
        }
    }
    Ok(found)
}

/// What is read is as much the person's word as the flags are.
fn usage(message: impl Into<String>) -> CommandError {
    CommandError::usage(message)
}

struct Reader<'p> {
    options: Options,
    pool: &'p mut Pool,
    found: Vec<Found>,
}

impl Reader<'_> {
    fn entry(
        &mut self,
        files: &dyn Files,
        path: &str,
        prefix: &str,
        depth: usize,
    ) -> Result<(), CommandError> {
        let wrong = |error: kustomize_rs::FilesError| usage(error.to_string());
        match files.entry(path).map_err(wrong)? {
            None => Err(usage(format!("{prefix}{path}: there is no such file or folder"))),
            Some(EntryKind::File) => {
                let bytes = files.read(path).map_err(wrong)?;
                self.file(&bytes, &format!("{prefix}{path}"), depth > 0)
            }
            Some(EntryKind::Directory) if depth >= MAX_DEPTH => {
                Err(usage(format!("{prefix}{path}: folders are nested deeper than {MAX_DEPTH} levels")))
            }
            Some(EntryKind::Directory) => {
                for inner in files.list(path).map_err(wrong)? {
                    let below =
                        if path.is_empty() { inner.name.clone() } else { format!("{path}/{}", inner.name) };
                    let wanted = [".yaml", ".yml", ".json"].iter().any(|end| inner.name.ends_with(end));
                    let hidden = inner.name.starts_with('.');
                    if !hidden && (inner.kind == EntryKind::Directory || wanted) {
                        self.entry(files, &below, prefix, depth + 1)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// With `lenient`, a file that is not YAML at all is passed over if it does not speak of CRDs: folders hold templates.
    fn file(&mut self, bytes: &[u8], name: &str, lenient: bool) -> Result<(), CommandError> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return if lenient { Ok(()) } else { Err(usage(format!("{name}: is not text"))) };
        };
        if lenient && !text.contains("CustomResourceDefinition") {
            return Ok(());
        }
        let limits = Limits { bytes: MAX_BYTES, depth: Limits::MAX_DEPTH, ..Limits::default() };
        let documents = yaml_span::parse(text, yaml_span::Schema::Kubernetes, &limits)
            .map_err(|errors| usage(format!("{name}: cannot be read")).details(errors.diagnostics(name)))?;
        for document in documents {
            self.document(document.root, name)?;
        }
        Ok(())
    }

    fn document(&mut self, root: Node, name: &str) -> Result<(), CommandError> {
        let kind = root.get("kind").and_then(Node::as_str).unwrap_or_default();
        if kind == "List" || kind == "CustomResourceDefinitionList" {
            let items = root.get("items").and_then(Node::as_sequence).unwrap_or_default();
            return items.iter().try_for_each(|item| self.document(item.clone(), name));
        }
        if kind != "CustomResourceDefinition" {
            return Ok(());
        }
        let crd = Crd::parse(&root.to_json(), &self.options, self.pool).map_err(|error| {
            let mut at = yaml_span::Path::root();
            for step in &error.path.0 {
                at.push(match step {
                    Step::Field(name) | Step::Key(name) => Segment::from(&**name),
                    Step::Index(index) => Segment::from(*index),
                });
            }
            usage(format!("{name}:{}: {error}", root.locate(&at).start.line))
        })?;
        self.found.push(Found { crd, file: name.to_owned(), root: Arc::new(root) });
        Ok(())
    }
}

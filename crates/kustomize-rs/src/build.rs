//! The pipeline: resources first, depth first, each directory with its own changes; then the changes of the directory
//! that includes them, in the order of the reference: patches, namespace, labels, annotations, images.

use std::collections::HashMap;

use yaml_span::Schema;

use crate::error::Position;
use crate::images::Replacement;
use crate::item::{Id, Item};
use crate::kustomization::{self, FILE_NAMES, Kustomization, Located};
use crate::path::{self, PathError};
use crate::plain;
use crate::read::{self, Reader};
use crate::{
    EntryKind, Error, Files, Options, Problem, ProblemKind, ResMap, annotations, labels, namespace, order,
    patch,
};

/// Marks an object that serves the build only and is not part of its result.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";
/// Asks for a name with a hash, which needs the name references that are not supported yet.
const NEEDS_HASH: &str = "kustomize.config.k8s.io/needs-hash";

pub(crate) fn build(files: &dyn Files, dir: &str, options: &Options) -> Result<ResMap, Error> {
    let dir =
        path::resolve("", dir).map_err(|why| Problem::whole(dir, ProblemKind::Outside, outside(why)))?;
    let reader = Reader::new(files, &options.limits, Schema::Kustomize);
    let mut builder = Builder { reader, open: Vec::new(), built: 0, problems: Vec::new() };
    let mut items = builder.directory(&dir);
    let mut problems = builder.problems;
    if !problems.is_empty() {
        return Err(Error { problems });
    }
    namespace::follow(&mut items);
    items.retain(|item| annotation(item, LOCAL_CONFIG).is_none_or(|value| value == "false"));
    for item in items.iter().filter(|item| annotation(item, NEEDS_HASH).is_some()) {
        let origin = &item.resource.origin;
        let at = Position { line: origin.line, column: 1 };
        let message = format!("annotation {NEEDS_HASH} is not supported yet");
        problems.push(Problem::at(&origin.file, at, ProblemKind::Unsupported, message));
    }
    items.iter_mut().for_each(|item| annotations::normalise(&mut item.resource.value));
    order::sort(&mut items);
    let resources: Vec<_> = items.into_iter().map(|item| item.resource).collect();
    problems.extend(plain::duplicates(&resources));
    Error::unless(problems, ResMap::new(resources))
}

pub(crate) fn is_kustomization(files: &dyn Files, dir: &str) -> Result<bool, Error> {
    let dir =
        path::resolve("", dir).map_err(|why| Problem::whole(dir, ProblemKind::Outside, outside(why)))?;
    for name in FILE_NAMES {
        if entry(files, &path::join(&dir, name))? == Some(EntryKind::File) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn entry(files: &dyn Files, path: &str) -> Result<Option<EntryKind>, Problem> {
    files.entry(path).map_err(|error| Problem::whole(path, ProblemKind::Read, error.to_string()))
}

fn annotation<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.resource.value.get("metadata")?.get("annotations")?.get(name)?.as_str()
}

fn outside(why: PathError) -> &'static str {
    match why {
        PathError::Absolute => "an absolute path: paths are relative to the directory of the kustomization",
        PathError::AboveTree => "leads out of the repository: more `..` than there are directories",
    }
}

struct Builder<'a> {
    reader: Reader<'a>,
    /// The directories being built, outermost first.
    open: Vec<String>,
    /// How many have been begun.
    built: usize,
    problems: Vec<Problem>,
}

impl Builder<'_> {
    /// The objects of a directory; none, and problems, where it cannot be built.
    fn directory(&mut self, dir: &str) -> Vec<Item> {
        match self.try_directory(dir) {
            Ok(items) => items,
            Err(problems) => {
                self.problems.extend(problems);
                Vec::new()
            }
        }
    }

    fn try_directory(&mut self, dir: &str) -> Result<Vec<Item>, Vec<Problem>> {
        self.built += 1;
        let limit = self.reader.limits.kustomizations;
        if self.built > limit {
            let message = format!("more than {limit} kustomizations in one build");
            return Err(vec![Problem::whole(dir, ProblemKind::Limit, message)]);
        }
        let file = self.kustomization_file(dir).map_err(|problem| vec![problem])?;
        // The reference reads this file as `kubectl apply` reads files: a plain `y` is no text.
        let text = self.reader.text(&file).map_err(|problem| vec![problem])?;
        let mut documents = self.reader.parse_as(&file, &text, Schema::Kubernetes)?.into_iter();
        let Some((_, document)) = documents.next() else {
            let message = "the kustomization is empty: it needs `resources` at least";
            return Err(vec![Problem::whole(&file, ProblemKind::Invalid, message)]);
        };
        if let Some((_, second)) = documents.next() {
            let at = read::position(&second.root);
            return Err(vec![Problem::at(
                &file,
                at,
                ProblemKind::Invalid,
                "a kustomization is one document",
            )]);
        }
        // Errors of the fields must not hide those of the resources, but resources need the fields.
        let kustomization = kustomization::read(&file, &document.root)?;
        let found = self.problems.len();
        self.open.push(dir.to_owned());
        let mut items = self.resources(dir, &file, &kustomization.resources);
        self.open.pop();
        if self.problems.len() == found {
            self.transform(dir, &file, &kustomization, &mut items);
        }
        Ok(items)
    }

    fn kustomization_file(&self, dir: &str) -> Result<String, Problem> {
        let mut found = Vec::new();
        for name in FILE_NAMES {
            let path = path::join(dir, name);
            if entry(self.reader.files, &path)? == Some(EntryKind::File) {
                found.push(path);
            }
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => {
                let message = format!("has no kustomization: expected one of {}", FILE_NAMES.join(", "));
                Err(Problem::whole(dir, ProblemKind::Read, message))
            }
            _ => {
                let message = format!("has more than one kustomization: {}", found.join(", "));
                Err(Problem::whole(dir, ProblemKind::Duplicate, message))
            }
        }
    }

    fn resources(&mut self, dir: &str, file: &str, entries: &[Located<String>]) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        let mut first: HashMap<Id, String> = HashMap::new();
        for resource in entries {
            if self.built > self.reader.limits.kustomizations {
                break;
            }
            for item in self.resource(dir, file, resource) {
                let id = item.id();
                if let Some(first) = first.get(&id) {
                    let message = format!(
                        "{} {} of {} is already there, from {first}: remove one of them",
                        id.kind,
                        id.name,
                        item.place(dir)
                    );
                    self.problems.push(Problem::at(file, resource.at, ProblemKind::Duplicate, message));
                } else {
                    first.insert(id, item.place(dir));
                    items.push(item);
                }
            }
            let limit = self.reader.limits.resources;
            if items.len() > limit {
                let message = format!("more than {limit} objects");
                self.problems.push(Problem::at(file, resource.at, ProblemKind::Limit, message));
                break;
            }
        }
        items
    }

    /// The objects that one entry of `resources` brings.
    fn resource(&mut self, dir: &str, file: &str, resource: &Located<String>) -> Vec<Item> {
        let written = &resource.value;
        let problem = |kind, message: String| Problem::at(file, resource.at, kind, message);
        let resolved = match path::resolve(dir, written) {
            Ok(path) => path,
            Err(why) => {
                self.problems.push(problem(ProblemKind::Outside, format!("{written}: {}", outside(why))));
                return Vec::new();
            }
        };
        let found = match self.reader.files.entry(&resolved) {
            Ok(found) => found,
            Err(error) => {
                self.problems.push(problem(ProblemKind::Read, error.to_string()));
                return Vec::new();
            }
        };
        let refused = match found {
            Some(EntryKind::File) if !path::is_within(&resolved, dir) => (
                ProblemKind::Outside,
                format!(
                    "{written}: files must be in or below the directory of the kustomization; \
                         another directory with a kustomization of its own may be named instead"
                ),
            ),
            Some(EntryKind::File) => {
                let read = self
                    .reader
                    .documents(&resolved)
                    .and_then(|it| read::objects(&resolved, &it, Schema::Kustomize));
                return match read {
                    Ok(objects) => objects
                        .into_iter()
                        .map(|(mut object, blanks)| {
                            annotations::normalise(&mut object.value);
                            Item::new(object, blanks)
                        })
                        .collect(),
                    Err(problems) => {
                        self.problems.extend(problems);
                        Vec::new()
                    }
                };
            }
            Some(EntryKind::Directory) if self.open.iter().any(|open| path::is_within(open, &resolved)) => {
                (ProblemKind::Cycle, format!("{written}: is being built already, this would never end"))
            }
            Some(EntryKind::Directory) if self.open.len() >= self.reader.limits.nesting => {
                let limit = self.reader.limits.nesting;
                (ProblemKind::Limit, format!("{written}: more than {limit} kustomizations inside each other"))
            }
            Some(EntryKind::Directory) => return self.directory(&resolved),
            None if path::looks_remote(written) => (
                ProblemKind::Unsupported,
                format!("{written}: nothing is fetched while rendering; copy it into the repository"),
            ),
            None => (ProblemKind::Read, format!("{written}: no such file or directory")),
        };
        self.problems.push(problem(refused.0, refused.1));
        Vec::new()
    }

    /// Applies what the kustomization says to everything it includes.
    fn transform(&mut self, dir: &str, file: &str, kustomization: &Kustomization, items: &mut Vec<Item>) {
        let entries = kustomization.patches.len() + kustomization.labels.len() + kustomization.images.len();
        let limit = self.reader.limits.changes;
        if entries.saturating_mul(items.len()) > limit {
            let message =
                format!("{entries} changes to each of {} objects are more than {limit}", items.len());
            self.problems.push(Problem::whole(file, ProblemKind::Limit, message));
            return;
        }
        for entry in &kustomization.patches {
            self.problems.extend(patch::apply(&mut self.reader, dir, file, entry, items));
        }
        let mut failed = Vec::new();
        let mut each = |items: &mut [Item], change: &dyn Fn(&mut Item) -> Result<(), String>| {
            for item in items {
                if let Err(why) = change(item) {
                    let at = Position { line: item.resource.origin.line, column: 1 };
                    let message = format!("{}: {why}", item.resource.id());
                    failed.push(Problem::at(&item.resource.origin.file, at, ProblemKind::Invalid, message));
                }
            }
        };
        if let Some(namespace) =
            kustomization.namespace.as_ref().filter(|namespace| !namespace.value.is_empty())
        {
            each(items, &|item| namespace::set(item, &namespace.value));
        }
        for entry in &kustomization.labels {
            each(items, &|item| labels::label(item, entry));
        }
        each(items, &|item| labels::annotate(item, &kustomization.common_annotations));
        self.problems.extend(failed);
        self.collisions(file, kustomization, items);
        for image in &kustomization.images {
            match Replacement::new(image) {
                Ok(replacement) => items.iter_mut().for_each(|item| replacement.apply(item)),
                Err(why) => self.problems.push(Problem::at(file, image.at, ProblemKind::Invalid, why)),
            }
        }
    }

    /// Objects of several namespaces may have had one name.
    fn collisions(&mut self, file: &str, kustomization: &Kustomization, items: &[Item]) {
        let Some(namespace) = &kustomization.namespace else { return };
        let mut first: HashMap<Id, &Item> = HashMap::with_capacity(items.len());
        for item in items {
            if let Some(first) = first.insert(item.id(), item) {
                let (id, a, b) = (item.resource.id(), &first.resource.origin, &item.resource.origin);
                let message =
                    format!("namespace {}: {id} would be two objects, {a} and {b}", namespace.value);
                self.problems.push(Problem::at(file, namespace.at, ProblemKind::Duplicate, message));
            }
        }
    }
}

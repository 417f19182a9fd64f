//! `patches`: finds what a patch is for and applies it. Strategic merge or JSON 6902 is told by the text itself.

mod json;
mod merge_keys;
mod strategic;

use serde_json::Value;
use yaml_span::{Document, Schema};

use crate::error::Position;
use crate::item::{Id, Item};
use crate::kustomization::{Located, Patch, PatchSource, Selector};
use crate::path;
use crate::read::{self, Reader};
use crate::{EntryKind, Problem, ProblemKind, Resource, annotations};

/// Levels of nesting an object may have after a patch: what walks it calls itself.
const DEPTH: usize = 256;
/// Values an object may have after a patch: copies double it.
const VALUES: usize = 1_000_000;

/// The text of a patch and its place.
struct Text {
    file: String,
    at: Position,
    text: String,
    inline: bool,
}

/// Applies one entry of `patches` to the objects; what cannot be applied is a problem.
pub(crate) fn apply(
    reader: &mut Reader<'_>,
    dir: &str,
    file: &str,
    patch: &Patch,
    items: &mut Vec<Item>,
) -> Vec<Problem> {
    let text = match load(reader, dir, file, patch) {
        Ok(text) => text,
        Err(problem) => return vec![problem],
    };
    let documents = match text.parse(reader, Schema::Kustomize) {
        Ok(documents) => documents,
        Err(problems) => return problems,
    };
    let first_is_list = documents.first().is_some_and(|(_, document)| document.root.as_sequence().is_some());
    if first_is_list {
        // The reference reads operations as `kubectl apply` reads files: a plain n is false there.
        return match text.parse(reader, Schema::Kubernetes) {
            Ok(documents) => text.operations(&documents, patch, items),
            Err(problems) => problems,
        };
    }
    match text.objects(&documents) {
        Ok(patches) => text.merge(patches, patch, items),
        Err(problems) => problems,
    }
}

fn load(reader: &mut Reader<'_>, dir: &str, file: &str, patch: &Patch) -> Result<Text, Problem> {
    let written: &Located<String> = match &patch.source {
        PatchSource::Inline(text) => {
            // The reference trims: block text loses its last line break.
            return Ok(Text { file: file.into(), at: text.at, text: text.value.trim().into(), inline: true });
        }
        PatchSource::File(path) => path,
    };
    let refuse =
        |kind, why: &str| Err(Problem::at(file, written.at, kind, format!("{}: {why}", written.value)));
    let Ok(path) = path::resolve(dir, &written.value) else {
        return refuse(ProblemKind::Outside, "files must be in or below the directory of the kustomization");
    };
    match reader.files.entry(&path) {
        Err(error) => return refuse(ProblemKind::Read, &error.to_string()),
        Ok(None) if path::looks_remote(&written.value) => {
            return refuse(
                ProblemKind::Unsupported,
                "nothing is fetched while rendering; copy it into the repository",
            );
        }
        Ok(None) => return refuse(ProblemKind::Read, "no such file"),
        Ok(Some(EntryKind::Directory)) => return refuse(ProblemKind::Read, "is a directory, not a file"),
        Ok(Some(EntryKind::File)) if !path::is_within(&path, dir) => {
            return refuse(
                ProblemKind::Outside,
                "files must be in or below the directory of the kustomization",
            );
        }
        Ok(Some(EntryKind::File)) => {}
    }
    let text = reader.text(&path)?;
    Ok(Text { file: path, at: Position::default(), text, inline: false })
}

impl Text {
    fn problem(&self, kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.at, kind, message)
    }

    /// Places inside an inline patch are those of the kustomization.
    fn relocate(&self, problems: Vec<Problem>) -> Vec<Problem> {
        if !self.inline {
            return problems;
        }
        let at = |problem: Problem| Problem {
            line: self.at.line,
            column: self.at.column,
            message: format!("line {} of the patch: {}", problem.line, problem.message),
            ..problem
        };
        problems.into_iter().map(at).collect()
    }

    fn parse(&self, reader: &Reader<'_>, schema: Schema) -> Result<Vec<(usize, Document)>, Vec<Problem>> {
        reader.parse_as(&self.file, &self.text, schema).map_err(|problems| self.relocate(problems))
    }

    /// The text as strategic merge patches.
    fn objects(&self, documents: &[(usize, Document)]) -> Result<Vec<Resource>, Vec<Problem>> {
        if documents.is_empty() {
            return Err(vec![self.problem(ProblemKind::Patch, "the patch is empty")]);
        }
        let objects = read::objects(&self.file, documents, Schema::Kustomize);
        objects
            .map(|objects| objects.into_iter().map(|(object, _)| object).collect())
            .map_err(|problems| self.relocate(problems))
    }

    fn merge(&self, mut patches: Vec<Resource>, entry: &Patch, items: &mut Vec<Item>) -> Vec<Problem> {
        if entry.target.is_some() && patches.len() > 1 {
            let message = "several patches in one file, with a target: give each its own entry";
            return vec![self.problem(ProblemKind::Patch, message)];
        }
        if entry.target.is_some() {
            patches.iter_mut().for_each(|patch| annotations::normalise_patch(&mut patch.value));
        }
        let mut problems = Vec::new();
        for patch in &patches {
            let chosen = match &entry.target {
                Some(target) => selected(items, target),
                None => match only_match(items, patch) {
                    Ok(index) => vec![index],
                    Err(why) => {
                        problems.push(self.problem(ProblemKind::Patch, why));
                        continue;
                    }
                },
            };
            let mut gone = Vec::new();
            for index in chosen {
                let Some(item) = items.get_mut(index) else { continue };
                let id = item.resource.id();
                match merge_into(item, patch, entry) {
                    Ok(true) => {}
                    Ok(false) => gone.push(index),
                    Err(why) => {
                        problems.push(self.problem(ProblemKind::Patch, format!("{id}: {why}")));
                    }
                }
            }
            for index in gone.into_iter().rev() {
                items.remove(index);
            }
        }
        problems
    }

    fn operations(&self, documents: &[(usize, Document)], entry: &Patch, items: &mut [Item]) -> Vec<Problem> {
        let [(_, document)] = documents else {
            return vec![self.problem(ProblemKind::Patch, "JSON 6902 operations are one document")];
        };
        let operations = match json::read(&document.root.to_json()) {
            Ok(operations) => operations,
            Err(why) => return vec![self.problem(ProblemKind::Patch, why)],
        };
        let Some(target) = &entry.target else {
            let message = "a JSON 6902 patch needs a target: it does not say itself which object it is for";
            return vec![self.problem(ProblemKind::Patch, message)];
        };
        let mut problems = Vec::new();
        for index in selected(items, target) {
            let Some(item) = items.get_mut(index) else { continue };
            item.remember();
            item.blanks.clear();
            let id = item.resource.id();
            let done = json::apply(&mut item.resource.value, &operations);
            let done = done.map_err(|why| (ProblemKind::Patch, why)).and_then(|()| {
                if !is_object(&item.resource) {
                    Err((ProblemKind::Patch, NO_OBJECT.to_owned()))
                } else if item.resource.name() != id.name {
                    Err((ProblemKind::Unsupported, "changing metadata.name is not supported yet".to_owned()))
                } else {
                    Ok(())
                }
            });
            if let Err((kind, why)) = done {
                problems.push(self.problem(kind, format!("{id}: {why}")));
            }
        }
        problems
    }
}

const NO_OBJECT: &str = "nothing is left that has apiVersion, kind and metadata.name";

/// Whether what a patch left is still an object.
fn is_object(resource: &Resource) -> bool {
    !resource.api_version().is_empty() && !resource.kind().is_empty() && !resource.name().is_empty()
}

/// The objects that a target means.
fn selected(items: &[Item], target: &Selector) -> Vec<usize> {
    let means = |item: &Item| {
        let id = item.id();
        let ids = || std::iter::once(&id).chain(&item.previous);
        let names: Vec<&str> = ids().map(|id| id.name.as_str()).collect();
        let namespaces: Vec<&str> =
            ids().map(|id| if id.namespace.is_empty() { "default" } else { &id.namespace }).collect();
        target.selects(&item.resource, &names, &namespaces)
    };
    items.iter().enumerate().filter(|(_, item)| means(item)).map(|(index, _)| index).collect()
}

/// The one object that a patch without a target names.
fn only_match(items: &[Item], patch: &Resource) -> Result<usize, String> {
    let id = Id::of(patch);
    let mut found = items.iter().enumerate().filter(|(_, item)| item.is_or_was(&id)).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(format!("the patch fits more than one {}", patch.id())),
        (None, _) => {
            let near = items
                .iter()
                .find(|item| item.resource.kind() == patch.kind() && item.resource.name() == patch.name());
            let hint = match near {
                Some(item) => format!(
                    "; there is {} {} in {}",
                    item.resource.api_version(),
                    item.resource.id(),
                    item.resource.origin
                ),
                None => String::new(),
            };
            Err(format!("no object is {} {}{hint}", patch.api_version(), patch.id()))
        }
    }
}

/// `false`: the patch deleted the object.
fn merge_into(item: &mut Item, patch: &Resource, entry: &Patch) -> Result<bool, String> {
    let resource = &item.resource;
    let keys = merge_keys::of(resource.api_version(), resource.kind());
    let [api_version, kind, name] =
        [resource.api_version(), resource.kind(), resource.name()].map(|text| Value::String(text.into()));
    let namespace = resource.namespace().map(str::to_owned);
    if entry.allow_kind_change {
        item.remember();
    }
    let mut base = std::mem::take(&mut item.resource.value);
    for blank in std::mem::take(&mut item.blanks) {
        strategic::drop_blank(&mut base, &blank, keys);
    }
    let Some(mut merged) = strategic::merge(base, &patch.value, keys)? else { return Ok(false) };
    let object = merged.as_object_mut().ok_or(NO_OBJECT)?;
    if !entry.allow_kind_change {
        object.insert("apiVersion".into(), api_version);
        object.insert("kind".into(), kind);
    }
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(serde_json::Map::new()));
    let metadata = metadata.as_object_mut().ok_or("metadata is not a mapping")?;
    metadata.insert("name".into(), name);
    match namespace {
        Some(namespace) => metadata.insert("namespace".into(), Value::String(namespace)),
        None => metadata.shift_remove("namespace"),
    };
    item.resource.value = merged;
    if is_object(&item.resource) { Ok(true) } else { Err(NO_OBJECT.into()) }
}

/// Whether a value has become deeper or larger than an object may be.
fn too_large(value: &Value) -> bool {
    let (mut seen, mut open) = (0_usize, vec![(value, 1_usize)]);
    while let Some((value, depth)) = open.pop() {
        seen += 1;
        if depth > DEPTH || seen > VALUES {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    false
}

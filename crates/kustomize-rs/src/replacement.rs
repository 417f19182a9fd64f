//! `replacements`: copies a value from one object to fields of others.

mod path;
mod value;

use serde_json::Value;
use yaml_span::Schema;

use crate::build::Place;
use crate::error::Position;
use crate::history::History;
use crate::item::{Id, Item};
use crate::kustomization::{
    FieldOptions, Fields, Located, ObjectId, ObjectSelector, Replacement, ReplacementEntry, Source, Target,
    hold,
};
use crate::read::Reader;
use crate::{EntryKind, Problem, ProblemKind, path as files};
use value::{Copied, Kind, Misfit};

/// Where a value goes, and where it comes from, when nothing is written.
const NAME: &str = "metadata.name";

/// Applies the entries in order; what cannot be applied is a problem.
pub(crate) fn apply(
    reader: &mut Reader<'_>,
    place: Place<'_>,
    entries: &[ReplacementEntry],
    items: &mut [Item],
) -> Vec<Problem> {
    let mut loaded = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            ReplacementEntry::Inline(it) => {
                let mut it = (**it).clone();
                it.targets = it.targets.filter(|targets| !targets.is_empty());
                loaded.push((place.file.to_owned(), it));
            }
            ReplacementEntry::File(path) => match load(reader, place, path) {
                Ok(found) => loaded.extend(found),
                Err(problems) => return problems,
            },
        }
    }
    for (file, replacement) in &loaded {
        if let Err((at, why)) = replace(replacement, items) {
            return vec![Problem::at(file, at, ProblemKind::Invalid, why)];
        }
    }
    Vec::new()
}

/// A file holds one replacement or a list of them.
fn load(
    reader: &mut Reader<'_>,
    place: Place<'_>,
    written: &Located<String>,
) -> Result<Vec<(String, Replacement)>, Vec<Problem>> {
    let refuse =
        |kind, why: &str| Err(vec![place.problem(written.at, kind, format!("{}: {why}", written.value))]);
    let path = match files::resolve(place.dir, &written.value) {
        Ok(path) if files::is_within(&path, place.dir) => path,
        _ => {
            return refuse(
                ProblemKind::Outside,
                "files must be in or below the directory of the kustomization",
            );
        }
    };
    match reader.entry(&path) {
        Ok(Some(EntryKind::File)) => {}
        Ok(Some(EntryKind::Directory)) => return refuse(ProblemKind::Read, "is a directory, not a file"),
        Ok(None) => return refuse(ProblemKind::Read, "no such file"),
        Err(problem) => return Err(vec![problem]),
    }
    let text = reader.text(&path).map_err(|problem| vec![problem])?;
    let documents = reader.parse_settings(&path, &text, Schema::Kubernetes)?;
    let mut fields = Fields::lenient(&path);
    let found: Vec<Replacement> = match documents.first() {
        Some((_, document)) if document.root.as_sequence().is_some() => {
            fields.list(&document.root, "the file", Fields::replacement)
        }
        Some((_, document)) => fields.replacement(&document.root).into_iter().collect(),
        None => return refuse(ProblemKind::Invalid, "holds no replacement"),
    };
    let found = fields.done(found)?;
    Ok(found.into_iter().map(|replacement| (path.clone(), replacement)).collect())
}

type Fault = (Position, String);

fn replace(replacement: &Replacement, items: &mut [Item]) -> Result<(), Fault> {
    let (Some(source), Some(targets)) = (&replacement.source, &replacement.targets) else {
        return Err((replacement.at, "a replacement needs a source and targets".into()));
    };
    let (mut copied, live) = copied(source, items).map_err(|why| (source.at, why))?;
    for target in targets {
        put(target, &mut copied, live.as_ref(), items)?;
    }
    Ok(())
}

/// Where a value is that is copied whole: what is put into it is copied from then on, as in the reference.
struct Live {
    item: usize,
    path: Vec<String>,
}

/// The value at the source.
fn copied(source: &Source, items: &[Item]) -> Result<(Copied, Option<Live>), String> {
    let mut found = items.iter().enumerate().filter(|(_, item)| ids(item).any(|id| selects(&source.id, &id)));
    let (number, item) = match (found.next(), found.next()) {
        (Some(only), None) => only,
        (Some((_, first)), Some((_, second))) => {
            let (first, second) = (first.resource.id(), second.resource.id());
            return Err(format!("the source fits more than one object: {first} and {second}"));
        }
        (None, _) => return Err(format!("the source fits no object: {}", written(&source.id))),
    };
    let written = if source.field_path.is_empty() { NAME } else { &source.field_path };
    let path = path::split(written);
    let value = path::get(&item.resource.value, &path)
        .map_err(|why| format!("{}: fieldPath {written}: {why}", item.resource.id()))?;
    let value = value.filter(|value| !value::is_nothing(value));
    let value = value.ok_or_else(|| format!("{} has no {written}", item.resource.id()))?;
    let options = source.options.as_ref().filter(|options| !options.delimiter.is_empty());
    match options {
        None => Ok((Copied::whole(value), Some(Live { item: number, path }))),
        Some(options) => Copied::part(value, options)
            .map(|part| (part, None))
            .map_err(|why| format!("{}: {written}: {why}", item.resource.id())),
    }
}

fn put(target: &Target, copied: &mut Copied, live: Option<&Live>, items: &mut [Item]) -> Result<(), Fault> {
    let Some(select) = &target.select else {
        return Err((target.at, "a target needs `select`, which says the objects".into()));
    };
    let name = Located { value: NAME.to_owned(), at: target.at };
    let paths = if target.field_paths.is_empty() { std::slice::from_ref(&name) } else { &target.field_paths };
    let paths: Vec<(&Located<String>, Vec<String>)> =
        paths.iter().map(|written| (written, path::split(&written.value))).collect();
    let options = target.options.clone().unwrap_or_default();
    let targets = items.iter_mut().enumerate().filter(|(_, item)| is_target(item, select, &target.reject));
    for (number, item) in targets {
        let id = item.resource.id();
        let mut misfits = Vec::new();
        for (written, path) in &paths {
            let fault = |why: String| (written.at, format!("{id}: {}: {why}", written.value));
            let (found, misfit) = fill(item, path, copied, &options).map_err(fault)?;
            misfits.extend(misfit.map(|is| (*written, path, is)));
            if let Some(live) = live.filter(|live| live.item == number && path.starts_with(&live.path))
                && let Ok(Some(value)) = path::get(&item.resource.value, &live.path)
            {
                *copied = Copied::whole(value);
            }
            if found == 0 {
                let hint = if options.create { "" } else { "; `create: true` in the options makes it" };
                return Err(fault(format!("there is no such field{hint}")));
            }
            if item.resource.kind().is_empty() || item.resource.name().is_empty() {
                return Err(fault("takes away the kind or the name of the object".into()));
            }
        }
        for (written, path, is) in misfits {
            if is_still_text(item, path) {
                let message = format!(
                    "{id}: {}: the field is {is} and keeps its type, which the value does not fit; quote it there if it is text",
                    written.value
                );
                return Err((written.at, message));
            }
        }
    }
    Ok(())
}

/// Whether a field that was no text is one now: a later path may have taken it away.
fn is_still_text(item: &mut Item, path: &[String]) -> bool {
    let mut text = false;
    let mut look = |field: &mut Value, _| {
        text |= field.is_string();
        Ok(())
    };
    path::visit(item.resource.value_mut(), path, None, &mut look).is_ok() && text
}

/// Sets the fields at a path; says how many there are, and the type of one that the value does not fit.
fn fill(
    item: &mut Item,
    path: &[String],
    copied: &Copied,
    options: &FieldOptions,
) -> Result<(usize, Misfit), String> {
    let make = options.create.then(|| copied.kind());
    let annotation = matches!(path, [metadata, field, _] if metadata == "metadata" && field == "annotations");
    let mut misfit = None;
    let mut set = |field: &mut Value, made: bool| {
        misfit = copied.put(field, made, options)?.or(misfit);
        // An annotation is text, also where the text says null.
        if let Some(text) = copied.written().filter(|_| annotation && made && field.is_null()) {
            *field = text;
        }
        Ok(())
    };
    let found = path::visit(item.resource.value_mut(), path, make, &mut set)?;
    let all = matches!(path, [metadata, field] if metadata == "metadata" && field == "annotations");
    if all && copied.kind() != Kind::Mapping {
        // The reference keeps its notes among the annotations.
        item.history = History::default();
    }
    Ok((found, misfit))
}

fn is_target(item: &Item, select: &ObjectSelector, reject: &[ObjectSelector]) -> bool {
    let fits = |selector: &ObjectSelector| {
        hold(&selector.labels, &item.resource, "labels")
            && hold(&selector.annotations, &item.resource, "annotations")
    };
    let rejects = |selector: &ObjectSelector| {
        let by_selector = !selector.labels.is_empty() || !selector.annotations.is_empty();
        let by_id = selector.id != ObjectId::default();
        by_selector && fits(selector) || by_id && ids(item).any(|id| selects(&selector.id, &id))
    };
    fits(select) && ids(item).any(|id| selects(&select.id, &id)) && !reject.iter().any(rejects)
}

/// The namespace that objects outside namespaces have by an earlier name.
const CLUSTER: &str = "_non_namespaceable_";

/// What an object is and was called. Here the namespace is what is written, also where the kind has none.
fn ids(item: &Item) -> impl Iterator<Item = Id> {
    let now = Id { namespace: item.resource.namespace().unwrap_or("default").to_owned(), ..item.id() };
    let before = item.previous.iter().map(|id| {
        let namespace = if id.namespace.is_empty() { CLUSTER.to_owned() } else { id.namespace.clone() };
        Id { api_version: now.api_version.clone(), namespace, ..id.clone() }
    });
    before.collect::<Vec<_>>().into_iter().chain(std::iter::once(now))
}

fn selects(wanted: &ObjectId, id: &Id) -> bool {
    let (group, version) = id.api_version.split_once('/').unwrap_or(("", &id.api_version));
    let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
    fits(&wanted.name, &id.name)
        && fits(&wanted.namespace, &id.namespace)
        && fits(&wanted.group, group)
        && fits(&wanted.version, version)
        && fits(&wanted.kind, &id.kind)
}

fn written(id: &ObjectId) -> String {
    let parts = [
        ("group", &id.group),
        ("version", &id.version),
        ("kind", &id.kind),
        ("namespace", &id.namespace),
        ("name", &id.name),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("{name} {text}"))
        .collect();
    if parts.is_empty() { "it names none".into() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests;

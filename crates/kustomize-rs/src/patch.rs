//! `patches`, `patchesStrategicMerge` and `patchesJson6902`: finds what a patch is for and applies it. Strategic merge or
//! JSON 6902 is told by the text itself.

mod directive;
mod json;
mod list;
mod strategic;
mod text;

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::build::Place;
use crate::item::{Id, Item};
use crate::kustomization::{Located, Patch, PatchOptions, Selector};
use crate::marks::Marks;
use crate::read::Reader;
use crate::schema::Schema;
use crate::{Problem, Resource, annotations};
use text::{Content, Text};

/// Levels of nesting an object may have after a patch: what walks it calls itself.
const DEPTH: usize = 256;
/// Values an object may have after a patch: copies double it.
const VALUES: usize = 1_000_000;

const NO_OBJECT: &str = "nothing is left that has kind and metadata.name";

/// Applies one entry of `patches` to the objects; what cannot be applied is a problem.
pub(crate) fn apply(
    reader: &mut Reader<'_>,
    place: Place<'_>,
    schema: &Schema,
    patch: &Patch,
    items: &mut Vec<Item>,
    warnings: &mut Vec<Problem>,
) -> Vec<Problem> {
    let text = match Text::load(reader, place, &patch.source) {
        Ok(text) => text,
        Err(problem) => return vec![problem],
    };
    match text.content(reader) {
        Ok(Content::Operations(operations)) => {
            text.operations(&operations, patch.target.as_ref(), true, items)
        }
        Ok(Content::Objects(patches)) => {
            warnings.extend(text.left_over(&patches));
            match &patch.target {
                Some(target) => text.merge_into_all(schema, patches, target, patch.options, items),
                None => text.merge_each(schema, patches, patch.options, false, items),
            }
        }
        Err(problems) => problems,
    }
}

/// Applies one entry of `patchesStrategicMerge`: the path of a file, or the text itself.
pub(crate) fn apply_merge(
    reader: &mut Reader<'_>,
    place: Place<'_>,
    schema: &Schema,
    entry: &Located<String>,
    items: &mut Vec<Item>,
    warnings: &mut Vec<Problem>,
) -> Vec<Problem> {
    let loaded = Text::inline_objects(reader, place, entry).map_or_else(
        || {
            let text = Text::file(reader, place, entry).map_err(|problem| vec![problem])?;
            let patches = text.objects(reader)?;
            Ok((text, patches))
        },
        Ok,
    );
    match loaded {
        Ok((text, patches)) => {
            warnings.extend(text.left_over(&patches));
            text.merge_each(schema, patches, PatchOptions::default(), true, items)
        }
        Err(problems) => problems,
    }
}

/// Applies one entry of `patchesJson6902`.
pub(crate) fn apply_json(
    reader: &mut Reader<'_>,
    place: Place<'_>,
    patch: &Patch,
    items: &mut [Item],
) -> Vec<Problem> {
    let text = match Text::load(reader, place, &patch.source) {
        Ok(text) => text,
        Err(problem) => return vec![problem],
    };
    if patch.target.as_ref().is_none_or(|target| !target.has_name()) {
        return vec![text.problem("a JSON 6902 patch needs a target with a name")];
    }
    match text.only_operations(reader) {
        Ok(operations) if operations.is_empty() => vec![text.problem("the patch is empty")],
        // What such a patch renames is not remembered by its old name, as in the reference.
        Ok(operations) => text.operations(&operations, patch.target.as_ref(), false, items),
        Err(problems) => problems,
    }
}

impl Text {
    /// Merges each patch into the one object that it names.
    fn merge_each(
        &self,
        schema: &Schema,
        patches: Vec<(Resource, Marks)>,
        options: PatchOptions,
        as_text: bool,
        items: &mut Vec<Item>,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut gone = vec![false; items.len()];
        for (mut patch, marks) in patches {
            let index = match only_match(items, &gone, &patch) {
                Ok(index) => index,
                Err(why) => {
                    problems.push(self.problem(why));
                    continue;
                }
            };
            if as_text {
                annotations::normalise_patch(patch.value_mut(), &marks);
            } else {
                annotations::write_out(patch.value_mut(), &marks);
            }
            let Some(item) = items.get_mut(index) else { continue };
            match merge_into(item, &patch.value, &marks, options, schema) {
                Ok(kept) => gone[index] = !kept,
                Err(why) => problems.push(self.problem(format!("{}: {why}", item.resource.id()))),
            }
        }
        remove(items, &gone);
        problems
    }

    /// Merges the patch into all objects that the target means.
    fn merge_into_all(
        &self,
        schema: &Schema,
        patches: Vec<(Resource, Marks)>,
        target: &Selector,
        options: PatchOptions,
        items: &mut Vec<Item>,
    ) -> Vec<Problem> {
        let mut patches = patches.into_iter();
        let (Some((mut patch, marks)), None) = (patches.next(), patches.next()) else {
            return vec![self.problem("several patches in one file, with a target: give each its own entry")];
        };
        annotations::normalise_patch(patch.value_mut(), &marks);
        let mut problems = Vec::new();
        let mut gone = vec![false; items.len()];
        for index in selected(items, target) {
            let Some(item) = items.get_mut(index) else { continue };
            let patch_value = patch.value_mut();
            if let Value::Object(map) = patch_value {
                map.insert("apiVersion".into(), item.resource.api_version().into());
            }
            match merge_into(item, patch_value, &marks, options, schema) {
                Ok(kept) => gone[index] = !kept,
                Err(why) => problems.push(self.problem(format!("{}: {why}", item.resource.id()))),
            }
        }
        remove(items, &gone);
        if options != PatchOptions::default() && problems.is_empty() {
            problems.extend(self.twice(items));
        }
        problems
    }

    /// Objects that have become one by a change of name or kind.
    fn twice(&self, items: &[Item]) -> Option<Problem> {
        let mut seen = HashSet::with_capacity(items.len());
        let twice = items.iter().find(|item| !seen.insert(item.id()))?;
        Some(self.problem(format!("there would be two objects {}", twice.resource.id())))
    }

    fn operations(
        &self,
        operations: &[json::Operation],
        target: Option<&Selector>,
        remember: bool,
        items: &mut [Item],
    ) -> Vec<Problem> {
        let Some(target) = target else {
            let message = "a JSON 6902 patch needs a target: it does not say itself which object it is for";
            return vec![self.problem(message)];
        };
        let mut problems = Vec::new();
        for index in selected(items, target) {
            let Some(item) = items.get_mut(index) else { continue };
            if remember {
                item.remember();
            }
            item.marks.forget();
            let id = item.resource.id();
            let annotated = !item.previous.is_empty();
            let done = json::apply(item.resource.value_mut(), operations, annotated);
            let done = done
                .and_then(|()| annotations::after_operations(item.resource.value_mut(), &item.marks))
                .and_then(|()| if is_object(&item.resource) { Ok(()) } else { Err(NO_OBJECT.to_owned()) });
            if let Err(why) = done {
                problems.push(self.problem(format!("{id}: {why}")));
            }
        }
        problems
    }
}

fn remove(items: &mut Vec<Item>, gone: &[bool]) {
    if gone.contains(&true) {
        let mut gone = gone.iter();
        items.retain(|_| gone.next() != Some(&true));
    }
}

/// Whether what a patch left is still an object.
fn is_object(resource: &Resource) -> bool {
    !resource.kind().is_empty() && !resource.name().is_empty()
}

/// The objects that a target means, by the names they have or had at first.
pub(crate) fn selected(items: &[Item], target: &Selector) -> Vec<usize> {
    let means = |item: &Item| {
        let (now, first) = (item.id(), item.previous.first());
        let first = first.unwrap_or(&now);
        // What is outside namespaces has one that no name fits but `.*`.
        let of = |id: &Id| if id.namespace.is_empty() { CLUSTER.to_owned() } else { id.namespace.clone() };
        let namespaces = [of(first), of(&now)];
        target.selects(&item.resource, &[&first.name, &now.name], &[&namespaces[0], &namespaces[1]])
    };
    items.iter().enumerate().filter(|(_, item)| means(item)).map(|(index, _)| index).collect()
}

/// The namespace that the reference gives to what is outside namespaces, for targets.
const CLUSTER: &str = "_non_namespaceable_";

/// The one object that a patch without a target names.
fn only_match(items: &[Item], gone: &[bool], patch: &Resource) -> Result<usize, String> {
    let id = Id::of(patch);
    let named = |item: &Item| {
        item.resource.name() == id.name || item.previous.iter().any(|previous| previous.name == id.name)
    };
    let mut found = items
        .iter()
        .zip(gone)
        .enumerate()
        .filter(|(_, (item, gone))| !**gone && named(item) && item.is_or_was(&id))
        .map(|(index, _)| index);
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
fn merge_into(
    item: &mut Item,
    patch: &Value,
    marks: &Marks,
    options: PatchOptions,
    schema: &Schema,
) -> Result<bool, String> {
    let resource = &item.resource;
    let [kind, name] = [resource.kind(), resource.name()].map(|text| Value::String(text.into()));
    let namespace = resource.namespace().map(str::to_owned);
    if options != PatchOptions::default() {
        item.remember();
    }
    let value = item.resource.value_mut();
    if !strategic::merge(value, patch, schema, &mut item.marks, marks)? {
        return Ok(false);
    }
    let object = value.as_object_mut().ok_or(NO_OBJECT)?;
    if !options.allow_kind_change {
        object.insert("kind".into(), kind);
    }
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    let metadata = metadata.as_object_mut().ok_or("metadata is not a mapping")?;
    if !options.allow_name_change {
        metadata.insert("name".into(), name);
    }
    match namespace {
        Some(namespace) => metadata.insert("namespace".into(), Value::String(namespace)),
        None => metadata.shift_remove("namespace"),
    };
    if too_large(value) {
        return Err("makes the object too deep or too large".into());
    }
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

#[cfg(test)]
mod tests;

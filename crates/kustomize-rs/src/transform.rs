//! The changes of one kustomization to everything it includes, in the order of the reference.

use std::collections::HashMap;
use std::sync::Arc;

use crate::build::{Builder, Place};
use crate::config::Config;
use crate::error::Position;
use crate::field_path::Field;
use crate::images::Replacement as ImageReplacement;
use crate::item::{Id, Item};
use crate::kustomization::{Image, Kustomization, Located, Patch, Replica};
use crate::names::{self, Side};
use crate::namespace::{Move, Subjects};
use crate::{Problem, ProblemKind, labels, patch, replacement, replicas, shared};

impl Builder<'_> {
    /// Applies what the kustomization says to everything it includes.
    pub(crate) fn transform(
        &mut self,
        place: Place<'_>,
        kustomization: &Kustomization,
        config: &Arc<Config>,
        items: &mut Vec<Item>,
    ) {
        let it = kustomization;
        let entries = it.patches.len()
            + it.patches_strategic_merge.len()
            + it.patches_json6902.len()
            + it.labels.len()
            + it.images.len()
            + it.replicas.len()
            + it.replacements.len();
        let limit = self.reader.limits.changes;
        if entries.saturating_mul(items.len()) > limit {
            let message =
                format!("{entries} changes to each of {} objects are more than {limit}", items.len());
            self.problems.push(Problem::whole(place.file, ProblemKind::Limit, message));
            return;
        }
        for entry in &it.patches_strategic_merge {
            self.strategic_merge(place, entry, items);
        }
        if !it.patches_strategic_merge.is_empty() {
            self.note(place, "PatchStrategicMergeTransformer", items);
        }
        for entry in &it.patches {
            self.patch(place, entry, items);
            self.note(place, "PatchTransformer", items);
        }
        if let Some(namespace) = it.namespace.as_ref().filter(|namespace| !namespace.value.is_empty()) {
            let change = Move {
                namespace: &namespace.value,
                fields: &config.namespace,
                subjects: Subjects::Default,
                unset_only: false,
            };
            self.namespace(place, namespace.at, &change, items);
            self.note(place, "NamespaceTransformer", items);
        }
        if !it.name_prefix.value.is_empty() {
            self.affix(items, &it.name_prefix.value, Side::Before, &config.name_prefix);
            self.note(place, "PrefixTransformer", items);
        }
        if !it.name_suffix.value.is_empty() {
            self.affix(items, &it.name_suffix.value, Side::After, &config.name_suffix);
            self.note(place, "SuffixTransformer", items);
        }
        for entry in &it.labels {
            match labels::fields(entry, config) {
                Ok(fields) => self.write(items, &fields, &entry.pairs),
                Err(conflict) => self.problems.push(conflict.problem(place.file, entry.at)),
            }
            self.note(place, "LabelTransformer", items);
        }
        self.write(items, &config.common_labels, &it.common_labels.value);
        if !it.labels.is_empty() || !it.common_labels.value.is_empty() {
            self.note(place, "LabelTransformer", items);
        }
        self.write(items, &config.common_annotations, &it.common_annotations.value);
        if !it.common_annotations.value.is_empty() {
            self.note(place, "AnnotationsTransformer", items);
        }
        for entry in &it.patches_json6902 {
            self.operations(place, entry, items);
            self.note(place, "PatchJson6902Transformer", items);
        }
        for replica in &it.replicas {
            self.replica(place, replica, &config.replicas, items);
            self.note(place, "ReplicaCountTransformer", items);
        }
        for image in &it.images {
            self.image(place, image, &config.images, items);
            self.note(place, "ImageTagTransformer", items);
        }
        self.problems.extend(replacement::apply(&mut self.reader, place, &it.replacements, items));
        if !it.replacements.is_empty() {
            self.note(place, "ReplacementTransformer", items);
        }
        shared::settle(items);
        self.external_transformers(place, &it.transformers, items);
        shared::settle(items);
    }

    /// Changes each object; what cannot be changed is a problem of that object.
    pub(crate) fn each(
        &mut self,
        items: &mut [Item],
        change: &mut dyn FnMut(&mut Item) -> Result<(), String>,
    ) {
        for item in items {
            if let Err(why) = change(item) {
                let origin = &item.resource.origin;
                let at = Position { line: origin.line, column: 1 };
                let message = format!("{}: {why}", item.resource.id());
                self.problems.push(Problem::at(&origin.file, at, ProblemKind::Invalid, message));
            }
        }
    }

    pub(crate) fn patch(&mut self, place: Place<'_>, entry: &Patch, items: &mut Vec<Item>) {
        shared::settle(items);
        self.problems.extend(patch::apply(
            &mut self.reader,
            place,
            &self.schema,
            entry,
            items,
            &mut self.warnings,
        ));
    }

    /// One entry of `patchesJson6902`.
    pub(crate) fn operations(&mut self, place: Place<'_>, entry: &Patch, items: &mut [Item]) {
        shared::settle(items);
        self.problems.extend(patch::apply_json(&mut self.reader, place, entry, items));
    }

    /// One entry of `patchesStrategicMerge`: the path of a file, or the text of a patch.
    pub(crate) fn strategic_merge(
        &mut self,
        place: Place<'_>,
        entry: &Located<String>,
        items: &mut Vec<Item>,
    ) {
        self.problems.extend(patch::apply_merge(
            &mut self.reader,
            place,
            &self.schema,
            entry,
            items,
            &mut self.warnings,
        ));
    }

    pub(crate) fn namespace(
        &mut self,
        place: Place<'_>,
        at: Position,
        change: &Move<'_>,
        items: &mut [Item],
    ) {
        self.each(items, &mut |item| change.apply(item));
        // Objects of several namespaces may have had one name.
        let mut first: HashMap<Id, &Item> = HashMap::with_capacity(items.len());
        for item in items.iter() {
            if let Some(first) = first.insert(item.id(), item) {
                let (id, a, b) = (item.resource.id(), &first.resource.origin, &item.resource.origin);
                let message =
                    format!("namespace {}: {id} would be two objects, {a} and {b}", change.namespace);
                self.problems.push(place.problem(at, ProblemKind::Duplicate, message));
            }
        }
    }

    pub(crate) fn affix(&mut self, items: &mut [Item], text: &str, side: Side, fields: &[Field]) {
        let text: Arc<str> = text.into();
        self.each(items, &mut |item| names::affix(item, &text, side, fields));
    }

    pub(crate) fn write(&mut self, items: &mut [Item], fields: &[Field], pairs: &[(String, String)]) {
        if !pairs.is_empty() {
            self.each(items, &mut |item| labels::write(item, fields, pairs));
        }
    }

    pub(crate) fn replica(
        &mut self,
        place: Place<'_>,
        replica: &Replica,
        fields: &[Field],
        items: &mut [Item],
    ) {
        if let Err(why) = replicas::set(items, replica, fields) {
            self.problems.push(place.problem(replica.at, ProblemKind::Invalid, why));
        }
    }

    pub(crate) fn image(&mut self, place: Place<'_>, image: &Image, fields: &[Field], items: &mut [Item]) {
        match ImageReplacement::new(image) {
            Ok(replacement) => self.each(items, &mut |item| replacement.apply(item, fields)),
            Err(why) => self.problems.push(place.problem(image.at, ProblemKind::Invalid, why)),
        }
    }
}

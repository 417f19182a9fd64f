//! `generators`, `transformers` and `validators`: the built-in plugins, each configured by an object of its own. Anything
//! else would have to be started, and is refused by name.

use std::sync::Arc;

use serde_json::Value;
use yaml_span::{Mark, Node, Origin as NodeOrigin, Schema as Words, Span, Style, Value as NodeValue};

use crate::accumulate::Accumulated;
use crate::build::{Builder, Place};
use crate::config;
use crate::directories::Role;
use crate::error::Position;
use crate::field_path::Field;
use crate::finish;
use crate::history::{By, History};
use crate::item::Item;
use crate::kustomization::{Fields, Generator, GeneratorKind, Kustomization, Located, Patch};
use crate::marks::Marks;
use crate::names::Side;
use crate::namespace::{Move, Subjects};
use crate::read;
use crate::value_add::Target;
use crate::{Problem, ProblemKind, Resource, annotations, replacement};

/// The `apiVersion` of the configuration of a built-in plugin.
const BUILTIN: &str = "builtin";
/// What a validator may add to objects.
const VALIDATED_BY: &str = "validated-by";

impl Builder<'_> {
    /// The configurations that a list names: documents written in place first, then those of files and directories.
    fn configurations(&mut self, place: Place<'_>, entries: &[Located<String>]) -> Vec<Item> {
        let mut paths = Vec::new();
        let mut into = Accumulated::default();
        for entry in entries {
            match self.inline(place, entry) {
                Some(objects) => into.items.extend(objects.into_iter().map(|it| {
                    let mut item = Item::new(it, Marks::default());
                    item.history = History::read(&self.own_file(place));
                    item
                })),
                None => paths.push(entry.clone()),
            }
        }
        self.paths(place, Role::Resources, &paths, &mut into);
        into.items
    }

    /// What is noted about what a plugin makes or changes.
    fn note_of(&self, configuration: &Item) -> Option<Arc<str>> {
        let file = configuration.history.file().filter(|_| self.metadata.notes())?;
        Some(By::object(&configuration.resource).note(file))
    }

    /// The objects that an entry itself is; `None` for a path.
    fn inline(&mut self, place: Place<'_>, entry: &Located<String>) -> Option<Vec<Resource>> {
        let documents = self.reader.parse_as(place.file, &entry.value, Words::Kustomize).ok()?;
        let mut objects = read::objects(place.file, &documents, Words::Kustomize).ok()?;
        for (object, marks) in &mut objects {
            object.origin.line = entry.at.line;
            annotations::write_out(object.value_mut(), marks);
        }
        Some(objects.into_iter().map(|(object, _)| object).collect()).filter(|it: &Vec<_>| !it.is_empty())
    }

    /// The generators that are configured by objects; each with the file it is written in.
    pub(crate) fn external_generators(
        &mut self,
        place: Place<'_>,
        entries: &[Located<String>],
    ) -> Vec<External> {
        let mut generators = Vec::new();
        for item in self.configurations(place, entries) {
            let note = self.note_of(&item);
            let resource = item.resource;
            let file = resource.origin.file.clone();
            let kind = match (resource.api_version(), resource.kind()) {
                (BUILTIN, "ConfigMapGenerator") => GeneratorKind::ConfigMap,
                (BUILTIN, "SecretGenerator") => GeneratorKind::Secret,
                (BUILTIN, "IAMPolicyGenerator") => {
                    match account(&resource) {
                        Ok(account) => {
                            generators.push(External { file, made: Brought::Object(account), note })
                        }
                        Err(problems) => self.problems.extend(problems),
                    }
                    continue;
                }
                _ => {
                    self.problems.push(refusal(&resource, "generator"));
                    continue;
                }
            };
            let node = node(&resource);
            let mut fields = Fields::lenient(&file);
            let Some(mut generator) = fields.generator(&node, kind) else { continue };
            if generator.name.is_empty() {
                generator.name = resource.name().to_owned();
            }
            if generator.namespace.is_empty() {
                generator.namespace = resource.namespace().unwrap_or_default().to_owned();
            }
            match fields.done(generator) {
                Ok(generator) => {
                    generators.push(External { file, made: Brought::Data(Box::new(generator)), note });
                }
                Err(problems) => self.problems.extend(problems),
            }
        }
        generators
    }

    pub(crate) fn external_transformers(
        &mut self,
        place: Place<'_>,
        entries: &[Located<String>],
        items: &mut Vec<Item>,
    ) {
        if entries.is_empty() {
            return;
        }
        for item in self.configurations(place, entries) {
            if let Err(problems) = self.run(place, &item.resource, items) {
                self.problems.extend(problems);
            }
            if let Some(note) = self.note_of(&item) {
                items.iter_mut().for_each(|changed| changed.history.changed(&note));
            }
        }
    }

    /// Runs `validators`, which may change nothing but one label.
    pub(crate) fn validate(
        &mut self,
        place: Place<'_>,
        kustomization: &Kustomization,
        items: &mut Vec<Item>,
    ) {
        for item in self.configurations(place, &kustomization.validators) {
            let resource = item.resource;
            let before = items.clone();
            if let Err(problems) = self.run(place, &resource, items) {
                self.problems.extend(problems);
                continue;
            }
            let same = before.len() == items.len()
                && before.iter().zip(items.iter()).all(|(a, b)| is_valid(&a.resource, &b.resource));
            if !same {
                let message = format!("validator {} changes objects, which it must not", resource.name());
                let at = Position { line: resource.origin.line, column: 1 };
                self.problems.push(Problem::at(&resource.origin.file, at, ProblemKind::Invalid, message));
            }
        }
    }

    fn run(
        &mut self,
        place: Place<'_>,
        resource: &Resource,
        items: &mut Vec<Item>,
    ) -> Result<(), Vec<Problem>> {
        if resource.api_version() != BUILTIN {
            return Err(vec![refusal(resource, "transformer")]);
        }
        let file = resource.origin.file.clone();
        // Its paths are relative to the kustomization, its problems are in the file that configures it.
        let place = Place { dir: place.dir, file: &file };
        let root = node(resource);
        let at = Position { line: resource.origin.line, column: 1 };
        let mut fields = Fields::lenient(&file);
        let specs = specs(&mut fields, &root);
        let usual = |specs: &Option<Vec<Field>>| specs.clone().unwrap_or_default();
        match resource.kind() {
            "AnnotationsTransformer" => {
                let pairs = pairs(&mut fields, &root, "annotations");
                fields.done(())?;
                self.write(items, &usual(&specs), &pairs);
            }
            "LabelTransformer" => {
                let pairs = pairs(&mut fields, &root, "labels");
                fields.done(())?;
                self.write(items, &usual(&specs), &pairs);
            }
            "NamespaceTransformer" => {
                let (subjects, unset_only) = namespace_options(&mut fields, &root);
                fields.done(())?;
                if let Some(namespace) = resource.namespace() {
                    let fields = usual(&specs);
                    let change = Move { namespace, fields: &fields, subjects, unset_only };
                    self.namespace(place, at, &change, items);
                }
            }
            kind @ ("PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer") => {
                let prefix = text(&mut fields, &root, "prefix");
                let suffix = text(&mut fields, &root, "suffix");
                fields.done(())?;
                let Some(specs) = specs else {
                    let message = format!("{kind} needs fieldSpecs: the fields that hold the name");
                    return Err(vec![place.problem(at, ProblemKind::Invalid, message)]);
                };
                if kind != "SuffixTransformer" {
                    self.affix(items, &prefix, Side::Before, &specs);
                }
                if kind != "PrefixTransformer" {
                    self.affix(items, &suffix, Side::After, &specs);
                }
            }
            "ImageTagTransformer" => {
                let image = part(&mut fields, &root, "imageTag", |fields, it| fields.image(it));
                fields.done(())?;
                self.image(place, &image.unwrap_or_default(), &usual(&specs), items);
            }
            "ReplicaCountTransformer" => {
                let replica = part(&mut fields, &root, "replica", |fields, it| fields.replica(it));
                fields.done(())?;
                self.replica(place, &replica.unwrap_or_default(), &usual(&specs), items);
            }
            kind @ ("PatchTransformer" | "PatchJson6902Transformer") => {
                let patch: Option<Patch> = fields.patch(&root);
                fields.done(())?;
                match patch {
                    Some(patch) if kind == "PatchTransformer" => self.patch(place, &patch, items),
                    Some(patch) => self.operations(place, &patch, items),
                    None => {}
                }
            }
            "PatchStrategicMergeTransformer" => {
                let (mut paths, mut inline) = (Vec::new(), None);
                for (field, _, value) in fields.entries(&root, "", &["paths", "patches"], &[]) {
                    match field {
                        "paths" => paths = fields.strings(value, field),
                        _ => inline = fields.located(value, field),
                    }
                }
                fields.done(())?;
                for entry in paths.into_iter().chain(inline.filter(|it| !it.value.is_empty())) {
                    self.strategic_merge(place, &entry, items);
                }
            }
            "ReplacementTransformer" => {
                let found = fields.quietly(&root, &["replacements"]).pop();
                let entries =
                    found.map(|(field, _, value)| fields.list(value, field, Fields::replacement_entry));
                fields.done(())?;
                let entries = entries.unwrap_or_default();
                self.problems.extend(replacement::apply(&mut self.reader, place, &entries, items));
            }
            "ValueAddTransformer" => self.value_add(place, &root, fields, items)?,
            "HashTransformer" => self.problems.extend(finish::add_hashes(items)),
            _ => return Err(vec![refusal(resource, "transformer")]),
        }
        Ok(())
    }
}

/// A generator that is configured by an object.
pub(crate) struct External {
    /// The file that configures it.
    pub(crate) file: String,
    pub(crate) made: Brought,
    /// What is noted about what it makes.
    pub(crate) note: Option<Arc<str>>,
}

/// What a generator makes.
pub(crate) enum Brought {
    /// What this entry says.
    Data(Box<Generator>),
    /// This.
    Object(Resource),
}

/// What IAMPolicyGenerator makes: an account of the cluster that acts as one of the cloud.
fn account(resource: &Resource) -> Result<Resource, Vec<Problem>> {
    let root = node(resource);
    let mut fields = Fields::lenient(&resource.origin.file);
    let cloud = text(&mut fields, &root, "cloud");
    if cloud != "gke" {
        fields.wrong(&root, ProblemKind::Invalid, format!("cloud is {cloud:?}, it must be gke"));
    }
    let mut both = |part: &str, name: &str| {
        let found = fields.quietly(&root, &[part]).pop();
        found.map(|(_, _, value)| text(&mut fields, value, name)).unwrap_or_default()
    };
    let (name, namespace) = (both("kubernetesService", "name"), both("kubernetesService", "namespace"));
    let (account, project) = (both("serviceAccount", "name"), both("serviceAccount", "projectId"));
    let mut metadata = serde_json::json!({
        "annotations": {"iam.gke.io/gcp-service-account": format!("{account}@{project}.iam.gserviceaccount.com")},
        "name": name,
    });
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    let value = serde_json::json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
    fields.done(Resource { value: value.into(), ..resource.clone() })
}

impl Builder<'_> {
    fn value_add(
        &mut self,
        place: Place<'_>,
        root: &Node,
        mut fields: Fields<'_>,
        items: &mut [Item],
    ) -> Result<(), Vec<Problem>> {
        let mut value = text(&mut fields, root, "value").trim().to_owned();
        if value.is_empty() {
            value = place.dir.rsplit('/').next().unwrap_or_default().to_owned();
        }
        let targets_of = |fields: &mut Fields<'_>, root: &Node| {
            let found = fields.quietly(root, &["targets"]).pop();
            found.map(|(field, _, value)| fields.list(value, field, Target::read)).unwrap_or_default()
        };
        let mut targets = targets_of(&mut fields, root);
        let beside = text(&mut fields, root, "targetFilePath");
        if !beside.is_empty() {
            let entry = Located { value: beside, at: read::position(root) };
            let (file, document) = self.settings_file(place, &entry)?;
            let mut fields = Fields::lenient(&file);
            if let Some(document) = document {
                targets.extend(targets_of(&mut fields, &document.root));
            }
            fields.done(())?;
        }
        if targets.is_empty() {
            fields.wrong(root, ProblemKind::Invalid, "ValueAddTransformer needs targets");
        }
        fields.done(())?;
        for target in targets {
            target
                .apply(items, &value)
                .map_err(|why| vec![place.problem(target.at, ProblemKind::Invalid, why)])?;
        }
        Ok(())
    }
}

fn refusal(resource: &Resource, what: &str) -> Problem {
    let at = Position { line: resource.origin.line, column: 1 };
    let (api_version, kind, name) = (resource.api_version(), resource.kind(), resource.name());
    let message = if api_version == BUILTIN {
        format!("{kind} is not a built-in {what} that is supported here")
    } else {
        format!(
            "{what} {name} ({api_version} {kind}) is a program or container to be started, which is refused: \
             use a built-in {what} (apiVersion: builtin), or commit what it makes"
        )
    };
    Problem::at(&resource.origin.file, at, ProblemKind::Unsupported, message)
}

fn is_valid(before: &Resource, after: &Resource) -> bool {
    if before.value == after.value {
        return true;
    }
    let mut value = (*after.value).clone();
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        let empty = match metadata.get_mut("labels") {
            Some(Value::Object(labels)) => {
                labels.shift_remove(VALIDATED_BY);
                labels.is_empty()
            }
            _ => false,
        };
        if empty {
            metadata.shift_remove("labels");
        }
    }
    value == *before.value
}

fn specs(fields: &mut Fields<'_>, root: &Node) -> Option<Vec<Field>> {
    let found = fields.quietly(root, &["fieldSpecs"]).pop();
    found.map(|(field, _, value)| config::list_of(fields, value, field))
}

fn pairs(fields: &mut Fields<'_>, root: &Node, name: &str) -> Vec<(String, String)> {
    let found = fields.quietly(root, &[name]).pop();
    found.map(|(field, _, value)| fields.pairs(value, field)).unwrap_or_default()
}

fn text(fields: &mut Fields<'_>, root: &Node, name: &str) -> String {
    let found = fields.quietly(root, &[name]).pop();
    found.and_then(|(field, _, value)| fields.string(value, field)).unwrap_or_default()
}

fn part<T>(
    fields: &mut Fields<'_>,
    root: &Node,
    name: &str,
    read: impl FnOnce(&mut Fields<'_>, &Node) -> Option<T>,
) -> Option<T> {
    let found = fields.quietly(root, &[name]).pop();
    found.and_then(|(_, _, value)| read(fields, value))
}

fn namespace_options(fields: &mut Fields<'_>, root: &Node) -> (Subjects, bool) {
    let (mut subjects, mut unset_only) = (Subjects::Default, false);
    for (field, _, value) in fields.quietly(root, &["setRoleBindingSubjects", "unsetOnly"]) {
        if field == "unsetOnly" {
            unset_only = fields.boolean(value, field);
            continue;
        }
        subjects = match fields.string(value, field).unwrap_or_default().as_str() {
            "" | "defaultOnly" => Subjects::Default,
            "allServiceAccounts" => Subjects::All,
            "none" => Subjects::Untouched,
            other => {
                let message =
                    format!("{field} is {other:?}, it must be defaultOnly, allServiceAccounts or none");
                fields.wrong(value, ProblemKind::Invalid, message);
                Subjects::Default
            }
        };
    }
    (subjects, unset_only)
}

/// An object as a tree whose parts are all where the object begins: its own places are gone.
fn node(resource: &Resource) -> Node {
    let line = usize::try_from(resource.origin.line).unwrap_or(1);
    tree(&resource.value, Mark { offset: 0, line, column: 1 })
}

fn tree(value: &Value, at: Mark) -> Node {
    let value = match value {
        Value::Null => NodeValue::Null,
        Value::Bool(value) => NodeValue::Bool(*value),
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() => NodeValue::Float { value, source: number.to_string().into() },
            _ => NodeValue::Int(number.clone()),
        },
        Value::String(text) => NodeValue::String(text.clone()),
        Value::Array(items) => NodeValue::Sequence(items.iter().map(|item| tree(item, at)).collect()),
        Value::Object(map) => {
            let entry =
                |(key, value): (&String, &Value)| (tree(&Value::String(key.clone()), at), tree(value, at));
            NodeValue::Mapping(map.iter().map(entry).collect())
        }
    };
    Node {
        span: Span::at(at),
        value,
        style: Style::DoubleQuoted,
        tag: None,
        anchor: None,
        origin: NodeOrigin::Written,
    }
}

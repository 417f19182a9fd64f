//! `buildMetadata`: notes where each object came from and what changed it, and writes that into annotations at the end. The
//! notes stand beside the objects while these are built, so that no change of annotations can lose them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::item::Item;
use crate::kustomization::Located;
use crate::{Resource, emit};

pub(crate) const ORIGIN: &str = "config.kubernetes.io/origin";
pub(crate) const CHANGES: &str = "alpha.config.kubernetes.io/transformations";
const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// What `kubectl kustomize` says it is.
const MANAGER: &str = "kustomize-(devel)";

/// Where an object came from and what changed it.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    origin: Option<Origin>,
    changes: Vec<Arc<str>>,
}

#[derive(Debug, Clone)]
enum Origin {
    /// A file, by its path from the directory of the build.
    File(Arc<str>),
    /// A generator, as the annotation has it.
    Made(Arc<str>),
}

/// What is asked for by `buildMetadata`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    origin: bool,
    changes: bool,
    managed_by: bool,
}

impl Wanted {
    /// Words that mean nothing are passed over, as in the reference.
    pub(crate) fn of(options: &[Located<String>]) -> Self {
        let has = |name: &str| options.iter().any(|option| option.value == name);
        Self {
            origin: has("originAnnotations"),
            changes: has("transformerAnnotations"),
            managed_by: has("managedByLabel"),
        }
    }

    /// Whether notes must be taken.
    pub(crate) fn notes(self) -> bool {
        self.origin || self.changes
    }
}

/// What made or changed an object: the plugin and the file that configures it.
pub(crate) struct By<'a> {
    pub(crate) api_version: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
}

impl<'a> By<'a> {
    /// A field of the kustomization.
    pub(crate) fn field(kind: &'a str) -> Self {
        Self { api_version: "builtin", kind, name: "", namespace: "" }
    }

    /// An object that configures a plugin.
    pub(crate) fn object(object: &'a Resource) -> Self {
        Self {
            api_version: object.api_version(),
            kind: object.kind(),
            name: object.name(),
            namespace: object.namespace().unwrap_or_default(),
        }
    }

    /// The note, for a configuration in a file; `file` is its path from the directory of the build.
    pub(crate) fn note(&self, file: &str) -> Arc<str> {
        let mut note = line("configuredIn", file);
        note.push_str("configuredBy:\n");
        let parts = [
            ("apiVersion", self.api_version),
            ("kind", self.kind),
            ("name", self.name),
            ("namespace", self.namespace),
        ];
        for (field, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
            note.push_str("  ");
            note.push_str(&line(field, text));
        }
        note.into()
    }
}

fn line(field: &str, text: &str) -> String {
    let mut line = String::new();
    emit::document(&json!({ field: text }), &mut line);
    line
}

impl History {
    /// The object is of a file.
    pub(crate) fn read(path: &str) -> Self {
        Self { origin: Some(Origin::File(path.into())), changes: Vec::new() }
    }

    /// The object was made.
    pub(crate) fn made(note: Arc<str>) -> Self {
        Self { origin: Some(Origin::Made(note)), changes: Vec::new() }
    }

    /// The path of the file it is of.
    pub(crate) fn file(&self) -> Option<&str> {
        match &self.origin {
            Some(Origin::File(path)) => Some(path),
            _ => None,
        }
    }

    /// A plugin changed it, or made it where nothing else is known.
    pub(crate) fn changed(&mut self, note: &Arc<str>) {
        match self.origin {
            Some(_) => self.changes.push(note.clone()),
            None => self.origin = Some(Origin::Made(note.clone())),
        }
    }

    /// A generated object goes into one that is there: what happened to that stays, and its origin too where they are
    /// merged.
    pub(crate) fn succeed(&mut self, old: &Self, merged: bool) {
        self.changes.clone_from(&old.changes);
        if merged && old.origin.is_some() {
            self.origin.clone_from(&old.origin);
        }
    }
}

/// The path of `written`, seen from a path that may begin with `..`, by the text alone.
pub(crate) fn join(from: &str, written: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in from.split('/').chain(written.split('/')) {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

/// Writes what is asked for into the objects.
pub(crate) fn write(items: &mut [Item], wanted: Wanted) {
    for item in items {
        let history = std::mem::take(&mut item.history);
        let mut notes: Vec<(&str, String)> = Vec::new();
        if wanted.origin
            && let Some(origin) = &history.origin
        {
            let text = match origin {
                Origin::File(path) => line("path", path),
                Origin::Made(note) => note.to_string(),
            };
            notes.push((ORIGIN, text));
        }
        if wanted.changes && !history.changes.is_empty() {
            notes.push((CHANGES, history.changes.iter().map(|change| listed(change)).collect()));
        }
        put(item, "annotations", notes);
        if wanted.managed_by {
            put(item, "labels", vec![(MANAGED_BY, MANAGER.to_owned())]);
        }
    }
}

/// A note as an item of a list.
fn listed(note: &str) -> String {
    note.lines()
        .enumerate()
        .map(|(at, line)| format!("{}{line}\n", if at == 0 { "- " } else { "  " }))
        .collect()
}

fn put(item: &mut Item, field: &str, pairs: Vec<(&str, String)>) {
    if pairs.is_empty() {
        return;
    }
    let Some(Value::Object(metadata)) = item.resource.value_mut().get_mut("metadata") else { return };
    let map = metadata.entry(field).or_insert_with(|| Value::Object(Map::new()));
    if map.is_null() {
        *map = Value::Object(Map::new());
    }
    if let Value::Object(map) = map {
        map.extend(pairs.into_iter().map(|(key, text)| (key.to_owned(), Value::String(text))));
    }
}

#[cfg(test)]
mod tests {
    use super::{By, History, join, listed};
    use crate::{MemoryFiles, Options, build, to_yaml};

    #[test]
    fn annotations_tell_where_an_object_is_from_and_what_changed_it() {
        let cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {config.kubernetes.io/origin: old}}\n";
        let build = |metadata: &str| {
            let files: MemoryFiles = [
                ("base/kustomization.yaml", "resources: [cm.yaml]\nnamePrefix: p-\n".to_owned()),
                ("base/cm.yaml", cm.to_owned()),
                ("top/kustomization.yaml", format!("resources: [../base]\nnamespace: ns\n{metadata}")),
            ]
            .into_iter()
            .collect();
            to_yaml(&build(&files, "top", &Options::default()).expect("builds"))
        };
        let all = build("buildMetadata: [originAnnotations, transformerAnnotations, managedByLabel]\n");
        let expected = "  annotations:
    alpha.config.kubernetes.io/transformations: |
      - configuredIn: ../base/kustomization.yaml
        configuredBy:
          apiVersion: builtin
          kind: PrefixTransformer
      - configuredIn: kustomization.yaml
        configuredBy:
          apiVersion: builtin
          kind: NamespaceTransformer
    config.kubernetes.io/origin: |
      path: ../base/cm.yaml
  labels:
    app.kubernetes.io/managed-by: kustomize-(devel)
";
        assert!(all.contains(expected), "{all}");
        // What an earlier build has written does not stay.
        assert!(!build("").contains("annotations"));
    }

    #[test]
    fn paths_are_joined_by_their_text() {
        assert_eq!(join("../base", "cm.yaml"), "../base/cm.yaml");
        assert_eq!(join("../base", "../other/./x"), "../other/x");
        assert_eq!(join("", "../../overlays/dev"), "../../overlays/dev");
    }

    #[test]
    fn notes_name_the_plugin_and_its_file() {
        let note = By::field("PrefixTransformer").note("../base/kustomization.yaml");
        let expected = "configuredIn: ../base/kustomization.yaml\nconfiguredBy:\n  apiVersion: builtin\n  kind: PrefixTransformer\n";
        assert_eq!(&*note, expected);
        assert!(
            listed(&note).starts_with("- configuredIn: ../base/kustomization.yaml\n  configuredBy:\n    api")
        );
        let mut history = History::default();
        history.changed(&note);
        assert!(history.changes.is_empty() && history.origin.is_some());
        history.changed(&note);
        assert_eq!(history.changes.len(), 1);
    }
}

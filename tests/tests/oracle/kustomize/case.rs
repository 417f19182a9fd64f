//! One composed case: a small tree of kustomizations over directories of the corpus, kept as values so that it can be
//! made smaller, and written out for both programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kustomize_rs::{DirEntry, EntryKind, Files, FilesError, MemoryFiles};
use serde_json::{Value, json};

use super::random::Random;

/// The directory that is built.
pub(super) const TOP: &str = "top";
/// Where the corpus is in the tree of a case.
pub(super) const CORPUS: &str = "corpus";

/// A tree of files to be written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Case {
    /// Fields of a kustomization, by its directory.
    pub(super) kustomizations: BTreeMap<String, Value>,
    /// Documents of a YAML file, by its path.
    pub(super) documents: BTreeMap<String, Vec<Value>>,
    /// Any other file.
    pub(super) texts: BTreeMap<String, String>,
    /// Kustomizations are written as JSON, not in block style.
    pub(super) json: bool,
}

impl Case {
    /// Adds to a field of a kustomization: lists grow, maps get more keys, anything else is set.
    pub(super) fn add(&mut self, dir: &str, field: &str, value: Value) {
        let fields = self.kustomizations.entry(dir.to_owned()).or_insert_with(|| json!({}));
        let fields = fields.as_object_mut().expect("a kustomization is a map");
        match (fields.get_mut(field), value) {
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (Some(Value::Object(map)), Value::Object(more)) => map.extend(more),
            (_, value) => {
                fields.insert(field.to_owned(), value);
            }
        }
    }

    /// All files, by path.
    pub(super) fn files(&self) -> BTreeMap<String, String> {
        let mut files = self.texts.clone();
        for (dir, fields) in &self.kustomizations {
            files.insert(format!("{dir}/kustomization.yaml"), text(fields, self.json));
        }
        for (path, documents) in &self.documents {
            let texts: Vec<String> = documents.iter().map(|document| text(document, false)).collect();
            files.insert(path.clone(), texts.join("---\n"));
        }
        files
    }

    /// Takes away a field of a kustomization, or an item of it, but no resources; false when there is none left.
    pub(super) fn drop_one(&mut self, random: &mut Random) -> bool {
        let mut fields: Vec<&mut Value> = self.kustomizations.values_mut().collect();
        let mut places = Vec::new();
        for (at, fields) in fields.iter().enumerate() {
            let keys = fields.as_object().into_iter().flat_map(|fields| fields.keys());
            let keys = keys.filter(|key| !matches!(key.as_str(), "resources" | "apiVersion" | "kind"));
            places.extend(keys.map(|key| (at, key.clone())));
        }
        let Some((at, key)) = random.some(&places) else { return false };
        match fields[*at].get_mut(key) {
            Some(Value::Array(list)) if list.len() > 1 => {
                list.remove(random.below(list.len()));
            }
            _ => {
                fields[*at].as_object_mut().and_then(|fields| fields.shift_remove(key));
            }
        }
        true
    }

    /// Writes all files below `root`, which holds nothing else but the corpus.
    pub(super) fn write(&self, root: &Path) -> std::io::Result<()> {
        for entry in fs::read_dir(root)? {
            let path = entry?.path();
            if !path.ends_with(CORPUS) {
                fs::remove_dir_all(path)?;
            }
        }
        for (path, text) in self.files() {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(root))?;
            fs::write(path, text)?;
        }
        Ok(())
    }
}

fn text(value: &Value, json: bool) -> String {
    if json {
        serde_json::to_string_pretty(value).expect("values print") + "\n"
    } else {
        serde_yaml::to_string(value).expect("values print")
    }
}

/// The tree that our side reads: the files of a case, and projects of the corpus below [`CORPUS`].
pub(super) struct Tree<'a> {
    pub(super) own: MemoryFiles,
    pub(super) projects: &'a BTreeMap<String, MemoryFiles>,
}

impl Tree<'_> {
    /// The tree that holds a path, and the path in it.
    fn find<'a>(&'a self, path: &'a str) -> Option<(&'a MemoryFiles, &'a str)> {
        let Some(rest) = path.strip_prefix("corpus/") else { return Some((&self.own, path)) };
        let (project, rest) = rest.split_once('/').unwrap_or((rest, ""));
        Some((self.projects.get(project)?, rest))
    }
}

impl Files for Tree<'_> {
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError> {
        if path == CORPUS {
            return Ok(Some(EntryKind::Directory));
        }
        self.find(path).map_or(Ok(None), |(files, path)| files.entry(path))
    }

    fn read(&self, path: &str) -> Result<std::sync::Arc<[u8]>, FilesError> {
        let missing = || FilesError::NotFound { path: path.into() };
        self.find(path).ok_or_else(missing).and_then(|(files, path)| files.read(path))
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        let missing = || FilesError::NotFound { path: path.into() };
        self.find(path).ok_or_else(missing).and_then(|(files, path)| files.list(path))
    }
}

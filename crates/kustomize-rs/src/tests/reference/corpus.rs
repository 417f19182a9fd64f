//! The cases of the corpus. They are read, never copied into this repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::say;
use crate::tests::load;
use crate::{EntryKind, Files as _, MemoryFiles};

/// What the reference did.
pub(super) enum Expected {
    /// It printed this, and told of these fields of the past, sorted.
    Output(String, Vec<String>),
    /// It failed.
    Failure,
}

/// One directory to build.
pub(super) struct Case {
    /// `PROJECT/DIRECTORY`, the name in `docs/kustomize.md` too.
    pub(super) name: String,
    /// The tree of its whole project.
    pub(super) files: Arc<MemoryFiles>,
    /// The directory in the tree.
    pub(super) dir: String,
    /// What must come of it.
    pub(super) expected: Expected,
}

/// The folder of the corpus; `None`, said aloud, where there is none.
pub(super) fn find() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/test-data");
    let data = std::env::var_os("KCP_TEST_DATA").map_or_else(default, PathBuf::from);
    let found = data.join("kustomize/micro").is_dir();
    if !found {
        let required = std::env::var_os("KCP_REQUIRE_TEST_DATA").is_some_and(|value| value == "1");
        assert!(!required, "the corpus is required and not at $KCP_TEST_DATA");
        say("skipped: no kustomize corpus at $KCP_TEST_DATA");
    }
    found.then_some(data)
}

/// What the names of the cases must contain; without it all are taken.
fn filter() -> Option<String> {
    std::env::var("KCP_KUSTOMIZE_CASE").ok().filter(|value| !value.is_empty())
}

/// Whether only some cases are looked at.
pub(super) fn filtered() -> bool {
    filter().is_some()
}

fn wanted(name: &str) -> bool {
    filter().is_none_or(|part| name.contains(&part))
}

/// The small cases of our own: `micro`, which build, or `fail`, which do not.
pub(super) fn small(data: &Path, set: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for folder in folders(&data.join("kustomize").join(set)) {
        let name = format!("{set}/{}", file_name(&folder));
        if !wanted(&name) {
            continue;
        }
        let expected = match set {
            "fail" => Expected::Failure,
            _ => {
                let path = |end: &str| data.join(format!("kustomize-expected/{name}.{end}"));
                let warned = std::fs::read_to_string(path("stderr")).unwrap_or_default();
                let text = std::fs::read_to_string(path("yaml")).expect("an output for each case");
                Expected::Output(text, old_fields(&warned))
            }
        };
        let dir = if folder.join("overlay").is_dir() { "overlay" } else { "" };
        cases.push(Case { name, files: Arc::new(load(&folder)), dir: dir.into(), expected });
    }
    cases
}

/// The directories of real projects.
pub(super) fn real(data: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for project in folders(&data.join("kustomize")) {
        let name = file_name(&project);
        let expected = data.join("kustomize-expected").join(&name);
        if matches!(name.as_str(), "micro" | "fail") || !expected.is_dir() {
            continue;
        }
        let outputs = load(&expected);
        let mut files = None;
        for path in paths(&outputs) {
            let Some(dir) = path.strip_suffix(".yaml") else { continue };
            let name = format!("{name}/{dir}");
            if !wanted(&name) {
                continue;
            }
            let text = outputs.read(&path).expect("a file");
            let warned = outputs.read(&format!("{dir}.stderr")).unwrap_or_default();
            let warned = old_fields(&String::from_utf8_lossy(&warned));
            let expected = Expected::Output(String::from_utf8_lossy(&text).into_owned(), warned);
            // Most of the time goes into reading the tree: once a project, and only if one of its cases is wanted.
            let files = files.get_or_insert_with(|| Arc::new(load(&project))).clone();
            cases.push(Case { name, files, dir: dir.into(), expected });
        }
    }
    cases
}

/// The fields that warnings of the reference name: the first word of each in single quotes.
fn old_fields(warnings: &str) -> Vec<String> {
    let mut fields: Vec<String> = warnings
        .lines()
        .filter_map(|line| Some(line.split_once("# Warning: '")?.1.split_once('\'')?.0.into()))
        .collect();
    fields.sort();
    fields
}

/// All files of a tree, sorted.
fn paths(tree: &MemoryFiles) -> Vec<String> {
    let (mut open, mut paths) = (vec![String::new()], Vec::new());
    while let Some(dir) = open.pop() {
        for entry in tree.list(&dir).expect("a directory") {
            let path = if dir.is_empty() { entry.name } else { format!("{dir}/{}", entry.name) };
            match entry.kind {
                EntryKind::Directory => open.push(path),
                EntryKind::File => paths.push(path),
            }
        }
    }
    paths.sort();
    paths
}

/// The folders in a folder, by name.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).expect("a readable corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

impl Case {
    /// The fields that the kustomizations of this case use, its own and those that it includes; found by their looks,
    /// which is enough to see what the misses have in common.
    pub(super) fn features(&self) -> Vec<String> {
        let (mut open, mut seen, mut features) = (vec![self.dir.clone()], Vec::new(), Vec::new());
        while let Some(dir) = open.pop() {
            if seen.contains(&dir) {
                continue;
            }
            let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
            let text = names.iter().find_map(|name| self.files.read(&crate::path::join(&dir, name)).ok());
            for line in String::from_utf8_lossy(&text.unwrap_or_default()).lines() {
                let word = line.trim_start_matches([' ', '-']).trim_matches(['"', '\'']);
                if let Ok(path) = crate::path::resolve(&dir, word)
                    && matches!(self.files.entry(&path), Ok(Some(EntryKind::Directory)))
                {
                    open.push(path);
                }
                match line.split_once(':') {
                    Some((key, _)) if key.chars().all(char::is_alphanumeric) && !key.is_empty() => {
                        features.push(key.to_owned());
                    }
                    _ => {}
                }
            }
            seen.push(dir);
        }
        features.retain(|key| !matches!(key.as_str(), "apiVersion" | "kind"));
        features.sort();
        features.dedup();
        features
    }
}

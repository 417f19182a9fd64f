//! Bases from the corpus, where it is present.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kustomize_rs::{MemoryFiles, Options, build, to_yaml};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::case::Case;
use super::compose::Base;

/// Larger outputs cost time and show nothing more.
const LARGEST: u64 = 24 * 1024;

/// Past the capture of the test harness, so that a skip is seen.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// The folder of the corpus; `None`, said aloud, where there is none.
pub(super) fn find(test: &str) -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/test-data");
    let data = std::env::var_os("KCP_TEST_DATA").map_or_else(default, PathBuf::from);
    let data = data.canonicalize().unwrap_or(data);
    let found = data.join("kustomize/micro").is_dir();
    let required = std::env::var_os("KCP_REQUIRE_TEST_DATA").is_some_and(|value| value == "1");
    assert!(found || !required, "the corpus is required and not at $KCP_TEST_DATA");
    if !found {
        say(&format!("skipped: {test}: no kustomize corpus at $KCP_TEST_DATA"));
    }
    found.then_some(data)
}

/// Directories to compose over.
pub(super) struct Corpus {
    /// The trees of all projects.
    pub(super) projects: BTreeMap<String, MemoryFiles>,
    pub(super) bases: Vec<Base>,
}

impl Corpus {
    /// Reads it. A directory that we build otherwise than the reference is left out: the corpus test of kustomize-rs
    /// tells about it.
    pub(super) fn load(data: &Path) -> anyhow::Result<Self> {
        let mut projects = BTreeMap::new();
        for entry in fs::read_dir(data.join("kustomize"))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "fail" {
                let mut files = MemoryFiles::new();
                read(&path, &path, &mut |name, content| files.insert(name, content))?;
                projects.insert(name, files);
            }
        }
        let expected = data.join("kustomize-expected");
        let mut outputs = BTreeMap::new();
        read(&expected, &expected, &mut |name, content| {
            if content.len() as u64 <= LARGEST {
                outputs.insert(name, content);
            }
        })?;
        let mut bases = Vec::new();
        for (path, text) in outputs {
            let Some(name) = path.strip_suffix(".yaml") else { continue };
            let (project, dir) = name.split_once('/').context("an output outside a project")?;
            let micro = project == "micro" && data.join("kustomize").join(name).join("overlay").is_dir();
            let dir = if micro { format!("{dir}/overlay") } else { dir.to_owned() };
            let Some(files) = projects.get(project) else { continue };
            let text = String::from_utf8(text)?;
            let ours =
                std::panic::catch_unwind(|| build(files, &dir, &Options::default()).map(|it| to_yaml(&it)));
            if matches!(ours, Ok(Ok(ours)) if ours == text) {
                let documents = serde_yaml::Deserializer::from_str(&text);
                let objects = documents.map(Value::deserialize).collect::<Result<Vec<_>, _>>()?;
                bases.push(Base { name: format!("{project}/{dir}"), objects });
            }
        }
        Ok(Self { projects, bases })
    }

    /// The case with the objects of its bases in files of its own.
    pub(super) fn flatten(&self, case: &Case) -> Case {
        let mut flat = case.clone();
        for (dir, fields) in &mut flat.kustomizations {
            let Some(resources) = fields.get_mut("resources").and_then(Value::as_array_mut) else { continue };
            for resource in resources {
                let name = resource.as_str().and_then(|it| it.strip_prefix("../corpus/"));
                let base = name.and_then(|name| self.bases.iter().find(|base| base.name == name));
                if let Some(base) = base {
                    *resource = json!("base.yaml");
                    flat.documents.insert(format!("{dir}/base.yaml"), base.objects.clone());
                }
            }
        }
        flat
    }
}

/// Gives all files below `dir` to `found`, named from `root`.
fn read(root: &Path, dir: &Path, found: &mut dyn FnMut(String, Vec<u8>)) -> anyhow::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            read(root, &path, found)?;
        } else {
            found(path.strip_prefix(root)?.to_string_lossy().into_owned(), fs::read(&path)?);
        }
    }
    Ok(())
}

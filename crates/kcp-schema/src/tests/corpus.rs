//! The corpus of real CRDs and objects. It is not part of the repository: tests over it say so and pass where it is missing.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use crate::{Crd, Options, Pool};

/// One CRD file.
pub(crate) struct File {
    /// `cert-manager/v1.0.0/certificates.cert-manager.io.yaml`.
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) crd: Crd,
}

pub(crate) fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/test-data");
    root.is_dir().then_some(root)
}

pub(crate) fn yaml(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let limits = yaml_span::Limits::default();
    let documents = yaml_span::parse(&text, yaml_span::Schema::Kubernetes, &limits);
    let documents = documents.unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
    documents[0].root.to_json()
}

fn files_below(path: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            out.push(path);
        }
    }
}

/// All CRDs, by name; empty where there is no corpus.
pub(crate) fn crds() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| {
        let Some(folder) = folder() else { return Vec::new() };
        let root = folder.join("crds");
        let mut paths = Vec::new();
        files_below(&root, &mut paths);
        paths.sort();
        let mut pool = Pool::new();
        paths
            .into_iter()
            .map(|path| {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                let value = yaml(&path);
                let crd = Crd::parse(&value, &Options::default(), &mut pool);
                let crd = crd.unwrap_or_else(|error| panic!("{name}: {error}"));
                File { name, value, crd }
            })
            .collect()
    })
}

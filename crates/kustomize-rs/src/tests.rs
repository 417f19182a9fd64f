//! What users and neighbour crates rely on, and the comparison with the reference.

mod cache;
mod composed;
mod features;
mod hostile;
mod reference;
mod remote;
mod sample;
mod whole;

use std::path::Path;

use crate::{Error, MemoryFiles, Options, ProblemKind, ResMap, build, to_yaml};

/// A tree in memory.
fn tree(files: &[(&str, &str)]) -> MemoryFiles {
    files.iter().copied().collect()
}

/// Builds the root of a tree.
fn built(files: &[(&str, &str)]) -> Result<ResMap, Error> {
    build(&tree(files), "", &Options::default())
}

/// The text of the root of a tree that is known to build.
fn text(files: &[(&str, &str)]) -> String {
    to_yaml(&built(files).expect("builds"))
}

/// The classes of problems of a tree that does not build.
fn problems(files: &[(&str, &str)]) -> Vec<ProblemKind> {
    built(files).expect_err("must not build").problems.iter().map(|problem| problem.kind).collect()
}

/// A directory of the disk, read into memory.
fn load(dir: &Path) -> MemoryFiles {
    let mut files = MemoryFiles::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("a readable directory") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name =
                    path.strip_prefix(dir).expect("below it").to_str().expect("a plain name").to_owned();
                files.insert(name, std::fs::read(&path).expect("a readable file"));
            }
        }
    }
    files
}

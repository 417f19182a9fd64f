//! Several files in one input, so that a fuzzer can invent a whole repo and a person can read what it invented.
//! It must only make trees that a git repo could hold: every finding shall be one that a user can meet.

use kustomize_rs::MemoryFiles;

/// A line that begins a file: this, then its path.
pub const FILE: &str = "#### ";

/// The files of an input. Each begins after a line `#### PATH`; what is before the first one is no file. Paths that a
/// git tree cannot have (`a//b`, `../a`, a file below a file) are left out.
#[must_use]
pub fn files(input: &str) -> MemoryFiles {
    let mut parts: Vec<(&str, String)> = Vec::new();
    for line in input.split_inclusive('\n') {
        match line.strip_prefix(FILE) {
            Some(path) => parts.push((path.trim_end_matches(['\r', '\n']), String::new())),
            None => {
                if let Some((_, content)) = parts.last_mut() {
                    content.push_str(line);
                }
            }
        }
    }
    let mut names: Vec<String> = Vec::new();
    let mut tree = MemoryFiles::new();
    for (path, content) in parts {
        let plain = path.split('/').all(|name| !matches!(name, "" | "." | "..") && !name.contains('\0'));
        let below = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        if plain && !names.iter().any(|name| below(name, path) || below(path, name)) {
            names.push(path.to_owned());
            tree.insert(path, content);
        }
    }
    tree
}

//! Paths as kustomizations write them, resolved against the tree. Nothing here reads.

/// Why a path cannot be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathError {
    /// `/etc/passwd`.
    Absolute,
    /// More `..` than there are directories.
    AboveTree,
}

/// The path of `written`, seen from directory `dir`, without `.` and `..`; the root of the tree is `""`.
pub(crate) fn resolve(dir: &str, written: &str) -> Result<String, PathError> {
    if written.starts_with('/') {
        return Err(PathError::Absolute);
    }
    let mut names: Vec<&str> = dir.split('/').filter(|name| !name.is_empty()).collect();
    for name in written.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(PathError::AboveTree)?;
            }
            name => names.push(name),
        }
    }
    Ok(names.join("/"))
}

/// Whether `path` is `dir` or below it.
pub(crate) fn is_within(path: &str, dir: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `dir/name`.
pub(crate) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.into() } else { format!("{dir}/{name}") }
}

/// Whether a path that names nothing in the tree is meant as an address of another repository.
pub(crate) fn looks_remote(written: &str) -> bool {
    let host = written.split('/').next().unwrap_or_default();
    written.contains("://")
        || written.starts_with("git@")
        || written.starts_with("git::")
        || written.contains("?ref=")
        || (host.contains('.') && !host.starts_with('.') && written.matches('/').count() >= 2)
}

#[cfg(test)]
mod tests {
    use super::{PathError, is_within, looks_remote, resolve};

    #[test]
    fn paths_stay_in_the_tree() {
        assert_eq!(resolve("a/b", "../c/./d.yaml"), Ok("a/c/d.yaml".into()));
        assert_eq!(resolve("a", ".."), Ok(String::new()));
        assert_eq!(resolve("a", "../.."), Err(PathError::AboveTree));
        assert_eq!(resolve("a", "/etc/passwd"), Err(PathError::Absolute));
        assert!(is_within("a/b", "a") && is_within("a", "a") && !is_within("ab", "a"));
        assert!(looks_remote("https://host.example/x") && looks_remote("host.example/org/repo"));
        assert!(!looks_remote("../base/sub/x.yaml") && !looks_remote("base.d/x.yaml"));
    }
}

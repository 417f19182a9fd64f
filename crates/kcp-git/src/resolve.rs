//! Follows a path through a tree, symlinks included, without ever leaving the tree. The same rules for a git tree
//! and for a directory on disk. Must never build an operating-system path from what a link says.

use kustomize_rs::{DirEntry, EntryKind, FilesError};

/// As many links in a row as the kernel follows.
const MAX_LINKS: usize = 40;

/// What a name in a directory is, before links are followed.
pub(crate) enum Node<D, F> {
    Dir(D),
    File(F),
    /// Where the link points, as written.
    Link(String),
    /// Another repo's content.
    Submodule,
}

/// A tree that can be walked name by name.
pub(crate) trait Walk {
    type Dir: Clone;
    type File;

    fn root(&self) -> Self::Dir;
    /// What `name` is in `dir`; `path` is for error messages.
    fn child(&self, dir: &Self::Dir, name: &str, path: &str) -> Result<Option<Found<Self>>, FilesError>;
    /// All names in `dir`, with their kind.
    fn names(&self, dir: &Self::Dir, path: &str) -> Result<Vec<(String, RawKind)>, FilesError>;
}

pub(crate) type Found<W> = Node<<W as Walk>::Dir, <W as Walk>::File>;

pub(crate) type Resolved<W> = Target<<W as Walk>::Dir, <W as Walk>::File>;

/// The kind of a name, before links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RawKind {
    Dir,
    File,
    Link,
    Submodule,
}

/// What a path leads to, after all links.
pub(crate) enum Target<D, F> {
    Dir(D),
    File(F),
    Submodule,
}

pub(crate) fn other(path: &str, message: impl Into<String>) -> FilesError {
    FilesError::Other { path: path.into(), message: message.into() }
}

pub(crate) fn wrong_kind(path: &str, found: &'static str, expected: &'static str) -> FilesError {
    FilesError::WrongKind { path: path.into(), found, expected }
}

fn submodule(path: &str) -> FilesError {
    other(
        path,
        "is a submodule: its content is in another repository and is not read; copy the files into this one",
    )
}

/// Follows `path` from the root of `tree`; `None` where nothing is there.
pub(crate) fn resolve<W: Walk + ?Sized>(tree: &W, path: &str) -> Result<Option<Resolved<W>>, FilesError> {
    let outside = |target: &str| FilesError::Outside { path: path.into(), target: target.into() };
    let mut pending: Vec<String> = Vec::new();
    for name in path.split('/').rev() {
        match name {
            "" if path.is_empty() => {}
            "" | "." => return Err(other(path, "not a plain path: write it relative, without `.` and `//`")),
            ".." => return Err(outside(path)),
            _ => pending.push(name.to_owned()),
        }
    }
    let mut stack = vec![tree.root()];
    let mut links = 0;
    while let Some(name) = pending.pop() {
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                // Only a link can say this; above the root is outside.
                stack.pop();
                if stack.is_empty() {
                    return Err(outside(".."));
                }
                continue;
            }
            _ => {}
        }
        let Some(dir) = stack.last() else { return Err(outside("..")) };
        let last = pending.is_empty();
        match tree.child(dir, &name, path)? {
            None => return Ok(None),
            Some(Node::Dir(dir)) => stack.push(dir),
            Some(Node::File(file)) if last => return Ok(Some(Target::File(file))),
            Some(Node::Submodule) if last => return Ok(Some(Target::Submodule)),
            Some(Node::Submodule) => return Err(submodule(path)),
            Some(Node::File(_)) => return Ok(None),
            Some(Node::Link(target)) => {
                links += 1;
                if links > MAX_LINKS || target.starts_with('/') || target.is_empty() {
                    return Err(outside(&target));
                }
                // A link that leaves and comes back is refused as well: what is above the root is not known.
                if climbs_out(&target, stack.len() - 1) {
                    return Err(outside(&target));
                }
                pending.extend(target.split('/').rev().map(str::to_owned));
            }
        }
    }
    Ok(stack.pop().map(Target::Dir))
}

/// Whether the leading `..` of a link climb further than `depth` directories. Later ones are caught while walking.
fn climbs_out(target: &str, depth: usize) -> bool {
    target.split('/').take_while(|name| matches!(*name, ".." | "." | "")).filter(|name| *name == "..").count()
        > depth
}

/// `Files::entry` for any tree.
pub(crate) fn entry<W: Walk + ?Sized>(tree: &W, path: &str) -> Result<Option<EntryKind>, FilesError> {
    Ok(resolve(tree, path)?.map(|target| match target {
        Target::File(_) => EntryKind::File,
        Target::Dir(_) | Target::Submodule => EntryKind::Directory,
    }))
}

/// The file at `path`, or the error of `Files::read`.
pub(crate) fn file<W: Walk + ?Sized>(tree: &W, path: &str) -> Result<W::File, FilesError> {
    match resolve(tree, path)? {
        Some(Target::File(file)) => Ok(file),
        Some(Target::Dir(_)) => Err(wrong_kind(path, "directory", "file")),
        Some(Target::Submodule) => Err(submodule(path)),
        None => Err(FilesError::NotFound { path: path.into() }),
    }
}

/// `Files::list` for any tree. A link that leads nowhere or outside is listed as a file, so that reading it says
/// what is wrong: left out, it would look like something that is not there.
pub(crate) fn list<W: Walk + ?Sized>(tree: &W, path: &str) -> Result<Vec<DirEntry>, FilesError> {
    let dir = match resolve(tree, path)? {
        Some(Target::Dir(dir)) => dir,
        Some(Target::File(_)) => return Err(wrong_kind(path, "file", "directory")),
        Some(Target::Submodule) => return Err(submodule(path)),
        None => return Err(FilesError::NotFound { path: path.into() }),
    };
    let mut entries = Vec::new();
    for (name, kind) in tree.names(&dir, path)? {
        let kind = match kind {
            RawKind::File => EntryKind::File,
            RawKind::Dir | RawKind::Submodule => EntryKind::Directory,
            RawKind::Link => {
                let full = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                match entry(tree, &full) {
                    Ok(Some(kind)) => kind,
                    Ok(None) | Err(_) => EntryKind::File,
                }
            }
        };
        entries.push(DirEntry { name, kind });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

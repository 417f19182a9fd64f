//! A tree of files as it will be once edits are written: what is judged before a commit is what the commit will hold.
//! Writes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use kcp_git::Edits;
use kustomize_rs::{DirEntry, EntryKind, Files, FilesError};

/// Files with edits on top.
pub(crate) struct Overlay<'a> {
    base: &'a dyn Files,
    edits: &'a Edits,
}

impl<'a> Overlay<'a> {
    /// `base`, with `edits` made.
    pub(crate) fn new(base: &'a dyn Files, edits: &'a Edits) -> Self {
        Self { base, edits }
    }

    /// Edits below a folder, with the rest of their path.
    fn below<'b>(&'b self, folder: &'b str) -> impl Iterator<Item = (&'b str, &'b Option<Vec<u8>>)> {
        self.edits.iter().filter_map(move |(path, content)| {
            let rest = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
            Some((rest, content))
        })
    }
}

impl Files for Overlay<'_> {
    fn entry(&self, path: &str) -> Result<Option<EntryKind>, FilesError> {
        match self.edits.get(path) {
            Some(Some(_)) => return Ok(Some(EntryKind::File)),
            Some(None) => return Ok(None),
            None => {}
        }
        if self.below(path).any(|(_, content)| content.is_some()) {
            return Ok(Some(EntryKind::Directory));
        }
        let found = self.base.entry(path)?;
        // A folder that loses its last file is gone, as in git.
        let emptied = found == Some(EntryKind::Directory)
            && !path.is_empty()
            && self.below(path).next().is_some()
            && self.list(path)?.is_empty();
        Ok(found.filter(|_| !emptied))
    }

    fn read(&self, path: &str) -> Result<Arc<[u8]>, FilesError> {
        match self.edits.get(path) {
            Some(Some(content)) => Ok(Arc::from(content.as_slice())),
            Some(None) => Err(FilesError::NotFound { path: path.into() }),
            None => self.base.read(path),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        let mut names: BTreeMap<String, EntryKind> = match self.base.list(path) {
            Ok(entries) => entries.into_iter().map(|entry| (entry.name, entry.kind)).collect(),
            Err(FilesError::NotFound { .. }) if self.below(path).any(|(_, content)| content.is_some()) => {
                BTreeMap::new()
            }
            Err(error) => return Err(error),
        };
        for (rest, content) in self.below(path) {
            match (rest.split_once('/'), content) {
                (None, Some(_)) => drop(names.insert(rest.into(), EntryKind::File)),
                (None, None) => drop(names.remove(rest)),
                (Some((name, _)), Some(_)) => drop(names.insert(name.into(), EntryKind::Directory)),
                (Some((name, _)), None) => {
                    let folder = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
                    if self.entry(&folder)?.is_none() {
                        names.remove(name);
                    }
                }
            }
        }
        Ok(names.into_iter().map(|(name, kind)| DirEntry { name, kind }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kustomize_rs::MemoryFiles;

    #[test]
    fn edits_are_seen_as_if_they_were_written() {
        let base: MemoryFiles = [("a/x", "1"), ("a/y", "2"), ("b/z", "3")].into_iter().collect();
        let edits = Edits::from([
            ("a/x".to_owned(), Some(b"new".to_vec())),
            ("b/z".to_owned(), None),
            ("c/d/e".to_owned(), Some(b"5".to_vec())),
        ]);
        let files = Overlay::new(&base, &edits);
        let names = |path: &str| files.list(path).unwrap().into_iter().map(|it| it.name).collect::<Vec<_>>();
        assert_eq!(
            (names(""), names("a"), names("c")),
            (vec!["a".into(), "c".into()], vec!["x".into(), "y".into()], vec!["d".into()])
        );
        assert_eq!(&*files.read("a/x").unwrap(), b"new");
        assert_eq!(files.entry("b").unwrap(), None);
        assert_eq!(files.entry("c/d").unwrap(), Some(EntryKind::Directory));
        assert!(files.read("b/z").is_err());
    }
}

//! Lossless edits: a change replaces only the bytes it must, so comments, blank lines, quotes and line ends of
//! everything else stay as they are. What cannot be done that way is refused, never reformatted.
//!
//! Each edit is checked before it counts: the new text is read again and must mean exactly what was asked for.

use serde_json::Value as Json;

use crate::{Document, Errors, Limits, Node, Origin, Path, Schema, Segment, Value, parse};

mod intent;
mod lines;
mod remove;
mod write;

use lines::{Splice, Text};

/// Why an edit was refused. The text is then unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text itself cannot be read.
    #[error("{0}")]
    Parse(#[from] Errors),
    /// There is no document of this index.
    #[error("there is no document {index}: the text has {count}")]
    NoDocument {
        /// The index asked for, counted from 0.
        index: usize,
        /// How many documents there are.
        count: usize,
    },
    /// The path leads through something that is no mapping or list.
    #[error("line {line}: {path}: {reason}")]
    Path {
        /// Line, counted from 1.
        line: usize,
        /// The node that the path cannot go through.
        path: Path,
        /// What it is instead.
        reason: String,
    },
    /// The edit needs more than the lines of the value itself.
    #[error("line {line}: {path}: {reason}; {hint}")]
    Refused {
        /// Line, counted from 1.
        line: usize,
        /// The node that the edit stopped at.
        path: Path,
        /// Why it was refused.
        reason: String,
        /// What to do instead.
        hint: String,
    },
}

/// A text and its edits. Paths are those of the documents as they are at that moment.
#[derive(Clone, Debug)]
pub struct Editor {
    text: Text,
    documents: Vec<Document>,
    schema: Schema,
    limits: Limits,
}

impl Editor {
    /// Reads a text as kubectl would, with the default limits. For our own documents use [`Editor::with`] and
    /// [`Schema::Strict`]: here an unquoted key `on` is the key `true`.
    ///
    /// # Errors
    /// [`EditError::Parse`] when it cannot be read.
    pub fn new(text: impl Into<String>) -> Result<Self, EditError> {
        Self::with(text, Schema::Kubernetes, Limits::default())
    }

    /// Reads a text under a schema and limits.
    ///
    /// # Errors
    /// [`EditError::Parse`] when it cannot be read.
    pub fn with(text: impl Into<String>, schema: Schema, limits: Limits) -> Result<Self, EditError> {
        let text = text.into();
        let documents = parse(&text, schema, &limits)?;
        Ok(Self { text: Text::new(text), documents, schema, limits })
    }

    /// The text as it is now.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// The text as it is now.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text.into_string()
    }

    /// The documents as they are now.
    #[must_use]
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Makes the value at `path` be `value`; does nothing when it already is. A missing key is added at the end of
    /// its mapping, with missing parents; an index one past the end appends. A mapping or list over another one
    /// changes only the entries that differ.
    ///
    /// # Errors
    /// [`EditError`] says why it was refused; the text is then unchanged.
    pub fn set(&mut self, document: usize, path: &Path, value: &Json) -> Result<(), EditError> {
        let value = intent::normal(value);
        let mut work = self.clone();
        work.set_value(document, path, &value)?;
        let done = work.documents.get(document).and_then(|d| d.root.at(path)).map(Node::to_json);
        if done.as_ref() != Some(&value) {
            return Err(self.changed_meaning(document, path));
        }
        *self = work;
        Ok(())
    }

    /// Appends an item to the list at `path`, which is made when it is missing, null or `[]`.
    ///
    /// # Errors
    /// [`EditError`] says why it was refused; the text is then unchanged.
    pub fn push(&mut self, document: usize, path: &Path, value: &Json) -> Result<(), EditError> {
        let length = match self.document(document)?.root.at(path) {
            None => 0,
            Some(node) => match &node.value {
                Value::Null => 0,
                Value::Sequence(items) => items.len(),
                _ => return Err(not_a(node, path, "a list")),
            },
        };
        self.set(document, &path.clone().index(length), value)
    }

    /// Removes the entry or item at `path`, with the comments on its own lines; comments above it stay. Says
    /// whether there was one. A collection that loses its last entry becomes `{}` or `[]`.
    ///
    /// # Errors
    /// [`EditError`] says why it was refused; the text is then unchanged.
    pub fn remove(&mut self, document: usize, path: &Path) -> Result<bool, EditError> {
        let root = &self.document(document)?.root;
        if root.at(path).is_none() {
            return Ok(false);
        }
        self.check_way(root, path)?;
        let splices = remove::plan(&self.text, root, path)?;
        let mut intended = self.values();
        intent::remove(&mut intended[document], path);
        self.apply(splices, &intended, document, path)?;
        Ok(true)
    }

    /// Appends a document at the end of the text, after a `---` where one is needed.
    ///
    /// # Errors
    /// [`EditError`] says why it was refused; the text is then unchanged.
    pub fn insert_document(&mut self, value: &Json) -> Result<(), EditError> {
        let value = intent::normal(value);
        let body = crate::emit(&value);
        let lines: Vec<&str> = body.trim_end_matches('\n').split('\n').collect();
        let splice = self.text.append(&lines, !self.documents.is_empty());
        let mut intended = self.values();
        intended.push(value);
        let index = self.documents.len();
        self.apply(vec![splice], &intended, index, &Path::root())
    }

    fn document(&self, index: usize) -> Result<&Document, EditError> {
        let count = self.documents.len();
        self.documents.get(index).ok_or(EditError::NoDocument { index, count })
    }

    fn values(&self) -> Vec<Json> {
        self.documents.iter().map(|d| d.root.to_json()).collect()
    }

    /// The steps of [`Editor::set`]; each of them is checked by itself.
    fn set_value(&mut self, document: usize, path: &Path, value: &Json) -> Result<(), EditError> {
        let root = &self.document(document)?.root;
        let Some(node) = root.at(path) else {
            self.check_way(root, path)?;
            let splices = write::insert(&self.text, root, path, value)?;
            let mut intended = self.values();
            intent::set(&mut intended[document], path, value);
            return self.apply(splices, &intended, document, path);
        };
        let old = node.to_json();
        if old == *value {
            return Ok(());
        }
        let whole = node.origin == Origin::Written && node.anchor.is_none() && node.tag.is_none();
        match (&old, value) {
            (Json::Object(old), Json::Object(new)) if whole && !old.is_empty() && !new.is_empty() => {
                for (key, value) in new {
                    self.set_value(document, &path.clone().key(key), value)?;
                }
                for key in old.keys().filter(|k| !new.contains_key(*k)) {
                    self.remove(document, &path.clone().key(key))?;
                }
                Ok(())
            }
            (Json::Array(old), Json::Array(new)) if whole && !old.is_empty() && !new.is_empty() => {
                for (index, value) in new.iter().enumerate() {
                    self.set_value(document, &path.clone().index(index), value)?;
                }
                for index in (new.len()..old.len()).rev() {
                    self.remove(document, &path.clone().index(index))?;
                }
                Ok(())
            }
            _ => {
                self.check_way(root, path)?;
                let splices = write::replace(&self.text, root, path, value)?;
                let mut intended = self.values();
                intent::set(&mut intended[document], path, value);
                self.apply(splices, &intended, document, path)
            }
        }
    }

    /// Refuses a path through an alias, a merged entry or an anchored node: the text there is shared.
    fn check_way(&self, root: &Node, path: &Path) -> Result<(), EditError> {
        let mut node = root;
        let mut at = Path::root();
        for segment in path.segments() {
            if node.origin == Origin::Alias {
                return Err(refused(node, &at, "it is an alias", "edit the node it names"));
            }
            if node.anchor.is_some() {
                return Err(refused(
                    node,
                    &at,
                    "it has an anchor, so aliases would change too",
                    "edit the file by hand",
                ));
            }
            let Some(next) = node.step(segment) else { break };
            at.push(segment.clone());
            if next.origin == Origin::Copy {
                return Err(refused(
                    node,
                    &at,
                    "it comes from a merge key `<<`",
                    "edit the node that is merged in",
                ));
            }
            node = next;
        }
        Ok(())
    }

    /// Makes the change if the new text means what is intended.
    fn apply(
        &mut self,
        splices: Vec<Splice>,
        intended: &[Json],
        document: usize,
        path: &Path,
    ) -> Result<(), EditError> {
        let text = self.text.spliced(splices).ok_or_else(|| self.changed_meaning(document, path))?;
        let documents = match parse(&text, self.schema, &self.limits) {
            Ok(documents) => documents,
            Err(errors) => {
                // Only what a limit says is of use to the caller: the rest is about a text nobody will see.
                let limit = errors.as_slice().iter().any(|e| e.kind == crate::ErrorKind::Limit);
                return Err(if limit { errors.into() } else { self.changed_meaning(document, path) });
            }
        };
        let same = documents.len() == intended.len()
            && documents.iter().zip(intended).all(|(d, v)| d.root.to_json() == *v);
        if !same {
            return Err(self.changed_meaning(document, path));
        }
        self.text = Text::new(text);
        self.documents = documents;
        Ok(())
    }

    fn changed_meaning(&self, document: usize, path: &Path) -> EditError {
        let line = self.documents.get(document).map_or(1, |d| d.root.locate(path).start.line);
        EditError::Refused {
            line,
            path: path.clone(),
            reason: "the way this is written cannot be changed without rewriting more than its lines"
                .to_owned(),
            hint: "edit the file by hand".to_owned(),
        }
    }
}

fn refused(node: &Node, path: &Path, reason: &str, hint: &str) -> EditError {
    EditError::Refused {
        line: node.span.start.line,
        path: path.clone(),
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    }
}

fn not_a(node: &Node, path: &Path, wanted: &str) -> EditError {
    EditError::Path {
        line: node.span.start.line,
        path: path.clone(),
        reason: format!("expected {wanted}, found {}", crate::words::found(node)),
    }
}

/// Where a node stands: its parent, and whether it is inside `[]` or `{}`.
struct Place<'a> {
    parent: Option<(&'a Node, Segment)>,
    in_flow: bool,
}

/// The place of an existing node.
fn place<'a>(root: &'a Node, path: &Path) -> Place<'a> {
    let mut node = root;
    let mut place = Place { parent: None, in_flow: false };
    for segment in path.segments() {
        let Some(next) = node.step(segment) else { break };
        place.in_flow |= node.style == crate::Style::Flow;
        place.parent = Some((node, segment.clone()));
        node = next;
    }
    place
}

#[cfg(test)]
mod tests;

//! Edits of documents that are there already: found by kind and name, changed by text span, so that every comment and
//! blank line stays. What cannot be edited that way is refused.

use kcp_api::Kind;
use kcp_core::config::Located;
use kustomize_rs::Files;
use serde_json::Value;
use yaml_span::{Editor, Limits, Node, Path, Schema};

use crate::error::CommandError;

/// Bytes of one config file.
const MAX_BYTES: usize = 4 << 20;

/// One document, being edited.
#[derive(Debug)]
pub(crate) struct Editing {
    /// Path of its file in the repo.
    pub(crate) file: String,
    editor: Editor,
    index: usize,
    before: String,
}

impl Editing {
    /// Opens the document of `located`.
    pub(crate) fn open<T>(
        files: &dyn Files,
        located: &Located<T>,
        kind: Kind,
        name: &str,
    ) -> Result<Self, CommandError> {
        let file = located.file.clone();
        let bytes = files.read(&file)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| CommandError::failure(format!("{file}: is not UTF-8 text")))?
            .to_owned();
        let limits = Limits { bytes: MAX_BYTES, ..Limits::default() };
        let wrong = |error: yaml_span::EditError| CommandError::failure(format!("{file}: {error}"));
        let editor = Editor::with(text.clone(), Schema::Strict, limits).map_err(wrong)?;
        let is_it = |root: &Node| {
            root.get("kind").and_then(Node::as_str) == Some(kind.as_str())
                && root.get("metadata").and_then(|it| it.get("name")).and_then(Node::as_str) == Some(name)
        };
        let index =
            editor.documents().iter().position(|document| is_it(&document.root)).ok_or_else(|| {
                CommandError::failure(format!("{file}: the {kind} `{name}` is not there any more"))
                    .hint("try again")
            })?;
        Ok(Self { file, editor, index, before: text })
    }

    /// The value at a path, if there is one.
    pub(crate) fn get(&self, path: &Path) -> Option<Value> {
        self.editor.documents().get(self.index)?.root.at(path).map(Node::to_json)
    }

    /// Makes the value at a path be this.
    pub(crate) fn set(&mut self, path: &Path, value: &Value) -> Result<(), CommandError> {
        self.editor.set(self.index, path, value).map_err(|error| self.refused(&error))
    }

    /// Appends to the list at a path.
    pub(crate) fn push(&mut self, path: &Path, value: &Value) -> Result<(), CommandError> {
        self.editor.push(self.index, path, value).map_err(|error| self.refused(&error))
    }

    /// Removes what is at a path; says whether there was anything.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<bool, CommandError> {
        self.editor.remove(self.index, path).map_err(|error| self.refused(&error))
    }

    /// Whether the file holds no other document.
    pub(crate) fn is_alone(&self) -> bool {
        self.editor.documents().iter().filter(|document| !document.empty).count() == 1
    }

    /// The file with its new content, if it changed.
    pub(crate) fn finish(self) -> Option<(String, Option<Vec<u8>>)> {
        let text = self.editor.into_text();
        (text != self.before).then(|| (self.file, Some(text.into_bytes())))
    }

    fn refused(&self, error: &yaml_span::EditError) -> CommandError {
        CommandError::failure(format!("{}: {error}", self.file))
    }
}

/// A path of keys.
pub(crate) fn path<const N: usize>(keys: [&str; N]) -> Path {
    keys.into_iter().collect()
}

/// The text of a new document: block YAML, without what is at its default.
pub(crate) fn text(kind: Kind, metadata: Value, spec: Value) -> Vec<u8> {
    let document = serde_json::json!({
        "apiVersion": kcp_api::API_VERSION,
        "kind": kind.as_str(),
        "metadata": metadata,
        "spec": spec,
    });
    yaml_span::emit(&document).into_bytes()
}

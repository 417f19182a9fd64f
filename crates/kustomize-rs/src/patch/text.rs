//! The text of a patch: where it comes from, and what it is.

use serde_json::Value;
use yaml_span::Schema;

use super::{directive, json};
use crate::build::Place;
use crate::error::Position;
use crate::kustomization::{Located, PatchSource};
use crate::marks::Marks;
use crate::read::{self, Documents, Reader};
use crate::{EntryKind, Problem, ProblemKind, Resource, path};

/// The text of a patch and its place.
pub(super) struct Text {
    file: String,
    at: Position,
    text: String,
    inline: bool,
}

/// What a text turned out to be.
pub(super) enum Content {
    /// Strategic merge patches.
    Objects(Vec<(Resource, Marks)>),
    /// JSON 6902.
    Operations(Vec<json::Operation>),
}

impl Text {
    pub(super) fn load(
        reader: &mut Reader<'_>,
        place: Place<'_>,
        source: &PatchSource,
    ) -> Result<Self, Problem> {
        match source {
            PatchSource::Inline(text) => Ok(Self::inline(place, text)),
            PatchSource::File(path) => Self::file(reader, place, path),
        }
    }

    fn inline(place: Place<'_>, text: &Located<String>) -> Self {
        // The reference trims: block text loses its last line break.
        Self { file: place.file.into(), at: text.at, text: text.value.trim().into(), inline: true }
    }

    pub(super) fn file(
        reader: &mut Reader<'_>,
        place: Place<'_>,
        written: &Located<String>,
    ) -> Result<Self, Problem> {
        const OUTSIDE: &str = "files must be in or below the directory of the kustomization";
        let refuse = |kind, why: &str| {
            Err(Problem::at(place.file, written.at, kind, format!("{}: {why}", written.value)))
        };
        let Ok(path) = path::resolve(place.dir, &written.value) else {
            return refuse(ProblemKind::Outside, OUTSIDE);
        };
        match reader.files.entry(&path) {
            Err(error) => return refuse(ProblemKind::Read, &error.to_string()),
            Ok(None) if path::looks_remote(&written.value) => {
                return refuse(
                    ProblemKind::Unsupported,
                    "nothing is fetched while rendering; copy it into the repository",
                );
            }
            Ok(None) => return refuse(ProblemKind::Read, "no such file"),
            Ok(Some(EntryKind::Directory)) => return refuse(ProblemKind::Read, "is a directory, not a file"),
            Ok(Some(EntryKind::File)) if !path::is_within(&path, place.dir) => {
                return refuse(ProblemKind::Outside, OUTSIDE);
            }
            Ok(Some(EntryKind::File)) => {}
        }
        let text = reader.text(&path)?;
        Ok(Self { file: path, at: Position::default(), text, inline: false })
    }

    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.at, ProblemKind::Patch, message)
    }

    /// What patches say that kustomize does not understand: it stays in the objects, where a cluster refuses or ignores it.
    pub(super) fn left_over(&self, patches: &[(Resource, Marks)]) -> Option<Problem> {
        let directive = patches.iter().find_map(|(patch, _)| directive::left_over(&patch.value))?;
        let message =
            format!("{directive} means nothing to kustomize and becomes a field of the object: leave it out");
        Some(self.problem(message))
    }

    /// Places inside an inline patch are those of the kustomization.
    fn relocate(&self, problems: Vec<Problem>) -> Vec<Problem> {
        if !self.inline {
            return problems;
        }
        let at = |problem: Problem| Problem {
            line: self.at.line,
            column: self.at.column,
            message: format!("line {} of the patch: {}", problem.line, problem.message),
            ..problem
        };
        problems.into_iter().map(at).collect()
    }

    fn parse(&self, reader: &Reader<'_>, schema: Schema) -> Result<Documents, Vec<Problem>> {
        reader.parse_as(&self.file, &self.text, schema).map_err(|problems| self.relocate(problems))
    }

    /// The text as what it is.
    pub(super) fn content(&self, reader: &Reader<'_>) -> Result<Content, Vec<Problem>> {
        let documents = self.parse(reader, Schema::Kustomize)?;
        if documents.first().is_some_and(|(_, document)| document.root.as_sequence().is_some()) {
            return self.only_operations(reader).map(Content::Operations);
        }
        self.objects_of(&documents).map(Content::Objects)
    }

    /// The text as strategic merge patches.
    pub(super) fn objects(&self, reader: &Reader<'_>) -> Result<Vec<(Resource, Marks)>, Vec<Problem>> {
        self.objects_of(&self.parse(reader, Schema::Kustomize)?)
    }

    fn objects_of(&self, documents: &Documents) -> Result<Vec<(Resource, Marks)>, Vec<Problem>> {
        if documents.is_empty() {
            return Err(vec![self.problem("the patch is empty")]);
        }
        read::objects(&self.file, documents, Schema::Kustomize).map_err(|problems| self.relocate(problems))
    }

    /// An entry that is the text of patches itself, rather than a path.
    pub(super) fn inline_objects(
        reader: &Reader<'_>,
        place: Place<'_>,
        entry: &Located<String>,
    ) -> Option<(Self, Vec<(Resource, Marks)>)> {
        if !entry.value.contains([':', '{']) {
            return None;
        }
        let text = Self { file: place.file.into(), at: entry.at, text: entry.value.clone(), inline: true };
        let patches = text.objects(reader).ok()?;
        Some((text, patches))
    }

    /// The text as JSON 6902 operations. What follows a first document is not looked at.
    pub(super) fn only_operations(&self, reader: &Reader<'_>) -> Result<Vec<json::Operation>, Vec<Problem>> {
        let value = if self.text.starts_with('[') {
            // What looks like JSON has to be JSON.
            serde_json::from_str(&self.text).map_err(|error| {
                vec![self.problem(format!("operations that begin with a bracket are JSON: {error}"))]
            })?
        } else {
            // The reference reads operations as `kubectl apply` reads files: a plain n is false there.
            let documents = reader.parse_settings(&self.file, &self.text, Schema::Kubernetes);
            let documents = documents.map_err(|problems| self.relocate(problems))?;
            documents.first().map_or(Value::Null, |(_, document)| document.root.to_json())
        };
        json::read(&value).map_err(|why| vec![self.problem(why)])
    }
}

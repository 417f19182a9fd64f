//! Files to documents to objects. All reading of a build goes through one [`Reader`], which counts what it reads.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;

use yaml_span::{Document, Node, Schema};

use crate::error::Position;
use crate::marks::Marks;
use crate::trace::{Content, Trace};
use crate::{EntryKind, Files, Limits, Origin, Problem, ProblemKind, Resource, value};

/// Levels of nesting that a text may have; what patches make of it is bounded in `patch`.
const DEPTH: usize = 128;

/// Reads the files of one build and keeps its limits.
pub(crate) struct Reader<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) limits: &'a Limits,
    /// What the build has looked at so far.
    pub(crate) trace: Trace,
    schema: Schema,
    read_bytes: usize,
}

impl<'a> Reader<'a> {
    /// `schema` says which plain words are booleans: kustomize and `kubectl apply` differ in that.
    pub(crate) fn new(files: &'a dyn Files, limits: &'a Limits, schema: Schema) -> Self {
        Self { files, limits, trace: Trace::default(), schema, read_bytes: 0 }
    }

    /// How plain words are read.
    pub(crate) fn schema(&self) -> Schema {
        self.schema
    }

    /// How much was read so far.
    pub(crate) fn bytes_read(&self) -> usize {
        self.read_bytes
    }

    /// Counts what another reader read for the same build.
    pub(crate) fn count(&mut self, bytes: usize) {
        self.read_bytes = self.read_bytes.saturating_add(bytes);
    }

    /// What is at `path`.
    pub(crate) fn entry(&self, path: &str) -> Result<Option<EntryKind>, Problem> {
        let found = self.files.entry(path).map_err(|error| {
            Problem::whole(path, ProblemKind::Read, without_path(path, &error.to_string()))
        })?;
        self.trace.saw(path, found);
        Ok(found)
    }

    /// The content of a file.
    pub(crate) fn bytes(&mut self, path: &str) -> Result<Arc<[u8]>, Problem> {
        let bytes = self.files.read(path).map_err(|error| {
            Problem::whole(path, ProblemKind::Read, without_path(path, &error.to_string()))
        })?;
        let limit = self.limits.file_bytes;
        if bytes.len() > limit {
            let message = format!("{} bytes, more than the limit of {limit} for one file", bytes.len());
            return Err(Problem::whole(path, ProblemKind::Limit, message));
        }
        self.read_bytes = self.read_bytes.saturating_add(bytes.len());
        let limit = self.limits.total_bytes;
        if self.read_bytes > limit {
            let message =
                format!("the files of this build are larger than the limit of {limit} bytes together");
            return Err(Problem::whole(path, ProblemKind::Limit, message));
        }
        if self.trace.is_on() {
            let known = Content::known(self.files, path);
            self.trace.read(path, known.unwrap_or_else(|| Content::of(&bytes)));
        }
        Ok(bytes)
    }

    /// The text of a file.
    pub(crate) fn text(&mut self, path: &str) -> Result<String, Problem> {
        String::from_utf8(self.bytes(path)?.to_vec())
            .map_err(|_| Problem::whole(path, ProblemKind::Syntax, "is not UTF-8 text"))
    }

    /// The documents of a file, empty ones left out; each with its number in the file.
    pub(crate) fn documents(&mut self, path: &str) -> Result<Documents, Vec<Problem>> {
        let text = self.text(path).map_err(|problem| vec![problem])?;
        self.parse(path, text, self.schema, yaml_span::parse)
    }

    /// As [`Reader::documents`], of a text that is already here.
    pub(crate) fn parse_as(&self, path: &str, text: &str, schema: Schema) -> Result<Documents, Vec<Problem>> {
        self.parse(path, text.to_owned(), schema, yaml_span::parse)
    }

    /// As [`Reader::parse_as`], of what kustomize itself is to do, not of objects: a key may be written again there.
    pub(crate) fn parse_settings(
        &self,
        path: &str,
        text: &str,
        schema: Schema,
    ) -> Result<Documents, Vec<Problem>> {
        self.parse(path, text.to_owned(), schema, yaml_span::parse_last_wins)
    }

    fn parse(
        &self,
        path: &str,
        text: String,
        schema: Schema,
        parse: fn(&str, Schema, &yaml_span::Limits) -> Result<Vec<Document>, yaml_span::Errors>,
    ) -> Result<Documents, Vec<Problem>> {
        let limits =
            yaml_span::Limits { bytes: self.limits.file_bytes, depth: DEPTH, ..yaml_span::Limits::default() };
        let mut documents = parse(&text, schema, &limits).map_err(|errors| {
            errors.as_slice().iter().map(|error| syntax(path, error)).collect::<Vec<_>>()
        })?;
        if let Some(last) = documents.last_mut().filter(|_| !text.ends_with(['\n', '\r'])) {
            value::cut_off(&mut last.root);
        }
        let documents = documents.into_iter().enumerate().filter(|(_, it)| !it.root.is_null()).collect();
        Ok(Documents { text, documents })
    }
}

/// The documents of a text, empty ones left out; each with its number in the text.
#[derive(Debug)]
pub(crate) struct Documents {
    text: String,
    documents: Vec<(usize, Document)>,
}

impl Deref for Documents {
    type Target = [(usize, Document)];

    fn deref(&self) -> &Self::Target {
        &self.documents
    }
}

impl IntoIterator for Documents {
    type Item = (usize, Document);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.documents.into_iter()
    }
}

fn syntax(path: &str, error: &yaml_span::Error) -> Problem {
    let kind = match error.kind {
        yaml_span::ErrorKind::Limit => ProblemKind::Limit,
        yaml_span::ErrorKind::DuplicateKey => ProblemKind::Duplicate,
        _ => ProblemKind::Syntax,
    };
    let help = error.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
    Problem::at(path, position_of(error.at), kind, format!("{}{help}", error.message))
}

/// Errors of `Files` begin with the path, and so does a problem.
fn without_path(path: &str, message: &str) -> String {
    message.strip_prefix(path).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message).into()
}

/// Where a node begins.
pub(crate) fn position(node: &Node) -> Position {
    position_of(node.span.start)
}

fn position_of(mark: yaml_span::Mark) -> Position {
    let small = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: small(mark.line), column: small(mark.column) }
}

/// The objects of the documents of a file, and what their text said beside its values; lists become their items. What is
/// not an object is a problem.
pub(crate) fn objects(
    file: &str,
    documents: &Documents,
    schema: Schema,
) -> Result<Vec<(Resource, Marks)>, Vec<Problem>> {
    let mut found =
        Objects { file, text: &documents.text, schema, resources: Vec::new(), problems: Vec::new() };
    let alone = matches!(**documents, [(0, _)]);
    let mut open: VecDeque<_> = documents.iter().map(|(number, it)| (*number, &it.root, false)).collect();
    while let Some((number, node, through_json)) = open.pop_front() {
        let Some(items) = items(node) else {
            found.object(number, node, through_json);
            continue;
        };
        let items = items.iter().filter(|item| !item.is_null());
        // A list that is alone in its file is taken apart in its place; the reference takes others apart after all else,
        // and through JSON.
        let in_place =
            alone && !through_json && matches!(string(node.get("kind")), Some("List" | "ResourceList"));
        if schema == Schema::Kustomize && !in_place {
            open.extend(items.map(|item| (number, item, true)));
        } else {
            items.rev().for_each(|item| open.push_front((number, item, false)));
        }
    }
    if found.problems.is_empty() { Ok(found.resources) } else { Err(found.problems) }
}

/// The items of a list of objects.
fn items(node: &Node) -> Option<&[Node]> {
    string(node.get("kind")).filter(|kind| kind.ends_with("List"))?;
    match node.get("items") {
        Some(items) if items.is_null() => Some(&[]),
        items => items.and_then(Node::as_sequence),
    }
}

/// A string that says something.
fn string(node: Option<&Node>) -> Option<&str> {
    node.and_then(Node::as_str).filter(|text| !text.is_empty())
}

struct Objects<'a> {
    file: &'a str,
    text: &'a str,
    schema: Schema,
    resources: Vec<(Resource, Marks)>,
    problems: Vec<Problem>,
}

impl Objects<'_> {
    fn wrong(&mut self, node: &Node, kind: ProblemKind, message: String) {
        self.problems.push(Problem::at(self.file, position(node), kind, message));
    }

    fn object(&mut self, document: usize, node: &Node, through_json: bool) {
        let kustomize = self.schema == Schema::Kustomize;
        let Some(entries) = node.as_mapping() else {
            if kustomize && node.as_sequence().is_some_and(<[Node]>::is_empty) {
                return;
            }
            let message = format!("a Kubernetes object is a mapping, this is a {}", node.type_name());
            return self.wrong(node, ProblemKind::Invalid, message);
        };
        if entries.is_empty() && kustomize {
            return;
        }
        let metadata = node.get("metadata");
        let mut wanted = vec![("kind", string(node.get("kind")))];
        // The reference takes objects without one; a cluster does not.
        if !kustomize {
            wanted.insert(0, ("apiVersion", string(node.get("apiVersion"))));
        }
        wanted.push(("metadata.name", string(metadata.and_then(|metadata| metadata.get("name")))));
        let missing: Vec<&str> =
            wanted.iter().filter(|(_, text)| text.is_none()).map(|(field, _)| *field).collect();
        if !missing.is_empty() {
            let hint = if metadata.is_some_and(|metadata| metadata.get("generateName").is_some()) {
                "; generateName gives a new name at each apply and cannot be kept in git"
            } else {
                ""
            };
            let what = missing.join(" and ");
            let message = format!("a Kubernetes object needs {what}, as a non-empty string{hint}");
            return self.wrong(node, ProblemKind::Invalid, message);
        }
        if let Some(namespace) = metadata.and_then(|metadata| metadata.get("namespace"))
            && !namespace.is_null()
            && namespace.as_str().is_none()
        {
            let message =
                format!("metadata.namespace is a {}, not a string: quote it", namespace.type_name());
            return self.wrong(namespace, ProblemKind::Invalid, message);
        }
        // `kubectl apply` takes keys that are numbers as text; kustomize refuses them.
        let value = if kustomize { value::json(node) } else { Ok(node.to_json()) };
        match value {
            Ok(value) => {
                let origin = Origin { file: self.file.into(), line: position(node).line, document };
                let marks =
                    if through_json { Marks::of_json() } else { crate::marks::of_node(node, self.text) };
                self.resources.push((Resource { value: value.into(), origin }, marks));
            }
            Err(key) => {
                let message =
                    format!("the key {} is a {}, not a string: quote it", key.key_text(), key.type_name());
                self.wrong(key, ProblemKind::Syntax, message);
            }
        }
    }
}

//! Files to documents to objects. All reading of a build goes through one [`Reader`], which counts what it reads.

use yaml_span::{Document, Node, Schema};

use crate::error::Position;
use crate::value::Blanks;
use crate::{Files, Limits, Origin, Problem, ProblemKind, Resource, value};

/// Levels of nesting that a text may have; what patches make of it is bounded in `patch`.
const DEPTH: usize = 128;

/// Reads the files of one build and keeps its limits.
pub(crate) struct Reader<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) limits: &'a Limits,
    schema: Schema,
    read_bytes: usize,
}

impl<'a> Reader<'a> {
    /// `schema` says which plain words are booleans: kustomize and `kubectl apply` differ in that.
    pub(crate) fn new(files: &'a dyn Files, limits: &'a Limits, schema: Schema) -> Self {
        Self { files, limits, schema, read_bytes: 0 }
    }

    /// The text of a file.
    pub(crate) fn text(&mut self, path: &str) -> Result<String, Problem> {
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
        String::from_utf8(bytes.to_vec())
            .map_err(|_| Problem::whole(path, ProblemKind::Syntax, "is not UTF-8 text"))
    }

    /// The documents of a file, empty ones left out; each with its number in the file.
    pub(crate) fn documents(&mut self, path: &str) -> Result<Vec<(usize, Document)>, Vec<Problem>> {
        let text = self.text(path).map_err(|problem| vec![problem])?;
        self.parse_as(path, &text, self.schema)
    }

    /// As [`Reader::documents`], of a text that is already here.
    pub(crate) fn parse_as(
        &self,
        path: &str,
        text: &str,
        schema: Schema,
    ) -> Result<Vec<(usize, Document)>, Vec<Problem>> {
        let limits =
            yaml_span::Limits { bytes: self.limits.file_bytes, depth: DEPTH, ..yaml_span::Limits::default() };
        let mut documents = yaml_span::parse(text, schema, &limits).map_err(|errors| {
            errors.as_slice().iter().map(|error| syntax(path, error)).collect::<Vec<_>>()
        })?;
        if let Some(last) = documents.last_mut().filter(|_| !text.ends_with(['\n', '\r'])) {
            value::cut_off(&mut last.root);
        }
        Ok(documents.into_iter().enumerate().filter(|(_, document)| !document.root.is_null()).collect())
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

/// The objects of the documents of a file, and where they have keys without a value; lists become their items. What is
/// not an object is a problem.
pub(crate) fn objects(
    file: &str,
    documents: &[(usize, Document)],
    schema: Schema,
) -> Result<Vec<(Resource, Blanks)>, Vec<Problem>> {
    let (mut resources, mut problems) = (Vec::new(), Vec::new());
    for (document, parsed) in documents {
        object((file, *document, schema), &parsed.root, &mut resources, &mut problems);
    }
    if problems.is_empty() { Ok(resources) } else { Err(problems) }
}

/// A string that says something.
fn string(node: Option<&Node>) -> Option<&str> {
    node.and_then(Node::as_str).filter(|text| !text.is_empty())
}

fn object(
    (file, document, schema): (&str, usize, Schema),
    node: &Node,
    resources: &mut Vec<(Resource, Blanks)>,
    problems: &mut Vec<Problem>,
) {
    let at = position(node);
    let mut invalid = |message: String| problems.push(Problem::at(file, at, ProblemKind::Invalid, message));
    if node.as_mapping().is_none() {
        return invalid(format!("a Kubernetes object is a mapping, this is a {}", node.type_name()));
    }
    let kind = string(node.get("kind"));
    if let (Some(kind), Some(items)) = (kind, node.get("items").and_then(Node::as_sequence))
        && kind.ends_with("List")
    {
        for item in items.iter().filter(|item| !item.is_null()) {
            object((file, document, schema), item, resources, problems);
        }
        return;
    }
    let api_version = string(node.get("apiVersion"));
    let metadata = node.get("metadata");
    let name = string(metadata.and_then(|metadata| metadata.get("name")));
    let mut missing = Vec::new();
    for (field, value) in [("apiVersion", api_version), ("kind", kind), ("metadata.name", name)] {
        if value.is_none() {
            missing.push(field);
        }
    }
    if !missing.is_empty() {
        let hint = if metadata.is_some_and(|metadata| metadata.get("generateName").is_some()) {
            "; generateName gives a new name at each apply and cannot be kept in git"
        } else {
            ""
        };
        let what = missing.join(" and ");
        return invalid(format!("a Kubernetes object needs {what}, as a non-empty string{hint}"));
    }
    if let Some(namespace) = metadata.and_then(|metadata| metadata.get("namespace"))
        && !namespace.is_null()
        && namespace.as_str().is_none()
    {
        let message = format!("metadata.namespace is a {}, not a string: quote it", namespace.type_name());
        problems.push(Problem::at(file, position(namespace), ProblemKind::Invalid, message));
        return;
    }
    let origin = Origin { file: file.into(), line: at.line, document };
    // `kubectl apply` takes keys that are numbers as text; kustomize refuses them.
    let value = if schema == Schema::Kustomize { value::json(node) } else { Ok(node.to_json()) };
    match value {
        Ok(value) => resources.push((Resource { value, origin }, value::blanks(node))),
        Err(key) => {
            let message =
                format!("the key {} is a {}, not a string: quote it", key.key_text(), key.type_name());
            problems.push(Problem::at(file, position(key), ProblemKind::Syntax, message));
        }
    }
}

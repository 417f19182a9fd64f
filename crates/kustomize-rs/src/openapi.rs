//! `openapi`: another schema for the lists that a merge goes into. The first directory decides; where it says nothing, the
//! first one below it that does, from there on.

use std::sync::Arc;

use yaml_span::Schema as Words;

use crate::build::{Builder, Place};
use crate::generate;
use crate::item::Item;
use crate::kustomization::{Located, OpenApi};
use crate::schema::{Custom, Schema};
use crate::{Problem, ProblemKind};

/// The one version that is built in.
const BUILTIN: &str = "v1.21.2";

/// What is known about the schema of a build so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing has been said.
    #[default]
    Open,
    /// A version or a document has been named.
    Made,
}

impl Builder<'_> {
    /// Takes in what a kustomization says about the schema. `before`: the objects that are there already.
    pub(crate) fn choose_schema(&mut self, place: Place<'_>, said: Option<&OpenApi>, before: &[Item]) {
        let Some(said) = said else { return };
        if let Err(problem) = self.try_choose(place, said, before) {
            self.problems.push(problem);
        }
    }

    fn try_choose(&mut self, place: Place<'_>, said: &OpenApi, before: &[Item]) -> Result<(), Problem> {
        let document = said.path.as_ref().map(|path| self.openapi_document(place, path)).transpose()?;
        if self.schema_choice == Choice::Made {
            return Ok(());
        }
        match (document, &said.version) {
            (Some(_), Some(version)) => {
                let message = "openapi has a version and a path: one document or the other";
                return Err(place.problem(version.at, ProblemKind::Invalid, message));
            }
            (Some(document), None) => {
                // What the reference has looked up before stays known to it.
                let known = |item: &Item| {
                    Schema::Builtin.namespaced(item.resource.api_version(), item.resource.kind()).is_some()
                };
                let with_builtin = !before.iter().all(known);
                self.schema = Schema::Custom { document: Arc::new(document), with_builtin };
                self.schema_choice = Choice::Made;
            }
            (None, Some(version)) if version.value == BUILTIN => self.schema_choice = Choice::Made,
            (None, Some(version)) if !version.value.is_empty() => {
                let message =
                    format!("openapi version {:?} is not built in, only {BUILTIN} is", version.value);
                return Err(place.problem(version.at, ProblemKind::Invalid, message));
            }
            (None, _) => {}
        }
        Ok(())
    }

    fn openapi_document(&mut self, place: Place<'_>, written: &Located<String>) -> Result<Custom, Problem> {
        let refuse = |kind, why: String| place.problem(written.at, kind, format!("{}: {why}", written.value));
        let path = generate::confined(&self.reader, place.dir, &written.value)
            .map_err(|(kind, why)| refuse(kind, why.to_string()))?;
        let text = self.reader.text(&path)?;
        let document = if text.starts_with('{') {
            serde_json::from_str(&text).map_err(|error| {
                Problem::whole(
                    &path,
                    ProblemKind::Syntax,
                    format!("is not JSON, though it begins so: {error}"),
                )
            })?
        } else {
            let documents = self.reader.parse_settings(&path, &text, Words::Kubernetes).map_err(first)?;
            documents.into_iter().next().map(|(_, it)| it.root.to_json()).unwrap_or_default()
        };
        Custom::new(document).map_err(|why| Problem::whole(&path, ProblemKind::Invalid, why))
    }
}

/// One problem says enough about a file of which nothing is used then.
fn first(problems: Vec<Problem>) -> Problem {
    let none = || Problem::whole("", ProblemKind::Syntax, "is not YAML");
    problems.into_iter().next().unwrap_or_else(none)
}

#[cfg(test)]
mod tests {
    use crate::{MemoryFiles, Options, ProblemKind, build};

    const SHOP: &str =
        "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: a}\nspec: {tills: [{n: x, v: 1}]}\n";
    const PATCH: &str = "patches:\n- patch: |\n    apiVersion: example.com/v1\n    kind: Shop\n    metadata: {name: a}\n    \
                         spec: {tills: [{n: y}]}\n";
    const SCHEMA: &str = r#"{"definitions": {"shop": {
        "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Shop"}],
        "properties": {"spec": {"properties": {"tills": {"type": "array", "items": {"type": "object"},
            "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "n"}}}}}}}"#;

    /// How many tills a build has, or the class of its first problem.
    fn tills(kustomization: &str) -> Result<usize, ProblemKind> {
        let files: MemoryFiles = [
            ("a/kustomization.yaml", format!("resources: [shop.yaml]\n{kustomization}{PATCH}")),
            ("a/shop.yaml", SHOP.to_owned()),
            ("a/schema.json", SCHEMA.to_owned()),
            ("b/kustomization.yaml", "resources: [../a]\n".to_owned()),
        ]
        .into_iter()
        .collect();
        let objects = build(&files, "b", &Options::default()).map_err(|error| error.problems[0].kind)?;
        Ok(objects.as_slice()[0].value["spec"]["tills"].as_array().map_or(0, Vec::len))
    }

    #[test]
    fn a_document_says_how_lists_of_other_kinds_are_merged() {
        assert_eq!(tills(""), Ok(1), "the list is replaced where nothing is known about it");
        assert_eq!(tills("openapi: {path: schema.json}\n"), Ok(2));
        assert_eq!(tills("openapi: {version: v1.21.2}\n"), Ok(1));
        assert_eq!(tills("openapi: {version: v1.20.4}\n"), Err(ProblemKind::Invalid));
        assert_eq!(tills("openapi: {path: none.json}\n"), Err(ProblemKind::Read));
        assert_eq!(tills("openapi: {path: ../b/kustomization.yaml}\n"), Err(ProblemKind::Outside));
    }
}

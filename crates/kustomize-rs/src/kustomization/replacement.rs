//! `replacements` and `vars`: values that are copied from one object to others.

use yaml_span::Node;

use super::selector::{Requirement, requirements};
use super::{Fields, Located};
use crate::ProblemKind;
use crate::error::Position;
use crate::read::position;

/// One entry of `replacements`.
#[derive(Debug, Clone)]
pub(crate) enum ReplacementEntry {
    /// Written in place.
    Inline(Box<Replacement>),
    /// A file that holds one or a list of them.
    File(Located<String>),
}

/// Copies a value from one object to fields of others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replacement {
    pub(crate) source: Option<Source>,
    /// `None`: the field is absent.
    pub(crate) targets: Option<Vec<Target>>,
    pub(crate) at: Position,
}

/// Where the value is taken from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source {
    pub(crate) id: ObjectId,
    /// `""` means `metadata.name`.
    pub(crate) field_path: String,
    pub(crate) options: Option<FieldOptions>,
    pub(crate) at: Position,
}

/// Where it goes to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    pub(crate) select: Option<ObjectSelector>,
    pub(crate) reject: Vec<ObjectSelector>,
    /// None means `metadata.name`.
    pub(crate) field_paths: Vec<Located<String>>,
    pub(crate) options: Option<FieldOptions>,
    pub(crate) at: Position,
}

/// Parts of an identity, each to be equal; what is empty fits all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ObjectId {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

/// An identity and selectors over labels and annotations.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObjectSelector {
    pub(crate) id: ObjectId,
    pub(crate) labels: Vec<Requirement>,
    pub(crate) annotations: Vec<Requirement>,
}

/// How a value is taken apart or put in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FieldOptions {
    pub(crate) delimiter: String,
    pub(crate) index: i64,
    pub(crate) encoding: String,
    pub(crate) create: bool,
}

/// One entry of `vars`.
#[derive(Debug, Clone)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) object: ObjectId,
    /// Never empty: `metadata.name` where nothing is written.
    pub(crate) field_path: String,
    pub(crate) at: Position,
}

const ID: [&str; 5] = ["group", "version", "kind", "name", "namespace"];

impl ObjectId {
    fn set(&mut self, field: &str, text: String) {
        match field {
            "group" => self.group = text,
            "version" => self.version = text,
            "kind" => self.kind = text,
            "name" => self.name = text,
            _ => self.namespace = text,
        }
    }
}

impl Fields<'_> {
    pub(crate) fn replacement_entry(&mut self, item: &Node) -> Option<ReplacementEntry> {
        let known = ["source", "targets", "path"];
        let (mut path, mut inline) = (None, false);
        for (field, _, value) in self.entries(item, "a replacement", &known, &[]) {
            match field {
                "path" => path = self.located(value, field).filter(|path| !path.value.is_empty()),
                _ => inline = true,
            }
        }
        match path {
            Some(_) if inline => {
                let message = "a replacement has either `path`, or `source` and `targets`, not both";
                self.wrong(item, ProblemKind::Invalid, message);
                None
            }
            Some(path) => Some(ReplacementEntry::File(path)),
            None => self.replacement(item).map(|it| ReplacementEntry::Inline(Box::new(it))),
        }
    }

    /// One replacement, as it stands in place or in a file.
    pub(crate) fn replacement(&mut self, item: &Node) -> Option<Replacement> {
        let mut out = Replacement { at: position(item), ..Replacement::default() };
        for (field, _, value) in self.entries(item, "a replacement", &["source", "targets", "path"], &[]) {
            match field {
                "source" => out.source = Some(self.source(value)),
                "targets" => out.targets = Some(self.list(value, field, Self::replacement_target)),
                _ => {}
            }
        }
        Some(out)
    }

    fn source(&mut self, node: &Node) -> Source {
        let mut out = Source { at: position(node), ..Source::default() };
        let known = [&ID[..], &["fieldPath", "options"]].concat();
        for (field, _, value) in self.entries(node, "a source", &known, &[]) {
            match field {
                "fieldPath" => out.field_path = self.string(value, field).unwrap_or_default(),
                "options" => out.options = Some(self.field_options(value)),
                _ => out.id.set(field, self.string(value, field).unwrap_or_default()),
            }
        }
        out
    }

    fn replacement_target(&mut self, item: &Node) -> Option<Target> {
        let mut out = Target { at: position(item), ..Target::default() };
        let known = ["select", "reject", "fieldPaths", "options"];
        for (field, _, value) in self.entries(item, "a target", &known, &[]) {
            match field {
                "select" => out.select = self.object_selector(value),
                "reject" => out.reject = self.list(value, field, Self::object_selector),
                "fieldPaths" => out.field_paths = self.strings(value, field),
                _ => out.options = Some(self.field_options(value)),
            }
        }
        Some(out)
    }

    fn object_selector(&mut self, node: &Node) -> Option<ObjectSelector> {
        let mut out = ObjectSelector::default();
        let known = [&ID[..], &["labelSelector", "annotationSelector"]].concat();
        for (field, _, value) in self.entries(node, "a selector", &known, &[]) {
            let Some(text) = self.string(value, field) else { continue };
            if !field.ends_with("Selector") {
                out.id.set(field, text);
                continue;
            }
            if text.is_empty() {
                continue;
            }
            match requirements(&text) {
                Ok(parsed) if field == "labelSelector" => out.labels = parsed,
                Ok(parsed) => out.annotations = parsed,
                Err(why) => self.wrong(value, ProblemKind::Invalid, format!("{field} {text:?}: {why}")),
            }
        }
        Some(out)
    }

    fn field_options(&mut self, node: &Node) -> FieldOptions {
        let mut out = FieldOptions::default();
        let known = ["delimiter", "index", "encoding", "create"];
        for (field, _, value) in self.entries(node, "options", &known, &[]) {
            match field {
                "delimiter" => out.delimiter = self.string(value, field).unwrap_or_default(),
                "index" => out.index = self.integer(value, field),
                "encoding" => out.encoding = self.string(value, field).unwrap_or_default(),
                _ => out.create = self.boolean(value, field),
            }
        }
        out
    }

    pub(crate) fn var(&mut self, item: &Node) -> Option<Var> {
        let mut out = Var {
            name: String::new(),
            object: ObjectId::default(),
            field_path: String::new(),
            at: position(item),
        };
        for (field, _, value) in self.entries(item, "a var", &["name", "objref", "fieldref"], &[]) {
            match field {
                "name" => out.name = self.string(value, field).unwrap_or_default(),
                "objref" => out.object = self.object_reference(value),
                _ => {
                    for (field, _, value) in self.entries(value, "fieldref", &["fieldPath"], &[]) {
                        out.field_path = self.string(value, field).unwrap_or_default();
                    }
                }
            }
        }
        if out.field_path.is_empty() {
            out.field_path = "metadata.name".into();
        }
        Some(out)
    }

    fn object_reference(&mut self, node: &Node) -> ObjectId {
        let mut out = ObjectId::default();
        let mut api_version = String::new();
        let known = [&ID[..], &["apiVersion"]].concat();
        for (field, _, value) in self.entries(node, "objref", &known, &[]) {
            let text = self.string(value, field).unwrap_or_default();
            if field == "apiVersion" {
                api_version = text;
            } else {
                out.set(field, text);
            }
        }
        match api_version.split('/').collect::<Vec<_>>()[..] {
            [group, version] => {
                out.group = group.into();
                out.version = version.into();
            }
            [version] if !version.is_empty() => out.version = version.into(),
            _ => {}
        }
        out
    }
}

//! A file named in `configurations`.

use std::borrow::Cow;

use yaml_span::Node;

use super::{Config, Conflict, NameReference, add};
use crate::field_path::Field;
use crate::kustomization::{FieldSpec, Fields};
use crate::{Problem, ProblemKind};

const KNOWN: &[&str] = &[
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "templateLabels",
    "commonAnnotations",
    "nameReference",
    "varReference",
    "images",
    "replicas",
];

/// Reads a file of field specifications.
pub(crate) fn read(file: &str, root: &Node) -> Result<Config, Vec<Problem>> {
    let mut fields = Fields::new(file);
    let mut config = Config::default();
    for (field, _, value) in fields.entries(root, "a configuration", KNOWN, &[]) {
        if field == "nameReference" {
            config.name_reference = fields.list(value, field, name_reference);
            continue;
        }
        let list = list_of(&mut fields, value, field);
        match field {
            "namePrefix" => config.name_prefix = list,
            "nameSuffix" => config.name_suffix = list,
            "namespace" => config.namespace = list,
            "commonLabels" => config.common_labels = list,
            "labels" => config.labels = list,
            "templateLabels" => config.template_labels = list,
            "commonAnnotations" => config.common_annotations = list,
            "varReference" => config.var_reference = list,
            "images" => config.images = list,
            _ => config.replicas = list,
        }
    }
    config.sort();
    fields.done(config)
}

/// A list of field specifications.
pub(crate) fn list_of(fields: &mut Fields<'_>, value: &Node, field: &str) -> Vec<Field> {
    fields.list(value, field, Fields::field_spec).into_iter().map(Field::from).collect()
}

fn name_reference(fields: &mut Fields<'_>, item: &Node) -> Option<NameReference> {
    let mut target = FieldSpec::default();
    let mut list = Vec::new();
    let known = ["group", "version", "kind", "fieldSpecs"];
    for (field, _, value) in fields.entries(item, "a nameReference", &known, &[]) {
        match field {
            "fieldSpecs" => list = list_of(fields, value, field),
            _ => fields.field_of(&mut target, field, value),
        }
    }
    let own = Cow::Owned;
    Some(NameReference {
        group: own(target.group),
        version: own(target.version),
        kind: own(target.kind),
        fields: list,
    })
}

impl From<FieldSpec> for Field {
    fn from(spec: FieldSpec) -> Self {
        Self::new(spec.group, spec.version, spec.kind, spec.path, spec.create)
    }
}

impl Conflict {
    /// The problem, told for the file that brought the second of the two.
    pub(crate) fn problem(&self, file: &str, at: crate::error::Position) -> Problem {
        let message = format!(
            "field {} is described twice, with create and without: write both the same way",
            self.path
        );
        Problem::at(file, at, ProblemKind::Invalid, message)
    }
}

impl Config {
    /// Adds one field to a list of fields.
    pub(super) fn add_to(list: &mut Vec<Field>, field: &Field) -> Result<(), Conflict> {
        add(list, field)
    }
}

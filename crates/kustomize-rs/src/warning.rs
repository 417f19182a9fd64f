//! What is no error and should still be told: fields of the past.

use crate::build::Place;
use crate::kustomization::Kustomization;
use crate::{Problem, ProblemKind};

/// The old fields that a kustomization uses.
pub(crate) fn deprecated(place: Place<'_>, kustomization: &Kustomization) -> Vec<Problem> {
    let warning = |field: &crate::kustomization::Located<&'static str>| {
        let instead = match field.value {
            "bases" => "resources",
            "commonLabels" => "labels",
            "imageTags" => "images",
            "vars" => "replacements",
            _ => "patches",
        };
        let message = format!("{} is a field of the past: use {instead}", field.value);
        place.problem(field.at, ProblemKind::Deprecated, message)
    };
    kustomization.deprecated.iter().map(warning).collect()
}

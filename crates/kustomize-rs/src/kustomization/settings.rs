//! Fields about the build as a whole: `openapi` and `sortOptions`.

use yaml_span::Node;

use super::{Fields, Located};
use crate::ProblemKind;

/// `openapi`: another schema than the one built in.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenApi {
    /// A file below the kustomization.
    pub(crate) path: Option<Located<String>>,
    /// One of the versions built into the reference.
    pub(crate) version: Option<Located<String>>,
}

/// `sortOptions`.
#[derive(Debug, Clone, Default)]
pub(crate) struct SortOptions {
    pub(crate) order: SortOrder,
    /// Kinds to begin with, and kinds to end with; `None`: the usual ones.
    pub(crate) legacy: Option<(Vec<String>, Vec<String>)>,
}

/// In which order objects are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// By kind.
    #[default]
    Legacy,
    /// As they were read.
    Fifo,
}

impl Fields<'_> {
    pub(super) fn openapi(&mut self, node: &Node) -> Option<OpenApi> {
        let mut out = OpenApi::default();
        // Any names are allowed, of which two mean something.
        for (key, value) in node.as_mapping().unwrap_or_default() {
            let name = key.key_text();
            let value = self.located(value, &name);
            match name.as_str() {
                "path" => out.path = value,
                "version" => out.version = value,
                _ => {}
            }
        }
        if node.as_mapping().is_none() {
            self.wrong(node, ProblemKind::Invalid, "openapi must be a mapping with path or version");
        }
        Some(out)
    }

    pub(super) fn sort_options(&mut self, node: &Node) -> Option<SortOptions> {
        let mut out = SortOptions::default();
        let known = ["order", "legacySortOptions"];
        let (mut legacy, mut order) = (None, None);
        for (field, _, value) in self.entries(node, "sortOptions", &known, &[]) {
            if field != "order" {
                legacy = Some((value, self.legacy_sort(value)));
                continue;
            }
            order = match self.string(value, field)?.as_str() {
                "legacy" => Some(SortOrder::Legacy),
                "fifo" => Some(SortOrder::Fifo),
                other => {
                    let message = format!("order is {other:?}, it must be legacy or fifo");
                    self.wrong(value, ProblemKind::Invalid, message);
                    return None;
                }
            };
        }
        match order {
            Some(order) => out.order = order,
            None => self.wrong(node, ProblemKind::Invalid, "sortOptions needs an order: legacy or fifo"),
        }
        match (legacy, out.order) {
            (Some((node, _)), SortOrder::Fifo) => {
                let message = "legacySortOptions go with order: legacy only";
                self.wrong(node, ProblemKind::Invalid, message);
            }
            (legacy, _) => out.legacy = legacy.map(|(_, kinds)| kinds),
        }
        Some(out)
    }

    fn legacy_sort(&mut self, node: &Node) -> (Vec<String>, Vec<String>) {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        let known = ["orderFirst", "orderLast"];
        for (field, _, value) in self.entries(node, "legacySortOptions", &known, &[]) {
            let kinds = self.strings(value, field).into_iter().map(|kind| kind.value).collect();
            if field == "orderFirst" { first = kinds } else { last = kinds }
        }
        (first, last)
    }
}

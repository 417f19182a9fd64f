//! Reading typed fields out of a mapping; each wrong one is noted with its place, and reading goes on.

use yaml_span::{Node, did_you_mean};

use super::Located;
use crate::read::position;
use crate::{Problem, ProblemKind};

/// A file being read, and what is wrong with it so far.
pub(crate) struct Fields<'a> {
    file: &'a str,
    /// Fields that are not known are passed over: the reference reads the files of built-in plugins so.
    lenient: bool,
    pub(super) problems: Vec<Problem>,
}

/// A field by its proper name, its key as written, its value.
type Entry<'n, 'k> = (&'k str, &'n Node, &'n Node);

impl<'a> Fields<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Self { file, lenient: false, problems: Vec::new() }
    }

    /// Passes over fields that are not known.
    pub(crate) fn lenient(file: &'a str) -> Self {
        Self { lenient: true, ..Self::new(file) }
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// `value`, unless something was wrong.
    pub(crate) fn done<T>(self, value: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(value) } else { Err(self.problems) }
    }
}

impl Fields<'_> {
    pub(crate) fn wrong(&mut self, node: &Node, kind: ProblemKind, message: impl Into<String>) {
        self.problems.push(Problem::at(self.file, position(node), kind, message));
    }

    fn wrong_type(&mut self, node: &Node, field: &str, expected: &str) {
        let message = format!("{field} is a {}, it must be a {expected}", node.type_name());
        self.wrong(node, ProblemKind::Invalid, message);
    }

    /// The fields of `node` that are known and not null. Names are compared as the reference does, without regard to
    /// case. `refused`: fields that exist and are never honoured.
    pub(crate) fn entries<'n, 'k>(
        &mut self,
        node: &'n Node,
        what: &str,
        known: &[&'k str],
        refused: &[&str],
    ) -> Vec<Entry<'n, 'k>> {
        let Some(entries) = node.as_mapping() else {
            self.wrong_type(node, what, "mapping");
            return Vec::new();
        };
        let mut found = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let name = key.key_text();
            let same = |candidate: &&&str| candidate.eq_ignore_ascii_case(&name);
            if let Some(field) = known.iter().find(same) {
                if !value.is_null() {
                    found.push((*field, key, value));
                }
            } else if let Some(field) = refused.iter().find(same) {
                let message = format!(
                    "{field} is refused: nothing is started or fetched while rendering; render the chart \
                     beforehand and commit the result"
                );
                self.wrong(key, ProblemKind::Unsupported, message);
            } else if !self.lenient {
                let hint = match did_you_mean(&name, known.iter().copied()) {
                    Some(field) => format!("did you mean {field}?"),
                    None => format!("known are {}", known.join(", ")),
                };
                self.wrong(
                    key,
                    ProblemKind::UnknownField,
                    format!("{name} is not a field of {what}; {hint}"),
                );
            }
        }
        found
    }

    /// Some fields of `node`, whatever else it has.
    pub(crate) fn quietly<'n, 'k>(&self, node: &'n Node, wanted: &[&'k str]) -> Vec<Entry<'n, 'k>> {
        let find = |(key, value): &'n (Node, Node)| {
            let name = key.key_text();
            let field = wanted.iter().find(|field| field.eq_ignore_ascii_case(&name))?;
            (!value.is_null()).then_some((*field, key, value))
        };
        node.as_mapping().unwrap_or_default().iter().filter_map(find).collect()
    }

    pub(crate) fn string(&mut self, node: &Node, field: &str) -> Option<String> {
        let text = node.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(node, field, "string (quote it)");
        }
        text
    }

    pub(crate) fn located(&mut self, node: &Node, field: &str) -> Option<Located<String>> {
        self.string(node, field).map(|value| Located { value, at: position(node) })
    }

    pub(crate) fn boolean(&mut self, node: &Node, field: &str) -> bool {
        node.as_bool().unwrap_or_else(|| {
            self.wrong_type(node, field, "boolean");
            false
        })
    }

    pub(crate) fn integer(&mut self, node: &Node, field: &str) -> i64 {
        node.as_i64().unwrap_or_else(|| {
            self.wrong_type(node, field, "whole number");
            0
        })
    }

    pub(crate) fn list<T>(
        &mut self,
        node: &Node,
        field: &str,
        mut item: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        let Some(items) = node.as_sequence() else {
            self.wrong_type(node, field, "list");
            return Vec::new();
        };
        items.iter().filter_map(|node| item(self, node)).collect()
    }

    pub(crate) fn strings(&mut self, node: &Node, field: &str) -> Vec<Located<String>> {
        let what = format!("an entry of {field}");
        self.list(node, field, |fields, item| fields.located(item, &what))
    }

    /// A mapping of strings to strings.
    pub(crate) fn pairs(&mut self, node: &Node, field: &str) -> Vec<(String, String)> {
        let Some(entries) = node.as_mapping() else {
            self.wrong_type(node, field, "mapping");
            return Vec::new();
        };
        let pair = |(key, value): &(Node, Node)| {
            let key = key.key_text();
            let value = if value.is_null() { Some(String::new()) } else { self.string(value, &key) };
            Some((key, value?))
        };
        entries.iter().filter_map(pair).collect()
    }
}

//! Reading typed fields out of a mapping; each wrong one is noted with its place, and reading goes on.

use yaml_span::{Node, did_you_mean};

use super::Located;
use crate::read::position;
use crate::{Problem, ProblemKind};

/// A file being read, and what is wrong with it so far.
pub(super) struct Fields<'a> {
    pub(super) file: &'a str,
    pub(super) problems: Vec<Problem>,
}

/// A field by its proper name, its key as written, its value.
type Entry<'n, 'k> = (&'k str, &'n Node, &'n Node);

impl Fields<'_> {
    pub(super) fn wrong(&mut self, node: &Node, kind: ProblemKind, message: impl Into<String>) {
        self.problems.push(Problem::at(self.file, position(node), kind, message));
    }

    fn wrong_type(&mut self, node: &Node, field: &str, expected: &str) {
        let message = format!("{field} is a {}, it must be a {expected}", node.type_name());
        self.wrong(node, ProblemKind::Invalid, message);
    }

    /// The fields of `node` that are known and not null. Names are compared as the reference does, without regard to
    /// case.
    pub(super) fn entries<'n, 'k>(
        &mut self,
        node: &'n Node,
        what: &str,
        known: &[&'k str],
        unsupported: &[&str],
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
            } else if let Some(field) = unsupported.iter().find(same) {
                self.wrong(key, ProblemKind::Unsupported, format!("{field} is not supported yet"));
            } else {
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

    pub(super) fn string(&mut self, node: &Node, field: &str) -> Option<String> {
        let text = node.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(node, field, "string (quote it)");
        }
        text
    }

    pub(super) fn located(&mut self, node: &Node, field: &str) -> Option<Located<String>> {
        self.string(node, field).map(|value| Located { value, at: position(node) })
    }

    pub(super) fn boolean(&mut self, node: &Node, field: &str) -> bool {
        node.as_bool().unwrap_or_else(|| {
            self.wrong_type(node, field, "boolean");
            false
        })
    }

    pub(super) fn list<T>(
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

    pub(super) fn strings(&mut self, node: &Node, field: &str) -> Vec<Located<String>> {
        let what = format!("an entry of {field}");
        self.list(node, field, |fields, item| fields.located(item, &what))
    }

    /// A mapping of strings to strings.
    pub(super) fn pairs(&mut self, node: &Node, field: &str) -> Vec<(String, String)> {
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

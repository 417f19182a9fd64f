//! What is wrong with a document by itself: ranges, names, exactly-one-of, and what is not built yet.
//!
//! A check never stops at the first finding and never looks at other documents. One file for each kind below.

mod cluster;
mod fleet;
mod placement;
mod policy;
mod syntax;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::document::Metadata;
use crate::{API_VERSION, Approval, Kind, LabelSelector, SelectorOperator, Suspension, Tenant};

pub(crate) use cluster::cluster;
pub(crate) use fleet::fleet;
pub(crate) use placement::placement;
pub(crate) use policy::sync_policy;
pub(crate) use workspace::workspace;

/// Something that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The field: keys with dots in between, `[0]` for items of lists, `["a.b/c"]` for keys with other characters
    /// than letters, digits, `-` and `_`. The field itself may be missing.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it, where that is not plain.
    pub help: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

/// Collects findings; its methods are the checks that several kinds share.
#[derive(Default)]
pub(crate) struct Check {
    findings: Vec<Finding>,
}

impl Check {
    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    pub(crate) fn error(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.findings.push(Finding { path: path.into(), message: message.into(), help: None });
    }

    fn error_with_help(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = Some(help.into());
        self.findings.push(Finding { path: path.into(), message: message.into(), help });
    }

    /// Refuses, by name, a field whose effect is not built yet.
    fn refuse(&mut self, path: &str, at_default: bool) {
        if !at_default {
            self.error(path, format!("{path} is not supported yet; leave it out"));
        }
    }

    /// Like [`Check::refuse`], for a field that is better written out at its one value.
    fn refuse_other_than(&mut self, path: &str, at_default: bool, default: impl fmt::Display) {
        if !at_default {
            self.error(
                path,
                format!("{path} is not supported yet at other values than {default}; leave it out"),
            );
        }
    }

    /// What all documents share.
    pub(crate) fn envelope(
        &mut self,
        kind: Kind,
        api_version: &str,
        said_kind: &str,
        meta: &Metadata,
        has_status: bool,
    ) {
        if api_version != API_VERSION {
            self.error("apiVersion", format!("unknown version {api_version:?}, expected {API_VERSION}"));
        }
        if said_kind != kind.as_str() {
            self.error("kind", format!("expected kind {kind}"));
        }
        // A workspace's name becomes part of other names, so it has no dots.
        match kind {
            Kind::Workspace => self.dns_label("metadata.name", &meta.name),
            _ => self.dns_name("metadata.name", &meta.name),
        }
        self.labels("metadata.labels", &meta.labels);
        for key in meta.annotations.keys() {
            self.label_key(&key_path("metadata.annotations", key), key);
        }
        if has_status {
            self.error_with_help("status", "status is written by the reconciler", "leave it out");
        }
    }

    fn dns_label(&mut self, path: &str, name: &str) {
        if !syntax::is_dns_label(name) {
            self.error(
                path,
                format!(
                    "{} is not a name: lower-case letters, digits and -, first and last a letter or digit, \
                     1 to 63 characters",
                    quoted(name)
                ),
            );
        }
    }

    fn dns_name(&mut self, path: &str, name: &str) {
        if name.len() > 63 || !name.split('.').all(syntax::is_dns_label) {
            self.error(
                path,
                format!(
                    "{} is not a name: lower-case letters, digits, - and ., first and last a letter or digit, \
                     1 to 63 characters",
                    quoted(name)
                ),
            );
        }
    }

    fn not_empty(&mut self, path: &str, text: &str) {
        if text.trim().is_empty() {
            self.error(path, "must not be empty");
        }
    }

    fn label_key(&mut self, path: &str, key: &str) {
        if !syntax::is_label_key(key) {
            self.error(
                path,
                format!(
                    "{} is not a label key: an optional DNS name and /, then 1 to 63 letters, digits, -, _ \
                     and ., first and last a letter or digit",
                    quoted(key)
                ),
            );
        }
    }

    fn label_value(&mut self, path: &str, value: &str) {
        if !syntax::is_label_value(value) {
            self.error(
                path,
                format!(
                    "{} is not a label value: up to 63 letters, digits, -, _ and ., first and last a letter \
                     or digit",
                    quoted(value)
                ),
            );
        }
    }

    fn labels(&mut self, path: &str, labels: &BTreeMap<String, String>) {
        for (key, value) in labels {
            let path = key_path(path, key);
            self.label_key(&path, key);
            self.label_value(&path, value);
        }
    }

    fn selector(&mut self, path: &str, selector: &LabelSelector) {
        self.labels(&format!("{path}.matchLabels"), &selector.match_labels);
        for (i, requirement) in selector.match_expressions.iter().enumerate() {
            let path = format!("{path}.matchExpressions[{i}]");
            self.label_key(&format!("{path}.key"), &requirement.key);
            let values = format!("{path}.values");
            match requirement.operator {
                SelectorOperator::In | SelectorOperator::NotIn if requirement.values.is_empty() => {
                    self.error(&values, "at least one value is needed for operators In and NotIn");
                }
                SelectorOperator::Exists | SelectorOperator::DoesNotExist
                    if !requirement.values.is_empty() =>
                {
                    self.error(&values, "operators Exists and DoesNotExist take no values");
                }
                _ => {}
            }
            for (i, value) in requirement.values.iter().enumerate() {
                self.label_value(&format!("{values}[{i}]"), value);
            }
        }
    }

    /// Names of a list whose items are told apart by `name`.
    fn unique_names<'a>(&mut self, path: &str, names: impl IntoIterator<Item = &'a str>) {
        let mut seen = BTreeSet::new();
        for (i, name) in names.into_iter().enumerate() {
            let path = format!("{path}[{i}].name");
            self.not_empty(&path, name);
            if !seen.insert(name) {
                self.error(&path, format!("{} is there twice", quoted(name)));
            }
        }
    }

    /// Texts of a list that stand for themselves.
    fn unique_texts(&mut self, path: &str, texts: &[String]) {
        let mut seen = BTreeSet::new();
        for (i, text) in texts.iter().enumerate() {
            let path = format!("{path}[{i}]");
            self.not_empty(&path, text);
            if !seen.insert(text) {
                self.error(&path, format!("{} is there twice", quoted(text)));
            }
        }
    }

    /// Exactly one of some fields of `path` must be given.
    fn exactly_one(&mut self, path: &str, fields: &[(&str, bool)]) {
        let all = || fields.iter().map(|(field, _)| *field).collect::<Vec<_>>().join(", ");
        let given: Vec<&str> = fields.iter().filter(|(_, given)| *given).map(|(field, _)| *field).collect();
        match given.len() {
            1 => {}
            0 => self.error(path, format!("exactly one of {} is needed", all())),
            _ => self.error_with_help(
                path,
                format!("exactly one of {} is needed, found {}", all(), given.join(" and ")),
                "keep one of them",
            ),
        }
    }

    fn suspensions(&mut self, path: &str, list: &[Suspension]) {
        for (i, suspension) in list.iter().enumerate() {
            self.unique_texts(&format!("{path}[{i}].clusters"), &suspension.clusters);
        }
    }

    fn percent(&mut self, path: &str, percent: u32) {
        if percent > 100 {
            self.error(path, format!("{percent} is not a share in percent: 0 to 100"));
        }
    }

    /// A folder or file inside the repo, relative.
    fn repo_path(&mut self, path: &str, text: &str) {
        if let Err(why) = syntax::repo_path(text) {
            self.error(path, format!("{} is not a path inside the repo: {why}", quoted(text)));
        }
    }
}

/// A text from outside in a message: short, and with nothing a terminal would act on.
fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Path of an entry of a map.
fn key_path(path: &str, key: &str) -> String {
    if !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
        format!("{path}.{key}")
    } else {
        format!("{path}[{key:?}]")
    }
}

pub(crate) fn tenant(_: &Tenant, check: &mut Check) {
    // A ceiling that is not enforced is worse than none: it must not look as if it were.
    check.error_with_help(
        "kind",
        "Tenant is not supported yet",
        "remove the document: nothing would hold a team to it",
    );
}

pub(crate) fn approval(approval: &Approval, check: &mut Check) {
    let spec = &approval.spec;
    check.not_empty("spec.hold", &spec.hold);
    if spec.actions.is_empty() {
        check.error_with_help("spec.actions", "must not be empty", "write it with `kubectl kcp approve`");
    }
    for (i, action) in spec.actions.iter().enumerate() {
        let path = format!("spec.actions[{i}]");
        check.not_empty(&format!("{path}.clusterUid"), &action.cluster_uid);
        check.not_empty(&format!("{path}.kind"), &action.kind);
        check.not_empty(&format!("{path}.name"), &action.name);
    }
}

#[cfg(test)]
mod tests;

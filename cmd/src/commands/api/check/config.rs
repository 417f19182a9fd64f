//! The configuration of `api check`: levels per rule and per path, and waivers with a reason and an end.

use std::path::Path;

use kcp_api::Timestamp;
use kcp_git::WorkTree;
use kcp_schema::{Difference, Direction, Level, Rule, SchemaPath};
use kustomize_rs::Files;
use serde::Deserialize;
use std::collections::BTreeMap;

use crate::error::{CommandError, findings};

/// The file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct Config {
    /// Whom changes must not break; flags come first.
    #[serde(rename = "for")]
    pub(super) directions: Vec<Direction>,
    /// From which level on the answer is no; flags come first.
    pub(super) fail_on: Option<Level>,
    /// Levels by rule.
    pub(super) rules: BTreeMap<String, Level>,
    /// Levels by place; the last that fits counts, and comes before `rules`.
    pub(super) paths: Vec<PathLevel>,
    /// Findings that are let through for a time.
    pub(super) waivers: Vec<Waiver>,
    /// Versions whose name says that they may break: their findings weigh `info`. For example `v1alpha1`.
    pub(super) ignore_alpha: bool,
}

/// A level for a place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct PathLevel {
    /// The place and all below it, as findings print it.
    path: String,
    /// `PLURAL.GROUP`; absent: any.
    crd: Option<String>,
    /// Absent: any.
    rule: Option<String>,
    level: Level,
}

/// A finding that someone answers for, until a day.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Waiver {
    rule: String,
    /// `PLURAL.GROUP`; absent: any.
    crd: Option<String>,
    /// The place and all below it; absent: any.
    path: Option<String>,
    /// The last day, such as 2026-12-31.
    until: String,
    /// Why it may pass.
    pub(super) reason: String,
}

/// What a waiver says about a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Waived {
    /// It passes, for this reason.
    Yes(String),
    /// It did, until this day.
    Expired(String),
}

impl Config {
    /// Reads the file.
    pub(super) fn read(file: &str) -> Result<Self, CommandError> {
        let path = Path::new(file);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let wrong = |message: String| CommandError::usage(message);
        let files = WorkTree::open(parent).map_err(|error| wrong(error.to_string()))?;
        let bytes = files.read(name).map_err(|error| wrong(format!("--config {file}: {error}")))?;
        Self::parse(file, &String::from_utf8_lossy(&bytes))
    }

    pub(super) fn parse(file: &str, text: &str) -> Result<Self, CommandError> {
        let as_usage = |error: CommandError| CommandError { exit: crate::error::Exit::Usage, ..error };
        let documents = yaml_span::parse(text, yaml_span::Schema::Kubernetes, &yaml_span::Limits::default());
        let documents = documents
            .map_err(|errors| as_usage(findings("the configuration has", &errors.diagnostics(file))))?;
        let Some(document) = documents.first() else { return Ok(Self::default()) };
        let (config, found) = yaml_span::from_node::<Self>(file, &document.root);
        let config = config.ok_or_else(|| as_usage(findings("the configuration has", &found)))?;
        config.checked(file)
    }

    fn checked(self, file: &str) -> Result<Self, CommandError> {
        let rules = self.rules.keys().chain(self.waivers.iter().map(|it| &it.rule));
        for rule in rules.chain(self.paths.iter().filter_map(|it| it.rule.as_ref())) {
            if Rule::by_id(rule).is_none() {
                let error = CommandError::usage(format!("{file}: there is no rule `{rule}`"));
                let near = yaml_span::did_you_mean(rule, kcp_schema::RULES.iter().map(|rule| rule.id));
                return Err(match near {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint("docs/api-compat.md lists them"),
                });
            }
        }
        for waiver in &self.waivers {
            if waiver.reason.trim().is_empty() {
                let message = format!("{file}: the waiver of {} has no reason", waiver.rule);
                return Err(
                    CommandError::usage(message).hint("say why it may pass, for whoever reads it later")
                );
            }
            waiver.end().ok_or_else(|| {
                let message = format!(
                    "{file}: the waiver of {} ends on {:?}, which is no day",
                    waiver.rule, waiver.until
                );
                CommandError::usage(message).hint("write it like 2026-12-31")
            })?;
        }
        Ok(self)
    }

    /// The level of a rule at a place.
    pub(super) fn level(&self, crd: &str, difference: &Difference) -> Level {
        let id = difference.rule.id;
        let fits = |it: &&PathLevel| {
            it.crd.as_deref().is_none_or(|own| own == crd)
                && it.rule.as_deref().is_none_or(|own| own == id)
                && covers(&it.path, &difference.path)
        };
        let by_path = self.paths.iter().rev().find(fits).map(|it| it.level);
        let level = by_path.or_else(|| self.rules.get(id).copied()).unwrap_or(difference.rule.level);
        let alpha = difference.version.as_deref().is_some_and(|version| version.contains("alpha"));
        if self.ignore_alpha && alpha { level.min(Level::Info) } else { level }
    }

    /// Whether a waiver covers the finding; one that still holds comes first. Also gives its number.
    pub(super) fn waived(&self, crd: &str, difference: &Difference, now: i64) -> Option<(usize, Waived)> {
        let fits = |it: &Waiver| {
            it.rule == difference.rule.id
                && it.crd.as_deref().is_none_or(|own| own == crd)
                && it.path.as_deref().is_none_or(|path| covers(path, &difference.path))
        };
        let all = self.waivers.iter().enumerate().filter(|(_, it)| fits(it));
        let said = all.map(|(index, it)| match it.end() {
            Some(end) if now <= end => (index, Waived::Yes(it.reason.clone())),
            _ => (index, Waived::Expired(it.until.clone())),
        });
        said.min_by_key(|(_, waived)| matches!(waived, Waived::Expired(_)))
    }

    /// The waivers that nothing needed.
    pub(super) fn unused(&self, used: &[usize]) -> Vec<String> {
        let unused = self.waivers.iter().enumerate().filter(|(index, _)| !used.contains(index));
        unused.map(|(_, it)| format!("{} {}", it.rule, it.path.as_deref().unwrap_or("(any path)"))).collect()
    }
}

impl Waiver {
    /// The last second of its last day.
    fn end(&self) -> Option<i64> {
        format!("{}T23:59:59Z", self.until).parse::<Timestamp>().ok().map(|time| time.epoch_seconds())
    }
}

/// Whether `prefix` is the place or one above it.
fn covers(prefix: &str, path: &SchemaPath) -> bool {
    let path = path.to_string();
    let rest = if matches!(prefix, "." | "") { Some("") } else { path.strip_prefix(prefix) };
    rest.is_some_and(|rest| rest.is_empty() || prefix == "." || rest.starts_with(['.', '[', '{', '<']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiver_needs_a_known_rule_a_reason_and_a_day() {
        let read = |text: &str| Config::parse("c.yaml", text).map_err(|error| error.message);
        assert!(read("waivers: [{rule: field-removed, until: 2030-01-01, reason: unused}]").is_ok());
        assert!(read("waivers: [{rule: field-remove, until: 2030-01-01, reason: unused}]").is_err());
        assert!(read("waivers: [{rule: field-removed, until: 2030-01-01, reason: ''}]").is_err());
        assert!(read("waivers: [{rule: field-removed, until: soon, reason: unused}]").is_err());
        assert!(read("rule: {}").is_err());
    }

    #[test]
    fn a_path_covers_what_is_below_it() {
        let path = |names: &[&str]| {
            SchemaPath(names.iter().map(|it| kcp_schema::SchemaStep::Property((*it).into())).collect())
        };
        assert!(covers("spec.a", &path(&["spec", "a"])) && covers("spec", &path(&["spec", "a"])));
        assert!(covers(".", &path(&["spec"])));
        assert!(!covers("spec.a", &path(&["spec", "ab"])));
    }
}

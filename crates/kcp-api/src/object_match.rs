//! Choosing Kubernetes objects by what they are.

use serde::{Deserialize, Serialize};

use crate::LabelSelector;

/// Objects by all of what is given; what is left out does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMatch {
    /// API groups; the core group is the empty text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Namespaces; `*` stands for any characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Names; `*` stands for any characters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Labels of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    /// A CEL expression over `object` that must be true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cel: Option<String>,
}

/// Which objects of its workspaces a placement is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceRule {
    /// API group; left out means any, the empty text is the core group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Kinds; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Namespaces; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Names; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Labels of the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
}

/// A kind, or all kinds of a group. At least one of the two is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct KindRule {
    /// API group; left out means any, the empty text is the core group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Kind; left out means all of the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

impl KindRule {
    /// Whether objects of this group and kind are meant. A rule that says nothing means nothing.
    pub fn matches(&self, group: &str, kind: &str) -> bool {
        (self.group.is_some() || self.kind.is_some())
            && self.group.as_deref().is_none_or(|wanted| wanted == group)
            && self.kind.as_deref().is_none_or(|wanted| wanted == kind)
    }
}

/// Fields of some objects that are left to others: set when the object is created, then never compared or written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct IgnoreRule {
    /// API group; left out means any, the empty text is the core group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Kind; left out means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Namespaces; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Names; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The fields, as keys with dots in between, like `spec.replicas`. A path means the field and all below it, and
    /// goes through maps only: into a list it cannot point. A dot inside a key is written `\.`.
    pub paths: Vec<String>,
}

impl IgnoreRule {
    /// Whether this rule is about this object.
    pub fn matches(&self, group: &str, kind: &str, namespace: &str, name: &str) -> bool {
        self.group.as_deref().is_none_or(|wanted| wanted == group)
            && self.kind.as_deref().is_none_or(|wanted| wanted == kind)
            && (self.namespaces.is_empty() || self.namespaces.iter().any(|wanted| wanted == namespace))
            && (self.names.is_empty() || self.names.iter().any(|wanted| wanted == name))
    }

    /// Each path as its keys, with `\.` read as a dot inside a key.
    pub fn key_paths(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        self.paths.iter().map(|path| split_path(path))
    }
}

/// The keys of a dotted path.
pub(crate) fn split_path(path: &str) -> Vec<String> {
    let mut keys = vec![String::new()];
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'.') => {
                chars.next();
                push_char(&mut keys, '.');
            }
            '.' => keys.push(String::new()),
            c => push_char(&mut keys, c),
        }
    }
    keys
}

fn push_char(keys: &mut [String], c: char) {
    if let Some(last) = keys.last_mut() {
        last.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::{IgnoreRule, KindRule, split_path};

    #[test]
    fn kind_rules_match_by_what_is_given() {
        let rule = |group: Option<&str>, kind: Option<&str>| KindRule {
            group: group.map(str::to_owned),
            kind: kind.map(str::to_owned),
        };
        assert!(rule(None, Some("Namespace")).matches("", "Namespace"));
        assert!(rule(Some("a.io"), None).matches("a.io", "Widget"));
        assert!(!rule(Some("a.io"), None).matches("b.io", "Widget"));
        assert!(!rule(Some(""), Some("Secret")).matches("a.io", "Secret"));
        assert!(!rule(None, None).matches("", "Namespace"));
    }

    #[test]
    fn ignore_rules_narrow_by_each_part() {
        let rule = IgnoreRule {
            group: Some("apps".into()),
            names: vec!["web".into()],
            paths: vec!["spec.replicas".into()],
            ..IgnoreRule::default()
        };
        assert!(rule.matches("apps", "Deployment", "shop", "web"));
        assert!(!rule.matches("apps", "Deployment", "shop", "api"));
        assert!(!rule.matches("", "Deployment", "shop", "web"));
    }

    #[test]
    fn paths_split_at_dots_that_are_not_escaped() {
        assert_eq!(split_path("spec.replicas"), ["spec", "replicas"]);
        assert_eq!(split_path(r"metadata.annotations.a\.io/b"), ["metadata", "annotations", "a.io/b"]);
    }
}

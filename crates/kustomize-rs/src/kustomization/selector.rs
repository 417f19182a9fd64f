//! Which objects a patch is for: anchored patterns over identity, and selectors over labels and annotations.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};
use serde_json::Value;
use yaml_span::Node;

use super::fields::Fields;
use crate::{ProblemKind, Resource};

/// Bytes that one compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 18;

/// The `target` of a patch. What is absent selects everything.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selector {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
    namespace: Option<Regex>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// Compiles a pattern that must fit the whole text. It is bounded in size, and matching takes linear time.
pub(crate) fn anchored(pattern: &str) -> Result<Regex, String> {
    let pattern = literal_braces(pattern);
    RegexBuilder::new(&format!("^(?:{pattern})$")).size_limit(PATTERN_SIZE).build().map_err(|error| {
        match error {
            regex::Error::CompiledTooBig(_) => "is too large a pattern".to_owned(),
            _ => "is not a valid regular expression".to_owned(),
        }
    })
}

/// The pattern with each brace that counts nothing made a plain character, which it is in the reference: `${NAME}`.
pub(crate) fn literal_braces(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains('{') {
        return Cow::Borrowed(pattern);
    }
    let mut text = String::with_capacity(pattern.len() + 4);
    let mut rest = pattern;
    while let Some(at) = rest.find(['{', '\\']) {
        let (before, here) = rest.split_at(at);
        text.push_str(before);
        let taken = match here.strip_prefix('\\') {
            // With what is escaped, and the brace of a class by name or of a character by number.
            Some(escaped) => {
                let length = 1 + escaped.chars().next().map_or(0, char::len_utf8);
                length + usize::from(escaped.starts_with(['p', 'P', 'x']) && here[length..].starts_with('{'))
            }
            None if counts(here) => 1,
            None => {
                text.push('\\');
                1
            }
        };
        text.push_str(&here[..taken]);
        rest = &here[taken..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Whether a text begins with `{2}`, `{2,}` or `{2,3}`.
fn counts(text: &str) -> bool {
    let Some((inside, _)) = text[1..].split_once('}') else { return false };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

impl Fields<'_> {
    pub(crate) fn selector(&mut self, node: &Node) -> Option<Selector> {
        let mut out = Selector::default();
        let known = ["group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector"];
        for (field, _, value) in self.entries(node, "a target", &known, &[]) {
            let Some(text) = self.string(value, field) else { continue };
            if text.is_empty() {
                continue;
            }
            if field.ends_with("Selector") {
                match requirements(&text) {
                    Ok(parsed) if field == "labelSelector" => out.labels = parsed,
                    Ok(parsed) => out.annotations = parsed,
                    Err(why) => self.wrong(value, ProblemKind::Invalid, format!("{field} {text:?}: {why}")),
                }
                continue;
            }
            let pattern = match anchored(&text) {
                Ok(pattern) => Some(pattern),
                Err(why) => {
                    self.wrong(value, ProblemKind::Invalid, format!("{field} {text:?} {why}"));
                    continue;
                }
            };
            match field {
                "group" => out.group = pattern,
                "version" => out.version = pattern,
                "kind" => out.kind = pattern,
                "name" => out.name = pattern,
                _ => out.namespace = pattern,
            }
        }
        Some(out)
    }
}

impl Selector {
    /// Whether it asks for a name.
    pub(crate) fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// Whether the object is meant. `names` and `namespaces`: those that it has and had.
    pub(crate) fn selects(&self, resource: &Resource, names: &[&str], namespaces: &[&str]) -> bool {
        let fits = |pattern: &Option<Regex>, text: &str| pattern.as_ref().is_none_or(|it| it.is_match(text));
        fits(&self.group, resource.group())
            && fits(&self.version, resource.version())
            && fits(&self.kind, resource.kind())
            && names.iter().any(|name| fits(&self.name, name))
            && namespaces.iter().any(|namespace| fits(&self.namespace, namespace))
            && hold(&self.labels, resource, "labels")
            && hold(&self.annotations, resource, "annotations")
    }
}

/// Whether labels or annotations (`field`) of an object fit all requirements.
pub(crate) fn hold(requirements: &[Requirement], resource: &Resource, field: &str) -> bool {
    let values = resource.value.get("metadata").and_then(|metadata| metadata.get(field));
    requirements.iter().all(|requirement| {
        requirement.holds(values.and_then(|values| values.get(&requirement.key)).and_then(Value::as_str))
    })
}

/// One condition on a label or annotation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl Requirement {
    fn holds(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            Test::Exists => value.is_some(),
            Test::Absent => value.is_none(),
            Test::In(values) => value.is_some_and(|value| values.iter().any(|it| it == value)),
            Test::NotIn(values) => value.is_none_or(|value| values.iter().all(|it| it != value)),
            Test::Greater(limit) => number().is_some_and(|number| number > *limit),
            Test::Less(limit) => number().is_some_and(|number| number < *limit),
        }
    }
}

/// The grammar of `kubectl get -l`: `a`, `!a`, `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a>1`, `a<1`, joined by
/// commas.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, &'static str> {
    split_outside_parentheses(text)?.into_iter().map(|part| requirement(part.trim())).collect()
}

fn split_outside_parentheses(text: &str) -> Result<Vec<&str>, &'static str> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' if inside => return Err("a parenthesis inside another"),
            b'(' => inside = true,
            b')' if !inside => return Err("a parenthesis is closed that was not opened"),
            b')' => inside = false,
            b',' if !inside => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err("a parenthesis is not closed");
    }
    parts.push(&text[start..]);
    Ok(parts)
}

fn requirement(text: &str) -> Result<Requirement, &'static str> {
    if let Some(key) = text.strip_prefix('!') {
        return Ok(Requirement { key: name(key)?, test: Test::Absent });
    }
    if let Some(body) = text.strip_suffix(')') {
        let (head, values) = body.split_once('(').ok_or("a parenthesis is closed that was not opened")?;
        let mut words = head.split_whitespace();
        let (Some(key), Some(operator), None) = (words.next(), words.next(), words.next()) else {
            return Err("a set needs `key in (..)` or `key notin (..)`");
        };
        let values = values.split(',').map(|value| plain(value)).collect::<Result<Vec<_>, _>>()?;
        let test = match operator {
            "in" => Test::In(values),
            "notin" => Test::NotIn(values),
            _ => return Err("a set needs the operator in or notin"),
        };
        return Ok(Requirement { key: name(key)?, test });
    }
    for (operator, not) in [("!=", true), ("==", false), ("=", false)] {
        if let Some((key, value)) = text.split_once(operator) {
            let values = vec![plain(value)?];
            let test = if not { Test::NotIn(values) } else { Test::In(values) };
            return Ok(Requirement { key: name(key)?, test });
        }
    }
    for operator in ['>', '<'] {
        if let Some((key, value)) = text.split_once(operator) {
            let number = value.trim().parse().map_err(|_| "> and < need a whole number")?;
            let test = if operator == '>' { Test::Greater(number) } else { Test::Less(number) };
            return Ok(Requirement { key: name(key)?, test });
        }
    }
    Ok(Requirement { key: name(text)?, test: Test::Exists })
}

fn name(text: &str) -> Result<String, &'static str> {
    match plain(text)? {
        name if name.is_empty() => Err("a key is missing"),
        name => Ok(name),
    }
}

fn plain(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    if text.bytes().all(allowed) {
        Ok(text.into())
    } else {
        Err("keys and values are letters, digits, `-`, `_`, `.`, `/`")
    }
}

#[cfg(test)]
mod tests {
    use super::{Test, anchored, requirements};

    #[test]
    fn label_selectors_follow_kubectl() {
        let parsed = requirements("a, !b,c=d,e!=f,g in (h,i),j notin (k),l>3").expect("valid");
        assert_eq!(parsed.len(), 7);
        assert_eq!(parsed[4].test, Test::In(vec!["h".into(), "i".into()]));
        assert!(parsed[3].holds(None) && !parsed[3].holds(Some("f")) && !parsed[2].holds(None));
        assert!(parsed[6].holds(Some("4")) && !parsed[6].holds(Some("x")));
        for wrong in ["a in (b", "a b", "in (b)", "=b", "a in ((b))", "a>b"] {
            assert!(requirements(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn patterns_are_anchored_and_bounded() {
        let pattern = anchored("a|b").expect("valid");
        assert!(pattern.is_match("a") && pattern.is_match("b") && !pattern.is_match("ab"));
        assert!(anchored("(((a{1000}){1000}){1000})").is_err() && anchored("(").is_err());
    }
}

//! Validation by the OpenAPI words of a schema, with the quirks of a real server's validator.

use std::collections::HashMap;
use std::sync::Arc;

use regex_automata::meta::Regex;
use serde_json::{Map, Value};

use super::findings::{Findings, Violation};
use super::formats::{self, Fit, Release};
use super::numbers;
use super::trail::{At, Trail};
use crate::model::{Additional, Node, Schema, Type};
use crate::value::same_value;

/// Visits of one value by one schema node in one run. A second of work at the very most; real objects need some thousands.
const MAX_WORK: u64 = 5_000_000;

/// One run over one object.
pub(super) struct Validation<'j> {
    patterns: Option<&'j HashMap<Arc<str>, Option<Regex>>>,
    release: Release,
    work: u64,
}

impl<'j> Validation<'j> {
    pub(super) const fn new(patterns: &'j HashMap<Arc<str>, Option<Regex>>, release: Release) -> Self {
        Self { patterns: Some(patterns), release, work: 0 }
    }

    /// For schemas of our own, which have no patterns.
    pub(super) fn plain() -> Self {
        Self { patterns: None, release: Release::default(), work: 0 }
    }

    pub(super) fn value<'a>(
        &mut self,
        value: &'a Value,
        schema: &'a Schema,
        trail: &mut Trail<'a>,
        findings: &mut Findings,
    ) {
        // Inside junctors only the answer counts, and the first violation gives it.
        if findings.quiet && !findings.violations.is_empty() {
            return;
        }
        self.work += 1;
        if self.work > MAX_WORK {
            if self.work == MAX_WORK + 1 || findings.quiet {
                findings.doubt(trail.path(), "judging this object takes more work than is allowed");
            }
            return;
        }
        let format = self.format(schema);
        self.check_type(value, schema, format.is_some(), trail, findings);
        if let Some(values) = &schema.enumeration
            && !values.iter().any(|allowed| is_enumerated(value, allowed))
        {
            findings.violation(trail.path(), Violation::Enum(values.len()));
        }
        if value.is_null() {
            return;
        }
        self.junctors(value, schema, trail, findings);
        match value {
            Value::String(text) => self.text(text, schema, format.as_ref(), trail, findings),
            Value::Number(number) => numbers::check(number, schema, self.release, trail, findings),
            Value::Array(items) => self.list(items, schema, trail, findings),
            Value::Object(map) => self.mapping(map, schema, trail, findings),
            Value::Null | Value::Bool(_) => {}
        }
        if let Some(why) = &schema.opaque
            && has_content(value)
        {
            findings.doubt(trail.path(), why.clone());
        }
    }

    /// The format, if the server knows it for this type.
    fn format(&self, node: &Node) -> Option<Arc<str>> {
        let format = node.format.as_ref()?;
        let is_known = if node.int_or_string {
            formats::is_known(format, self.release)
        } else if self.release.checks_number_formats() {
            match node.types.single() {
                Some(Type::Integer) => matches!(&**format, "int32" | "int64"),
                Some(Type::Number) => matches!(&**format, "float" | "double"),
                None | Some(Type::String) => formats::is_known(format, self.release),
                Some(Type::Boolean | Type::Array | Type::Object) => false,
            }
        } else {
            formats::is_known(format, self.release)
        };
        is_known.then(|| format.clone())
    }

    fn check_type(
        &self,
        value: &Value,
        node: &Node,
        has_format: bool,
        trail: &Trail<'_>,
        findings: &mut Findings,
    ) {
        let found = Type::of(value);
        let expected =
            if node.int_or_string { [Type::Integer, Type::String].into_iter().collect() } else { node.types };
        if expected.is_any() && !has_format {
            return;
        }
        let numeric = expected.names(Type::Number) || expected.names(Type::Integer);
        let fits = match found {
            None => expected.is_any() || node.nullable,
            // The server leaves text and lists to the format then.
            Some(Type::String | Type::Array) if has_format && !numeric => true,
            Some(kind) => !expected.is_any() && expected.allows(kind),
        };
        if !fits {
            findings.violation(trail.path(), Violation::Type { expected, found });
        }
    }

    fn text(
        &mut self,
        text: &str,
        node: &Node,
        format: Option<&Arc<str>>,
        trail: &Trail<'_>,
        findings: &mut Findings,
    ) {
        if let Some(format) = format {
            match formats::fits(format, text) {
                Fit::Yes => {}
                Fit::No => findings.violation(trail.path(), Violation::Format(format.clone())),
                Fit::Unsure => {
                    findings.doubt(trail.path(), format!("the format {format} is not judged exactly"))
                }
            }
        }
        if node.min_length.is_some() || node.max_length.is_some() {
            let length = text.chars().count() as u64;
            if let Some(most) = node.max_length.filter(|most| length > *most) {
                findings.violation(trail.path(), Violation::MaxLength(most));
            }
            if let Some(least) = node.min_length.filter(|least| length < *least) {
                findings.violation(trail.path(), Violation::MinLength(least));
            }
        }
        let Some(pattern) = &node.pattern else { return };
        match self.patterns.and_then(|patterns| patterns.get(pattern)) {
            Some(Some(regex)) => {
                if !regex.is_match(text) {
                    findings.violation(trail.path(), Violation::Pattern(pattern.clone()));
                }
            }
            _ => findings.doubt(trail.path(), "the pattern is too large to evaluate"),
        }
    }

    fn list<'a>(
        &mut self,
        items: &'a [Value],
        node: &'a Node,
        trail: &mut Trail<'a>,
        findings: &mut Findings,
    ) {
        let count = items.len() as u64;
        if let Some(least) = node.min_items.filter(|least| count < *least) {
            findings.violation(trail.path(), Violation::MinItems(least));
        }
        if let Some(most) = node.max_items.filter(|most| count > *most) {
            findings.violation(trail.path(), Violation::MaxItems(most));
        }
        if node.unique_items {
            let mut seen = std::collections::HashSet::new();
            for (index, item) in items.iter().enumerate() {
                if !seen.insert(crate::value::canonical(item)) {
                    findings.violation(trail.path_of(At::Index(index)), Violation::Duplicate);
                }
            }
        }
        let Some(schema) = &node.items else { return };
        for (index, item) in items.iter().enumerate() {
            trail.push(At::Index(index));
            self.value(item, schema, trail, findings);
            trail.pop();
        }
    }

    fn mapping<'a>(
        &mut self,
        map: &'a Map<String, Value>,
        node: &'a Node,
        trail: &mut Trail<'a>,
        findings: &mut Findings,
    ) {
        let count = map.len() as u64;
        if let Some(least) = node.min_properties.filter(|least| count < *least) {
            findings.violation(trail.path(), Violation::MinProperties(least));
        }
        if let Some(most) = node.max_properties.filter(|most| count > *most) {
            findings.violation(trail.path(), Violation::MaxProperties(most));
        }
        for name in &node.required {
            if !map.contains_key(&**name) {
                findings.violation(trail.path_of(At::Field(name)), Violation::Required);
            }
        }
        for (key, inner) in map {
            let (at, schema) = match (node.properties.get(key.as_str()), &node.additional) {
                (Some(schema), _) => (At::Field(key), schema),
                (None, Additional::Schema(schema)) => (At::Key(key), schema),
                (None, Additional::None | Additional::Any) => continue,
            };
            trail.push(at);
            self.value(inner, schema, trail, findings);
            trail.pop();
        }
    }

    fn junctors<'a>(
        &mut self,
        value: &'a Value,
        node: &'a Node,
        trail: &mut Trail<'a>,
        findings: &mut Findings,
    ) {
        for entry in &node.all_of {
            self.value(value, entry, trail, findings);
        }
        if !node.any_of.is_empty() {
            let (satisfied, unsure) = self.count(value, &node.any_of, trail, true);
            if satisfied == 0 {
                if let Some(doubt) = unsure {
                    findings.doubts.push(doubt);
                } else {
                    findings.violation(trail.path(), Violation::AnyOf(node.any_of.len()));
                }
            }
        }
        if !node.one_of.is_empty() {
            let (satisfied, unsure) = self.count(value, &node.one_of, trail, false);
            match unsure {
                Some(doubt) if satisfied <= 1 => findings.doubts.push(doubt),
                _ if satisfied == 1 => {}
                _ => {
                    let of = node.one_of.len();
                    findings.violation(trail.path(), Violation::OneOf { satisfied, of });
                }
            }
        }
        if let Some(not) = &node.not {
            let (satisfied, unsure) = self.count(value, std::slice::from_ref(not), trail, true);
            if let Some(doubt) = unsure {
                findings.doubts.push(doubt);
            } else if satisfied == 1 {
                findings.violation(trail.path(), Violation::Not);
            }
        }
    }

    /// How many of the entries hold for sure, and a doubt if some may.
    fn count<'a>(
        &mut self,
        value: &'a Value,
        entries: &'a [Schema],
        trail: &mut Trail<'a>,
        enough: bool,
    ) -> (usize, Option<super::Doubt>) {
        let mut satisfied = 0;
        let mut unsure = None;
        for entry in entries {
            let mut inner = Findings::quiet();
            self.value(value, entry, trail, &mut inner);
            if !inner.violations.is_empty() {
                continue;
            }
            match inner.doubts.into_iter().next() {
                Some(doubt) => unsure = unsure.or(Some(doubt)),
                None => satisfied += 1,
            }
            if enough && satisfied > 0 {
                break;
            }
        }
        (satisfied, unsure)
    }
}

/// Null is never enumerated, and a fraction is cut where the schema lists a whole number: so does the server.
fn is_enumerated(value: &Value, allowed: &Value) -> bool {
    if value.is_null() || allowed.is_null() {
        return false;
    }
    if let (Value::Number(value), Value::Number(allowed)) = (value, allowed)
        && let (false, Some(float), Some(whole)) = (value.is_i64(), value.as_f64(), allowed.as_i64())
    {
        return float.trunc() == whole as f64;
    }
    same_value(value, allowed)
}

fn has_content(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

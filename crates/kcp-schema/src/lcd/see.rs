//! What a rule (CEL) of one member would see in an object of the common schema, compared with what it sees at home: a
//! field that is gone, a default that is not filled in, a type that is another.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::explicit::Need;
use super::kinds::Kinds;
use super::skeleton;
use crate::{Additional, CelRule, Judge, Node, Rules, Schema, SchemaStep, Verdict, same_value};

/// Whether `value` is right for `schema`, and none of it is dropped. `None` if that cannot be said.
pub(super) fn holds(schema: &Schema, value: &Value) -> Option<bool> {
    keeps(&Judge::new(schema, Rules { resource: false, ..Rules::default() }), value)
}

/// Whether `value` is accepted, and kept to the last null.
pub(super) fn keeps(judge: &Judge, value: &Value) -> Option<bool> {
    let outcome = judge.create(value);
    match outcome.verdict() {
        Verdict::Yes => Some(contains(&outcome.object, value)),
        Verdict::No { .. } => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Whether `whole` is `part` with some fields more.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|kept| contains(kept, value)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(kept, value)| contains(kept, value))
        }
        (whole, part) => same_value(whole, part),
    }
}

/// The rule does not mean the same there, and nothing can be done.
#[derive(Debug)]
pub(super) struct Blind;

/// The words of a rule.
pub(super) struct Words {
    words: BTreeSet<String>,
    /// It runs when an object is created.
    on_create: bool,
    /// It looks at its node as a whole, and compares.
    whole: bool,
}

impl Words {
    pub(super) fn of(rule: &CelRule) -> Self {
        let mut words = BTreeSet::new();
        for text in [Some(&rule.rule), rule.message_expression.as_ref(), rule.field_path.as_ref()] {
            text.iter().for_each(|text| collect(text, &mut words));
        }
        let on_create = !words.contains("oldSelf") || rule.optional_old_self;
        let compares = ["==", "!=", " in ", "size("].iter().any(|sign| rule.rule.contains(sign));
        Self { on_create, whole: compares && bare(&rule.rule), words }
    }

    /// Whether the rule may name this field. Names that are no identifiers are spelled otherwise in rules.
    fn name(&self, field: &str) -> bool {
        self.words.contains(field)
            || field.contains(['-', '.', '/', '_']) && self.words.contains(&escaped(field))
            || self.words.contains(&format!("__{field}__"))
    }
}

/// Adds the identifiers and the texts inside quotes.
fn collect(text: &str, words: &mut BTreeSet<String>) {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    words.extend(parts.map(str::to_owned));
    let quoted = text.split(['"', '\'', '`']);
    words.extend(quoted.map(str::to_owned));
}

/// Whether `self` stands for itself somewhere, and not for one of its fields.
fn bare(rule: &str) -> bool {
    let mut rest = rule;
    while let Some(at) = rest.find("self") {
        let before = rest[..at].chars().next_back();
        let after = rest[at + 4..].trim_start().chars().next();
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if !word(before) && !word(rest[at + 4..].chars().next()) && after != Some('.') {
            return true;
        }
        rest = &rest[at + 4..];
    }
    false
}

fn escaped(field: &str) -> String {
    field
        .replace("__", "__underscores__")
        .replace('.', "__dot__")
        .replace('-', "__dash__")
        .replace('/', "__slash__")
}

/// Compares what the rule sees below `member` and below `lcd`, and collects what must change in `lcd`.
pub(super) fn look(
    words: &Words,
    member: &Node,
    lcd: &Node,
    path: &mut Vec<SchemaStep>,
    needs: &mut Vec<Need>,
) -> Result<(), Blind> {
    if Kinds::of(member) != Kinds::of(lcd) {
        return Err(Blind);
    }
    for (name, field) in &member.properties {
        let named = words.name(name);
        if !named && !words.whole {
            continue;
        }
        let Some(common) = lcd.properties.get(name) else {
            if field.default.is_some() && words.on_create {
                return Err(Blind);
            }
            if named && !(lcd.preserve_unknown && lcd.types.is_any()) {
                let forbidden = Some(skeleton::forbidden(field));
                add(needs, Need { path: path.clone(), name: name.clone(), forbidden })?;
            }
            continue;
        };
        if field.default.is_some()
            && common.default.is_none()
            && !lcd.required.contains(name)
            && !skeleton::is_forbidden(common)
            && words.on_create
        {
            add(needs, Need { path: path.clone(), name: name.clone(), forbidden: None })?;
        }
        if field.hash() != common.hash() {
            if skeleton::is_forbidden(common) {
                // The field is never there; only its shape matters.
                if Kinds::of(field) != Kinds::of(common) || field.default.is_some() && words.on_create {
                    return Err(Blind);
                }
                continue;
            }
            within(SchemaStep::Property(name.clone()), path, |path| look(words, field, common, path, needs))?;
        }
    }
    match (&member.items, &lcd.items) {
        (Some(items), Some(common)) if items.hash() != common.hash() => {
            within(SchemaStep::Items, path, |path| look(words, items, common, path, needs))?;
        }
        (Some(_), None) => return Err(Blind),
        _ => {}
    }
    match (&member.additional, &lcd.additional) {
        (Additional::None, _) | (Additional::Any, Additional::Any) => Ok(()),
        (Additional::Schema(values), Additional::Schema(common)) => {
            if values.hash() == common.hash() {
                return Ok(());
            }
            within(SchemaStep::Values, path, |path| look(words, values, common, path, needs))
        }
        // A mapping that became an object with fields is another type for a rule.
        _ => Err(Blind),
    }
}

fn within<T>(
    step: SchemaStep,
    path: &mut Vec<SchemaStep>,
    work: impl FnOnce(&mut Vec<SchemaStep>) -> T,
) -> T {
    path.push(step);
    let result = work(path);
    path.pop();
    result
}

/// Two members may want a field described; it has one description.
fn add(needs: &mut Vec<Need>, need: Need) -> Result<(), Blind> {
    let same = |other: &&mut Need| {
        other.path == need.path
            && other.name == need.name
            && other.forbidden.is_some() == need.forbidden.is_some()
    };
    match (needs.iter_mut().find(same), &need.forbidden) {
        (None, _) => needs.push(need),
        (Some(_), None) => {}
        (Some(known), Some(schema)) => {
            let one = known.forbidden.take().unwrap_or_else(|| schema.clone());
            known.forbidden = Some(joined(&one, schema)?);
        }
    }
    Ok(())
}

/// A description in which both rules find what they name.
fn joined(left: &Schema, right: &Schema) -> Result<Schema, Blind> {
    if left.hash() == right.hash() {
        return Ok(left.clone());
    }
    if Kinds::of(left) != Kinds::of(right) {
        return Err(Blind);
    }
    let mut node = left.to_node();
    for (name, field) in &right.properties {
        let both = match node.properties.get(name) {
            Some(own) => joined(own, field)?,
            None => field.clone(),
        };
        node.properties.insert(Arc::clone(name), both);
    }
    node.items = match (&left.items, &right.items) {
        (Some(left), Some(right)) => Some(joined(left, right)?),
        (one, None) | (None, one) => one.clone(),
    };
    node.additional = match (&left.additional, &right.additional) {
        (Additional::Schema(left), Additional::Schema(right)) => Additional::Schema(joined(left, right)?),
        (left, right) if left == right => left.clone(),
        _ => return Err(Blind),
    };
    let least = |left: Option<u64>, right: Option<u64>| left.zip(right).map(|(left, right)| left.min(right));
    // Never there, so any limit is as right as another: the order of the two must not show.
    node.max_length = least(left.max_length, right.max_length).or(left.max_length.max(right.max_length));
    node.max_items = least(left.max_items, right.max_items).or(left.max_items.max(right.max_items));
    node.max_properties =
        least(left.max_properties, right.max_properties).or(left.max_properties.max(right.max_properties));
    node.preserve_unknown |= right.preserve_unknown;
    node.format = left.format.clone().max(right.format.clone());
    Ok(Schema::new(node))
}

//! Two schemas: the gaps of both directions, each under its rule. The direction of writers is from old to new, that of
//! readers from new to old.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{CompareOptions, Difference, Impact, Proof, changes};
use crate::model::{ListType, Schema, SchemaPath, SchemaStep};
use crate::rules::Direction;
use crate::subsume::{Gap, Kind, Scope, Sure, gaps};
use crate::witness::{Effect, Witnesses};

/// What tells two differences at one place apart.
type Key = (SchemaPath, &'static str, Option<String>);

/// The fields of every object of a kind.
pub(super) fn identity(api_version: &str, kind: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "example"}})
}

/// A difference of a version that objects are stored in: what breaks writers breaks them, where the rule says so.
pub(super) fn is_stored(difference: &mut Difference) {
    if difference.rule.breaks.contains(&Direction::Stored) && difference.stored == Impact::None {
        difference.stored = difference.writers.clone();
    }
}

pub(super) fn compare(
    old: &Schema,
    new: &Schema,
    identity: &Value,
    options: &CompareOptions,
) -> Vec<Difference> {
    if old == new {
        return changes::descriptions(old, new);
    }
    let mut found: BTreeMap<Key, Difference> = BTreeMap::new();
    for direction in [Direction::Writers, Direction::Readers] {
        let read_back = direction == Direction::Readers;
        let scope = Scope { resource: options.resource, read_back };
        let (a, b) = if read_back { (new, old) } else { (old, new) };
        let mut all = gaps(a, b, scope);
        if read_back {
            drop_covered(&mut all);
        }
        let mut witnesses = None;
        for (index, gap) in all.iter().enumerate() {
            let rule = rule(gap, direction, &found);
            let Some(rule) = rule else { continue };
            let impact = if index < options.witnesses {
                let witnesses =
                    witnesses.get_or_insert_with(|| Witnesses::new(a, b, scope, identity.clone()));
                impact(gap, witnesses)
            } else {
                unproven(gap)
            };
            let key = (gap.path.clone(), rule, subject(gap, rule));
            let difference = found.entry(key).or_insert_with(|| {
                let (old, new) = said(gap, direction);
                let mut difference = Difference::new(rule).says(old, new);
                difference.path = gap.path.clone();
                difference.detail = detail(gap, direction);
                difference
            });
            let slot = difference.impact_mut(direction);
            if matches!(slot, Impact::None | Impact::Unknown(_)) {
                *slot = impact;
            }
        }
    }
    for difference in found.values_mut() {
        match difference.rule.id {
            // Who uses the field does not find it any more.
            "field-removed" => difference.readers = Impact::Breaks(Proof::Rule),
            "default-removed" | "default-changed" => difference.readers = Impact::Meaning(None),
            _ => {}
        }
    }
    let mut all: Vec<Difference> = found.into_values().collect();
    let neutral = changes::of(old, new, &all);
    all.extend(neutral);
    all.sort_by(|a, b| (&a.path, a.rule.id).cmp(&(&b.path, b.rule.id)));
    all
}

/// What is below a place where unknown fields came is covered by that.
fn drop_covered(gaps: &mut Vec<Gap>) {
    let open: Vec<SchemaPath> =
        gaps.iter().filter(|gap| matches!(gap.kind, Kind::Open)).map(|gap| gap.path.clone()).collect();
    gaps.retain(|gap| {
        let covered = |path: &SchemaPath| gap.path.0.len() > path.0.len() && gap.path.0.starts_with(&path.0);
        !(gap.kind == Kind::FieldUnderOpen && open.iter().any(covered))
    });
}

fn impact(gap: &Gap, witnesses: &mut Witnesses<'_>) -> Impact {
    if gap.sure == Sure::Meaning && gap.kind != Kind::Default {
        return Impact::Meaning(None);
    }
    match witnesses.of(gap) {
        Some(witness) if witness.effect == Effect::Changed => match &gap.sure {
            // It is shown that the meaning differs, not that nothing is refused.
            Sure::Maybe(why) => Impact::Unknown(why.clone()),
            // A null that someone set is gone: that is a loss.
            Sure::Yes if gap.kind == Kind::Nullable => Impact::Breaks(Proof::Witness(Box::new(witness))),
            Sure::Yes | Sure::Meaning => Impact::Meaning(Some(Box::new(witness))),
        },
        Some(witness) => Impact::Breaks(Proof::Witness(Box::new(witness))),
        None => unproven(gap),
    }
}

fn unproven(gap: &Gap) -> Impact {
    match &gap.sure {
        Sure::Yes => Impact::Breaks(Proof::Unproven),
        Sure::Maybe(why) => Impact::Unknown(why.clone()),
        Sure::Meaning => Impact::Meaning(None),
    }
}

/// The rule that a gap falls under; `None` if it matters to nobody in this direction.
fn rule(gap: &Gap, direction: Direction, found: &BTreeMap<Key, Difference>) -> Option<&'static str> {
    let writers = direction == Direction::Writers;
    let pick = |for_writers, for_readers| Some(if writers { for_writers } else { for_readers });
    let is_name = matches!(gap.path.0.first(), Some(SchemaStep::Property(name)) if **name == *"metadata");
    if is_name && gap.path.0.len() == 2 {
        return writers.then_some("metadata-name-restricted");
    }
    // `a` and `b` are old and new for writers, and the reverse for readers.
    match &gap.kind {
        Kind::Field => writers.then_some("field-removed"),
        Kind::FieldUnderOpen => pick("field-added-under-open-parent", "preserve-unknown-added"),
        Kind::Required => pick("required-added", "required-removed"),
        Kind::Type => {
            let has = |rule| found.contains_key(&(gap.path.clone(), rule, None));
            let other = gap.other.as_ref();
            if writers {
                let lost = gap.node.int_or_string && other.is_some_and(|other| !other.int_or_string);
                Some(if lost { "int-or-string-removed" } else { "type-changed" })
            } else if has("type-changed") {
                Some("type-changed")
            } else if has("int-or-string-removed") {
                Some("int-or-string-removed")
            } else {
                Some("type-widened")
            }
        }
        Kind::Nullable => pick("nullable-removed", "nullable-added"),
        Kind::Enum => match (writers, gap.a.is_some()) {
            (true, true) => Some("enum-value-removed"),
            (true, false) => Some("enum-added"),
            (false, true) => Some("enum-value-added"),
            (false, false) => Some("enum-removed"),
        },
        Kind::Bound(_) => pick("bound-tightened", "bound-loosened"),
        Kind::Pattern => match (writers, gap.a.is_some()) {
            (true, false) => Some("pattern-added"),
            (false, false) => Some("pattern-removed"),
            (_, true) => Some("pattern-changed"),
        },
        Kind::Format => Some("format-changed"),
        Kind::Default => Some(match (&gap.a, &gap.b) {
            (Some(_), Some(_)) => "default-changed",
            (Some(_), None) => "default-removed",
            _ => "default-added",
        }),
        Kind::Cel(text) => match (counterpart(gap, text).is_some(), writers) {
            (true, _) => Some("cel-rule-changed"),
            (false, true) => Some("cel-rule-added"),
            (false, false) => Some("cel-rule-removed"),
        },
        Kind::Transition(_) => pick("cel-transition-rule-added", "cel-rule-removed"),
        Kind::Junctor => Some("junctor-changed"),
        Kind::Open => pick("preserve-unknown-removed", "preserve-unknown-added"),
        Kind::Keys => pick("map-to-struct", "struct-to-map"),
        Kind::BareValues => Some("map-value-true"),
        Kind::Embedded => Some("embedded-resource-changed"),
        Kind::ListType => {
            let (own, other) = (&gap.node, gap.other.as_ref());
            let keys_lost = other.is_some_and(|other| {
                own.list_type == ListType::Map
                    && other.list_type == ListType::Map
                    && own.list_map_keys.iter().any(|key| !other.list_map_keys.contains(key))
            });
            if writers && keys_lost {
                Some("list-map-key-dropped")
            } else {
                pick("list-type-tightened", "list-type-loosened")
            }
        }
        Kind::Unreadable => Some("unreadable"),
    }
}

/// The rule on the other side that took the place of this one, by order.
fn counterpart(gap: &Gap, text: &str) -> Option<String> {
    let only = |own: &Schema, other: &Schema| -> Vec<String> {
        let known: Vec<String> = other.cel.iter().map(|rule| plain(&rule.rule)).collect();
        own.cel.iter().map(|rule| plain(&rule.rule)).filter(|rule| !known.contains(rule)).collect()
    };
    let other = gap.other.as_ref()?;
    let (gone, come) = (only(&gap.node, other), only(other, &gap.node));
    let index = come.iter().position(|rule| *rule == plain(text))?;
    gone.get(index).cloned()
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What tells differences under the same rule at one place apart.
fn subject(gap: &Gap, rule: &str) -> Option<String> {
    match (&gap.kind, rule) {
        (Kind::Bound(keyword), _) => Some((*keyword).to_owned()),
        // Both directions of one changed rule meet.
        (Kind::Cel(text), "cel-rule-changed") => {
            let mut both = [plain(text), counterpart(gap, text).unwrap_or_default()];
            both.sort();
            Some(both.join("\n"))
        }
        (Kind::Cel(text) | Kind::Transition(text), _) => Some(plain(text)),
        (kind, "metadata-name-restricted") => Some(format!("{kind:?}")),
        _ => None,
    }
}

/// What the old and the new side say.
fn said(gap: &Gap, direction: Direction) -> (Option<Value>, Option<Value>) {
    let (a, b) = match &gap.kind {
        Kind::Cel(text) => (counterpart(gap, text).map(Value::from), gap.b.clone()),
        _ => (gap.a.clone(), gap.b.clone()),
    };
    if direction == Direction::Readers { (b, a) } else { (a, b) }
}

fn detail(gap: &Gap, direction: Direction) -> Option<String> {
    match &gap.kind {
        Kind::Bound(keyword) => Some((*keyword).to_owned()),
        Kind::Enum if !gap.probes.is_empty() && gap.a.is_some() => {
            let values: Vec<String> = gap.probes.iter().map(ToString::to_string).collect();
            let verb = if direction == Direction::Writers { "removed" } else { "added" };
            Some(format!("{verb}: {}", values.join(", ")))
        }
        _ => None,
    }
}

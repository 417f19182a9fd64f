//! Conditions (`anyOf`, `oneOf`, `not`) of one member, rewritten for objects of the common schema: those never have the
//! fields that it lacks, and a default that a member fills in for such a field is a known value.

use super::explicit::Need;
use super::kinds::Kinds;
use super::see::{Blind, holds};
use super::skeleton;
use crate::{Node, Schema, SchemaStep, Type};

/// What is left of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trim {
    /// It is always met.
    Holds,
    /// It is never met.
    Fails,
    /// It still says something.
    Is(Schema),
}

/// A walk along a condition and the nodes that it refines, at home and in the common schema.
pub(super) struct Trimmer<'n> {
    pub(super) needs: &'n mut Vec<Need>,
    pub(super) path: Vec<SchemaStep>,
}

impl Trimmer<'_> {
    /// `definite`: every value at this place is an object.
    pub(super) fn trim(
        &mut self,
        condition: &Schema,
        member: &Node,
        lcd: &Node,
        definite: bool,
    ) -> Result<Trim, Blind> {
        let mut out = condition.to_node();
        let mut fails = false;
        fails |= self.fields(condition, member, lcd, definite, &mut out)?;
        if let Some(items) = &condition.items {
            out.items = self.items(items, member, lcd)?;
        }
        fails |= self.junctors(condition, member, lcd, definite, &mut out)?;
        if (condition.min_properties.is_some()
            || condition.max_properties.is_some()
            || condition.enumeration.is_some())
            && self.counts_differ(member, lcd)
        {
            return Err(Blind);
        }
        Ok(if fails {
            Trim::Fails
        } else if out == Node::default() {
            Trim::Holds
        } else {
            Trim::Is(Schema::new(out))
        })
    }

    /// Whether a field's default is filled in at home but not in common, so that the number of fields differs.
    fn counts_differ(&self, member: &Node, lcd: &Node) -> bool {
        member.properties.iter().any(|(name, field)| {
            field.default.is_some()
                && !lcd.required.contains(name)
                && lcd.properties.get(name).is_none_or(|common| common.default.is_none())
        })
    }

    /// What the condition says about fields. Returns whether that cannot be met.
    fn fields(
        &mut self,
        condition: &Schema,
        member: &Node,
        lcd: &Node,
        definite: bool,
        out: &mut Node,
    ) -> Result<bool, Blind> {
        let mut fails = false;
        let gone = |name: &str| {
            let named = lcd.properties.get(name);
            named.map_or(!lcd.preserve_unknown && lcd.additional.is_none(), skeleton::is_forbidden)
        };
        let meta = |name: &str| ["apiVersion", "kind", "metadata"].contains(&name);
        for name in &condition.required {
            let default = member.properties.get(name).and_then(|field| field.default.as_ref());
            if gone(name) && !meta(name) {
                if default.is_some() {
                    out.required.remove(name);
                } else if definite {
                    fails = true;
                }
            } else if default.is_some() {
                self.explicit(name, lcd);
            }
        }
        for (name, inner) in &condition.properties {
            let home = member.properties.get(name);
            if gone(name) && !meta(name) {
                out.properties.remove(name);
                let Some(default) = home.and_then(|field| field.default.as_ref()) else { continue };
                match holds(inner_value(inner).as_ref().unwrap_or(inner), default) {
                    Some(true) => {}
                    Some(false) if definite => fails = true,
                    _ => return Err(Blind),
                }
                continue;
            }
            let (Some(home), Some(common)) = (home, lcd.properties.get(name)) else { continue };
            if home.default.is_some() {
                self.explicit(name, lcd);
            }
            if home.hash() == common.hash() {
                continue;
            }
            self.path.push(SchemaStep::Property(name.clone()));
            let trimmed = self.trim(inner, home, common, definite_object(common));
            self.path.pop();
            match trimmed? {
                Trim::Holds => {
                    out.properties.remove(name);
                }
                Trim::Fails => {
                    out.properties.insert(name.clone(), never());
                }
                Trim::Is(left) => {
                    out.properties.insert(name.clone(), left);
                }
            }
        }
        Ok(fails)
    }

    fn items(&mut self, items: &Schema, member: &Node, lcd: &Node) -> Result<Option<Schema>, Blind> {
        let (Some(home), Some(common)) = (&member.items, &lcd.items) else { return Ok(None) };
        if lcd.max_items == Some(0) {
            return Ok(None);
        }
        if home.hash() == common.hash() {
            return Ok(Some(items.clone()));
        }
        self.path.push(SchemaStep::Items);
        let trimmed = self.trim(items, home, common, definite_object(common));
        self.path.pop();
        Ok(match trimmed? {
            Trim::Holds => None,
            Trim::Fails => Some(never()),
            Trim::Is(left) => Some(left),
        })
    }

    /// The conditions inside the condition. Returns whether they cannot be met.
    fn junctors(
        &mut self,
        condition: &Schema,
        member: &Node,
        lcd: &Node,
        definite: bool,
        out: &mut Node,
    ) -> Result<bool, Blind> {
        let mut fails = false;
        out.all_of.clear();
        for entry in &condition.all_of {
            match self.trim(entry, member, lcd, definite)? {
                Trim::Holds => {}
                Trim::Fails => fails = true,
                Trim::Is(left) => out.all_of.push(left),
            }
        }
        if !condition.any_of.is_empty() {
            let (held, left) = self.entries(&condition.any_of, member, lcd, definite)?;
            fails |= held == 0 && left.is_empty();
            out.any_of = if held > 0 { Vec::new() } else { left };
        }
        if !condition.one_of.is_empty() {
            let (held, left) = self.entries(&condition.one_of, member, lcd, definite)?;
            fails |= held > 1 || held == 0 && left.is_empty();
            out.one_of = Vec::new();
            if held == 0 {
                out.one_of = left;
            } else if !left.is_empty() {
                let others = Schema::new(Node { any_of: left, ..Node::default() });
                out.all_of.push(Schema::new(Node { not: Some(others), ..Node::default() }));
            }
        }
        if let Some(not) = &condition.not {
            match self.trim(not, member, lcd, definite)? {
                Trim::Holds => fails = true,
                Trim::Fails => out.not = None,
                Trim::Is(left) => out.not = Some(left),
            }
        }
        Ok(fails)
    }

    /// How many entries always hold, and what is left of those that may.
    fn entries(
        &mut self,
        entries: &[Schema],
        member: &Node,
        lcd: &Node,
        definite: bool,
    ) -> Result<(usize, Vec<Schema>), Blind> {
        let mut held = 0;
        let mut left = Vec::new();
        for entry in entries {
            match self.trim(entry, member, lcd, definite)? {
                Trim::Holds => held += 1,
                Trim::Fails => {}
                Trim::Is(schema) => left.push(schema),
            }
        }
        Ok((held, left))
    }

    /// The field's default is filled in at home: it must be given if it is not filled in here.
    fn explicit(&mut self, name: &std::sync::Arc<str>, lcd: &Node) {
        let filled = lcd.properties.get(name).is_some_and(|field| field.default.is_some());
        if filled || lcd.required.contains(name) {
            return;
        }
        let need = Need { path: self.path.clone(), name: name.clone(), forbidden: None };
        if !self.needs.contains(&need) {
            self.needs.push(need);
        }
    }
}

/// A condition judges a value as it is: fields that it does not name, and nulls, are no matter.
fn inner_value(condition: &Schema) -> Option<Schema> {
    condition.types.is_any().then(|| {
        let open = |schema: &Schema| inner_value(schema).unwrap_or_else(|| schema.clone());
        let mut node = condition.to_node();
        node.preserve_unknown = true;
        node.nullable = true;
        node.properties.values_mut().for_each(|field| *field = open(field));
        if let Some(items) = &mut node.items {
            *items = open(items);
        }
        Schema::new(node)
    })
}

fn definite_object(node: &Node) -> bool {
    Kinds::of(node).is_only(Type::Object) && !node.nullable
}

fn never() -> Schema {
    Schema::new(Node { not: Some(Schema::default()), ..Node::default() })
}

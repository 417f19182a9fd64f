//! Lists that are merged item by item. The reference finds items by searching the list for the values of their keys, again
//! at each step, and what it does with items that lack a key follows from those searches; so this does the same steps.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::directive::{self, Directive};
use super::strategic::{Kept, Merge};
use crate::marks::Place;
use crate::schema::{Field, Shape};

/// Items of both lists together: the steps compare each with each.
const ITEMS: usize = 2_000;

/// Merges `patch` into a list of the object; `None`: the patch does not speak of it.
pub(super) fn merge<'s>(
    merge: &mut Merge<'s>,
    base: &mut Vec<Value>,
    patch: Option<&[Value]>,
    keys: &[&str],
    shape: Option<Shape<'s>>,
    place: Place,
) -> Kept {
    let mut patch = patch.map(<[Value]>::to_vec);
    if let Some(change) = &mut patch {
        match directive::of_list(change)? {
            Directive::Delete => return Ok(false),
            Directive::Replace => {
                *base = std::mem::take(change);
                return added_items(merge, base, keys, shape, place);
            }
            Directive::Merge => {}
        }
    }
    if keys.is_empty() {
        return set(base, patch.unwrap_or_default());
    }
    if patch.is_none() && tidy(base, keys) {
        for (index, item) in base.iter_mut().enumerate() {
            let place = place.item(index, item);
            merge.kept(item, shape.map(Field::Value).as_ref(), place)?;
        }
        return Ok(true);
    }
    let lists = Lists::new(std::mem::take(base), patch)?;
    *base = lists.merge(merge, keys, shape, place)?;
    Ok(true)
}

/// A list that the patch brings where there was none.
pub(super) fn added<'s>(
    merge: &mut Merge<'s>,
    items: &mut Vec<Value>,
    keys: &[&str],
    shape: Option<Shape<'s>>,
    place: Place,
    outermost: bool,
) -> Kept {
    if !outermost && directive::of_list(items)? == Directive::Delete {
        return Ok(false);
    }
    added_items(merge, items, keys, shape, place)
}

fn added_items<'s>(
    merge: &mut Merge<'s>,
    items: &mut Vec<Value>,
    keys: &[&str],
    shape: Option<Shape<'s>>,
    place: Place,
) -> Kept {
    if keys.is_empty() {
        return set(items, Vec::new());
    }
    let lists = Lists::one(std::mem::take(items))?;
    *items = lists.merge(merge, keys, shape, place)?;
    Ok(true)
}

/// A list whose items are told apart by themselves: what the patch has, in its order, then what only the object has.
fn set(base: &mut Vec<Value>, patch: Vec<Value>) -> Kept {
    let mut seen = HashSet::new();
    let mut merged = Vec::with_capacity(base.len() + patch.len());
    for item in patch.into_iter().chain(std::mem::take(base)) {
        if item.is_object() || item.is_array() {
            return Err("an item is a mapping or a list, where all items are single values".into());
        }
        if !item.is_null() && seen.insert(text(&item).into_owned()) {
            merged.push(item);
        }
    }
    *base = merged;
    Ok(true)
}

/// Whether nothing about the list as a whole needs care: each item is told from all others by the first key.
fn tidy(items: &[Value], keys: &[&str]) -> bool {
    let Some(key) = keys.first() else { return false };
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| {
        let value = item.get(key).filter(|value| !value.is_object() && !value.is_array());
        value.is_some_and(|value| {
            let text = text(value);
            !text.is_empty() && seen.insert(text)
        })
    })
}

/// The text of a single value; 80 is "80". Nothing for all else.
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Number(_) | Value::Bool(_) => Cow::Owned(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Cow::Borrowed(""),
    }
}

/// The values of the keys of an item; `""` where there is none.
type Values = Vec<String>;

/// Items of both lists by number, since they stand in several lists while these are merged.
struct Lists {
    items: Vec<Value>,
    base: Vec<usize>,
    patch: Vec<usize>,
    /// Whether the patch is the list itself.
    same: bool,
}

impl Lists {
    fn new(base: Vec<Value>, patch: Option<Vec<Value>>) -> Result<Self, String> {
        let split = base.len();
        let mut items = base;
        items.extend(patch.into_iter().flatten());
        let patch = (split..items.len()).collect();
        Self { items, base: (0..split).collect(), patch, same: false }.bounded()
    }

    /// A list merged with itself, as the reference does with what a patch adds.
    fn one(items: Vec<Value>) -> Result<Self, String> {
        let all: Vec<usize> = (0..items.len()).collect();
        Self { items, base: all.clone(), patch: all, same: true }.bounded()
    }

    fn bounded(self) -> Result<Self, String> {
        if self.items.len() > ITEMS {
            return Err(format!("more than {ITEMS} items to be merged by their keys"));
        }
        Ok(self)
    }

    fn merge<'s>(
        mut self,
        merge: &mut Merge<'s>,
        keys: &[&str],
        shape: Option<Shape<'s>>,
        place: Place,
    ) -> Result<Vec<Value>, String> {
        let mut all = self.values(keys);
        if keys.len() > 1 {
            unite(&mut all);
        }
        let used = used(&all, keys);
        let mut merged: Vec<usize> = Vec::new();
        for values in &all {
            let (keys, values) = only(&used, keys, values);
            let kept = self.item(merge, &keys, &values, shape, place)?;
            let kept = kept.filter(|id| !self.is_nothing(*id));
            let Some(id) = kept else {
                let mut base = std::mem::take(&mut self.base);
                self.set(&mut base, None, &keys, &values)?;
                if self.same {
                    self.patch.clone_from(&base);
                }
                self.base = base;
                continue;
            };
            if let Some(Value::Object(map)) = self.items.get_mut(id) {
                for (key, value) in keys.iter().zip(&values).filter(|(_, value)| !value.is_empty()) {
                    if !map.contains_key(*key) {
                        map.insert((*key).to_owned(), Value::String(value.clone()));
                    }
                }
            }
            self.set(&mut merged, Some(id), &keys, &values)?;
        }
        if all.is_empty() {
            merged.clone_from(&self.base);
        } else {
            let keys: Vec<&str> = if used.iter().any(|used| *used) {
                keys.iter().zip(&used).filter(|(_, used)| **used).map(|(key, _)| *key).collect()
            } else {
                keys.to_vec()
            };
            self.append(&mut merged, &keys)?;
        }
        Ok(self.take(&merged))
    }

    /// The values of the keys of all items, those of the patch first, each once.
    fn values(&self, keys: &[&str]) -> Vec<Values> {
        let mut seen = HashSet::new();
        let lists: &[&[usize]] = if self.same { &[&self.base] } else { &[&self.patch, &self.base] };
        let of = |id: &usize| -> Values {
            keys.iter()
                .map(|key| self.items[*id].get(key).map(|value| text(value).into_owned()).unwrap_or_default())
                .collect()
        };
        lists.iter().copied().flatten().map(of).filter(|values| seen.insert(values.clone())).collect()
    }

    /// Merges the first item of the object and the first of the patch that have the values.
    fn item<'s>(
        &mut self,
        merge: &mut Merge<'s>,
        keys: &[&str],
        values: &[String],
        shape: Option<Shape<'s>>,
        place: Place,
    ) -> Result<Option<usize>, String> {
        let used: Vec<bool> = values.iter().map(|value| !value.is_empty()).collect();
        let (keys, values) = only(&used, keys, values);
        let field = shape.map(Field::Value);
        let base = self.find(&self.base, &keys, &values);
        let patch = self.find(&self.patch, &keys, &values);
        match (base, patch) {
            (None, None) => Ok(None),
            (Some(base), None) => {
                let place = place.item(base, &self.items[base]);
                merge.kept(&mut self.items[base], field.as_ref(), place)?;
                Ok(Some(base))
            }
            (Some(base), Some(patch)) if !self.same => {
                let place = place.item(base, &self.items[base]);
                let change = std::mem::take(&mut self.items[patch]);
                let done = Self::both(merge, &mut self.items[base], &change, field.as_ref(), place);
                // A directive counts once, also where the values of two items are taken for the same.
                self.items[patch] = match &change {
                    Value::Object(map) => Value::Object(directive::without(map)),
                    _ => change,
                };
                match done? {
                    Directive::Delete => Ok(None),
                    Directive::Merge => Ok(Some(base)),
                    Directive::Replace => {
                        merge.added_fields(&mut self.items[patch], field.as_ref(), place)?;
                        Ok(Some(patch))
                    }
                }
            }
            (_, Some(patch)) => {
                let place = place.item(patch, &self.items[patch]);
                let kept = merge.added(&mut self.items[patch], field.as_ref(), place, !self.same)?;
                Ok(kept.then_some(patch))
            }
        }
    }

    /// Merges two items, unless the patch wants something else.
    fn both<'s>(
        merge: &mut Merge<'s>,
        base: &mut Value,
        patch: &Value,
        field: Option<&Field<'s>>,
        place: Place,
    ) -> Result<Directive, String> {
        let empty = Map::new();
        let change = patch.as_object().unwrap_or(&empty);
        let directive = directive::of_mapping(change)?;
        if directive == Directive::Merge {
            merge.item(base, change, field, place)?;
        }
        Ok(directive)
    }

    /// The first item of a list that has all the values.
    fn find(&self, list: &[usize], keys: &[&str], values: &[String]) -> Option<usize> {
        let has = |id: &&usize| {
            let Value::Object(map) = &self.items[**id] else { return false };
            keys.iter().zip(values).all(|(key, wanted)| {
                map.get(*key).is_some_and(|value| {
                    // In a list that a patch adds, the reference does not find an item by a key that is null.
                    text(value) == *wanted && !(self.same && value.is_null())
                })
            })
        };
        list.iter().find(has).copied()
    }

    fn is_nothing(&self, id: usize) -> bool {
        match &self.items[id] {
            Value::Null => true,
            Value::Object(map) => map.is_empty(),
            _ => false,
        }
    }

    /// Puts `item` in the place of all items of a list that have the values, or at its end; without an item, takes those
    /// out. A value that is empty fits any, one that is missing fits what the one before fits.
    fn set(
        &self,
        list: &mut Vec<usize>,
        item: Option<usize>,
        keys: &[&str],
        values: &[String],
    ) -> Result<(), String> {
        let by_value = values.first().is_some_and(|value| !value.is_empty());
        let (mut kept, mut found) = (Vec::with_capacity(list.len() + 1), false);
        for id in list.iter().copied().filter(|id| !self.is_nothing(*id)) {
            let Value::Object(map) = &self.items[id] else {
                if by_value {
                    kept.push(id);
                    continue;
                }
                return Err("an item is not a mapping".into());
            };
            let fits = |key: &&str, value: &String| {
                map.get(*key).is_some_and(|is| value.is_empty() || text(is) == *value)
            };
            if values.is_empty() {
                // Nothing to compare with: the reference keeps none.
            } else if keys.iter().zip(values).all(|(key, value)| fits(key, value)) {
                found = true;
                kept.extend(item);
            } else {
                kept.push(id);
            }
        }
        *list = kept;
        if let Some(id) = item.filter(|id| !found && !self.items[*id].is_null()) {
            list.push(id);
        }
        Ok(())
    }

    /// Adds the items of the object to what came from the patch.
    fn append(&self, merged: &mut Vec<usize>, keys: &[&str]) -> Result<(), String> {
        for id in self.base.iter().copied() {
            let mut values = Values::with_capacity(keys.len());
            match &self.items[id] {
                Value::Object(map) => {
                    for key in keys {
                        match map.get(*key) {
                            Some(value) => values.push(text(value).into_owned()),
                            None => merged.push(id),
                        }
                    }
                }
                Value::Null => merged.extend(keys.iter().map(|_| id)),
                _ => return Err("an item is not a mapping".into()),
            }
            if keys.len() > 1 {
                self.set(merged, None, keys, &values)?;
            }
            self.set(merged, Some(id), keys, &values)?;
        }
        Ok(())
    }

    fn take(mut self, ids: &[usize]) -> Vec<Value> {
        let mut left = vec![0_usize; self.items.len()];
        ids.iter().for_each(|id| left[*id] += 1);
        let mut taken = Vec::with_capacity(ids.len());
        for id in ids {
            left[*id] -= 1;
            taken.push(match left[*id] {
                0 => std::mem::take(&mut self.items[*id]),
                _ => self.items[*id].clone(),
            });
        }
        taken
    }
}

/// Which keys some item has a value of.
fn used(all: &[Values], keys: &[&str]) -> Vec<bool> {
    (0..keys.len())
        .map(|at| all.iter().any(|values| values.get(at).is_some_and(|it| !it.is_empty())))
        .collect()
}

/// The keys that are used, with their values; all where none is.
fn only<'k>(used: &[bool], keys: &[&'k str], values: &[String]) -> (Vec<&'k str>, Values) {
    if !used.iter().any(|used| *used) {
        return (keys.to_vec(), values.to_vec());
    }
    let pairs = keys.iter().zip(values).zip(used).filter(|(_, used)| **used);
    pairs.map(|((key, value), _)| (*key, value.clone())).unzip()
}

/// Makes values that differ only in what one of them lacks the same: a port with its protocol and the same port without.
fn unite(all: &mut [Values]) {
    for at in 0..all.len() {
        // What is compared with the others stays what it was at the beginning, as in the reference.
        let first = all[at].clone();
        for other in 0..all.len() {
            if let Some(both) = united(&first, &all[other]) {
                all[at].clone_from(&both);
                all[other] = both;
            }
        }
    }
}

fn united(left: &[String], right: &[String]) -> Option<Values> {
    let (mut common, mut both) = (false, Vec::with_capacity(left.len()));
    for (left, right) in left.iter().zip(right) {
        common |= left == right;
        both.push(match (left.as_str(), right.as_str()) {
            (left, right) if left == right => left.to_owned(),
            ("", other) | (other, "") => other.to_owned(),
            _ => return None,
        });
    }
    common.then_some(both)
}

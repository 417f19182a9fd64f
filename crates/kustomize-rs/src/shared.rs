//! Fields that are one and the same to the reference: when it writes a new label into several fields of an object, all of
//! them hold one value, and whoever changes one later changes all. An overlay that gives a label another value so changes
//! the selectors that an earlier `commonLabels` has made.

use serde_json::Value;

use crate::item::Item;
use crate::marks::Step;

/// One key in several mappings of an object, made at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shared {
    key: String,
    value: Value,
    /// Where the mappings are.
    places: Vec<Vec<Step>>,
}

impl Shared {
    /// `None` where there is only one place, which shares nothing.
    pub(crate) fn new(key: &str, value: &str, places: Vec<Vec<Step>>) -> Option<Self> {
        (places.len() > 1).then(|| Self { key: key.into(), value: value.into(), places })
    }
}

/// Brings all fields of objects that share a value to the one that was changed.
pub(crate) fn settle(items: &mut [Item]) {
    items.iter_mut().for_each(settle_one);
}

pub(crate) fn settle_one(item: &mut Item) {
    if item.marks.shared.is_empty() {
        return;
    }
    let mut groups = std::mem::take(&mut item.marks.shared);
    for group in &mut groups {
        let mut changed = None;
        group.places.retain(|place| {
            match at(&item.resource.value, place).and_then(|map| map.get(&group.key)) {
                None => false,
                Some(value) => {
                    if *value != group.value {
                        changed = Some(value.clone());
                    }
                    true
                }
            }
        });
        let Some(value) = changed else { continue };
        for place in &group.places {
            if let Some(Value::Object(map)) = at_mut(item.resource.value_mut(), place) {
                map.insert(group.key.clone(), value.clone());
            }
        }
        group.value = value;
    }
    groups.retain(|group| group.places.len() > 1);
    item.marks.shared = groups;
}

/// The value at a place.
pub(crate) fn at<'v>(value: &'v Value, place: &[Step]) -> Option<&'v Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

pub(crate) fn at_mut<'v>(value: &'v mut Value, place: &[Step]) -> Option<&'v mut Value> {
    place.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}

//! What is wanted of a set and what is there, side by side: both are in order, so one pass finds what belongs together.
//! Sets are large and are gone through at every plan.

use std::cmp::Ordering;

use super::bundles::Content;
use crate::object::ObjectKey;
use crate::world::{ObservedObject, ObservedSet};

/// One unit on one cluster.
#[derive(Debug, Default)]
pub(crate) struct Joined<'a> {
    /// What is there of each object of the bundle, by its index.
    pub(crate) seen: Vec<Option<&'a ObservedObject>>,
    /// What is there and not in the bundle.
    pub(crate) extra: Vec<(&'a ObjectKey, &'a ObservedObject)>,
}

impl<'a> Joined<'a> {
    /// Joins them. Without content everything is extra.
    pub(crate) fn of(content: Option<&Content<'_>>, set: Option<&'a ObservedSet>) -> Self {
        let mut seen = vec![None; content.map_or(0, |it| it.bundle.objects.len())];
        let mut extra = Vec::new();
        let mut wanted = content.into_iter().flat_map(|it| it.keys.iter()).peekable();
        for (key, object) in set.into_iter().flat_map(|set| &set.objects) {
            let is_wanted = loop {
                let Some((next, index)) = wanted.peek() else { break false };
                match (*next).cmp(key) {
                    Ordering::Less => _ = wanted.next(),
                    Ordering::Equal => {
                        if let Some(place) = seen.get_mut(**index) {
                            *place = Some(object);
                        }
                        break true;
                    }
                    Ordering::Greater => break false,
                }
            };
            if !is_wanted {
                extra.push((key, object));
            }
        }
        Self { seen, extra }
    }
}

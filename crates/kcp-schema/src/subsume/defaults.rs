//! Defaults. What is filled in may break a condition further up; and even where it does not, leaving a field out means
//! something else than before.

use std::sync::Arc;

use serde_json::Value;

use super::{Kind, Sure, Walk};
use crate::model::{Schema, SchemaStep};
use crate::value::same_value;
use crate::{Judge, Rules, Verdict};

const REFINED: &str = "the default is filled in below a condition that it may break";

impl Walk {
    /// The default of a field that both sides describe.
    pub(super) fn kept_default(&mut self, parent: &Schema, a: &Schema, b: &Schema) {
        let same = match (&a.default, &b.default) {
            (Some(a), Some(b)) => same_value(a, b),
            (None, None) => true,
            _ => false,
        };
        // A field that is always there needs none; who reads back finds the value whatever the other default is.
        let name = match self.path.last() {
            Some(SchemaStep::Property(name)) => name.clone(),
            _ => return,
        };
        let always = parent.required.contains(&name) && a.default.is_none() && !a.nullable;
        if same || always || self.scope.read_back {
            return;
        }
        let sure = self.effect(b);
        self.differs(Kind::Default, (a, a.default.clone()), (b, b.default.clone()), sure, Vec::new());
    }

    /// The default of a field that the first side does not know: it means nothing there, but it may break a condition.
    pub(super) fn new_default(&mut self, parent: &Schema, child: &Schema, b: &Schema) {
        let Some(default) = &child.default else { return };
        if self.scope.read_back {
            return;
        }
        let sure = self.effect(child);
        if sure != Sure::Meaning {
            self.differs(Kind::Default, (parent, None), (b, Some(default.clone())), sure, Vec::new());
        }
    }

    fn effect(&self, filled: &Schema) -> Sure {
        let is_key = |(depth, keys): &(usize, Vec<Arc<str>>)| {
            *depth + 1 == self.path.len()
                && matches!(self.path.last(), Some(SchemaStep::Property(name)) if keys.contains(name))
        };
        if self.refined > 0 || self.keyed.last().is_some_and(is_key) {
            return Sure::Maybe(REFINED.into());
        }
        // Servers refuse a schema whose default does not fit; schemas made otherwise may have one.
        let fits = |value: &Value| {
            let judge = Judge::new(filled, Rules { resource: false, ..Rules::default() });
            judge.accepts_and_keeps(value) == Verdict::Yes
        };
        match &filled.default {
            Some(value) if !fits(value) => Sure::Maybe("the default does not fit its own schema".into()),
            _ => Sure::Meaning,
        }
    }
}

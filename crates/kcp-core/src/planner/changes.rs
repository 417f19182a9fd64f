//! The fields in which an object changes, for people. Values of Secrets never leave this file.

use kcp_api::ANNOTATIONS_OUTSIDE_CONTENT as OUTSIDE;
use kcp_merge::{differences, without_annotations};
use serde_json::Value;

use crate::object::Object;
use crate::plan::FieldChange;

/// Longer values are cut.
const MAX_VALUE: usize = 2_000;

/// What is shown instead of a value of a Secret.
const MASKED: &str = "(secret)";

/// What of a Secret may be shown.
const PLAIN: [&str; 4] = ["apiVersion", "kind", "immutable", "type"];

/// How an object differs from an earlier one.
pub(crate) fn of(earlier: &Object, object: &Object) -> Vec<FieldChange> {
    let (from, to) =
        (without_annotations(&earlier.body, &OUTSIDE), without_annotations(&object.body, &OUTSIDE));
    let is_secret = object.key.is_secret();
    let found = differences(&from, &to).into_iter();
    found
        .map(|it| {
            let masked = is_secret && !is_plain(&it.path);
            FieldChange { from: shown(it.from, masked), to: shown(it.to, masked), path: it.path }
        })
        .collect()
}

/// Annotations may repeat the whole object, so of the metadata only labels are shown.
fn is_plain(path: &str) -> bool {
    PLAIN.contains(&path) || path.starts_with("metadata.labels")
}

fn shown(value: Option<Value>, masked: bool) -> Option<String> {
    value.map(|value| {
        if masked {
            return MASKED.to_owned();
        }
        let mut text = value.to_string();
        if text.len() > MAX_VALUE {
            let end = (0..=MAX_VALUE).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
            text.push_str("...");
        }
        text
    })
}

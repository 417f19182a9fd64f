//! Which bytes go when an entry or item is removed.

use std::ops::Range;

use serde_json::{Map, Value as Json};

use super::lines::{Splice, Text};
use super::write::{dash, replace};
use super::{EditError, place, refused};
use crate::{Node, Origin, Path, Segment, Style, Value};

/// The changes that remove the node at `path`, which exists.
pub(super) fn plan(text: &Text, root: &Node, path: &Path) -> Result<Vec<Splice>, EditError> {
    let place = place(root, path);
    let (Some((parent, step)), Some((parent_path, _))) = (place.parent, path.split_last()) else {
        return Err(refused(root, path, "it is the whole document", "remove the file"));
    };
    let (entries, at) = match (&parent.value, &step) {
        (Value::Mapping(all), Segment::Key(key)) => {
            // What `<<` brought in is written elsewhere.
            let own: Vec<_> = all.iter().filter(|(k, _)| k.origin == Origin::Written).collect();
            let at = own.iter().position(|(k, _)| k.key_text() == *key);
            let ranges: Option<Vec<Range<usize>>> = own.iter().map(|(k, v)| entry_range(k, v)).collect();
            (ranges, at)
        }
        (Value::Sequence(items), Segment::Index(index)) => {
            let ranges = (0..items.len()).map(|i| item_range(text, parent, i)).collect();
            (ranges, Some(*index))
        }
        _ => (None, None),
    };
    let (Some(entries), Some(at)) = (entries, at) else {
        return Err(refused(parent, path, "it has anchors or tags", "edit the file by hand"));
    };
    let own = parent.span.bytes();
    let alone = entries.len() == 1
        && (parent.style == Style::Flow || entries[0].start == own.start && entries[0].end >= own.end);
    if alone {
        let empty =
            if parent.as_sequence().is_some() { Json::Array(Vec::new()) } else { Json::Object(Map::new()) };
        return replace(text, root, &parent_path, &empty);
    }
    let this = entries[at].clone();
    let next = entries.get(at + 1).map(|r| r.start);
    let previous = at.checked_sub(1).and_then(|i| entries.get(i)).map(|r| r.end);
    let gone = if parent.style == Style::Flow {
        let range = match (previous, next) {
            (Some(previous), _) => previous..this.end,
            (None, Some(next)) => this.start..next,
            (None, None) => this,
        };
        if text.has_comment(range.clone()) {
            return Err(refused(
                parent,
                path,
                "there are comments inside, which would be lost",
                "remove them first",
            ));
        }
        range
    } else if text.starts_line(this.start) {
        whole_lines(text, &this)
    } else if let Some(next) = next {
        // It shares its line with a dash: the next entry moves up to it.
        if text.has_comment(text.next_line(this.end).min(next)..next) {
            return Err(refused(
                parent,
                path,
                "there are comments between it and the next entry",
                "move them first",
            ));
        }
        this.start..next
    } else {
        return Err(refused(parent, path, "it shares its line with something else", "edit the file by hand"));
    };
    Ok(vec![Splice::new(gone, "")])
}

/// All lines of a range; at the end of a text without final newline, the line end before them instead.
fn whole_lines(text: &Text, range: &Range<usize>) -> Range<usize> {
    let start = text.line_start(range.start);
    if text.as_str()[..range.end].ends_with('\n') {
        return start..range.end;
    }
    let end = text.next_line(range.end);
    if text.as_str()[..end].ends_with('\n') {
        return start..end;
    }
    let before = &text.as_str()[..start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    before.strip_suffix('\r').unwrap_or(before).len()..end
}

/// From the key to the end of the value; `None` when properties stand before the key.
fn entry_range(key: &Node, value: &Node) -> Option<Range<usize>> {
    let marked = key.anchor.is_some() || key.tag.is_some();
    let end = key.span.end.offset.max(value.span.end.offset);
    (!marked).then_some(key.span.start.offset..end)
}

/// From the dash (in a block list) to the end of an item.
fn item_range(text: &Text, list: &Node, index: usize) -> Option<Range<usize>> {
    let item = list.as_sequence()?.get(index)?;
    if list.style == Style::Flow {
        let marked = item.anchor.is_some() || item.tag.is_some();
        return (!marked).then_some(item.span.start.offset..item.span.end.offset);
    }
    let dash = dash(text, list, index)?;
    Some(dash..item.span.end.offset.max(dash + 1))
}

//! Which bytes change when a value is replaced or added.

use serde_json::Value as Json;

use super::intent::nested;
use super::lines::{Splice, Text, layout};
use super::{EditError, not_a, place, refused};
use crate::emit::{self, Shape};
use crate::{Node, Origin, Path, Segment, Style, Value};

/// The changes that put `value` in place of the node at `path`, which exists.
pub(super) fn replace(text: &Text, root: &Node, path: &Path, value: &Json) -> Result<Vec<Splice>, EditError> {
    let Some(node) = root.at(path) else {
        return Ok(Vec::new());
    };
    check_own(node, path)?;
    let place = place(root, path);
    let old = node.span.start.offset..content_end(text, node);
    if !old.is_empty() && text.has_comment(old.clone()) {
        return Err(comment_inside(node, path));
    }
    if place.in_flow {
        if old.is_empty() {
            return Err(refused(
                node,
                path,
                "its value is left out inside `{}` or `[]`",
                "write null there first",
            ));
        }
        return Ok(vec![Splice::new(old, emit::flow(value))]);
    }
    let layout = layout(root);
    let shape = emit::shape(value, layout);
    let Some((parent, step)) = place.parent else {
        return Ok(replace_root(text, node, shape));
    };
    let (after, column) = match &step {
        Segment::Key(key) => {
            let entry = parent.entry(key).map(|(k, _)| k.span);
            let span = entry.ok_or_else(|| not_a(node, path, "a value"))?;
            let colon = text.next_indicator(span.end.offset, b':');
            (colon.map(|at| at + 1), span.start.column - 1)
        }
        Segment::Index(index) => {
            let dash = dash(text, parent, *index);
            (dash.map(|at| at + 1), parent.span.start.column - 1)
        }
    };
    let Some(after) = after else {
        return Err(refused(node, path, "its indicator was not found", "edit the file by hand"));
    };
    let is_item = matches!(step, Segment::Index(_));
    let (head, body) = match shape {
        Shape::Inline(head) => (head, Vec::new()),
        Shape::Literal(head, lines) => (head.to_owned(), emit::indented(&lines, column + layout.step.max(2))),
        Shape::Block(mut lines) if is_item => {
            let head = lines.remove(0);
            (head, emit::indented(&lines, column + 2))
        }
        Shape::Block(lines) => {
            let below = if value.is_array() { layout.list } else { layout.step };
            (String::new(), emit::indented(&lines, column + below))
        }
    };
    let mut splices = Vec::new();
    let same_line = text.line_end(after) >= old.start;
    let spaced = if head.is_empty() { String::new() } else { format!(" {head}") };
    if old.is_empty() || !same_line {
        let line_end = text.line_end(after);
        splices.push(Splice::insert(after, spaced));
        if !old.is_empty() {
            if text.has_comment(text.next_line(after)..old.start) {
                return Err(comment_inside(node, path));
            }
            splices.push(Splice::new(line_end..old.end, ""));
        }
    } else {
        splices.push(Splice::new(after..old.end, spaced));
    }
    if !body.is_empty() {
        let at = text.line_end(if old.is_empty() { after } else { old.end });
        splices.push(Splice::insert(at, format!("{}{}", text.newline(), text.join(&body))));
    }
    Ok(splices)
}

fn replace_root(text: &Text, node: &Node, shape: Shape) -> Vec<Splice> {
    let lines = match shape {
        Shape::Inline(head) => vec![head],
        Shape::Literal(head, lines) => {
            let mut all = vec![head.to_owned()];
            all.extend(emit::indented(&lines, 2));
            all
        }
        Shape::Block(lines) => lines,
    };
    let old = node.span.start.offset..content_end(text, node);
    let body = text.join(&lines);
    if old.is_empty() || !text.starts_line(old.start) {
        // After a `---`: the value goes below it.
        let at = text.line_end(old.end);
        let mut splices = vec![Splice::insert(at, format!("{}{body}", text.newline()))];
        if !old.is_empty() {
            splices.push(Splice::new(old, ""));
        }
        return splices;
    }
    vec![Splice::new(old, body)]
}

/// The changes that add what is missing of `path`.
pub(super) fn insert(text: &Text, root: &Node, path: &Path, value: &Json) -> Result<Vec<Splice>, EditError> {
    let mut at = Path::root();
    let mut node = root;
    for segment in path.segments() {
        match node.step(segment) {
            Some(next) => {
                node = next;
                at.push(segment.clone());
            }
            None => break,
        }
    }
    let rest = &path.segments()[at.segments().len()..];
    let Some((first, below)) = rest.split_first() else {
        return Ok(Vec::new());
    };
    if below.iter().any(|s| matches!(s, Segment::Index(i) if *i > 0)) {
        return Err(past_end(node, &at));
    }
    let inner = nested(below, value);
    check_own(node, &at)?;
    let fits = match (&node.value, first) {
        (Value::Null, Segment::Key(_) | Segment::Index(0)) | (Value::Mapping(_), Segment::Key(_)) => true,
        (Value::Sequence(items), Segment::Index(index)) if *index == items.len() => true,
        (Value::Null | Value::Sequence(_), Segment::Index(_)) => return Err(past_end(node, &at)),
        _ => false,
    };
    if !fits {
        let wanted = if matches!(first, Segment::Key(_)) { "a mapping" } else { "a list" };
        return Err(not_a(node, &at, wanted));
    }
    let empty = match &node.value {
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(entries) => entries.is_empty(),
        _ => true,
    };
    if empty {
        return replace(text, root, &at, &nested(rest, value));
    }
    if node.style == Style::Flow {
        return insert_flow(text, node, &at, first, &inner);
    }
    let layout = layout(root);
    let column = match &node.value {
        Value::Mapping(entries) => {
            let own = entries.iter().find(|(k, _)| k.origin == Origin::Written);
            own.map(|(k, _)| k.span.start.column - 1)
        }
        _ => Some(node.span.start.column - 1),
    };
    let Some(column) = column else {
        return Err(refused(node, &at, "all of it comes from a merge key `<<`", "edit the file by hand"));
    };
    let lines = match first {
        Segment::Key(key) => emit::entry(key, &inner, layout),
        Segment::Index(_) => emit::item(&inner, layout),
    };
    let body = text.join(&emit::indented(&lines, column));
    let end = node.span.end.offset;
    let newline = text.newline();
    if text.as_str()[..end].ends_with('\n') {
        // A `|+` text keeps its blank lines: what follows them starts a line of its own.
        return Ok(vec![Splice::insert(end, format!("{body}{newline}"))]);
    }
    Ok(vec![Splice::insert(text.line_end(end), format!("{newline}{body}"))])
}

/// One more entry before the `}` or `]`.
fn insert_flow(
    text: &Text,
    node: &Node,
    at: &Path,
    step: &Segment,
    value: &Json,
) -> Result<Vec<Splice>, EditError> {
    let last = match &node.value {
        Value::Mapping(entries) => {
            let own = entries.iter().rev().find(|(k, _)| k.origin == Origin::Written);
            own.map(|(k, v)| k.span.end.offset.max(v.span.end.offset))
        }
        Value::Sequence(items) => items.last().map(|i| i.span.end.offset),
        _ => None,
    };
    let Some(last) = last.filter(|last| text.next_indicator(*last, b':').is_none()) else {
        return Err(refused(node, at, "its last value is left out", "write null there first"));
    };
    let entry = match step {
        Segment::Key(key) => format!("{}: {}", emit::scalar(key, true), emit::flow(value)),
        Segment::Index(_) => emit::flow(value),
    };
    Ok(vec![Splice::insert(last, format!(", {entry}"))])
}

/// Refuses nodes whose text is shared or carries marks that the new value would lose.
fn check_own(node: &Node, path: &Path) -> Result<(), EditError> {
    if node.origin != Origin::Written {
        return Err(refused(
            node,
            path,
            "it is an alias",
            "edit the node it names, or write the value out by hand",
        ));
    }
    if node.anchor.is_some() {
        return Err(refused(
            node,
            path,
            "it has an anchor, so aliases would change too",
            "edit the file by hand",
        ));
    }
    if node.tag.is_some() {
        return Err(refused(node, path, "it has a tag", "remove the tag first"));
    }
    Ok(())
}

fn comment_inside(node: &Node, path: &Path) -> EditError {
    refused(node, path, "there are comments inside, which would be lost", "move or remove them first")
}

fn past_end(node: &Node, path: &Path) -> EditError {
    EditError::Path {
        line: node.span.start.line,
        path: path.clone(),
        reason: "the index is past the end of the list".to_owned(),
    }
}

/// Where the text of a node ends, the blank lines that a `|+` keeps left out.
pub(super) fn content_end(text: &Text, node: &Node) -> usize {
    let content = text.as_str().get(node.span.bytes()).unwrap_or_default();
    node.span.start.offset + content.trim_end_matches(['\n', '\r', ' ']).len()
}

/// Where the dash of an item of a block list is.
pub(super) fn dash(text: &Text, list: &Node, index: usize) -> Option<usize> {
    let items = list.as_sequence()?;
    match index.checked_sub(1) {
        None => Some(list.span.start.offset),
        Some(before) => text.next_indicator(items.get(before)?.span.end.offset, b'-'),
    }
}

//! A located tree to the JSON value that the reference makes of it.

use serde_json::{Map, Value as Json};
use yaml_span::{Node, Style, Value};

use crate::timestamp;

/// The value of a tree. Unquoted dates become times, as in the reference.
///
/// # Errors
/// The key that is not text: an object has none such. (The readers bound the depth, so this may call itself.)
pub(crate) fn json(node: &Node) -> Result<Json, &Node> {
    Ok(match &node.value {
        Value::String(text) if node.style == Style::Plain && node.tag.is_none() => {
            Json::String(timestamp::canonical(text).unwrap_or_else(|| text.clone()))
        }
        Value::Sequence(items) => Json::Array(items.iter().map(json).collect::<Result<_, _>>()?),
        Value::Mapping(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for (key, value) in entries {
                let Value::String(text) = &key.value else { return Err(key) };
                map.insert(text.clone(), json(value)?);
            }
            Json::Object(map)
        }
        _ => node.to_json(),
    })
}

/// A step to a value inside an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// The places of the keys without a value in one object.
pub(crate) type Blanks = Vec<Vec<Step>>;

/// Where a key has no value at all (`emptyDir:`), which is null like a written `null` until something is merged into the
/// object: then the reference drops the one and keeps the other.
pub(crate) fn blanks(node: &Node) -> Blanks {
    let mut found = Vec::new();
    collect_blanks(node, &mut Vec::new(), &mut found);
    found
}

fn collect_blanks(node: &Node, path: &mut Vec<Step>, found: &mut Blanks) {
    match &node.value {
        Value::Null if node.span.start.offset == node.span.end.offset => found.push(path.clone()),
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                collect_blanks(item, path, found);
                path.pop();
            }
        }
        Value::Mapping(entries) => {
            for (key, value) in entries {
                path.push(Step::Key(key.key_text()));
                collect_blanks(value, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Takes back the line break that the parser gives to block text which the end of the file cuts off before one.
pub(crate) fn cut_off(mut node: &mut Node) {
    loop {
        let cut = matches!(node.style, Style::Literal | Style::Folded);
        match &mut node.value {
            Value::String(text) if cut => {
                if text.ends_with('\n') {
                    text.pop();
                }
                return;
            }
            Value::Sequence(items) => match items.last_mut() {
                Some(last) => node = last,
                None => return,
            },
            Value::Mapping(entries) => match entries.last_mut() {
                Some((_, last)) => node = last,
                None => return,
            },
            _ => return,
        }
    }
}

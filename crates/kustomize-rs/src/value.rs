//! A located tree to the JSON value that the reference makes of it.

use serde_json::{Map, Value as Json};
use yaml_span::{Node, Style, Value};

use crate::{folded, timestamp};

/// The value of a tree. Unquoted dates become times, as in the reference.
///
/// # Errors
/// The key that is not text: an object has none such. (The readers bound the depth, so this may call itself.)
pub(crate) fn json(node: &Node) -> Result<Json, &Node> {
    let mut json = value(node, false)?;
    // The annotations of an object are put in anew before it is written, and lose their style.
    let annotations = node.get("metadata").and_then(|metadata| metadata.get("annotations"));
    for (key, content) in annotations.and_then(Node::as_mapping).unwrap_or_default() {
        if let (Style::Folded, Some(name), Some(text)) = (content.style, key.as_str(), content.as_str())
            && let Some(put) = json.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"))
            && let Some(put) = put.get_mut(name)
        {
            *put = Json::String(text.to_owned());
        }
    }
    Ok(json)
}

/// `flow`: inside brackets or braces, where no value at all becomes empty text.
fn value(node: &Node, flow: bool) -> Result<Json, &Node> {
    let flow = flow || node.style == Style::Flow;
    Ok(match &node.value {
        Value::Null if flow && node.span.start.offset == node.span.end.offset => Json::String(String::new()),
        Value::String(text) if node.style == Style::Folded => Json::String(folded::written_and_read(text)),
        Value::String(text) if node.style == Style::Plain && node.tag.is_none() => {
            Json::String(timestamp::canonical(text).unwrap_or_else(|| text.clone()))
        }
        Value::Sequence(items) => {
            Json::Array(items.iter().map(|item| value(item, flow)).collect::<Result<_, _>>()?)
        }
        Value::Mapping(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for (key, content) in entries {
                let Value::String(text) = &key.value else { return Err(key) };
                if key.style == Style::Plain && timestamp::canonical(text).is_some() {
                    return Err(key);
                }
                map.insert(text.clone(), value(content, flow)?);
            }
            Json::Object(map)
        }
        _ => node.to_json(),
    })
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

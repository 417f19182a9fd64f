//! `labels`, `commonLabels` and `commonAnnotations`: keys and values written to fields.

use serde_json::{Map, Value};

use crate::config::{Config, Conflict, merge};
use crate::field_path::Field;
use crate::item::Item;
use crate::kustomization::Labels;
use crate::marks::Step;
use crate::shared::{self, Shared};
use crate::timestamp;

/// The fields that one entry of `labels` is written to.
///
/// # Errors
/// A field of its own that contradicts the usual ones.
pub(crate) fn fields(labels: &Labels, config: &Config) -> Result<Vec<Field>, Conflict> {
    let own: Vec<Field> = labels.fields.iter().cloned().map(Field::from).collect();
    let fields = merge(&own, &config.labels)?;
    if labels.include_selectors {
        return merge(&fields, &config.common_labels);
    }
    let fields = if labels.include_templates { merge(&fields, &config.template_labels)? } else { fields };
    merge(&fields, &[Field::new("", "", "", "metadata/labels", true)])
}

/// Writes keys and values into the fields of an object.
///
/// # Errors
/// Something else than a mapping is in the way; a key that would not be text.
pub(crate) fn write(item: &mut Item, fields: &[Field], pairs: &[(String, String)]) -> Result<(), String> {
    if pairs.is_empty() {
        return Ok(());
    }
    shared::settle_one(item);
    let made = Value::Object(Map::new());
    // Where each pair was new.
    let mut new: Vec<Vec<Vec<Step>>> = vec![Vec::new(); pairs.len()];
    for field in fields {
        if !field.is_of(&item.resource) {
            continue;
        }
        let mut added: Vec<Vec<bool>> = Vec::new();
        let visited = field.visit(item.resource.value_mut(), Some(&made), &mut |found| match found {
            Value::Object(map) => {
                let mut news = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    let is_new = map.insert(key.clone(), Value::String(value.clone())).is_none();
                    if is_new && !is_text(key) {
                        return Err(format!("the key {key} would not be text: quotes are lost on the way"));
                    }
                    news.push(is_new);
                }
                added.push(news);
                Ok(())
            }
            Value::Null => Ok(()),
            _ => Err("not a mapping".into()),
        });
        visited.map_err(|why| format!("{}: {why}", field.path.replace('/', ".")))?;
        for (place, news) in field.places(&item.resource.value).into_iter().zip(added) {
            for (places, _) in new.iter_mut().zip(news).filter(|(_, is_new)| *is_new) {
                places.push(place.clone());
            }
        }
    }
    let groups = pairs.iter().zip(new).filter_map(|((key, value), places)| Shared::new(key, value, places));
    item.marks.shared.extend(groups);
    shared::settle_one(item);
    Ok(())
}

/// Whether a key that is written without quotes is read as text.
pub(crate) fn is_text(key: &str) -> bool {
    let may_be_other = |first: u8| {
        first.is_ascii_digit()
            || matches!(first, b'+' | b'-' | b'.' | b'~' | b't' | b'T' | b'f' | b'F' | b'n' | b'N')
    };
    match key.as_bytes() {
        [] | b"<<" => false,
        [first, ..] if !may_be_other(*first) => true,
        // Signs that are written in quotes.
        b"-" | b"---" => true,
        _ if key.contains([' ', '#', ':']) => true,
        _ => {
            let limits = yaml_span::Limits::default();
            let read = yaml_span::parse(key, yaml_span::Schema::Kustomize, &limits);
            let is_string = read.is_ok_and(|it| it.first().is_none_or(|it| it.root.as_str().is_some()));
            is_string && timestamp::canonical(key).is_none_or(|_| key.contains('T'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_text;

    #[test]
    fn keys_that_lose_their_quotes_are_told_from_text() {
        for key in [
            "app",
            "yes",
            "y",
            "on",
            "12:30",
            "-",
            "a b",
            "app.example/x",
            "1a",
            "2020-01-01T00:00:00Z",
            "nil",
        ] {
            assert!(is_text(key), "{key}");
        }
        for key in [
            "",
            "<<",
            "1",
            "1.5",
            "true",
            "True",
            "null",
            "~",
            "0x1f",
            "1_000",
            "1e3",
            ".inf",
            "-1",
            "2020-01-01",
        ] {
            assert!(!is_text(key), "{key}");
        }
    }
}

//! Maps by object in JSON: the key is the text of [`ObjectKey`], so that records can be read by people, too.
//!
//! What is read may be hostile: a key that is not the text of an object is an error, never a guess.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::object::ObjectKey;

pub(crate) fn serialize<S, V>(map: &BTreeMap<ObjectKey, V>, serializer: S) -> Result<S::Ok, S::Error>
where
    S: Serializer,
    V: Serialize,
{
    serializer.collect_map(map.iter().map(|(key, value)| (key.to_string(), value)))
}

pub(crate) fn deserialize<'de, D, V>(deserializer: D) -> Result<BTreeMap<ObjectKey, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    let map = BTreeMap::<String, V>::deserialize(deserializer)?;
    map.into_iter()
        .map(|(text, value)| {
            let key = parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` names no object")))?;
            Ok((key, value))
        })
        .collect()
}

/// The object that has this text. Neither kinds nor groups have a space, and kinds have no dot.
fn parse(text: &str) -> Option<ObjectKey> {
    let (kind, name) = text.split_once(' ')?;
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    let key =
        ObjectKey { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() };
    // Another spelling of the same object would be a second entry.
    (key.to_string() == text && !kind.is_empty() && !name.is_empty()).then_some(key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::parse;
    use crate::object::ObjectKey;
    use crate::world::{ClusterView, Foreign};

    #[test]
    fn a_view_with_objects_can_be_recorded_and_read_again() {
        let key = |group: &str, namespace: &str| ObjectKey {
            group: group.into(),
            kind: "Widget".into(),
            namespace: namespace.into(),
            name: "a.b:c".into(),
        };
        let foreign = Foreign { uid: "u".into(), owner: String::new(), managers: Vec::new() };
        let keys = [key("", ""), key("", "shop"), key("example.com", ""), key("example.com", "shop")];
        let view = ClusterView {
            foreign: keys.into_iter().map(|key| (key, foreign.clone())).collect(),
            ..ClusterView::default()
        };
        let text = serde_json::to_string(&view).unwrap();
        assert!(text.contains("\"Widget.example.com shop/a.b:c\""), "{text}");
        assert_eq!(serde_json::from_str::<ClusterView>(&text).unwrap(), view);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["", "Widget", "Widget ", " a", "Widget. a", "Widget /a", "Widget shop/"] {
            assert!(parse(text).is_none(), "{text:?}");
        }
        let wrong = BTreeMap::from([("Widget", 1)]);
        let text = serde_json::json!({"objects": wrong, "parent": {}, "unlisted": {}});
        assert!(serde_json::from_value::<crate::world::ObservedSet>(text).is_err());
    }
}

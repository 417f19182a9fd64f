//! Bytes of a JSON value that are equal exactly when two values mean the same to a Kubernetes API server.
//!
//! The order of keys does not count; numbers count by value (`1.0` is `1`), and so do quantities (`1000m` is `1`)
//! where Kubernetes has them. The bytes are for hashing and comparing only and cannot be read back.

use serde_json::{Map, Number, Value};

use crate::quantity;

/// Names of maps whose values are quantities, whatever their keys.
const QUANTITY_MAPS: [&str; 6] = ["allocatable", "capacity", "hard", "limits", "podFixed", "requests"];
/// Names of fields that are quantities wherever they stand.
const QUANTITY_FIELDS: [&str; 4] = ["averageValue", "divisor", "sizeLimit", "storage"];

/// The canonical bytes of a value.
///
/// Values are taken as read by a parser with a depth limit (serde_json's own is 128): the recursion here follows
/// their depth.
#[must_use]
pub fn canonical_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    write(value, None, &mut out);
    out
}

/// Whether two values that stand under the same field name mean the same.
pub(crate) fn equal(parent: Option<&str>, field: Option<&str>, a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    write_field(parent, field, a, &mut left);
    write_field(parent, field, b, &mut right);
    left == right
}

/// Each value starts with a byte for its type, strings with their length: no two values share bytes.
fn write(value: &Value, name: Option<&str>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'n'),
        Value::Bool(yes) => out.push(if *yes { b't' } else { b'f' }),
        Value::Number(number) => {
            out.push(b'#');
            out.extend_from_slice(number_text(number).as_bytes());
            out.push(b';');
        }
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            // Items of a list have no field name of their own: `limits` of a LimitRange is a list of objects.
            items.iter().for_each(|item| write(item, None, out));
            out.push(b']');
        }
        Value::Object(map) => write_map(map, name, out),
    }
}

fn write_map(map: &Map<String, Value>, name: Option<&str>, out: &mut Vec<u8>) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
    out.push(b'{');
    for (key, value) in entries {
        write_string(key, out);
        write_field(name, Some(key), value, out);
    }
    out.push(b'}');
}

fn write_field(parent: Option<&str>, field: Option<&str>, value: &Value, out: &mut Vec<u8>) {
    let is_quantity = parent.is_some_and(|name| QUANTITY_MAPS.contains(&name))
        || field.is_some_and(|name| QUANTITY_FIELDS.contains(&name));
    if is_quantity && let Some(nanos) = quantity::nanos(value) {
        out.push(b'q');
        out.extend_from_slice(nanos.to_string().as_bytes());
        out.push(b';');
    } else {
        write(value, field, out);
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b's');
    out.extend_from_slice(text.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(text.as_bytes());
}

/// One text per numeric value.
fn number_text(number: &Number) -> String {
    if let Some(whole) = number.as_i64() {
        return whole.to_string();
    }
    if let Some(whole) = number.as_u64() {
        return whole.to_string();
    }
    match number.as_f64() {
        // Whole numbers are exact in i128 up to there; `as` cannot lose anything.
        Some(float) if float.fract() == 0.0 && float.abs() < 1e30 => (float as i128).to_string(),
        Some(float) => format!("{float:e}"),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::canonical_bytes;

    fn same(a: Value, b: Value) -> bool {
        canonical_bytes(&a) == canonical_bytes(&b)
    }

    #[test]
    fn keys_numbers_and_quantities_count_by_value() {
        assert!(same(json!({"a": 1, "b": [1.0, 2.5]}), json!({"b": [1, 2.5], "a": 1.0})));
        assert!(same(json!({"requests": {"cpu": "1000m"}}), json!({"requests": {"cpu": 1}})));
        assert!(same(json!({"limits": {"memory": "1Gi"}}), json!({"limits": {"memory": "1024Mi"}})));
        assert!(same(json!({"emptyDir": {"sizeLimit": "1e3"}}), json!({"emptyDir": {"sizeLimit": "1k"}})));
        assert!(same(json!(-0.0), json!(0)));
        assert!(same(json!(1e19), json!(10_000_000_000_000_000_000_u64)));
    }

    #[test]
    fn what_differs_stays_different() {
        // Outside of quantity fields, text is text.
        assert!(!same(json!({"data": {"cpu": "1000m"}}), json!({"data": {"cpu": "1"}})));
        assert!(!same(json!({"limits": [{"type": "1000m"}]}), json!({"limits": [{"type": "1"}]})));
        assert!(!same(json!(["a", "b"]), json!(["b", "a"])));
        assert!(!same(json!(["ab"]), json!(["a", "b"])));
        assert!(!same(json!("1"), json!(1)));
        assert!(!same(json!({}), json!([])));
        assert!(!same(json!(null), json!("")));
        assert!(!same(json!(0.1), json!(0.2)));
    }

    pub(crate) fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c0-9m]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d]|limits|storage", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                Value::Object(map.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect())
            }
            Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn order_of_keys_never_counts(value in any_json()) {
            prop_assert_eq!(canonical_bytes(&value), canonical_bytes(&reversed(&value)));
        }

        #[test]
        fn equal_bytes_means_no_difference(a in any_json(), b in any_json()) {
            prop_assert_eq!(canonical_bytes(&a) == canonical_bytes(&b), crate::differences(&a, &b).is_empty());
        }
    }
}

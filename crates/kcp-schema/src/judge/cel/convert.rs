//! Values as rules see them: fields by their escaped names, numbers and text by the type and format of the schema.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use kube_cel::cel::objects::{Key, Map};
use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::{Number, Value};

use crate::model::{Additional, Schema, Type};

/// Words that no field may be called in CEL.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Makes values for rules.
#[derive(Debug)]
pub(super) struct Converter {
    timestamp: Option<Program>,
    duration: Option<Program>,
}

impl Converter {
    /// The one converter: parsing its two expressions takes longer than most rules.
    pub(super) fn get() -> &'static Self {
        static CONVERTER: OnceLock<Converter> = OnceLock::new();
        CONVERTER.get_or_init(|| {
            let compile = |text: &str| Program::compile(text).ok();
            Self { timestamp: compile("timestamp(text)"), duration: compile("duration(text)") }
        })
    }

    /// `value` as rules at `schema` see it; with `resource` it is a whole object.
    pub(super) fn value(&self, value: &Value, schema: &Schema, resource: bool) -> Cel {
        match value {
            Value::Null => Cel::Null,
            Value::Bool(flag) => Cel::Bool(*flag),
            Value::Number(number) => self::number(number, schema),
            Value::String(text) => self.text(text, schema),
            Value::Array(items) => {
                let convert = |item| match &schema.items {
                    Some(inner) => self.value(item, inner, inner.embedded),
                    None => plain(item),
                };
                Cel::List(Arc::new(items.iter().map(convert).collect()))
            }
            Value::Object(map) => {
                let mut out = HashMap::with_capacity(map.len());
                let mut put = |key: String, value| {
                    out.insert(Key::String(Arc::new(key)), value);
                };
                for (key, inner) in map {
                    if resource && super::super::prune::OBJECT_FIELDS.contains(&key.as_str()) {
                        continue;
                    }
                    if let Some(schema) = schema.properties.get(key.as_str()) {
                        if let Some(key) = escape(key) {
                            put(key, self.value(inner, schema, schema.embedded));
                        }
                    } else if let Additional::Schema(schema) = &schema.additional {
                        put(key.clone(), self.value(inner, schema, schema.embedded));
                    } else if schema.preserve_unknown || schema.additional == Additional::Any {
                        put(key.clone(), plain(inner));
                    }
                }
                if resource {
                    for name in ["apiVersion", "kind"] {
                        put(name.to_owned(), map.get(name).map_or_else(|| string(""), plain));
                    }
                    put("metadata".to_owned(), metadata(map.get("metadata")));
                }
                Cel::Map(Map { map: Arc::new(out) })
            }
        }
    }

    fn text(&self, text: &str, schema: &Schema) -> Cel {
        if schema.int_or_string {
            return string(text);
        }
        let run = |program: &Option<Program>, text: String| {
            let mut context = Context::default();
            context.add_variable_from_value("text", string(&text));
            program.as_ref()?.execute(&context).ok()
        };
        let typed = match schema.format.as_deref() {
            Some("date-time") => run(&self.timestamp, text.to_owned()),
            Some("date") => run(&self.timestamp, format!("{text}T00:00:00Z")),
            Some("duration") => run(&self.duration, text.to_owned()),
            Some("byte") => decode(text).map(|bytes| Cel::Bytes(Arc::new(bytes))),
            _ => None,
        };
        typed.unwrap_or_else(|| string(text))
    }
}

fn string(text: &str) -> Cel {
    Cel::String(Arc::new(text.to_owned()))
}

fn number(number: &Number, schema: &Schema) -> Cel {
    match number.as_i64() {
        Some(whole) if schema.types.single() == Some(Type::Number) => Cel::Float(whole as f64),
        Some(whole) => Cel::Int(whole),
        None => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            if schema.types.single() == Some(Type::Integer) && float.fract() == 0.0 {
                Cel::Int(float as i64)
            } else {
                Cel::Float(float)
            }
        }
    }
}

/// A value that no schema describes.
fn plain(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| Cel::Float(number.as_f64().unwrap_or(f64::NAN)), Cel::Int)
        }
        Value::String(text) => string(text),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(plain).collect())),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| (Key::String(Arc::new(key.clone())), plain(value)));
            Cel::Map(Map { map: Arc::new(entries.collect()) })
        }
    }
}

/// Of metadata, rules see the name only. Every object has one when rules run: one that is generated is not known yet.
fn metadata(metadata: Option<&Value>) -> Cel {
    let text = |name: &str| metadata.and_then(|metadata| metadata.get(name)).and_then(Value::as_str);
    let mut out = HashMap::new();
    let generated = text("generateName");
    let name = text("name").map_or_else(|| format!("{}00000", generated.unwrap_or("")), str::to_owned);
    out.insert(Key::String(Arc::new("name".to_owned())), string(&name));
    if let Some(generated) = generated {
        out.insert(Key::String(Arc::new("generateName".to_owned())), string(generated));
    }
    Cel::Map(Map { map: Arc::new(out) })
}

/// A field's name in CEL; none if it cannot be named.
fn escape(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let first = name.bytes().next()?;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    if first.is_ascii_digit() || !name.bytes().all(legal) {
        return None;
    }
    let escaped = name.replace("__", "__underscores__").replace('.', "__dot__");
    Some(escaped.replace('-', "__dash__").replace('/', "__slash__"))
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let trimmed = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(trimmed.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in trimmed.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

/// How much a value is, in nodes and text: what copying it costs.
pub(super) fn size(value: &Value) -> u64 {
    let mut sum = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        sum += 1;
        match value {
            Value::String(text) => sum += text.len() as u64 / 16,
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.values()),
            _ => {}
        }
    }
    sum
}

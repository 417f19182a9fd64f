//! Objects made from a schema: most fit it, some are bent on purpose. The same seed makes the same objects.

use kcp_schema::{Additional, Node, Pattern, Type};
use serde_json::{Map, Value, json};

/// Text that many patterns and formats want.
const TEXTS: [&str; 26] = [
    "a",
    "abc",
    "a-b",
    "a.b",
    "example.com",
    "A",
    "1",
    "10",
    "1s",
    "1h30m",
    "10Mi",
    "0.5",
    "http://example.com",
    "https://a.b/c",
    "/a/b",
    "a/b",
    "1.2.3.4",
    "::1",
    "10.0.0.0/8",
    "2024-01-02T03:04:05Z",
    "YWJj",
    "true",
    "*.example.com",
    "",
    "1.2.3",
    "v1",
];

pub(crate) struct Generator {
    state: u64,
}

impl Generator {
    pub(crate) fn new(seed: &str) -> Self {
        let fold = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self { state: seed.bytes().fold(0xcbf2_9ce4_8422_2325, fold) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    /// The first ones have little more than what is required; every third is bent.
    pub(crate) fn object(&mut self, schema: &Node, number: usize) -> Value {
        let rich = 2 + number / 4;
        let bent = if number % 3 == 2 { 12 } else { usize::MAX };
        self.value(schema, 0, rich, bent)
    }

    fn value(&mut self, node: &Node, depth: usize, rich: usize, bent: usize) -> Value {
        if depth > 1 && bent < usize::MAX && self.one_in(bent) {
            let odd = [
                json!(null),
                json!(1),
                json!("x"),
                json!(true),
                json!([]),
                json!({}),
                json!(1.5),
                json!({"x": {"y": 1}}),
            ];
            return odd[self.below(odd.len())].clone();
        }
        if let Some(values) = &node.enumeration {
            return values[self.below(values.len())].clone();
        }
        let kind = if node.int_or_string {
            if self.one_in(2) { Type::Integer } else { Type::String }
        } else {
            node.types.iter().next().unwrap_or(Type::Object)
        };
        match kind {
            Type::Boolean => Value::from(self.one_in(2)),
            Type::Integer => self.integer(node),
            Type::Number => json!(0.5),
            Type::String => Value::from(self.text(node)),
            Type::Array => {
                let least = usize::try_from(node.min_items.unwrap_or(0)).unwrap_or(0).min(4);
                let count = least + if depth < 12 { self.below(3) } else { 0 };
                let most = usize::try_from(node.max_items.unwrap_or(9)).unwrap_or(9);
                let items = node.items.as_ref();
                let item = |generator: &mut Self| {
                    items.map_or(Value::Null, |items| generator.value(items, depth + 1, rich, bent))
                };
                (0..count.min(most)).map(|_| item(self)).collect()
            }
            Type::Object => self.mapping(node, depth, rich, bent),
        }
    }

    fn integer(&mut self, node: &Node) -> Value {
        let low = node.bounds.minimum.unwrap_or(0.0) as i64 + i64::from(node.bounds.exclusive_minimum);
        let high = node.bounds.maximum.map_or(low.saturating_add(5), |maximum| maximum as i64);
        let span = usize::try_from(high.saturating_sub(low)).unwrap_or(0).min(5);
        Value::from(low.saturating_add(i64::try_from(self.below(span + 1)).unwrap_or(0)))
    }

    fn text(&mut self, node: &Node) -> String {
        let pattern = node.pattern.as_ref().and_then(|text| Pattern::parse(text).ok()?.compile().ok());
        let start = self.below(TEXTS.len());
        let mut all = (0..TEXTS.len()).map(|step| TEXTS[(start + step) % TEXTS.len()]);
        let fits = |text: &&str| {
            let length = text.len() as u64;
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(*text))
                && node.min_length.is_none_or(|least| length >= least)
                && node.max_length.is_none_or(|most| length <= most)
                && (node.format.as_deref() != Some("date-time") || text.starts_with("2024"))
        };
        all.find(fits).unwrap_or("abc").to_owned()
    }

    fn mapping(&mut self, node: &Node, depth: usize, rich: usize, bent: usize) -> Value {
        let mut map = Map::new();
        for (name, schema) in &node.properties {
            if depth == 0 && matches!(&**name, "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let wanted = node.required.contains(name) && !(bent < usize::MAX && self.one_in(bent));
            // The deeper, the rarer: real objects are narrow.
            let chance = 2 + (depth * depth + node.properties.len() / 3) / rich;
            if wanted || depth == 0 || depth < 14 && self.one_in(chance) {
                map.insert(name.to_string(), self.value(schema, depth + 1, rich, bent));
            }
        }
        match &node.additional {
            Additional::Schema(schema) => {
                for key in ["k", "a.b/c"].iter().take(self.below(3)) {
                    map.insert((*key).to_owned(), self.value(schema, depth + 1, rich, bent));
                }
            }
            Additional::Any => drop(map.insert("k".to_owned(), json!({"x": 1}))),
            Additional::None => {}
        }
        if node.embedded {
            map.insert("apiVersion".to_owned(), json!("v1"));
            map.insert("kind".to_owned(), json!("ConfigMap"));
        }
        if node.preserve_unknown || bent < usize::MAX && self.one_in(bent) {
            map.insert("unknownField".to_owned(), json!({"x": [1, "y"]}));
        }
        Value::Object(map)
    }
}

//! Back to JSON: a schema as a CRD has it, and a whole CRD. What is read back is equal; descriptions come back if they
//! were kept. Nothing is checked here.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::model::{
    Additional, CelRule, Conversion, Crd, ListType, MapType, Names, Node, Scope, Type, Version,
};

impl Node {
    /// The schema in the words of `openAPIV3Schema`.
    ///
    /// Structural if the node is. What only built-in types have (several types, parts that could not be read) is written in a way that
    /// [`Schema::from_stored`](crate::Schema::from_stored) reads back and no CRD may have.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| {
            out.insert(name.to_owned(), value);
        };
        put_text(&mut put, "description", self.description.as_ref());
        let types: Vec<Type> = self.types.iter().collect();
        match types[..] {
            [] => {}
            [one] => put("type", one.as_str().into()),
            _ => put("type", types.iter().map(|kind| kind.as_str()).collect()),
        }
        put_text(&mut put, "format", self.format.as_ref());
        put_flag(&mut put, "nullable", self.nullable);
        if let Some(value) = &self.default {
            put("default", value.clone());
        }
        if let Some(values) = &self.enumeration {
            put("enum", values.to_vec().into());
        }
        put_number(&mut put, "minimum", self.bounds.minimum);
        put_flag(&mut put, "exclusiveMinimum", self.bounds.exclusive_minimum);
        put_number(&mut put, "maximum", self.bounds.maximum);
        put_flag(&mut put, "exclusiveMaximum", self.bounds.exclusive_maximum);
        put_number(&mut put, "multipleOf", self.bounds.multiple_of);
        for (name, count) in [
            ("minLength", self.min_length),
            ("maxLength", self.max_length),
            ("minItems", self.min_items),
            ("maxItems", self.max_items),
            ("minProperties", self.min_properties),
            ("maxProperties", self.max_properties),
        ] {
            if let Some(count) = count {
                put(name, count.into());
            }
        }
        put_text(&mut put, "pattern", self.pattern.as_ref());
        put_flag(&mut put, "uniqueItems", self.unique_items);
        if !self.required.is_empty() {
            put("required", self.required.iter().map(|name| Value::from(&**name)).collect());
        }
        self.put_extensions(&mut put);
        self.put_junctors(&mut put);
        if let Some(items) = &self.items {
            put("items", items.to_json());
        }
        if !self.properties.is_empty() {
            let all = self.properties.iter().map(|(name, schema)| (name.to_string(), schema.to_json()));
            put("properties", Value::Object(all.collect()));
        }
        match &self.additional {
            Additional::None => {}
            Additional::Any => put("additionalProperties", true.into()),
            Additional::Schema(schema) => put("additionalProperties", schema.to_json()),
        }
        Value::Object(out)
    }

    fn put_extensions(&self, put: &mut impl FnMut(&str, Value)) {
        put_text(put, crate::parse::OPAQUE, self.opaque.as_ref());
        put_flag(put, "x-kubernetes-int-or-string", self.int_or_string);
        put_flag(put, "x-kubernetes-preserve-unknown-fields", self.preserve_unknown);
        put_flag(put, "x-kubernetes-embedded-resource", self.embedded);
        match self.list_type {
            ListType::Atomic => {}
            ListType::Set => put("x-kubernetes-list-type", "set".into()),
            ListType::Map => put("x-kubernetes-list-type", "map".into()),
        }
        if !self.list_map_keys.is_empty() {
            put(
                "x-kubernetes-list-map-keys",
                self.list_map_keys.iter().map(|key| Value::from(&**key)).collect(),
            );
        }
        if self.map_type == MapType::Atomic {
            put("x-kubernetes-map-type", "atomic".into());
        }
        if !self.cel.is_empty() {
            put("x-kubernetes-validations", self.cel.iter().map(CelRule::to_json).collect());
        }
    }

    fn put_junctors(&self, put: &mut impl FnMut(&str, Value)) {
        let entries = |all: &[crate::Schema]| all.iter().map(|entry| entry.to_json()).collect::<Vec<_>>();
        let mut all_of = entries(&self.all_of);
        let mut any_of = entries(&self.any_of);
        if self.int_or_string {
            let idiom = [json!({"type": "integer"}), json!({"type": "string"})];
            if any_of.is_empty() {
                any_of = idiom.to_vec();
            } else {
                all_of.insert(0, json!({"anyOf": idiom}));
            }
        }
        for (name, all) in [("allOf", all_of), ("anyOf", any_of), ("oneOf", entries(&self.one_of))] {
            if !all.is_empty() {
                put(name, all.into());
            }
        }
        if let Some(not) = &self.not {
            put("not", not.to_json());
        }
    }
}

impl CelRule {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| {
            out.insert(name.to_owned(), value);
        };
        put("rule", Value::from(&*self.rule));
        put_text(&mut put, "message", self.message.as_ref());
        put_text(&mut put, "messageExpression", self.message_expression.as_ref());
        put_text(&mut put, "reason", self.reason.as_ref());
        put_text(&mut put, "fieldPath", self.field_path.as_ref());
        put_flag(&mut put, "optionalOldSelf", self.optional_old_self);
        Value::Object(out)
    }
}

impl Crd {
    /// The CRD as an apiextensions v1 document. The address of a conversion webhook is not known: put it in before use.
    /// A CRD that preserves unknown fields becomes one whose roots do.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut spec = Map::new();
        let mut put = |name: &str, value: Value| {
            spec.insert(name.to_owned(), value);
        };
        put("group", Value::from(&*self.group));
        put("names", self.names.to_json());
        put("scope", if self.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" }.into());
        if self.conversion == Conversion::Webhook {
            put("conversion", json!({"strategy": "Webhook"}));
        }
        put("versions", self.versions.iter().map(|version| version.to_json(self)).collect());
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name()},
            "spec": spec,
        })
    }
}

impl Names {
    fn to_json(&self) -> Value {
        let list = |all: &[Arc<str>]| all.iter().map(|name| Value::from(&**name)).collect::<Vec<_>>();
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| {
            out.insert(name.to_owned(), value);
        };
        put("plural", Value::from(&*self.plural));
        put("singular", Value::from(&*self.singular));
        put("kind", Value::from(&*self.kind));
        put("listKind", Value::from(&*self.list_kind));
        for (name, all) in [("shortNames", &self.short_names), ("categories", &self.categories)] {
            if !all.is_empty() {
                put(name, list(all).into());
            }
        }
        Value::Object(out)
    }
}

impl Version {
    fn to_json(&self, crd: &Crd) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Value| {
            out.insert(name.to_owned(), value);
        };
        put("name", Value::from(&*self.name));
        put("served", self.served.into());
        put("storage", self.storage.into());
        put_flag(&mut put, "deprecated", self.deprecated);
        put_text(&mut put, "deprecationWarning", self.deprecation_warning.as_ref());
        let mut root = self.schema.as_ref().map_or_else(Node::default, crate::Schema::to_node);
        root.preserve_unknown |= crd.preserve_unknown_fields || self.schema.is_none();
        if root.types.is_any() {
            root.types = crate::TypeSet::one(Type::Object);
        }
        put("schema", json!({"openAPIV3Schema": root.to_json()}));
        let mut subresources = Map::new();
        if self.status_subresource {
            subresources.insert("status".to_owned(), json!({}));
        }
        if let Some(scale) = &self.scale {
            let mut paths = Map::new();
            let mut put = |name: &str, value: Value| {
                paths.insert(name.to_owned(), value);
            };
            put("specReplicasPath", Value::from(&*scale.spec_replicas_path));
            put("statusReplicasPath", Value::from(&*scale.status_replicas_path));
            put_text(&mut put, "labelSelectorPath", scale.label_selector_path.as_ref());
            subresources.insert("scale".to_owned(), Value::Object(paths));
        }
        if !subresources.is_empty() {
            put("subresources", Value::Object(subresources));
        }
        if !self.columns.is_empty() {
            let columns = self.columns.iter().map(|column| {
                let mut value =
                    json!({"name": &*column.name, "type": &*column.kind, "jsonPath": &*column.json_path});
                if column.priority != 0 {
                    value["priority"] = column.priority.into();
                }
                value
            });
            put("additionalPrinterColumns", columns.collect());
        }
        if !self.selectable_fields.is_empty() {
            let fields = self.selectable_fields.iter().map(|path| json!({"jsonPath": &**path}));
            put("selectableFields", fields.collect());
        }
        Value::Object(out)
    }
}

fn put_text(put: &mut impl FnMut(&str, Value), name: &str, text: Option<&Arc<str>>) {
    if let Some(text) = text {
        put(name, Value::from(&**text));
    }
}

fn put_flag(put: &mut impl FnMut(&str, Value), name: &str, flag: bool) {
    if flag {
        put(name, true.into());
    }
}

/// Whole numbers are written as such.
fn put_number(put: &mut impl FnMut(&str, Value), name: &str, number: Option<f64>) {
    let Some(number) = number else { return };
    let whole = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
    put(name, if whole { Value::from(number as i64) } else { Value::from(number) });
}

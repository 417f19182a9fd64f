//! `images`: other names, tags and digests for the images of containers.

use serde_json::Value;

use crate::field_path::Field;
use crate::item::Item;
use crate::kustomization::Image;
use regex::{Regex, RegexBuilder};

/// An entry of `images`, ready to be applied.
pub(crate) struct Replacement<'a> {
    image: &'a Image,
    pattern: Regex,
}

const FIELDS: &[&str] = &[
    "spec/containers[]/image",
    "spec/initContainers[]/image",
    "spec/template/spec/containers[]/image",
    "spec/template/spec/initContainers[]/image",
];

impl<'a> Replacement<'a> {
    /// `name` is a pattern: `.*` is every image.
    pub(crate) fn new(image: &'a Image) -> Result<Self, String> {
        let pattern = format!("^{}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", image.name);
        RegexBuilder::new(&pattern)
            .size_limit(1 << 18)
            .build()
            .map(|pattern| Self { image, pattern })
            .map_err(|_| format!("name {:?} is not a valid pattern of image names", image.name))
    }

    /// Replaces in every container of the object, wherever it is, then once more in the usual places: the reference
    /// does both, which shows where the result of the first fits the entry again.
    pub(crate) fn apply(&self, item: &mut Item) {
        let value = &mut item.resource.value;
        if value.get("kind").and_then(Value::as_str) != Some("CustomResourceDefinition") {
            self.everywhere(value);
        }
        for path in FIELDS {
            let field = Field { group: "", version: "", kind: "", path, create: false };
            // Something else than containers at these paths is not ours to judge.
            let _ = field.visit(value, &Value::Null, &mut |found| self.replace(found));
        }
    }

    fn everywhere(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, child) in map.iter_mut() {
                    if matches!(key.as_str(), "containers" | "initContainers")
                        && let Value::Array(containers) = child
                    {
                        for image in containers.iter_mut().filter_map(|container| container.get_mut("image"))
                        {
                            self.replace(image);
                        }
                    } else {
                        self.everywhere(child);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.everywhere(item)),
            _ => {}
        }
    }

    fn replace(&self, found: &mut Value) {
        let Value::String(text) = found else { return };
        if !self.pattern.is_match(text) {
            return;
        }
        let (name, tag, digest) = split(text);
        let Image { new_name, new_tag, tag_suffix, digest: new_digest, .. } = self.image;
        let name = if new_name.is_empty() { name } else { new_name };
        let (tag, digest) = match (new_tag.as_str(), new_digest.as_str()) {
            ("", "") if tag_suffix.is_empty() => (tag.to_owned(), digest),
            ("", "") => (format!("{tag}{tag_suffix}"), ""),
            (tag, digest) => (tag.to_owned(), digest),
        };
        let mut image = name.to_owned();
        for (mark, part) in [(':', tag.as_str()), ('@', digest)] {
            if !part.is_empty() {
                image.push(mark);
                image.push_str(part);
            }
        }
        *text = image;
    }
}

/// Name, tag and digest. A port of the registry is no tag.
fn split(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.split_once('@').unwrap_or((image, ""));
    let path = rest.find('/').unwrap_or(0);
    match rest[path..].find(':') {
        Some(at) => (&rest[..path + at], &rest[path + at + 1..], digest),
        None => (rest, "", digest),
    }
}

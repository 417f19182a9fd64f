//! `images`: other names, tags and digests for the images of containers.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use crate::field_path::Field;
use crate::item::Item;
use crate::kustomization::Image;

/// An entry of `images`, ready to be applied.
pub(crate) struct Replacement<'a> {
    image: &'a Image,
    pattern: Pattern,
}

/// What the name of an image must be.
enum Pattern {
    /// Letters and signs without a meaning of their own, but dots, which stand for any character.
    Plain(Vec<u8>),
    Regex(Box<Regex>),
}

impl Pattern {
    fn new(name: &str) -> Result<Self, String> {
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b':' | b'.');
        if name.bytes().all(plain) {
            return Ok(Self::Plain(name.into()));
        }
        let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        RegexBuilder::new(&pattern)
            .size_limit(1 << 18)
            .build()
            .map(|regex| Self::Regex(Box::new(regex)))
            .map_err(|_| format!("name {name:?} is not a valid pattern of image names"))
    }

    fn fits(&self, image: &str) -> bool {
        let name = match self {
            Self::Regex(regex) => return regex.is_match(image),
            Self::Plain(name) => name,
        };
        // A dot may stand for a character of several bytes; such images do not exist, but must not be cut in two.
        if !image.is_ascii() || image.len() < name.len() {
            return false;
        }
        let (start, rest) = image.as_bytes().split_at(name.len());
        let same =
            start.iter().zip(name).all(|(is, wanted)| is == wanted || (*wanted == b'.' && *is != b'\n'));
        same && is_tag_and_digest(rest)
    }
}

/// `:tag`, `@sha256:digest`, both or none.
fn is_tag_and_digest(rest: &[u8]) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'{' | b'}' | b'-');
    let rest = match rest.split_first() {
        Some((b':', tag)) => &tag[tag.iter().take_while(|byte| part(byte)).count()..],
        _ => rest,
    };
    match rest.strip_prefix(b"@sha256:") {
        Some(digest) => digest.iter().all(part),
        None => rest.is_empty(),
    }
}

impl<'a> Replacement<'a> {
    /// `name` is a pattern: `.*` is every image.
    pub(crate) fn new(image: &'a Image) -> Result<Self, String> {
        Ok(Self { image, pattern: Pattern::new(&image.name)? })
    }

    /// Replaces in every container of the object, wherever it is, then once more in the fields: the reference does
    /// both, which shows where the result of the first fits the entry again.
    ///
    /// # Errors
    /// Something else than text where an image is expected.
    pub(crate) fn apply(&self, item: &mut Item, fields: &[Field]) -> Result<(), String> {
        if item.resource.kind() == "CustomResourceDefinition" {
            return Ok(());
        }
        if self.is_needed(&item.resource.value)? {
            self.everywhere(item.resource.value_mut());
        }
        for field in fields {
            if !field.is_of(&item.resource) {
                continue;
            }
            let mut needed = false;
            let found = field.look(&item.resource.value, &mut |found| {
                needed |= self.pattern.fits(image_text(found)?);
                Ok(())
            });
            found.map_err(|why| format!("{}: {why}", field.path.replace('/', ".")))?;
            if needed {
                field.visit(item.resource.value_mut(), None, &mut |found| {
                    self.replace(found);
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Whether some container has an image that this entry replaces. Objects that are left alone stay shared.
    fn is_needed(&self, value: &Value) -> Result<bool, String> {
        match value {
            Value::Object(map) => {
                let mut needed = false;
                for (key, child) in map {
                    needed |= self.is_needed(child)?;
                    if matches!(key.as_str(), "containers" | "initContainers")
                        && let Value::Array(containers) = child
                    {
                        for container in containers {
                            needed |= match container {
                                Value::Object(container) => match container.get("image") {
                                    None | Some(Value::Null) => false,
                                    Some(image) => self.pattern.fits(image_text(image)?),
                                },
                                _ => return Err(format!("{key}: an item that is not a mapping")),
                            };
                        }
                    }
                }
                Ok(needed)
            }
            Value::Array(items) => {
                items.iter().try_fold(false, |needed, item| Ok(needed | self.is_needed(item)?))
            }
            _ => Ok(false),
        }
    }

    fn everywhere(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, child) in map.iter_mut() {
                    self.everywhere(child);
                    if matches!(key.as_str(), "containers" | "initContainers")
                        && let Value::Array(containers) = child
                    {
                        for image in containers.iter_mut().filter_map(|container| container.get_mut("image"))
                        {
                            self.replace(image);
                        }
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.everywhere(item)),
            _ => {}
        }
    }

    fn replace(&self, found: &mut Value) {
        let Value::String(text) = found else { return };
        if !self.pattern.fits(text) {
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

/// The text of an image; other single values are no image, and never fit.
fn image_text(value: &Value) -> Result<&str, String> {
    match value {
        Value::Object(_) | Value::Array(_) => Err("an image that is not a string".into()),
        other => Ok(other.as_str().unwrap_or_default()),
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

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn plain_names_fit_as_their_pattern_would() {
        for name in ["web", "host.example/web", "host:5000/web", "web:1", ""] {
            let plain = Pattern::new(name).expect("valid");
            // A group changes nothing but takes the other way.
            let regex = Pattern::new(&format!("(?:{name})")).expect("valid");
            for image in [
                "web",
                "web:1",
                "web:1@sha256:ab",
                "web@sha256:ab",
                "webx",
                "host.example/web",
                "hostXexample/web:2",
                "host:5000/web:x",
                "web:1:2",
                "web@sha512:a",
                ":x",
                "",
                "web:{a}",
                "web:a b",
            ] {
                assert_eq!(plain.fits(image), regex.fits(image), "{name} {image}");
            }
        }
    }
}

//! Strategic merge in the dialect of kustomize: mappings are merged, null deletes, `$patch` deletes or replaces, lists are
//! merged where the schema of the kind says how, and what the patch adds to a list comes first. What the patch does not
//! speak of is walked as well, since the reference tidies it on the way.

use serde_json::{Map, Value};

use super::directive::{self, DIRECTIVE, Directive};
use super::list;
use crate::marks::{Marks, Place, Quoted, Step};
use crate::schema::{Field, Schema, Shape};
use crate::{emit, timestamp};

/// One merge: what is known about kinds, and how both texts were written.
pub(super) struct Merge<'s> {
    pub(super) schema: &'s Schema,
    /// How the patch was written.
    pub(super) patched: &'s Marks,
    /// Texts with quotes in the object.
    pub(super) quoted: &'s Quoted,
    /// Texts that have quotes from now on.
    pub(super) requoted: Vec<Place>,
}

/// Whether a value stays.
pub(super) type Kept = Result<bool, String>;

/// Merges a patch into an object; `false`: the patch deletes it.
///
/// # Errors
/// The field, and why the patch does not fit there. Never a value.
pub(super) fn merge(
    base: &mut Value,
    patch: &Value,
    schema: &Schema,
    marks: &mut Marks,
    patched: &Marks,
) -> Kept {
    let Value::Object(change) = patch else { return Err("the patch is not a mapping".into()) };
    // To replace the whole object changes nothing: the reference loses the new one.
    if directive::of_mapping(change)? == Directive::Replace {
        let mut unused = Value::Object(directive::without(change));
        let mut merge = Merge { schema, patched, quoted: &marks.quoted, requoted: Vec::new() };
        return merge.added_fields(&mut unused, None, Place::ROOT);
    }
    let shape = kind_of(schema, base).or_else(|| kind_of(schema, patch));
    for blank in std::mem::take(&mut marks.blanks) {
        drop_blank(base, &blank, shape, schema);
    }
    let mut merge = Merge { schema, patched, quoted: &marks.quoted, requoted: Vec::new() };
    let kept = merge.value(base, patch, None, Place::ROOT)?;
    let requoted = merge.requoted;
    marks.quoted.add(requoted);
    Ok(kept)
}

/// Drops a key that has no value, unless it is inside a list that is not merged: such lists are left alone.
fn drop_blank(object: &mut Value, path: &[Step], shape: Option<Shape<'_>>, schema: &Schema) {
    let (mut value, mut shape) = (object, shape);
    let mut item = None;
    let Some((Step::Key(last), path)) = path.split_last() else { return };
    for step in path {
        let next = match (step, value) {
            (Step::Key(key), Value::Object(map)) => {
                item = None;
                match shape.and_then(|shape| shape.field(key)) {
                    Some(Field::Value(inner)) => shape = Some(inner),
                    Some(Field::List { item: inner, .. }) => item = Some(inner),
                    None => shape = None,
                }
                map.get_mut(key)
            }
            (Step::Index(index), Value::Array(items)) => {
                let Some(item) = item.take() else { return };
                shape = item;
                items.get_mut(*index)
            }
            _ => None,
        };
        let Some(next) = next else { return };
        shape = shape.or_else(|| kind_of(schema, next));
        value = next;
    }
    if let Value::Object(map) = value
        && map.get(last).is_some_and(|value| value.is_null() || value == "")
    {
        map.shift_remove(last);
    }
}

/// The type of a mapping that says itself what kind it is.
fn kind_of<'s>(schema: &'s Schema, value: &Value) -> Option<Shape<'s>> {
    let text = |field| value.get(field).and_then(Value::as_str);
    schema.kind(text("apiVersion")?, text("kind")?)
}

/// `spec.template: why`, from `template: why`.
fn with_path(key: &str, why: &str) -> String {
    match why.split_once(": ") {
        Some((path, why)) if !path.contains(' ') => format!("{key}.{path}: {why}"),
        _ => format!("{key}: {why}"),
    }
}

/// Whether a text gets quotes when it is put into a mapping. An unquoted date is none to the reference.
fn gets_quotes(text: &str) -> bool {
    !emit::reads_as_text(text) && timestamp::canonical(text).is_none()
}

impl<'s> Merge<'s> {
    /// The type of a mapping: from where it stands, else from the kind that it, or the patch, says it is.
    fn shape(&self, field: Option<&Field<'s>>, base: &Value, patch: Option<&Value>) -> Option<Shape<'s>> {
        match field {
            Some(Field::Value(shape)) => Some(*shape),
            Some(Field::List { .. }) => None,
            None => kind_of(self.schema, base).or_else(|| kind_of(self.schema, patch?)),
        }
    }

    /// Merges into a value that is there.
    fn value(&mut self, base: &mut Value, patch: &Value, field: Option<&Field<'s>>, place: Place) -> Kept {
        if base.is_null() {
            *base = patch.clone();
            // A single value takes over that null had no quotes.
            let single = !base.is_object() && !base.is_array() && !base.is_null();
            return if single { Ok(true) } else { self.added(base, field, place, true) };
        }
        match (&mut *base, patch) {
            (_, Value::Null) => Ok(false),
            (Value::Object(map), Value::Object(change)) => match directive::of_mapping(change)? {
                Directive::Delete => Ok(false),
                Directive::Replace => {
                    *base = Value::Object(directive::without(change));
                    self.added_fields(base, field, place)
                }
                Directive::Merge => {
                    let shape = match field {
                        Some(_) => self.shape(field, &Value::Null, None),
                        None => self.kind_of_map(map).or_else(|| kind_of(self.schema, patch)),
                    };
                    self.fields(map, change, shape, place)
                }
            },
            (Value::Array(items), Value::Array(change)) => match field {
                Some(Field::List { keys, item }) => {
                    list::merge(self, items, Some(change), keys, *item, place)
                }
                _ => {
                    *base = patch.clone();
                    self.note(base, place);
                    Ok(true)
                }
            },
            (Value::Object(_), _) => {
                Err("the patch has something else where the object has a mapping".into())
            }
            (Value::Array(_), _) => Err("the patch has something else where the object has a list".into()),
            (_, Value::Object(_)) => {
                Err("the patch has a mapping where the object has a single value".into())
            }
            (_, Value::Array(_)) => Err("the patch has a list where the object has a single value".into()),
            (Value::String(text), Value::Number(_) | Value::Bool(_)) if self.quoted.has(place, text) => {
                *base = Value::String(self.patched.text(place, patch));
                Ok(true)
            }
            (Value::String(text), Value::String(date)) if self.quoted.has(place, text) => {
                *base = Value::String(self.patched.date(place, date).unwrap_or(date).to_owned());
                Ok(true)
            }
            _ => {
                *base = patch.clone();
                Ok(true)
            }
        }
    }

    fn kind_of_map(&self, map: &Map<String, Value>) -> Option<Shape<'s>> {
        let text = |field| map.get(field).and_then(Value::as_str);
        self.schema.kind(text("apiVersion")?, text("kind")?)
    }

    /// Merges two items of a list.
    pub(super) fn item(
        &mut self,
        base: &mut Value,
        patch: &Map<String, Value>,
        field: Option<&Field<'s>>,
        place: Place,
    ) -> Kept {
        let shape = self.shape(field, base, None);
        match base {
            Value::Object(map) => self.fields(map, patch, shape, place),
            _ => Ok(true),
        }
    }

    /// Merges the fields of two mappings.
    pub(super) fn fields(
        &mut self,
        base: &mut Map<String, Value>,
        patch: &Map<String, Value>,
        shape: Option<Shape<'s>>,
        place: Place,
    ) -> Kept {
        for (key, value) in base.iter_mut().filter(|(key, _)| !patch.contains_key(*key)) {
            if let Value::String(text) = value {
                self.keep_text(place, key, text);
                continue;
            }
            let field = shape.and_then(|shape| shape.field(key));
            self.kept(value, field.as_ref(), place.key(key)).map_err(|why| with_path(key, &why))?;
        }
        for (key, change) in patch.iter().filter(|(key, _)| *key != DIRECTIVE) {
            let field = shape.and_then(|shape| shape.field(key));
            let place = place.key(key);
            let kept = match base.get_mut(key) {
                Some(value) => self.value(value, change, field.as_ref(), place),
                None => {
                    let mut value = change.clone();
                    let kept = self.added(&mut value, field.as_ref(), place, true);
                    if matches!(kept, Ok(true)) {
                        base.insert(key.clone(), value);
                    }
                    kept
                }
            };
            if !kept.map_err(|why| with_path(key, &why))? {
                base.shift_remove(key);
            }
        }
        Ok(true)
    }

    /// A text that a merge passes by gets quotes where it needs them.
    fn keep_text(&mut self, place: Place, key: &str, text: &str) {
        if gets_quotes(text) {
            self.requoted.push(place.key(key));
        }
    }

    /// A value that the patch does not speak of.
    pub(super) fn kept(
        &mut self,
        value: &mut Value,
        field: Option<&Field<'s>>,
        place: Place,
    ) -> Result<(), String> {
        match value {
            Value::Object(map) => {
                let shape = match field {
                    Some(_) => self.shape(field, &Value::Null, None),
                    None => self.kind_of_map(map),
                };
                for (key, value) in map.iter_mut() {
                    if let Value::String(text) = value {
                        self.keep_text(place, key, text);
                    }
                    if !value.is_object() && !value.is_array() {
                        continue;
                    }
                    let field = shape.and_then(|shape| shape.field(key));
                    self.kept(value, field.as_ref(), place.key(key)).map_err(|why| with_path(key, &why))?;
                }
                Ok(())
            }
            Value::Array(items) => match field {
                Some(Field::List { keys, item }) => {
                    list::merge(self, items, None, keys, *item, place).map(|_| ())
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// A value that the patch brings where there was none. `outermost`: it is not inside another such value; the
    /// reference takes less care of it then.
    pub(super) fn added(
        &mut self,
        value: &mut Value,
        field: Option<&Field<'s>>,
        place: Place,
        outermost: bool,
    ) -> Kept {
        match value {
            Value::Null => Ok(false),
            Value::Object(map) => {
                match directive::of_mapping(map) {
                    Ok(directive) => {
                        map.shift_remove(DIRECTIVE);
                        if directive == Directive::Delete {
                            return Ok(false);
                        }
                    }
                    Err(why) if !outermost => return Err(why),
                    Err(_) => {}
                }
                self.added_fields(value, field, place)
            }
            Value::Array(items) => match field {
                Some(Field::List { keys, item }) => list::added(self, items, keys, *item, place, outermost),
                _ => {
                    self.note(value, place);
                    Ok(true)
                }
            },
            _ => {
                self.note(value, place);
                Ok(true)
            }
        }
    }

    /// The fields of a mapping that the patch brings.
    pub(super) fn added_fields(
        &mut self,
        value: &mut Value,
        field: Option<&Field<'s>>,
        place: Place,
    ) -> Kept {
        let shape = self.shape(field, value, None);
        self.added_fields_of(value, shape, place)
    }

    /// As [`Merge::added_fields`], of a known type.
    pub(super) fn added_fields_of(
        &mut self,
        value: &mut Value,
        shape: Option<Shape<'s>>,
        place: Place,
    ) -> Kept {
        let Value::Object(map) = value else { return Ok(true) };
        let mut gone = Vec::new();
        for (key, value) in map.iter_mut() {
            let field = shape.and_then(|shape| shape.field(key));
            let kept = self.added(value, field.as_ref(), place.key(key), false);
            if !kept.map_err(|why| with_path(key, &why))? {
                gone.push(key.clone());
            }
        }
        gone.iter().for_each(|key| {
            map.shift_remove(key);
        });
        Ok(true)
    }

    /// Notes the quotes of what came with the patch.
    fn note(&mut self, value: &Value, place: Place) {
        match value {
            Value::String(text) if self.patched.quoted.has(place, text) || gets_quotes(text) => {
                self.requoted.push(place);
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.note(item, place.item(index, item));
                }
            }
            Value::Object(map) => map.iter().for_each(|(key, value)| self.note(value, place.key(key))),
            _ => {}
        }
    }
}

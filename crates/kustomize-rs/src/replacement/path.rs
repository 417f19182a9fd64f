//! The paths of replacements: `spec.containers.[name=web].env.0.value`. Names are joined by dots; `\.` is a dot in a name;
//! `[a.b/c]` is one name; `[k=v]` are the items of a list in which `v` is found in field `k`; `[=v]` those that hold it
//! themselves; a number is a position; `*` is every item.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::value::{self, Kind};
use crate::emit;
use crate::kustomization::literal_braces;

/// Bytes that one compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 18;
/// Names in one path.
const NAMES: usize = 128;

/// The parts of a path.
pub(super) fn split(path: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let path = if path.contains('.') { path.strip_prefix('.').unwrap_or(path) } else { path };
    for part in path.split('.') {
        match names.last_mut().filter(|last| last.ends_with('\\')) {
            Some(last) => {
                last.pop();
                last.push('.');
                last.push_str(part);
            }
            None => names.push(part.to_owned()),
        }
    }
    let mut parts = Vec::with_capacity(names.len());
    let mut names = names.into_iter();
    while let Some(mut name) = names.next() {
        if name.starts_with('[') && !name.ends_with(']') {
            for next in names.by_ref() {
                let ends = next.ends_with(']');
                name.push('.');
                name.push_str(&next);
                if ends {
                    break;
                }
            }
            if !name.contains('=') {
                name = name.trim_matches(['[', ']']).to_owned();
            }
        }
        parts.push(name);
    }
    parts
}

fn position(part: &str) -> Option<usize> {
    part.strip_prefix('+').unwrap_or(part).parse().ok()
}

/// `k` and `v` of `[k=v]`.
fn condition(part: &str) -> Option<Result<(&str, &str), String>> {
    let inside = part.strip_prefix('[')?.strip_suffix(']')?;
    Some(inside.split_once('=').ok_or_else(|| format!("{part} is not of the form [field=value]")))
}

/// The value at a path, if it is there. Items are compared by their whole value here, and `-` is the last.
///
/// # Errors
/// Where a list is looked for in something else, or a field.
pub(super) fn get<'v>(root: &'v Value, path: &[String]) -> Result<Option<&'v Value>, String> {
    let mut value = root;
    for part in path.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        let found = if part == "-" {
            items(value, part)?.last()
        } else if let Some(position) = position(part) {
            items(value, part)?.get(position)
        } else if part == "*" {
            return Err("a source is one value, so there is no *".into());
        } else if let Some(condition) = condition(part) {
            let (field, wanted) = condition?;
            let is = |item: &&Value| match field {
                "" => value::text(item) == wanted,
                field => item.get(field).is_some_and(|value| value::text(value) == wanted),
            };
            items(value, part)?.iter().find(is)
        } else {
            fields(value, part)?.and_then(|map| map.get(part))
        };
        match found {
            Some(found) => value = found,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

fn items<'v>(value: &'v Value, part: &str) -> Result<&'v [Value], String> {
    match value {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(&[]),
        _ => Err(format!("{part} is for lists, and there is none")),
    }
}

fn fields<'v>(value: &'v Value, part: &str) -> Result<Option<&'v Map<String, Value>>, String> {
    match value {
        Value::Object(map) => Ok(Some(map)),
        Value::Null => Ok(None),
        _ => Err(format!("{part} is for mappings, and there is none")),
    }
}

/// What is done to a field. The flag says that it was just made.
pub(super) type Set<'s> = dyn FnMut(&mut Value, bool) -> Result<(), String> + 's;

/// Calls `set` for each field at a path, making what is missing where `make` says what the last one is to be. Says how
/// many there were.
///
/// # Errors
/// What is in the way, or what `set` says.
pub(super) fn visit(
    value: &mut Value,
    path: &[String],
    make: Option<Kind>,
    set: &mut Set<'_>,
) -> Result<usize, String> {
    if path.len() > NAMES {
        return Err(format!("a path of more than {NAMES} names"));
    }
    walk(value, path, make, false, set)
}

fn walk(
    value: &mut Value,
    path: &[String],
    make: Option<Kind>,
    made: bool,
    set: &mut Set<'_>,
) -> Result<usize, String> {
    let Some((part, rest)) = path.split_first() else {
        return set(value, made).map(|()| 1);
    };
    if let Some(position) = position(part) {
        return at(value, position, part, rest, make, set);
    }
    if let Some(condition) = condition(part) {
        let (field, pattern) = condition?;
        return matching(value, (part, field, pattern), rest, make, set);
    }
    if part == "*" {
        let mut found = 0;
        for item in items_mut(value, part)? {
            found += walk(item, rest, make, false, set)?;
        }
        return Ok(found);
    }
    let map = match value {
        Value::Object(map) => map,
        // The reference makes a field below nothing and then loses it.
        Value::Null => return Ok(usize::from(make.is_some())),
        _ => return Err(format!("{part} is for mappings, and there is none")),
    };
    let made = !map.contains_key(part.as_str());
    if made {
        let Some(kind) = make else { return Ok(0) };
        map.insert(part.clone(), kind_of(rest.first(), kind).empty());
    }
    map.get_mut(part.as_str()).map_or(Ok(0), |field| walk(field, rest, make, made, set))
}

/// What a value must be for the path to go on with `next`.
fn kind_of(next: Option<&String>, last: Kind) -> Kind {
    match next.map(String::as_str) {
        Some(next) if position(next).is_some() || next.starts_with('[') && next.ends_with(']') => Kind::List,
        None | Some("") => last,
        Some(_) => Kind::Mapping,
    }
}

fn items_mut<'v>(value: &'v mut Value, part: &str) -> Result<&'v mut [Value], String> {
    match value {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(&mut []),
        _ => Err(format!("{part} is for lists, and there is none")),
    }
}

fn at(
    value: &mut Value,
    position: usize,
    part: &str,
    rest: &[String],
    make: Option<Kind>,
    set: &mut Set<'_>,
) -> Result<usize, String> {
    let length = items_mut(value, part)?.len();
    let mut made = false;
    if let (Some(kind), true, Value::Array(items)) = (make, position == length, &mut *value) {
        items.push(kind_of(rest.first(), kind).empty());
        made = true;
    }
    match items_mut(value, part)?.get_mut(position) {
        Some(item) => walk(item, rest, make, made, set),
        None => Err(format!("there is no item {position}, the list has {length}")),
    }
}

/// The items of a list that fit `[field=pattern]`.
fn matching(
    value: &mut Value,
    (part, field, pattern): (&str, &str, &str),
    rest: &[String],
    make: Option<Kind>,
    set: &mut Set<'_>,
) -> Result<usize, String> {
    // Found anywhere in the value, as in the reference: a pattern is not anchored.
    let fits = RegexBuilder::new(&literal_braces(pattern)).size_limit(PATTERN_SIZE).build();
    let fits = fits.map_err(|_| format!("{part}: {pattern} is not a valid regular expression"))?;
    let found = each_matching(value, (part, field, &fits), rest, make, false, set)?;
    if found > 0 || make.is_none() {
        return Ok(found);
    }
    let wanted = value::plain(pattern);
    if !fits.is_match(shown(&wanted).trim()) {
        return Err(format!("{part}: the item that would be made does not fit the pattern itself"));
    }
    let item = match field {
        "" => wanted,
        field => Value::Object(Map::from_iter([(field.to_owned(), wanted)])),
    };
    match value {
        Value::Array(items) => items.push(item),
        Value::Null => return Ok(1),
        _ => return Err(format!("{part} is for lists, and there is none")),
    }
    each_matching(value, (part, field, &fits), rest, make, true, set)
}

fn each_matching(
    value: &mut Value,
    (part, field, fits): (&str, &str, &Regex),
    rest: &[String],
    make: Option<Kind>,
    made: bool,
    set: &mut Set<'_>,
) -> Result<usize, String> {
    let mut found = 0;
    for item in items_mut(value, part)? {
        if field.is_empty() {
            if fits.is_match(shown(item).trim()) {
                // What follows in the path does not count.
                set(item, made)?;
                found += 1;
            }
            continue;
        }
        let is =
            item.as_object().and_then(|map| map.get(field)).is_some_and(|it| fits.is_match(shown(it).trim()));
        if is {
            found += walk(item, rest, make, false, set)?;
        }
    }
    Ok(found)
}

/// A value as text that a pattern is held against.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => {
            let mut text = String::new();
            emit::document(value, &mut text);
            text
        }
        Value::Null => "null".into(),
        _ => value::text(value).into_owned(),
    }
}

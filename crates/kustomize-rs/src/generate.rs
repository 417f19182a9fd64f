//! `configMapGenerator` and `secretGenerator`: objects made of literals, files and files of variables. Values may be
//! secret: no message contains one.

use serde_json::{Map, Value, json};

use crate::build::Place;
use crate::error::Position;
use crate::item::Item;
use crate::kustomization::{Generator, GeneratorKind, Located};
use crate::marks::Marks;
use crate::path::{self, PathError};
use crate::read::Reader;
use crate::{EntryKind, Origin, Problem, ProblemKind, Resource};

/// Characters of base64 on one line.
const BASE64_LINE: usize = 70;
/// Longest line of a file of variables; the reference stops reading there without a word.
const LONGEST_LINE: usize = 64 * 1024;

/// Makes the object of one entry.
pub(crate) fn object(
    reader: &mut Reader<'_>,
    place: Place<'_>,
    generator: &Generator,
) -> Result<Item, Vec<Problem>> {
    let invalid = |message: &str| Problem::at(place.file, generator.at, ProblemKind::Invalid, message);
    if generator.name.is_empty() {
        return Err(vec![invalid("a generator needs a name")]);
    }
    let mut sources = Sources { reader, place, pairs: Vec::new(), problems: Vec::new() };
    generator.envs.iter().for_each(|env| sources.variables(env));
    generator.literals.iter().for_each(|literal| sources.literal(literal));
    generator.files.iter().for_each(|file| sources.file(file));
    let Sources { mut pairs, mut problems, .. } = sources;
    let labels = generator.options.labels.iter().chain(&generator.options.annotations).map(|(key, _)| key);
    for key in pairs.iter().map(|(key, _)| key).chain(labels).filter(|key| !crate::labels::is_text(key)) {
        let message = format!("the key {key} would not be text: quotes are lost on the way");
        problems.push(Problem::at(place.file, generator.at, ProblemKind::Invalid, message));
    }
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    for pair in pairs.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let message = format!("{} has the key {} more than once", generator.name, pair[0].0);
        problems.push(Problem::at(place.file, generator.at, ProblemKind::Duplicate, message));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let line = generator.at.line.max(1);
    let origin = Origin { file: place.file.into(), line, document: 0 };
    let mut item = Item::new(Resource { value: value(generator, pairs).into(), origin }, Marks::default());
    item.hashed = !generator.options.disable_name_suffix_hash;
    item.behavior = generator.behavior;
    Ok(item)
}

fn value(generator: &Generator, pairs: Vec<(String, Vec<u8>)>) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".into(), generator.name.clone().into());
    if !generator.namespace.is_empty() {
        metadata.insert("namespace".into(), generator.namespace.clone().into());
    }
    for (field, pairs) in
        [("labels", &generator.options.labels), ("annotations", &generator.options.annotations)]
    {
        if !pairs.is_empty() {
            let map: Map<String, Value> =
                pairs.iter().map(|(key, value)| (key.clone(), Value::String(value.clone()))).collect();
            metadata.insert(field.into(), Value::Object(map));
        }
    }
    let (mut data, mut binary) = (Map::new(), Map::new());
    let mut object = Map::new();
    object.insert("apiVersion".into(), "v1".into());
    match generator.kind {
        GeneratorKind::ConfigMap => {
            object.insert("kind".into(), "ConfigMap".into());
            for (key, bytes) in pairs {
                match String::from_utf8(bytes) {
                    Ok(text) => data.insert(key, text.into()),
                    Err(error) => binary.insert(key, base64(error.as_bytes()).into()),
                };
            }
        }
        GeneratorKind::Secret => {
            object.insert("kind".into(), "Secret".into());
            let is = &generator.secret_type;
            object.insert("type".into(), if is.is_empty() { "Opaque".into() } else { is.clone().into() });
            data = pairs.into_iter().map(|(key, bytes)| (key, base64(&bytes).into())).collect();
        }
    }
    object.insert("metadata".into(), Value::Object(metadata));
    if !data.is_empty() || generator.kind == GeneratorKind::Secret {
        object.insert("data".into(), Value::Object(data));
    }
    if !binary.is_empty() {
        object.insert("binaryData".into(), Value::Object(binary));
    }
    if generator.options.immutable {
        object.insert("immutable".into(), json!(true));
    }
    Value::Object(object)
}

/// What one generator reads.
struct Sources<'r, 'f, 'p> {
    reader: &'r mut Reader<'f>,
    place: Place<'p>,
    pairs: Vec<(String, Vec<u8>)>,
    problems: Vec<Problem>,
}

impl Sources<'_, '_, '_> {
    fn wrong(&mut self, at: Position, kind: ProblemKind, message: impl Into<String>) {
        self.problems.push(Problem::at(self.place.file, at, kind, message));
    }

    fn literal(&mut self, literal: &Located<String>) {
        match literal.value.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                self.pairs.push((key.into(), unquoted(value).as_bytes().to_vec()));
            }
            // The text may be a secret that lost its key.
            _ => self.wrong(literal.at, ProblemKind::Invalid, "a literal is written key=value"),
        }
    }

    fn file(&mut self, source: &Located<String>) {
        let written = &source.value;
        let parts: Vec<&str> = written.split('=').collect();
        let (key, path) = match parts[..] {
            [path] => (path.rsplit('/').next().unwrap_or(path), path),
            ["", _] => {
                return self.wrong(source.at, ProblemKind::Invalid, format!("{written}: the key is missing"));
            }
            [_, ""] => {
                return self.wrong(
                    source.at,
                    ProblemKind::Invalid,
                    format!("{written}: the path is missing"),
                );
            }
            [key, path] => (key, path),
            _ => {
                let message = format!("{written}: a file is written path or key=path, with one = at most");
                return self.wrong(source.at, ProblemKind::Invalid, message);
            }
        };
        let key = key.to_owned();
        if let Some(bytes) = self.read(path, source.at) {
            self.pairs.push((key, bytes));
        }
    }

    fn variables(&mut self, source: &Located<String>) {
        let Some(bytes) = self.read(&source.value, source.at) else { return };
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.len() >= LONGEST_LINE {
                return;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Ok(mut line) = std::str::from_utf8(line) else {
                let message = format!("{}: line {} is not UTF-8 text", source.value, index + 1);
                return self.wrong(source.at, ProblemKind::Syntax, message);
            };
            if index == 0 {
                line = line.strip_prefix('\u{feff}').unwrap_or(line);
            }
            let line = line.trim_start_matches(char::is_whitespace);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            if !key.is_empty() {
                self.pairs.push((key.into(), value.as_bytes().to_vec()));
            }
        }
    }

    fn read(&mut self, written: &str, at: Position) -> Option<Vec<u8>> {
        match confined(self.reader, self.place.dir, written)
            .and_then(|path| self.reader.bytes(&path).map_err(|problem| (problem.kind, problem.message)))
        {
            Ok(bytes) => Some(bytes.to_vec()),
            Err((kind, message)) => {
                self.wrong(at, kind, format!("{written}: {message}"));
                None
            }
        }
    }
}

/// The path of a file that must be in or below `dir`.
pub(crate) fn confined(
    reader: &Reader<'_>,
    dir: &str,
    written: &str,
) -> Result<String, (ProblemKind, String)> {
    let outside = "files must be in or below the directory of the kustomization";
    let path = match path::resolve(dir, written) {
        Ok(path) => path,
        Err(PathError::Absolute | PathError::AboveTree) => {
            return Err((ProblemKind::Outside, outside.into()));
        }
    };
    match reader.entry(&path) {
        Err(problem) => Err((problem.kind, problem.message)),
        Ok(None) if path::looks_remote(written) => Err((
            ProblemKind::Unsupported,
            "nothing is fetched while rendering; copy it into the repository".into(),
        )),
        Ok(None) => Err((ProblemKind::Read, "no such file".into())),
        Ok(Some(EntryKind::Directory)) => Err((ProblemKind::Read, "is a directory, not a file".into())),
        Ok(Some(EntryKind::File)) if !path::is_within(&path, dir) => {
            Err((ProblemKind::Outside, outside.into()))
        }
        Ok(Some(EntryKind::File)) => Ok(path),
    }
}

/// One pair of quotes around a value is not part of it.
fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if value.len() >= 2 && value.starts_with(quote) && value.ends_with(quote) {
            return &value[1..value.len() - 1];
        }
    }
    value
}

/// Base64, in lines if it is longer than one.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let length = bytes.len().div_ceil(3) * 4;
    let wrap = length >= BASE64_LINE;
    let mut text = String::with_capacity(length + length / BASE64_LINE + 1);
    let mut column = 0;
    let mut put = |byte: u8| {
        text.push(char::from(byte));
        column += 1;
        if wrap && column == BASE64_LINE {
            text.push('\n');
            column = 0;
        }
    };
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[number >> (18 - 6 * place) & 63];
            put(if place > chunk.len() { b'=' } else { digit });
        }
    }
    if wrap && column > 0 {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{base64, unquoted};

    #[test]
    fn base64_is_wrapped_once_it_fills_a_line() {
        assert_eq!(base64(b""), "");
        assert_eq!(
            (base64(b"a"), base64(b"ab"), base64(b"abc")),
            ("YQ==".into(), "YWI=".into(), "YWJj".into())
        );
        assert_eq!(base64(&[0xff; 51]).len(), 68);
        let long = base64(&[0xff; 54]);
        assert_eq!(long.lines().map(str::len).collect::<Vec<_>>(), [70, 2]);
        assert!(long.ends_with('\n'));
    }

    #[test]
    fn one_pair_of_quotes_is_taken_off() {
        assert_eq!(
            [unquoted("'a'"), unquoted("\"\"a\"\""), unquoted("'a\""), unquoted("'")],
            ["a", "\"a\"", "'a\"", "'"]
        );
    }
}

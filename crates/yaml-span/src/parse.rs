//! Text to located tree. Everything is counted before it is built, and nothing here calls itself: a hostile text
//! ends with an error, not with the process.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, StructureStyle, Tag};

use crate::error::{Error, ErrorKind, Errors};
use crate::words::{found, short};
use crate::{Document, Limits, Mark, Node, Origin, Path, Schema, Span, Style, Value};

mod scalar;
mod source;
use source::Source;

/// Reads all documents of a text. A text of blanks and comments only has none.
///
/// Errors that leave the structure readable (duplicate keys, ambiguous words) are collected; a syntax error or a
/// passed limit ends the reading.
///
/// # Errors
/// [`Errors`] lists what is wrong, with places.
pub fn parse(text: &str, schema: Schema, limits: &Limits) -> Result<Vec<Document>, Errors> {
    documents(text, schema, limits, false)
}

/// As [`parse`], but a key may be written again: its last value counts. Kustomize reads its own files so.
///
/// # Errors
/// As [`parse`].
pub fn parse_last_wins(text: &str, schema: Schema, limits: &Limits) -> Result<Vec<Document>, Errors> {
    documents(text, schema, limits, true)
}

fn documents(text: &str, schema: Schema, limits: &Limits, last_wins: bool) -> Result<Vec<Document>, Errors> {
    let mut limits = *limits;
    limits.depth = limits.depth.min(Limits::MAX_DEPTH);
    if text.len() > limits.bytes {
        let message = format!("the text has {} bytes, more than the limit of {}", text.len(), limits.bytes);
        return Err(Errors::new(vec![Error {
            kind: ErrorKind::Limit,
            at: Mark::START,
            path: Path::root(),
            message,
            help: Some("split it into several files".to_owned()),
        }]));
    }
    let mut builder = Builder { last_wins, ..Builder::new(text, schema, limits) };
    if let Err(fatal) = builder.run(text) {
        builder.errors.push(*fatal);
    }
    if builder.errors.is_empty() { Ok(builder.documents) } else { Err(Errors::new(builder.errors)) }
}

type Fatal = Box<Error>;

/// A finished node with what its copies cost.
struct Built {
    node: Node,
    /// Levels below it; 0 for a scalar.
    height: usize,
    /// Nodes in it, itself included.
    nodes: usize,
    /// Bytes of the strings in it.
    bytes: usize,
    /// A plain `<<`.
    merge: bool,
}

/// A collection that is still open.
struct Open {
    built: Built,
    anchor: usize,
    key: Option<Built>,
    merges: Vec<Node>,
    /// Key text to entry, made once a mapping is large.
    index: HashMap<String, usize>,
}

struct Builder<'a> {
    source: Source<'a>,
    schema: Schema,
    limits: Limits,
    last_wins: bool,
    documents: Vec<Document>,
    errors: Vec<Error>,
    open: Vec<Open>,
    anchors: HashMap<usize, Built>,
    document: Option<(Mark, bool)>,
    root: Option<Node>,
    nodes: usize,
    aliases: usize,
    alias_bytes: usize,
    /// End of the last node token: where looking for the indicators of the next one starts.
    last_end: usize,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str, schema: Schema, limits: Limits) -> Self {
        Self {
            source: Source::new(text),
            schema,
            limits,
            last_wins: false,
            documents: Vec::new(),
            errors: Vec::new(),
            open: Vec::new(),
            anchors: HashMap::new(),
            document: None,
            root: None,
            nodes: 0,
            aliases: 0,
            alias_bytes: 0,
            last_end: 0,
        }
    }

    fn run(&mut self, text: &'a str) -> Result<(), Fatal> {
        let mut options = Options::default();
        options.set_emit_comments(false);
        options.emit_anchor_events = true;
        options.flow_nesting_limit = self.limits.depth;
        options.block_nesting_limit = self.limits.depth;
        let mut parser = Parser::new_from_str_with_options(text, options);
        while let Some(next) = parser.next_event() {
            let (event, span) = next.map_err(|e| self.scan_error(&e))?;
            let span = span_of(&span);
            let name = match event.anchor_id() {
                Some(id) if id != 0 => match parser.next_event() {
                    Some(Ok((Event::Anchor(_, name), _))) => Some(Box::from(&*name)),
                    Some(Err(e)) => return Err(self.scan_error(&e)),
                    _ => None,
                },
                _ => None,
            };
            self.event(event, span, name)?;
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'_>, span: Span, name: Option<Box<str>>) -> Result<(), Fatal> {
        match event {
            Event::DocumentStart(explicit, _) => {
                if self.documents.len() >= self.limits.documents {
                    let limit = self.limits.documents;
                    return Err(self.limit(span.start, format!("more than {limit} documents")));
                }
                self.document = Some((span.start, explicit));
                self.last_end = self.last_end.max(span.end.offset);
            }
            Event::DocumentEnd => self.end_document(span),
            Event::Scalar(text, style, anchor, tag) => {
                let span = self.scalar_span(span, style);
                self.count(span.start, 1)?;
                let value = self.scalar(&text, style, tag.as_deref(), span.start);
                let merge = style == ScalarStyle::Plain && text == "<<" && tag.is_none();
                let built = Built {
                    node: Node {
                        span,
                        value,
                        style: scalar_style(style),
                        tag: tag.map(|t| t.original().into()),
                        anchor: name,
                        origin: Origin::Written,
                    },
                    height: 0,
                    nodes: 1,
                    bytes: text.len(),
                    merge,
                };
                self.last_end = span.end.offset;
                self.finish(built, anchor)?;
            }
            Event::SequenceStart(style, anchor, tag) => {
                let start = if style == StructureStyle::Block && self.in_value() {
                    let at = self.source.indicator(self.last_end, |c| c == '-');
                    at.map_or(span.start, |offset| self.source.mark(offset))
                } else {
                    span.start
                };
                self.start(start, span, Value::Sequence(Vec::new()), (style, anchor, tag.as_deref(), name))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.start(
                    span.start,
                    span,
                    Value::Mapping(Vec::new()),
                    (style, anchor, tag.as_deref(), name),
                )?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Alias(id) => self.alias(id, span)?,
            _ => {}
        }
        Ok(())
    }

    /// True when the next node is the value of a mapping entry.
    fn in_value(&self) -> bool {
        self.open.last().is_some_and(|o| o.key.is_some())
    }

    fn start(
        &mut self,
        start: Mark,
        span: Span,
        value: Value,
        (style, anchor, tag, name): (StructureStyle, usize, Option<&Tag>, Option<Box<str>>),
    ) -> Result<(), Fatal> {
        self.count(start, 1)?;
        self.check_depth(start, 1)?;
        self.check_tag(tag, start, if matches!(value, Value::Mapping(_)) { "map" } else { "seq" });
        if style == StructureStyle::Flow {
            self.last_end = span.end.offset;
        }
        let node = Node {
            span: Span { start, end: span.end },
            value,
            style: match style {
                StructureStyle::Block => Style::Block,
                StructureStyle::Flow => Style::Flow,
            },
            tag: tag.map(|t| t.original().into()),
            anchor: name,
            origin: Origin::Written,
        };
        self.open.push(Open {
            built: Built { node, height: 1, nodes: 1, bytes: 0, merge: false },
            anchor,
            key: None,
            merges: Vec::new(),
            index: HashMap::new(),
        });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Fatal> {
        let Some(mut open) = self.open.pop() else {
            return Ok(());
        };
        let node = &mut open.built.node;
        if node.style == Style::Flow {
            node.span.end = span.end;
            self.last_end = span.end.offset;
        }
        for merged in open.merges {
            let Value::Mapping(entries) = merged.value else { continue };
            if let Value::Mapping(own) = &mut node.value {
                merge(own, &mut open.index, entries);
            }
        }
        self.finish(open.built, open.anchor)
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), Fatal> {
        self.last_end = span.end.offset;
        self.aliases += 1;
        if self.aliases > self.limits.aliases {
            let limit = self.limits.aliases;
            return Err(self.limit(span.start, format!("more than {limit} aliases")));
        }
        let Some((height, nodes, bytes)) = self.anchors.get(&id).map(|b| (b.height, b.nodes, b.bytes)) else {
            return Err(self.fatal(ErrorKind::Alias, span.start, "an alias inside the node that it names"));
        };
        self.check_depth(span.start, height)?;
        self.count(span.start, nodes)?;
        self.count_copy(span.start, bytes)?;
        let Some(target) = self.anchors.get(&id) else { return Ok(()) };
        let mut node = target.node.clone();
        let merge = target.merge;
        mark_copy(&mut node);
        node.span = span;
        node.origin = Origin::Alias;
        node.anchor = None;
        let built = Built { node, height, nodes, bytes, merge };
        self.finish(built, 0)
    }

    /// Puts a finished node where it belongs.
    fn finish(&mut self, built: Built, anchor: usize) -> Result<(), Fatal> {
        if anchor != 0 {
            // Anchors may nest: each keeps a copy, so each is paid for.
            self.count(built.node.span.start, built.nodes)?;
            self.count_copy(built.node.span.start, built.bytes)?;
            let copy = Built { node: built.node.clone(), ..built };
            self.anchors.insert(anchor, copy);
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(built.node);
            return Ok(());
        };
        let parent = &mut open.built;
        parent.height = parent.height.max(built.height + 1);
        parent.nodes += built.nodes;
        parent.bytes += built.bytes;
        if parent.node.style == Style::Block {
            parent.node.span.end = built.node.span.end;
        }
        if let Value::Sequence(items) = &mut parent.node.value {
            items.push(built.node);
            return Ok(());
        }
        let Some(key) = open.key.take() else {
            if matches!(built.node.value, Value::Null | Value::Sequence(_) | Value::Mapping(_)) {
                let message = format!("a key must be a name, found {}", found(&built.node));
                self.error(ErrorKind::Key, built.node.span.start, message, Some("quote it"))?;
                let Some(open) = self.open.last_mut() else { return Ok(()) };
                open.key = Some(built);
                return Ok(());
            }
            open.key = Some(built);
            return Ok(());
        };
        self.entry(key, built.node)
    }

    fn entry(&mut self, key: Built, value: Node) -> Result<(), Fatal> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if key.merge {
            return self.merge_value(value);
        }
        let Value::Mapping(entries) = &mut open.built.node.value else { return Ok(()) };
        let text = key.node.key_text();
        if let Some(first) = find(entries, &mut open.index, &text) {
            if self.last_wins {
                entries[first] = (key.node, value);
                return Ok(());
            }
            let (first, at) = (entries[first].0.span.start, key.node.span.start);
            let name = short(&text);
            let message = format!(
                "duplicate key {name}: it is already at line {}, column {}",
                first.line, first.column
            );
            open.key = Some(key);
            let result = self.error(ErrorKind::DuplicateKey, at, message, Some("remove one of them"));
            if let Some(open) = self.open.last_mut() {
                open.key = None;
            }
            return result;
        }
        if entries.len() >= INDEX_FROM {
            open.index.insert(text, entries.len());
        }
        entries.push((key.node, value));
        Ok(())
    }

    fn merge_value(&mut self, value: Node) -> Result<(), Fatal> {
        let at = value.span.start;
        let wrong = format!("`<<` takes a mapping or a list of mappings, found {}", value.type_name());
        let sources = match value.value {
            Value::Mapping(_) => vec![value],
            Value::Sequence(items) if items.iter().all(|i| i.as_mapping().is_some()) => items,
            _ => return self.error(ErrorKind::Merge, at, wrong, None),
        };
        if let Some(open) = self.open.last_mut() {
            open.merges.extend(sources);
        }
        Ok(())
    }

    fn end_document(&mut self, span: Span) {
        self.anchors.clear();
        let (start, explicit) = self.document.take().unwrap_or((span.start, false));
        let at = Span::at(span.start);
        let root = self.root.take().unwrap_or(Node {
            span: at,
            value: Value::Null,
            style: Style::Plain,
            tag: None,
            anchor: None,
            origin: Origin::Written,
        });
        let start = if explicit || start.offset > root.span.start.offset { start } else { root.span.start };
        self.documents.push(Document {
            span: Span { start, end: root.span.end },
            explicit,
            empty: root.is_null()
                && root.span.bytes().is_empty()
                && root.tag.is_none()
                && root.anchor.is_none(),
            root,
        });
    }

    /// The place of a scalar: a block scalar from its `|` or `>` to the end of its last line of text.
    fn scalar_span(&self, span: Span, style: ScalarStyle) -> Span {
        if !matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
            return span;
        }
        let Some(start) = self.source.indicator(self.last_end, |c| c == '|' || c == '>') else {
            return span;
        };
        self.source.block_scalar(start, span)
    }

    fn count(&mut self, at: Mark, nodes: usize) -> Result<(), Fatal> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= self.limits.nodes {
            return Ok(());
        }
        let limit = self.limits.nodes;
        Err(self.limit(at, format!("more than {limit} values, what aliases copy included")))
    }

    fn count_copy(&mut self, at: Mark, bytes: usize) -> Result<(), Fatal> {
        self.alias_bytes = self.alias_bytes.saturating_add(bytes);
        if self.alias_bytes <= self.limits.alias_bytes {
            return Ok(());
        }
        let limit = self.limits.alias_bytes;
        Err(self.limit(at, format!("anchors and aliases copy more than {limit} bytes")))
    }

    fn check_depth(&mut self, at: Mark, more: usize) -> Result<(), Fatal> {
        if self.open.len() + more <= self.limits.depth {
            return Ok(());
        }
        Err(self.too_deep(at))
    }

    fn too_deep(&self, at: Mark) -> Fatal {
        let limit = self.limits.depth;
        self.limit(at, format!("nested deeper than {limit} levels"))
    }

    fn limit(&self, at: Mark, message: String) -> Fatal {
        self.fatal(ErrorKind::Limit, at, message)
    }

    fn fatal(&self, kind: ErrorKind, at: Mark, message: impl Into<String>) -> Fatal {
        Box::new(Error { kind, at, path: self.path(), message: message.into(), help: None })
    }

    fn scan_error(&self, error: &granit_parser::ScanError) -> Fatal {
        let at = mark_of(error.marker());
        match error.kind() {
            granit_parser::ErrorKind::RecursionLimitExceeded => self.too_deep(at),
            granit_parser::ErrorKind::UnknownAnchor => {
                self.fatal(ErrorKind::Alias, at, "an alias without an anchor of that name before it")
            }
            _ => self.fatal(
                ErrorKind::Syntax,
                at,
                format!("not valid YAML: {}", error.info().chars().take(200).collect::<String>()),
            ),
        }
    }

    /// Records an error that reading can go on after; too many of them end it.
    fn error(&mut self, kind: ErrorKind, at: Mark, message: String, help: Option<&str>) -> Result<(), Fatal> {
        self.soft(kind, at, message, help.map(str::to_owned));
        if self.errors.len() < Errors::MAX - 1 {
            return Ok(());
        }
        Err(self.limit(at, "too many errors, the rest of the text was not read".to_owned()))
    }

    fn soft(&mut self, kind: ErrorKind, at: Mark, message: String, help: Option<String>) {
        if self.errors.len() < Errors::MAX {
            let path = self.path();
            self.errors.push(Error { kind, at, path, message, help });
        }
    }

    /// The path of the node that is being read.
    fn path(&self) -> Path {
        let mut path = Path::root();
        for open in &self.open {
            match (&open.built.node.value, &open.key) {
                (Value::Sequence(items), _) => path.push(items.len()),
                (_, Some(key)) => path.push(key.node.key_text()),
                _ => {}
            }
        }
        path
    }
}

/// From how many entries on a mapping is looked up by hash.
const INDEX_FROM: usize = 16;

fn find(entries: &[(Node, Node)], index: &mut HashMap<String, usize>, key: &str) -> Option<usize> {
    if entries.len() < INDEX_FROM {
        return entries.iter().position(|(k, _)| match &k.value {
            Value::String(text) => text == key,
            _ => k.key_text() == key,
        });
    }
    if index.is_empty() {
        index.extend(entries.iter().enumerate().map(|(i, (k, _))| (k.key_text(), i)));
    }
    index.get(key).copied()
}

/// Adds what `<<` brings in: own keys win, then those of earlier sources.
fn merge(own: &mut Vec<(Node, Node)>, index: &mut HashMap<String, usize>, entries: Vec<(Node, Node)>) {
    for (mut key, mut value) in entries {
        let text = key.key_text();
        if find(own, index, &text).is_some() {
            continue;
        }
        if own.len() >= INDEX_FROM {
            index.insert(text, own.len());
        }
        key.origin = Origin::Copy;
        value.origin = Origin::Copy;
        own.push((key, value));
    }
}

/// Marks all that an alias copied. Depth is bounded by [`Limits::MAX_DEPTH`].
fn mark_copy(node: &mut Node) {
    node.origin = Origin::Copy;
    match &mut node.value {
        Value::Sequence(items) => items.iter_mut().for_each(mark_copy),
        Value::Mapping(entries) => entries.iter_mut().for_each(|(k, v)| {
            mark_copy(k);
            mark_copy(v);
        }),
        _ => {}
    }
}

fn scalar_style(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::SingleQuoted,
        ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

fn mark_of(marker: &granit_parser::Marker) -> Mark {
    Mark {
        offset: marker.byte_offset().unwrap_or_else(|| marker.index()),
        line: marker.line(),
        column: marker.col() + 1,
    }
}

fn span_of(span: &granit_parser::Span) -> Span {
    Span { start: mark_of(&span.start), end: mark_of(&span.end) }
}

#[cfg(test)]
mod tests;

//! One YAML reader for the whole repo.
//!
//! - [`parse`] gives a located tree: every [`Node`] knows the bytes, line and column it came from.
//! - [`from_node`] reads a tree into a plain serde type and collects *all* errors, each with its place.
//! - [`Editor`] changes a file by text span: what is not touched keeps its bytes; [`emit`] writes block YAML.
//!
//! Input is hostile until proven otherwise: [`Limits`] bound size, depth, nodes and aliases, and every breach
//! is an error. This crate never reads files, never prints, and never puts long values into messages.
//!
//! ```
//! use yaml_span::{Editor, Limits, Schema, from_node, parse};
//!
//! #[derive(Debug, serde::Deserialize)]
//! struct Placement { name: String, exactly: u8 }
//!
//! let text = "name: shop   # ours\nexactl: 2\n";
//! let documents = parse(text, Schema::Strict, &Limits::default())?;
//! let (value, found) = from_node::<Placement>("shop.yaml", &documents[0].root);
//! assert!(value.is_none());
//! assert_eq!(found[1].to_string(), "shop.yaml:2:1: exactl: unknown field `exactl`, did you mean `exactly`?");
//!
//! let mut editor = Editor::new(text)?;
//! editor.set(0, &"name".parse()?, &serde_json::json!("cart"))?;
//! assert_eq!(editor.text(), "name: cart   # ours\nexactl: 2\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod diagnostic;
mod edit;
mod emit;
mod error;
mod options;
mod parse;
mod path;
mod read;
mod resolve;
mod span;
mod suggest;
mod tree;
mod words;

pub use diagnostic::Diagnostic;
pub use edit::{EditError, Editor};
pub use emit::{emit, emit_key};
pub use error::{Error, ErrorKind, Errors};
pub use options::{Limits, Schema};
pub use parse::{parse, parse_last_wins};
pub use path::{Path, PathError, Segment};
pub use read::from_node;
pub use span::{Mark, Span};
pub use suggest::did_you_mean;
pub use tree::{Document, Node, Origin, Style, Value};

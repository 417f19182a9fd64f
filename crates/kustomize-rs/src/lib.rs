//! `kustomize build` as a library: objects in, objects out, with the place where each was written.
//!
//! It reads only through [`Files`] and writes nothing: no disk, no network, no process, no environment. The same tree
//! and options always give the same bytes, those of kustomize 5.5. All fields of a kustomization are honoured but those
//! that start a program (`helmCharts`, functions), which are refused by name, and so are addresses of other repositories
//! unless the caller brings a [`Fetcher`].
//!
//! [`Kustomization`] is one directory, read and ready to be built; [`Cache`] lets many builds share what they read and
//! make; [`load_plain`] is for directories without a kustomization.
//!
//! Known differences from the reference:
//! - What is refused, and the limits ([`Limits`]): nothing is fetched by itself, and no input is trusted. A [`Fetcher`]
//!   brings directories; single files by address stay refused, and `originAnnotations` do not name the repository.
//! - `vars` that nothing uses are no warning; errors are told all at once, each with its place.
//! - Objects of other kinds than ConfigMap and Secret cannot ask for a hash.
//!
//! ```
//! use kustomize_rs::{MemoryFiles, Options, build, to_yaml};
//!
//! let files: MemoryFiles = [
//!     ("app/kustomization.yaml", "namespace: shop\nresources: [cm.yaml]\n"),
//!     ("app/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {debug: 'no'}\n"),
//! ]
//! .into_iter()
//! .collect();
//! let objects = build(&files, "app", &Options::default())?;
//! assert_eq!(objects.get("", "ConfigMap", Some("shop"), "web").map(|it| it.origin.line), Some(1));
//! assert!(to_yaml(&objects).contains("debug: \"no\"\n"));
//! # Ok::<(), kustomize_rs::Error>(())
//! ```

#![deny(missing_docs)]

mod accumulate;
mod annotations;
mod build;
mod cache;
mod config;
mod directories;
mod emit;
mod error;
mod fetch;
mod field_path;
mod files;
mod finish;
mod folded;
mod generate;
mod hash;
mod history;
mod images;
mod item;
mod kustomization;
mod labels;
mod marks;
mod names;
mod namespace;
mod openapi;
mod order;
mod patch;
mod path;
mod plain;
mod plugins;
mod quick;
mod read;
mod references;
mod remote;
mod replacement;
mod replicas;
mod resmap;
mod resource;
mod schema;
mod shared;
#[cfg(test)]
mod tests;
mod timestamp;
mod trace;
mod transform;
mod value;
mod value_add;
mod vars;
mod warning;

use std::sync::Arc;

pub use build::Kustomization;
pub use cache::{Cache, CacheStatistics};
pub use error::{Error, Problem, ProblemKind};
pub use files::{DirEntry, EntryKind, Files, FilesError, MemoryFiles};
pub use remote::{Fetched, Fetcher, Remote};
pub use resmap::{ResMap, to_yaml};
pub use resource::{Origin, Resource, ResourceId};

/// How a directory is rendered.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where reading and building stops with an error.
    pub limits: Limits,
    /// What builds share; without one, each build begins anew.
    pub cache: Option<Arc<Cache>>,
    /// What brings the directories of other repositories; without one, their addresses are refused.
    pub fetcher: Option<Arc<dyn Fetcher>>,
}

/// Bounds against hostile or runaway input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Kustomizations inside each other.
    pub nesting: usize,
    /// Kustomizations of one build; one that is included twice counts twice.
    pub kustomizations: usize,
    /// Entries of `patches`, `labels` and `images` of a kustomization, times the objects they go over.
    pub changes: usize,
    /// Objects of one build, also while it runs.
    pub resources: usize,
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Bytes of all files that one build reads; a file read twice counts twice.
    pub total_bytes: usize,
    /// Directories below each other when plain files are loaded.
    pub directories: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nesting: 32,
            kustomizations: 10_000,
            changes: 10_000_000,
            resources: 20_000,
            file_bytes: 8 * 1024 * 1024,
            total_bytes: 128 * 1024 * 1024,
            directories: 64,
        }
    }
}

/// Renders the kustomization in directory `dir` (`""` is the root of the tree), as `kubectl kustomize` does.
///
/// # Errors
/// All problems that were found, each with its file and line. A field of the kustomization that is not supported is
/// one of them.
pub fn build(files: &dyn Files, dir: &str, options: &Options) -> Result<ResMap, Error> {
    Kustomization::load_within(files, dir, options)?.build(options)
}

/// Loads a directory without a kustomization: every `*.yaml`, `*.yml` and `*.json` file below it, sorted by path,
/// except `workspace.yaml` at its top. Objects keep the order of the files.
///
/// # Errors
/// All problems that were found: text that is not YAML, a document that is not an object with `apiVersion`, `kind` and
/// `metadata.name`, two objects of one identity (both places are named).
pub fn load_plain(files: &dyn Files, dir: &str, options: &Options) -> Result<ResMap, Error> {
    plain::load(files, dir, options)
}

/// Whether `dir` holds a kustomization file: [`build`] is for it, else [`load_plain`].
///
/// # Errors
/// When the tree cannot be read.
pub fn is_kustomization(files: &dyn Files, dir: &str) -> Result<bool, Error> {
    build::is_kustomization(files, dir)
}

/// So that the example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

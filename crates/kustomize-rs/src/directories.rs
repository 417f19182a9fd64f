//! What the paths of a list bring: objects of files, and of directories that are built first.

use std::collections::HashMap;

use yaml_span::Schema as Words;

use crate::accumulate::Accumulated;
use crate::build::{Builder, Place, outside};
use crate::cache::Made;
use crate::error::Position;
use crate::history::{self, History};
use crate::item::{Id, Item};
use crate::kustomization::{Kind, Located};
use crate::path;
use crate::quick;
use crate::read;
use crate::schema::Schema;
use crate::trace::Content;
use crate::{EntryKind, Problem, ProblemKind, annotations};

/// What a list of paths is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Objects, from files and directories.
    Resources,
    /// Directories that change what is there already.
    Components,
}

impl Builder<'_> {
    /// Adds what each path of a list brings.
    pub(crate) fn paths(
        &mut self,
        place: Place<'_>,
        role: Role,
        paths: &[Located<String>],
        into: &mut Accumulated,
    ) {
        if paths.is_empty() {
            return;
        }
        let mut known = Known::of(&into.items);
        for entry in paths {
            if self.built > self.reader.limits.kustomizations {
                break;
            }
            let brought = match self.entry(place, role, entry) {
                Err(problems) => {
                    self.problems.extend(problems);
                    continue;
                }
                Ok(Entry::File(mut items)) => {
                    if self.metadata.notes() {
                        let path = history::join(&self.via, &entry.value);
                        items.iter_mut().for_each(|item| item.history = History::read(&path));
                    }
                    Accumulated { items, ..Accumulated::default() }
                }
                Ok(Entry::Directory(dir)) if role == Role::Components => {
                    let base = std::mem::take(into);
                    *into = self.directory(place, role, entry, &dir, Base::Parent(base));
                    continue;
                }
                Ok(Entry::Remote) if role == Role::Components => {
                    let base = std::mem::take(into);
                    *into = self.remote(place, role, entry, Base::Parent(base));
                    continue;
                }
                Ok(Entry::Remote) => self.remote(place, role, entry, Base::New(&into.items)),
                Ok(Entry::Directory(dir)) => self.shared_directory(place, entry, &dir, &into.items),
            };
            self.merge(place, entry.at, brought, &mut known, into);
            let limit = self.reader.limits.resources;
            if into.items.len() > limit {
                let message = format!("more than {limit} objects");
                self.problems.push(place.problem(entry.at, ProblemKind::Limit, message));
                break;
            }
        }
    }

    /// What a directory gives to those that include it: built now, or by another build that saw the same.
    fn shared_directory(
        &mut self,
        place: Place<'_>,
        entry: &Located<String>,
        dir: &str,
        around: &[Item],
    ) -> Accumulated {
        // A schema of its own, or notes about what happens, make a build depend on what is around it.
        let alone = |builder: &Self| matches!(builder.schema, Schema::Builtin) && !builder.metadata.notes();
        let cache = self.cache.filter(|_| alone(self));
        let Some(cache) = cache else {
            return self.directory(place, Role::Resources, entry, dir, Base::New(around));
        };
        if let Some(made) = cache.directory(dir, self.reader.files, self.fetcher) {
            self.reader.trace.include(&made.seen);
            return made.what.clone();
        }
        let found = self.problems.len();
        self.reader.trace.begin();
        let built = self.directory(place, Role::Resources, entry, dir, Base::New(around));
        let seen = self.reader.trace.end();
        if self.problems.len() == found && alone(self) {
            cache.keep_directory(dir, Made { seen, what: built.clone() });
        }
        built
    }

    pub(crate) fn directory(
        &mut self,
        place: Place<'_>,
        role: Role,
        entry: &Located<String>,
        dir: &str,
        base: Base<'_>,
    ) -> Accumulated {
        let around = match &base {
            Base::New(around) => around,
            Base::Parent(parent) => parent.items.as_slice(),
        };
        let loaded = self.load(dir).and_then(|(file, kustomization)| {
            match wrong_kind(place, role, entry, kustomization.kind) {
                None => {
                    let inner = Place { dir, file: &file };
                    self.choose_schema(inner, kustomization.openapi.as_ref(), around);
                    Some((file, kustomization))
                }
                Some(problem) => {
                    self.problems.push(problem);
                    None
                }
            }
        });
        let base = base.into_parent();
        let Some((file, kustomization)) = loaded else { return base };
        let via = history::join(&self.via, &entry.value);
        let outer = std::mem::replace(&mut self.via, via);
        let built = self.target(Place { dir, file: &file }, &kustomization, base);
        self.via = outer;
        built
    }

    /// What one entry names: the objects of a file, or the path of a directory.
    fn entry(
        &mut self,
        place: Place<'_>,
        role: Role,
        entry: &Located<String>,
    ) -> Result<Entry, Vec<Problem>> {
        let written = &entry.value;
        let problem = |kind, message: String| vec![place.problem(entry.at, kind, message)];
        if written.is_empty() {
            return Err(problem(ProblemKind::Invalid, "an empty path".into()));
        }
        let resolved = path::resolve(place.dir, written)
            .map_err(|why| problem(ProblemKind::Outside, format!("{written}: {}", outside(why))))?;
        let found = self
            .reader
            .entry(&resolved)
            .map_err(|error| problem(error.kind, format!("{written}: {}", error.message)))?;
        let (kind, message) = match found {
            Some(EntryKind::File) if role == Role::Components => {
                (ProblemKind::Invalid, format!("{written}: a component is a directory, this is a file"))
            }
            Some(EntryKind::File) if !path::is_within(&resolved, place.dir) => (
                ProblemKind::Outside,
                format!(
                    "{written}: files must be in or below the directory of the kustomization; \
                         another directory with a kustomization of its own may be named instead"
                ),
            ),
            Some(EntryKind::File) => return self.objects(&resolved).map(Entry::File),
            Some(EntryKind::Directory) if self.open.iter().any(|open| path::is_within(open, &resolved)) => {
                (ProblemKind::Cycle, format!("{written}: is being built already, this would never end"))
            }
            Some(EntryKind::Directory) if self.around + self.open.len() >= self.reader.limits.nesting => {
                let limit = self.reader.limits.nesting;
                (ProblemKind::Limit, format!("{written}: more than {limit} kustomizations inside each other"))
            }
            Some(EntryKind::Directory) => return Ok(Entry::Directory(resolved)),
            None if path::looks_remote(written) && self.fetcher.is_some() => return Ok(Entry::Remote),
            None if path::looks_remote(written) => (
                ProblemKind::Unsupported,
                format!("{written}: nothing is fetched while rendering; copy it into the repository"),
            ),
            None => (ProblemKind::Read, format!("{written}: no such file or directory")),
        };
        Err(problem(kind, message))
    }

    /// The objects of a file.
    fn objects(&mut self, path: &str) -> Result<Vec<Item>, Vec<Problem>> {
        let Some(cache) = self.cache else {
            return self.read_objects(path);
        };
        let files = self.reader.files;
        if let Some(content) = Content::known(files, path)
            && let Some(items) = cache.file(path, &content)
        {
            self.reader.trace.read(path, content);
            return Ok(items.to_vec());
        }
        let bytes = self.reader.bytes(path).map_err(|problem| vec![problem])?;
        let content = Content::known(files, path).unwrap_or_else(|| Content::of(&bytes));
        if let Some(items) = cache.file(path, &content) {
            return Ok(items.to_vec());
        }
        let items = self.read_objects(path)?;
        cache.keep_file(path, content, bytes.len(), items.clone().into());
        Ok(items)
    }

    fn read_objects(&mut self, path: &str) -> Result<Vec<Item>, Vec<Problem>> {
        let text = self.reader.text(path).map_err(|problem| vec![problem])?;
        let objects = match quick::objects(path, &text) {
            Some(objects) => objects,
            None => {
                let documents = self.reader.parse_as(path, &text, Words::Kustomize)?;
                read::objects(path, &documents, Words::Kustomize)?
            }
        };
        let item = |(mut object, marks): (crate::Resource, _)| {
            annotations::normalise(object.value_mut(), &marks);
            Item::new(object, marks)
        };
        Ok(objects.into_iter().map(item).collect())
    }

    fn merge(
        &mut self,
        place: Place<'_>,
        at: Position,
        brought: Accumulated,
        known: &mut Known,
        into: &mut Accumulated,
    ) {
        for item in brought.items {
            let id = item.id();
            match known.add(&id, &item, place.dir) {
                None => into.items.push(item),
                Some(first) => {
                    let message = format!(
                        "{} {} of {} is already there, from {first}: remove one of them",
                        id.kind,
                        id.name,
                        item.place(place.dir)
                    );
                    self.problems.push(place.problem(at, ProblemKind::Duplicate, message));
                }
            }
        }
        if let Some(config) = &brought.config {
            self.add_config(place, at, config, into);
        }
        into.warnings.extend(brought.warnings);
        for var in brought.vars {
            if let Err(problem) = var.join(&mut into.vars) {
                self.problems.push(problem);
            }
        }
    }
}

/// What a directory begins with.
pub(crate) enum Base<'a> {
    /// Nothing; the objects are those of the directory that includes it.
    New(&'a [Item]),
    /// Everything that its parent has.
    Parent(Accumulated),
}

impl Base<'_> {
    /// What is left when the directory gives nothing.
    pub(crate) fn into_parent(self) -> Accumulated {
        match self {
            Self::New(_) => Accumulated::default(),
            Self::Parent(parent) => parent,
        }
    }
}

/// What an entry of a list of paths names.
enum Entry {
    File(Vec<Item>),
    Directory(String),
    /// An address, for the fetcher.
    Remote,
}

fn wrong_kind(place: Place<'_>, role: Role, entry: &Located<String>, kind: Kind) -> Option<Problem> {
    let message = match (role, kind) {
        (Role::Resources, Kind::Component) => "is a Component: name it in `components`",
        (Role::Components, Kind::Kustomization) => "must be of kind Component, to be named in `components`",
        _ => return None,
    };
    Some(place.problem(entry.at, ProblemKind::Invalid, format!("{}: {message}", entry.value)))
}

/// Identities that are taken, and by which object.
struct Known(HashMap<Id, String>);

impl Known {
    fn of(items: &[Item]) -> Self {
        Self(items.iter().map(|item| (item.id(), item.place(""))).collect())
    }

    /// Takes an identity; if it is taken, says where that object was written.
    fn add(&mut self, id: &Id, item: &Item, dir: &str) -> Option<String> {
        if let Some(first) = self.0.get(id) {
            return Some(first.clone());
        }
        self.0.insert(id.clone(), item.place(dir));
        None
    }
}

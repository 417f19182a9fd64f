//! One build: directories, depth first, each with its own changes, then the changes of the directory that includes them.
//! Nothing here may depend on anything but the tree and the options.

use std::sync::Arc;

use yaml_span::{Document, Schema as Words};

use crate::accumulate::{AbsorbError, Accumulated, Index};
use crate::cache::{Cache, Made};
use crate::config::{self, Config};
use crate::directories::Role;
use crate::error::Position;
use crate::generate;
use crate::history::{self, By, History, Wanted};
use crate::item::Item;
use crate::kustomization::{self, FILE_NAMES, Generator, GeneratorKind, Kustomization as Fields, Located};
use crate::openapi::Choice;
use crate::path::{self, PathError};
use crate::plugins::{self, External};
use crate::read::{self, Reader};
use crate::remote::Fetcher;
use crate::schema::Schema;
use crate::vars::Brought;
use crate::{EntryKind, Error, Files, Limits, Options, Problem, ProblemKind, ResMap, finish, warning};

/// A kustomization that was read, and is ready to be built.
///
/// ```
/// use kustomize_rs::{Kustomization, MemoryFiles, Options, to_yaml};
///
/// let files: MemoryFiles = [
///     ("app/kustomization.yaml", "namePrefix: my-\nresources: [cm.yaml]\n"),
///     ("app/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"),
/// ]
/// .into_iter()
/// .collect();
/// let objects = Kustomization::load(&files, "app")?.build(&Options::default())?;
/// assert!(to_yaml(&objects).contains("name: my-web\n"));
/// # Ok::<(), kustomize_rs::Error>(())
/// ```
pub struct Kustomization<'f> {
    files: &'f dyn Files,
    dir: String,
    file: String,
    fields: Fields,
    /// Bytes that were read so far.
    read: usize,
}

impl std::fmt::Debug for Kustomization<'_> {
    /// The place only: fields may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Kustomization({})", self.file)
    }
}

impl<'f> Kustomization<'f> {
    /// Reads the kustomization file of a directory (`""` is the root of the tree), and nothing else.
    ///
    /// # Errors
    /// There is none, or more than one; everything that is wrong in it, each with its place.
    pub fn load(files: &'f dyn Files, dir: &str) -> Result<Self, Error> {
        Self::load_within(files, dir, &Options::default())
    }

    /// The same, within the limits that the build will have.
    pub(crate) fn load_within(files: &'f dyn Files, dir: &str, options: &Options) -> Result<Self, Error> {
        let dir =
            path::resolve("", dir).map_err(|why| Problem::whole(dir, ProblemKind::Outside, outside(why)))?;
        let mut builder = Builder::new(files, options);
        match builder.load(&dir) {
            Some((file, fields)) => Ok(Self { files, dir, file, fields, read: builder.reader.bytes_read() }),
            None => Err(Error { problems: builder.problems }),
        }
    }

    /// The path of the file that was read.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Builds it: reads everything it names, and does what it says.
    ///
    /// # Errors
    /// All problems that were found, each with its place.
    pub fn build(&self, options: &Options) -> Result<ResMap, Error> {
        let cache = options.cache.as_deref();
        if let Some(result) =
            cache.and_then(|cache| cache.result(&self.dir, self.files, options.fetcher.as_deref()))
        {
            return Ok(result);
        }
        let mut builder = Builder::new(self.files, options);
        if cache.is_some() {
            // What was read before is read once more, so that it is noted.
            builder.reader.trace.begin();
            builder.load(&self.dir);
        } else {
            builder.reader.count(self.read);
            builder.built = 1;
        }
        let place = Place { dir: &self.dir, file: &self.file };
        let accumulated = builder.top(place, &self.fields);
        if !builder.problems.is_empty() {
            return Err(Error { problems: builder.problems });
        }
        let result = finish::finish(accumulated, &self.fields)?;
        if let Some(cache) = cache {
            cache.keep_result(&self.dir, Made { seen: builder.reader.trace.end(), what: result.clone() });
        }
        Ok(result)
    }
}

pub(crate) fn is_kustomization(files: &dyn Files, dir: &str) -> Result<bool, Error> {
    let dir =
        path::resolve("", dir).map_err(|why| Problem::whole(dir, ProblemKind::Outside, outside(why)))?;
    let limits = Limits::default();
    let reader = Reader::new(files, &limits, Words::Kustomize);
    for name in FILE_NAMES {
        if reader.entry(&path::join(&dir, name))? == Some(EntryKind::File) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn outside(why: PathError) -> &'static str {
    match why {
        PathError::Absolute => "an absolute path: paths are relative to the directory of the kustomization",
        PathError::AboveTree => "leads out of the repository: more `..` than there are directories",
    }
}

/// A kustomization file, and the directory that its paths are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) dir: &'a str,
    pub(crate) file: &'a str,
}

impl Place<'_> {
    /// A problem of something that is written in this file.
    pub(crate) fn problem(&self, at: Position, kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem::at(self.file, at, kind, message)
    }
}

pub(crate) struct Builder<'a> {
    pub(crate) reader: Reader<'a>,
    pub(crate) fetcher: Option<&'a dyn Fetcher>,
    pub(crate) cache: Option<&'a Cache>,
    /// The directories being built, outermost first.
    pub(crate) open: Vec<String>,
    /// How many are being built in other trees, around these.
    pub(crate) around: usize,
    /// How many have been begun.
    pub(crate) built: usize,
    pub(crate) problems: Vec<Problem>,
    /// What is known about kinds.
    pub(crate) schema: Schema,
    pub(crate) schema_choice: Choice,
    /// What patches have that is no error, until the directory takes it.
    pub(crate) warnings: Vec<Problem>,
    /// The directory being built, as the paths that led to it say it from the first one.
    pub(crate) via: String,
    /// What `buildMetadata` of the first directory asks for.
    pub(crate) metadata: Wanted,
}

impl<'a> Builder<'a> {
    fn new(files: &'a dyn Files, options: &'a Options) -> Self {
        Self {
            reader: Reader::new(files, &options.limits, Words::Kustomize),
            fetcher: options.fetcher.as_deref(),
            cache: options.cache.as_deref(),
            open: Vec::new(),
            around: 0,
            built: 0,
            problems: Vec::new(),
            schema: Schema::default(),
            schema_choice: Choice::default(),
            warnings: Vec::new(),
            via: String::new(),
            metadata: Wanted::default(),
        }
    }
}

impl Builder<'_> {
    fn top(&mut self, place: Place<'_>, kustomization: &Fields) -> Accumulated {
        self.metadata = Wanted::of(&kustomization.build_metadata);
        self.choose_schema(place, kustomization.openapi.as_ref(), &[]);
        self.target(place, kustomization, Accumulated::default())
    }

    /// Reads the kustomization of a directory; `None`, and problems, where that is not possible.
    pub(crate) fn load(&mut self, dir: &str) -> Option<(String, Fields)> {
        self.built += 1;
        let limit = self.reader.limits.kustomizations;
        let read = if self.built > limit {
            let message = format!("more than {limit} kustomizations in one build");
            Err(vec![Problem::whole(dir, ProblemKind::Limit, message)])
        } else {
            self.read_kustomization(dir)
        };
        read.map_err(|problems| self.problems.extend(problems)).ok()
    }

    fn read_kustomization(&mut self, dir: &str) -> Result<(String, Fields), Vec<Problem>> {
        let file = self.kustomization_file(dir).map_err(|problem| vec![problem])?;
        // The reference reads this file as `kubectl apply` reads files: a plain `y` is no text.
        let document = self.one_document(&file, Words::Kubernetes)?;
        let Some(document) = document else {
            let message = "the kustomization is empty: it needs `resources` at least";
            return Err(vec![Problem::whole(&file, ProblemKind::Invalid, message)]);
        };
        let kustomization = kustomization::read(&file, &document.root)?;
        Ok((file, kustomization))
    }

    /// The document of a file that has one at most.
    pub(crate) fn one_document(
        &mut self,
        file: &str,
        words: Words,
    ) -> Result<Option<Document>, Vec<Problem>> {
        let text = self.reader.text(file).map_err(|problem| vec![problem])?;
        let mut documents = self.reader.parse_settings(file, &text, words)?.into_iter();
        let first = documents.next();
        if let Some((_, second)) = documents.next() {
            let at = read::position(&second.root);
            return Err(vec![Problem::at(file, at, ProblemKind::Invalid, "must be one document")]);
        }
        Ok(first.map(|(_, document)| document))
    }

    fn kustomization_file(&self, dir: &str) -> Result<String, Problem> {
        let mut found = Vec::new();
        for name in FILE_NAMES {
            let path = path::join(dir, name);
            if self.reader.entry(&path)? == Some(EntryKind::File) {
                found.push(path);
            }
        }
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => {
                let message = format!("has no kustomization: expected one of {}", FILE_NAMES.join(", "));
                Err(Problem::whole(dir, ProblemKind::Read, message))
            }
            _ => {
                let message = format!("has more than one kustomization: {}", found.join(", "));
                Err(Problem::whole(dir, ProblemKind::Duplicate, message))
            }
        }
    }

    /// Everything a kustomization says, done to `into`: nothing for a kustomization, what its parent has for a component.
    pub(crate) fn target(
        &mut self,
        place: Place<'_>,
        kustomization: &Fields,
        mut into: Accumulated,
    ) -> Accumulated {
        let found = self.problems.len();
        into.warnings.extend(warning::deprecated(place, kustomization));
        self.open.push(place.dir.to_owned());
        self.paths(place, Role::Resources, &kustomization.resources, &mut into);
        if self.problems.len() == found {
            self.configure(place, kustomization, &mut into);
            self.generate(place, kustomization, &mut into);
        }
        // Errors of fields must not hide those of the directories.
        self.paths(place, Role::Components, &kustomization.components, &mut into);
        if self.problems.len() == found {
            let config = into.config.clone().unwrap_or_else(Config::standard);
            self.transform(place, kustomization, &config, &mut into.items);
            into.warnings.append(&mut self.warnings);
            self.validate(place, kustomization, &mut into.items);
            self.variables(place, kustomization, &mut into);
        }
        self.open.pop();
        into
    }

    /// The path of a kustomization file from the directory that is built.
    pub(crate) fn own_file(&self, place: Place<'_>) -> String {
        history::join(&self.via, place.file.rsplit('/').next().unwrap_or(place.file))
    }

    /// Notes that a field of the kustomization has changed all objects.
    pub(crate) fn note(&self, place: Place<'_>, kind: &str, items: &mut [Item]) {
        if self.metadata.notes() {
            let note = By::field(kind).note(&self.own_file(place));
            items.iter_mut().for_each(|item| item.history.changed(&note));
        }
    }

    pub(crate) fn add_config(
        &mut self,
        place: Place<'_>,
        at: Position,
        config: &Arc<Config>,
        into: &mut Accumulated,
    ) {
        let merged = match &into.config {
            None => Ok(config.clone()),
            Some(own) => own.merge(config),
        };
        match merged {
            Ok(merged) => into.config = Some(merged),
            Err(conflict) => self.problems.push(conflict.problem(place.file, at)),
        }
    }

    /// `configurations` and `crds`.
    fn configure(&mut self, place: Place<'_>, kustomization: &Fields, into: &mut Accumulated) {
        let start = Position { line: 1, column: 1 };
        let mut own: Option<Arc<Config>> = None;
        for entry in &kustomization.configurations {
            let read = self.settings_file(place, entry).and_then(|(file, document)| {
                document.map_or_else(|| Ok(Config::default()), |it| config::read(&file, &it.root))
            });
            let merged = read.and_then(|config| match &own {
                None => Ok(Arc::new(config)),
                Some(own) => own
                    .merge(&Arc::new(config))
                    .map_err(|conflict| vec![conflict.problem(place.file, entry.at)]),
            });
            match merged {
                Ok(merged) => own = Some(merged),
                Err(problems) => self.problems.extend(problems),
            }
        }
        let standard = Config::standard();
        match own.map_or_else(|| Ok(standard.clone()), |own| standard.merge(&own)) {
            Ok(config) => self.add_config(place, start, &config, into),
            Err(conflict) => self.problems.push(conflict.problem(place.file, start)),
        }
        for entry in &kustomization.crds {
            let read = self.settings_file(place, entry).and_then(|(file, document)| {
                let value = document.map_or(serde_json::Value::Null, |it| it.root.to_json());
                config::read_crds(&value).map_err(|error| {
                    vec![match error {
                        config::CrdError::Conflict(conflict) => conflict.problem(&file, start),
                        config::CrdError::Other(why) => Problem::whole(&file, ProblemKind::Invalid, why),
                    }]
                })
            });
            match read {
                Ok(config) => self.add_config(place, entry.at, &Arc::new(config), into),
                Err(problems) => self.problems.extend(problems),
            }
        }
    }

    /// A file below the kustomization that holds settings, not objects.
    pub(crate) fn settings_file(
        &mut self,
        place: Place<'_>,
        entry: &Located<String>,
    ) -> Result<(String, Option<Document>), Vec<Problem>> {
        let path = generate::confined(&self.reader, place.dir, &entry.value)
            .map_err(|(kind, why)| vec![place.problem(entry.at, kind, format!("{}: {why}", entry.value))])?;
        let document = self.one_document(&path, Words::Kubernetes)?;
        Ok((path, document))
    }

    fn generate(&mut self, place: Place<'_>, kustomization: &Fields, into: &mut Accumulated) {
        let external = self.external_generators(place, &kustomization.generators);
        if kustomization.data.is_empty() && external.is_empty() {
            return;
        }
        let mut index = Index::of(&into.items);
        for generator in &kustomization.data {
            let by = match generator.kind {
                GeneratorKind::ConfigMap => By::field("ConfigMapGenerator"),
                GeneratorKind::Secret => By::field("SecretGenerator"),
            };
            let note = self.metadata.notes().then(|| by.note(&self.own_file(place)));
            self.generated(place, generator, note, &mut index, &mut into.items);
        }
        for External { file, made, note } in external {
            let place = Place { file: &file, ..place };
            match made {
                plugins::Brought::Data(it) => self.generated(place, &it, note, &mut index, &mut into.items),
                plugins::Brought::Object(object) => {
                    let at = Position { line: object.origin.line, column: 1 };
                    let item = Item::new(object, Default::default());
                    self.absorb(place, at, item, note, &mut index, &mut into.items);
                }
            }
        }
    }

    fn generated(
        &mut self,
        place: Place<'_>,
        generator: &Generator,
        note: Option<Arc<str>>,
        index: &mut Index,
        items: &mut Vec<Item>,
    ) {
        match generate::object(&mut self.reader, place, generator) {
            Ok(item) => self.absorb(place, generator.at, item, note, index, items),
            Err(problems) => self.problems.extend(problems),
        }
    }

    fn absorb(
        &mut self,
        place: Place<'_>,
        at: Position,
        mut item: Item,
        note: Option<Arc<str>>,
        index: &mut Index,
        items: &mut Vec<Item>,
    ) {
        if let Some(note) = note {
            item.history = History::made(note);
        }
        let id = item.resource.id();
        let (kind, message) = match index.absorb(items, item, place.dir) {
            Ok(()) => return,
            Err(AbsorbError::Nothing) => (
                ProblemKind::Invalid,
                format!("there is no {id}: with behavior merge or replace there must be one"),
            ),
            Err(AbsorbError::Exists { place }) => (
                ProblemKind::Duplicate,
                format!("{id} is already there, from {place}: say behavior: merge or behavior: replace"),
            ),
            Err(AbsorbError::Several) => (
                ProblemKind::Duplicate,
                format!("several objects are or were {id}: it is not clear which is meant"),
            ),
        };
        self.problems.push(place.problem(at, kind, message));
    }

    fn variables(&mut self, place: Place<'_>, kustomization: &Fields, into: &mut Accumulated) {
        let file: Arc<str> = place.file.into();
        for var in &kustomization.vars {
            let brought = Brought { var: var.clone(), file: file.clone() };
            let added = brought.mark(&mut into.items).and_then(|()| brought.join(&mut into.vars));
            if let Err(problem) = added {
                self.problems.push(problem);
            }
        }
    }
}

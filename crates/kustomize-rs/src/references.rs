//! References by name: what names an object that was renamed or moved names it by its new name. The reference asks every
//! object about every field and every target; here names are looked up in an index.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::config::{Config, NameReference};
use crate::error::Position;
use crate::field_path::Field;
use crate::item::{Item, effective_namespace};
use crate::marks::{Place, Step};
use crate::names::scalar_text;
use crate::{Problem, ProblemKind, labels, shared, value};

/// An object that was renamed or moved, as references see it.
struct Target {
    group: String,
    version: String,
    kind: String,
    name: String,
    /// As written; `""` where it has none.
    namespace: String,
    /// `None` for what lives outside namespaces.
    inside: Option<String>,
    /// The namespace it was in at first.
    first_inside: Option<String>,
    /// Names it had.
    names: Vec<String>,
    /// Kinds it had.
    kinds: Vec<String>,
    prefixes: Vec<Arc<str>>,
    suffixes: Vec<Arc<str>>,
}

/// Targets, and where to find them.
struct Targets {
    all: Vec<Target>,
    /// By each name that they had.
    by_name: HashMap<String, Vec<usize>>,
    /// Whether some name or namespace is text with quotes only.
    odd: bool,
    /// Where objects were at first and are now, whether they are targets or not.
    moves: HashSet<Moved>,
}

/// Where an object was at first, is now, and what it has written: all that decides where a reference with a namespace
/// looks.
#[derive(PartialEq, Eq, Hash)]
struct Moved {
    first: String,
    inside: String,
    written: String,
}

/// Who refers: what decides which of several targets is meant.
struct Referrer {
    /// `None` from outside namespaces: everything can be meant.
    inside: Option<String>,
    /// Other namespaces that the subjects of a role binding name.
    beside: Vec<String>,
    /// Group and kind of the role that a binding refers to.
    role: Option<(String, String)>,
    prefixes: Vec<Arc<str>>,
    suffixes: Vec<Arc<str>>,
}

/// Follows all references in all objects.
pub(crate) fn follow(items: &mut [Item], config: &Config) -> Vec<Problem> {
    let targets = Targets::of(items);
    let mut problems = Vec::new();
    // Also where nothing was renamed: a field that cannot hold a name is an error.
    let mut by_kind: HashMap<String, Vec<(&NameReference, &Field)>> = HashMap::new();
    for item in items {
        let kind = item.original_kind();
        if !by_kind.contains_key(kind) {
            by_kind.insert(kind.to_owned(), fields_of(kind, config));
        }
        let fields = &by_kind[kind];
        if fields.is_empty() {
            continue;
        }
        let (group, version, kind) = (item.resource.group(), item.resource.version(), kind.to_owned());
        let (group, version) = (group.to_owned(), version.to_owned());
        let referrer = Referrer::of(item);
        for (reference, field) in fields.iter().filter(|(_, it)| it.applies_to(&group, &version, &kind)) {
            let search = Search { targets: &targets, referrer: &referrer, reference, field };
            if let Err(why) = search.update(item) {
                let at = Position { line: item.resource.origin.line, column: 1 };
                let path = field.path.replace('/', ".");
                let message = format!("{}: {path}: {why}", item.resource.id());
                problems.push(Problem::at(&item.resource.origin.file, at, ProblemKind::Invalid, message));
            }
        }
    }
    problems
}

/// The fields of a kind that hold names, in the order in which they are updated.
fn fields_of<'c>(kind: &str, config: &'c Config) -> Vec<(&'c NameReference, &'c Field)> {
    let of = |reference: &'c NameReference| reference.fields.iter().map(move |field| (reference, field));
    let is = |field: &Field| field.kind.is_empty() || field.kind == kind;
    config.name_reference.iter().flat_map(of).filter(|(_, field)| is(field)).collect()
}

impl Targets {
    fn of(items: &[Item]) -> Self {
        let mut all = Vec::new();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let mut moves = HashSet::new();
        for item in items.iter().filter(|item| !item.resource.is_cluster_scoped()) {
            let inside = effective_namespace(&item.resource);
            let first = item.previous.first().map_or(inside, |first| &first.namespace);
            moves.insert(Moved {
                first: first.into(),
                inside: inside.into(),
                written: item.resource.namespace().unwrap_or_default().into(),
            });
        }
        for item in items.iter().filter(|item| !item.previous.is_empty()) {
            let resource = &item.resource;
            let scoped = !resource.is_cluster_scoped();
            let names: Vec<String> = item.previous.iter().map(|it| it.name.clone()).collect();
            for name in &names {
                let found = by_name.entry(name.clone()).or_default();
                if found.last() != Some(&all.len()) {
                    found.push(all.len());
                }
            }
            let first = item.previous.first().map(|it| it.namespace.clone());
            all.push(Target {
                group: resource.group().into(),
                version: resource.version().into(),
                kind: resource.kind().into(),
                name: resource.name().into(),
                namespace: resource.namespace().unwrap_or_default().into(),
                inside: scoped.then(|| effective_namespace(resource).to_owned()),
                first_inside: first.filter(|first| !first.is_empty()),
                names,
                kinds: item.previous.iter().map(|it| it.kind.clone()).collect(),
                prefixes: item.prefixes.clone(),
                suffixes: item.suffixes.clone(),
            });
        }
        let is_text = |text: &str| text.is_empty() || labels::is_text(text);
        let odd = all.iter().any(|it: &Target| !is_text(&it.name) || !is_text(&it.namespace));
        Self { all, by_name, odd, moves }
    }
}

impl Referrer {
    fn of(item: &Item) -> Self {
        let resource = &item.resource;
        let value = &resource.value;
        let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let mut beside = Vec::new();
        if resource.kind() == "RoleBinding"
            && let Some(Value::Array(subjects)) = value.get("subjects")
        {
            let accounts =
                subjects.iter().filter(|it| it.get("kind") == Some(&Value::from("ServiceAccount")));
            beside.extend(accounts.filter_map(|it| text(it, "namespace")));
        }
        let role = value.get("roleRef").and_then(|role| Some((text(role, "apiGroup")?, text(role, "kind")?)));
        Self {
            inside: (!resource.is_cluster_scoped()).then(|| effective_namespace(resource).to_owned()),
            beside,
            role,
            prefixes: item.prefixes.clone(),
            suffixes: item.suffixes.clone(),
        }
    }

    /// Whether it can name the target at all.
    fn reaches(&self, target: &Target) -> bool {
        self.reaches_into(target.inside.as_deref(), &target.namespace)
    }

    fn reaches_into(&self, inside: Option<&str>, written: &str) -> bool {
        match (self.inside.as_deref(), inside) {
            (None, _) | (_, None) => true,
            (Some(here), Some(there)) => here == there || self.beside.iter().any(|it| it == written),
        }
    }

    /// Whether the target is where the referrer is; accounts are named across namespaces.
    fn is_beside(&self, target: &Target) -> bool {
        match (&self.inside, &target.inside) {
            (None, _) | (_, None) => true,
            (Some(here), Some(there)) => target.kind == "ServiceAccount" || here == there,
        }
    }

    fn shares_affixes(&self, target: &Target, or_has_none: bool) -> bool {
        let same = |own: &[Arc<str>], others: &[Arc<str>]| {
            (or_has_none && (own.is_empty() || others.is_empty())) || same_ending(own, others)
        };
        same(&self.prefixes, &target.prefixes) && same(&self.suffixes, &target.suffixes)
    }
}

/// Whether the shorter is the end of the longer; nothing is the end of nothing only.
fn same_ending(a: &[Arc<str>], b: &[Arc<str>]) -> bool {
    let (shorter, longer) = if a.len() > b.len() { (b, a) } else { (a, b) };
    if shorter.is_empty() { longer.is_empty() } else { longer.ends_with(shorter) }
}

/// One field that may hold names of one kind of targets.
struct Search<'a> {
    targets: &'a Targets,
    referrer: &'a Referrer,
    reference: &'a NameReference,
    field: &'a Field,
}

impl Search<'_> {
    fn update(&self, item: &mut Item) -> Result<(), String> {
        // Objects that need no change stay shared with other builds.
        let mut needed = false;
        self.field.look(&item.resource.value, &mut |found| {
            needed |= self.is_needed(found)?;
            Ok(())
        })?;
        if !needed {
            return Ok(());
        }
        let before = self.targets.odd.then(|| item.resource.value.clone());
        self.field.visit(item.resource.value_mut(), None, &mut |found| self.set(found))?;
        if let Some(before) = before {
            for place in self.field.places(&before) {
                unquote(item, &before, place);
            }
        }
        Ok(())
    }

    fn is_needed(&self, found: &Value) -> Result<bool, String> {
        match found {
            Value::Array(items) => {
                let mut needed = false;
                for item in items {
                    needed |= match item {
                        Value::Array(_) => return Err("a list inside a list".into()),
                        item => self.is_needed(item)?,
                    };
                }
                Ok(needed)
            }
            Value::Null => Ok(false),
            Value::Object(map) => Ok(self.by_mapping(map)?.is_some()),
            scalar => Ok(self.by_name(scalar)?.is_some()),
        }
    }

    fn set(&self, found: &mut Value) -> Result<(), String> {
        match found {
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.set(item)),
            Value::Null => Ok(()),
            Value::Object(map) => {
                if let Some(target) = self.by_mapping(map)? {
                    map.insert("name".into(), Value::String(target.name.clone()));
                    if !target.namespace.is_empty() {
                        map.insert("namespace".into(), Value::String(target.namespace.clone()));
                    }
                }
                Ok(())
            }
            scalar => {
                if let Some(target) = self.by_name(scalar)? {
                    *scalar = Value::String(target.name.clone());
                }
                Ok(())
            }
        }
    }

    /// The target of a name, when it has another name now.
    fn by_name(&self, scalar: &Value) -> Result<Option<&Target>, String> {
        let name = scalar_text(scalar).unwrap_or_default();
        let found = self.find(&name, &|_| true, false)?;
        Ok(found.filter(|target| target.name != name))
    }

    /// The target of a mapping with a name and perhaps a namespace, when one of them is another now.
    fn by_mapping(&self, map: &Map<String, Value>) -> Result<Option<&Target>, String> {
        let name = map.get("name").ok_or("has no name")?;
        let name = scalar_text(name).ok_or("its name is not a single value")?;
        let found = match map.get("namespace").filter(|it| !it.is_null()).and_then(scalar_text) {
            None => self.find(&name, &|_| true, true)?,
            Some(namespace) => {
                let in_first = |target: &Target| target.first_inside.as_ref() == Some(&namespace);
                let in_now = |target: &Target| target.inside.as_ref() == Some(&namespace);
                // Any object that was there at first counts, also of other kinds and names.
                let was_there = |it: &Moved| {
                    it.first == namespace && self.referrer.reaches_into(Some(&it.inside), &it.written)
                };
                if self.targets.moves.iter().any(was_there) {
                    self.find(&name, &in_first, true)?
                } else {
                    self.find(&name, &in_now, true)?
                }
            }
        };
        Ok(found.filter(|target| target.name != name || !target.namespace.is_empty()))
    }

    /// The one target that is meant; `None` for none.
    fn find(
        &self,
        name: &str,
        among: &dyn Fn(&Target) -> bool,
        namespaces_count: bool,
    ) -> Result<Option<&Target>, String> {
        let Some(indices) = self.targets.by_name.get(name) else { return Ok(None) };
        let is_role = self.field.path.ends_with("roleRef/name");
        let mut found: Vec<&Target> = indices
            .iter()
            .map(|index| &self.targets.all[*index])
            .filter(|target| {
                let reference = self.reference;
                self.referrer.reaches(target)
                    && among(target)
                    && target.was(&reference.group, &reference.version, &reference.kind)
                    && (!is_role
                        || self
                            .referrer
                            .role
                            .as_ref()
                            .is_none_or(|(group, kind)| target.was(group, "", kind)))
                    && self.referrer.is_beside(target)
            })
            .collect();
        if found.len() == 1 {
            return Ok(found.pop());
        }
        found.retain(|target| self.referrer.shares_affixes(target, true));
        if found.len() > 1 {
            found.retain(|target| self.referrer.shares_affixes(target, false));
        }
        let same = |target: &&Target| {
            target.name == found[0].name && (!namespaces_count || target.namespace == found[0].namespace)
        };
        if found.iter().all(same) {
            return Ok(found.first().copied());
        }
        let names: Vec<String> = found
            .iter()
            .map(|target| format!("{} {}/{}", target.kind, target.namespace, target.name))
            .collect();
        Err(format!("{name} may mean any of {}: give them different names", names.join(", ")))
    }
}

/// Text that is a number without quotes, written over something that has none, is a number: the reference keeps the
/// writing of what was there.
fn unquote(item: &mut Item, before: &Value, place: Vec<Step>) {
    let below = |step: Step| place.iter().cloned().chain([step]).collect::<Vec<_>>();
    match shared::at(before, &place) {
        Some(Value::Array(items)) => {
            (0..items.len()).for_each(|index| unquote(item, before, below(Step::Index(index))));
        }
        Some(Value::Object(_)) => {
            for name in ["name", "namespace"] {
                unquote_one(item, before, &below(Step::Key(name.into())));
            }
        }
        _ => unquote_one(item, before, &place),
    }
}

fn unquote_one(item: &mut Item, before: &Value, place: &[Step]) {
    let (Some(old), Some(Value::String(new))) =
        (shared::at(before, place), shared::at(&item.resource.value, place))
    else {
        return;
    };
    let old_text = scalar_text(old).unwrap_or_default();
    let quoted = old.is_string() && item.marks.quoted.has(Place::of(before, place), &old_text);
    if old.as_str() == Some(new) || quoted || labels::is_text(new) {
        return;
    }
    let read = yaml_span::parse(new, yaml_span::Schema::Kustomize, &yaml_span::Limits::default());
    let plain = read.ok().and_then(|it| it.first().and_then(|it| value::json(&it.root).ok()));
    if let (Some(plain), Some(found)) = (plain, shared::at_mut(item.resource.value_mut(), place)) {
        *found = plain;
    }
}

impl Target {
    /// Whether it was of this kind at some time; `""` is any.
    fn was(&self, group: &str, version: &str, kind: &str) -> bool {
        debug_assert_eq!(self.names.len(), self.kinds.len());
        let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
        fits(group, &self.group) && fits(version, &self.version) && self.kinds.iter().any(|it| fits(kind, it))
    }
}

//! What is done once, when everything is put together: hashes, references, variables, order.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::accumulate::Accumulated;
use crate::config::Config;
use crate::error::Position;
use crate::history::{self, Wanted};
use crate::item::Item;
use crate::kustomization::Kustomization;
use crate::{Error, Problem, ProblemKind, ResMap, annotations, hash, order, references, shared, vars};

/// Marks an object that serves the build only and is not part of its result.
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";
/// Asks for a name with a hash.
const NEEDS_HASH: &str = "internal.config.kubernetes.io/needsHashSuffix";

/// Annotations by which the reference keeps its books. Here they mean nothing, and are not part of the result.
const BOOKKEEPING: &[&str] = &[
    NEEDS_HASH,
    "internal.config.kubernetes.io/previousKinds",
    "internal.config.kubernetes.io/previousNames",
    "internal.config.kubernetes.io/prefixes",
    "internal.config.kubernetes.io/suffixes",
    "internal.config.kubernetes.io/previousNamespaces",
    "internal.config.kubernetes.io/allowNameChange",
    "internal.config.kubernetes.io/allowKindChange",
    "internal.config.kubernetes.io/refBy",
    "internal.config.kubernetes.io/generatorBehavior",
    "internal.config.kubernetes.io/path",
    "internal.config.kubernetes.io/index",
    "internal.config.kubernetes.io/seqindent",
    "internal.config.kubernetes.io/id",
    "internal.config.kubernetes.io/annotations-migration-resource-id",
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    history::ORIGIN,
    history::CHANGES,
];

/// Makes the result of a build.
pub(crate) fn finish(accumulated: Accumulated, kustomization: &Kustomization) -> Result<ResMap, Error> {
    let Accumulated { mut items, config, vars, warnings } = accumulated;
    let config = config.unwrap_or_else(Config::standard);
    let mut problems = add_hashes(&mut items);
    problems.extend(references::follow(&mut items, &config));
    problems.extend(vars::resolve(&mut items, &vars, &config.var_reference));
    shared::settle(&mut items);
    items.retain(|item| annotation(item, LOCAL_CONFIG).is_none_or(|value| value == "false"));
    order::sort(&mut items, kustomization.sort_options.as_ref());
    items.iter_mut().for_each(clean);
    history::write(&mut items, Wanted::of(&kustomization.build_metadata));
    let resources = items.into_iter().map(|item| item.resource).collect();
    Error::unless(problems, ResMap::new(resources).with_warnings(warnings))
}

/// Ends the names of those that ask for it with the hash of their content.
pub(crate) fn add_hashes(items: &mut [Item]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for item in items {
        if !item.hashed && annotation(item, NEEDS_HASH) != Some("enabled") {
            continue;
        }
        let Some(hash) = hash::of(&item.resource) else {
            let origin = &item.resource.origin;
            let at = Position { line: origin.line, column: 1 };
            let message = format!("{NEEDS_HASH} is for ConfigMap and Secret, this is {}", item.resource.id());
            problems.push(Problem::at(&origin.file, at, ProblemKind::Unsupported, message));
            continue;
        };
        item.remember();
        let name = format!("{}-{hash}", item.resource.name());
        item.set_name(name);
    }
    problems
}

fn annotations_of(item: &Item) -> Option<&Map<String, Value>> {
    item.resource.value.get("metadata")?.get("annotations")?.as_object()
}

fn annotation<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    annotations_of(item)?.get(name)?.as_str()
}

/// Takes the books out, and whatever would not be printed as it stands.
fn clean(item: &mut Item) {
    let odd = |(key, value): (&String, &Value)| !value.is_string() || BOOKKEEPING.contains(&key.as_str());
    let metadata = item.resource.value.get("metadata").and_then(|it| it.get("annotations"));
    let needed = match metadata {
        None => false,
        Some(Value::Object(map)) => map.is_empty() || map.iter().any(odd),
        Some(_) => true,
    };
    if !needed {
        return;
    }
    let value = Arc::make_mut(&mut item.resource.value);
    if let Some(Value::Object(annotations)) =
        value.get_mut("metadata").and_then(|it| it.get_mut("annotations"))
    {
        annotations.retain(|key, _| !BOOKKEEPING.contains(&key.as_str()));
    }
    annotations::normalise(value, &item.marks);
}

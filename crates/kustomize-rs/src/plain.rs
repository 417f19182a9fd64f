//! A directory without a kustomization: every manifest below it, as it is.

use std::collections::HashMap;

use yaml_span::Schema;

use crate::read::{self, Reader};
use crate::{
    EntryKind, Error, Files, Options, Origin, Problem, ProblemKind, ResMap, Resource, ResourceId, path,
};

/// The workspace's own document, which is not a manifest.
const WORKSPACE_FILE: &str = "workspace.yaml";

/// Loads the manifests below `dir`.
pub(crate) fn load(files: &dyn Files, dir: &str, options: &Options) -> Result<ResMap, Error> {
    let mut problems = Vec::new();
    let mut paths = Vec::new();
    match files.entry(dir) {
        Ok(Some(EntryKind::Directory)) => {
            walk(files, dir, options.limits.directories, &mut paths, &mut problems)
        }
        Ok(found) => {
            let message = if found.is_none() { "no such directory" } else { "is a file, not a directory" };
            problems.push(Problem::whole(dir, ProblemKind::Read, message));
        }
        Err(error) => problems.push(Problem::whole(dir, ProblemKind::Read, error.to_string())),
    }
    let workspace = path::join(dir, WORKSPACE_FILE);
    paths.retain(|path| *path != workspace);
    paths.sort();

    let mut reader = Reader::new(files, &options.limits, Schema::Kubernetes);
    let mut resources = Vec::new();
    for path in paths {
        match reader
            .documents(&path)
            .and_then(|documents| read::objects(&path, &documents, Schema::Kubernetes))
        {
            Ok(objects) => resources.extend(objects.into_iter().map(|(object, _)| object)),
            Err(found) => problems.extend(found),
        }
        let limit = options.limits.resources;
        if resources.len() > limit {
            problems.push(Problem::whole(&path, ProblemKind::Limit, format!("more than {limit} objects")));
            break;
        }
    }
    problems.extend(duplicates(&resources));
    Error::unless(problems, ResMap::new(resources))
}

/// One problem for each object that is written a second time, at its place, naming the first.
pub(crate) fn duplicates(resources: &[Resource]) -> Vec<Problem> {
    let mut first: HashMap<ResourceId, &Origin> = HashMap::with_capacity(resources.len());
    let mut problems = Vec::new();
    for resource in resources {
        let id = resource.id();
        if let Some(first) = first.get(&id) {
            problems.push(duplicate(&id, first, &resource.origin));
        } else {
            first.insert(id, &resource.origin);
        }
    }
    problems
}

/// Two objects of one identity.
pub(crate) fn duplicate(id: &ResourceId, first: &Origin, second: &Origin) -> Problem {
    Problem {
        file: second.file.clone(),
        line: second.line,
        column: 1,
        kind: ProblemKind::Duplicate,
        message: format!("{id} is already written at {first}: remove one of them"),
    }
}

fn walk(files: &dyn Files, dir: &str, depth: usize, paths: &mut Vec<String>, problems: &mut Vec<Problem>) {
    if depth == 0 {
        problems.push(Problem::whole(
            dir,
            ProblemKind::Limit,
            "more directories inside each other than allowed",
        ));
        return;
    }
    let entries = match files.list(dir) {
        Ok(entries) => entries,
        Err(error) => return problems.push(Problem::whole(dir, ProblemKind::Read, error.to_string())),
    };
    for entry in entries {
        let path = path::join(dir, &entry.name);
        match entry.kind {
            EntryKind::Directory => walk(files, &path, depth - 1, paths, problems),
            EntryKind::File if is_manifest(&entry.name) => paths.push(path),
            EntryKind::File => {}
        }
    }
}

fn is_manifest(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

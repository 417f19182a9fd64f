//! `kubectl kcp render`: a folder as `kubectl kustomize` prints it, or a workspace as a cluster gets it. The values of
//! Secrets that would go to a cluster are masked unless they are asked for.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kcp_core::config::Config;
use kcp_core::render::{self, Rendered};
use kcp_core::{applyset, scopes};
use kcp_git::WorkTree;
use kustomize_rs::{Options, ProblemKind, ResMap, build, is_kustomization, load_plain, to_yaml};
use serde_json::Value;

use super::Context;
use crate::error::{CommandError, Exit, Outcome, findings};
use crate::members::known;
use crate::recorded::Recorded;
use crate::repo::FleetRepo;

/// What stands for a value of a Secret.
const MASK: &str = "(secret)";

/// Print the objects of a folder, or of a workspace as a cluster gets it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp render ./workspaces/shop/overlays/prod
  kubectl kcp render shop --cluster eu-1")]
pub(crate) struct RenderArgs {
    /// A folder, or the name of a workspace; default: the current folder
    #[arg(value_name = "DIR|WORKSPACE")]
    what: Option<PathBuf>,
    /// The workspace as this cluster gets it
    #[arg(long, requires = "what")]
    cluster: Option<String>,
    /// Print the values of Secrets of a workspace
    #[arg(long)]
    show_secrets: bool,
    /// How it is shown
    #[arg(short, long, value_enum, default_value = "yaml")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// YAML documents
    Yaml,
    /// A JSON list
    Json,
}

pub(crate) fn run(context: &Context, args: &RenderArgs) -> Outcome {
    let what = args.what.as_deref().unwrap_or(Path::new("."));
    let name = what.to_str().filter(|text| !text.starts_with('.') && !text.contains(['/', '\\']));
    if let (None, Some(_)) = (name, &args.cluster) {
        return Err(
            CommandError::usage("--cluster is for workspaces").hint("name the workspace instead of a folder")
        );
    }
    // A name is first that of a workspace; a folder of the same name is meant by ./NAME.
    if let Some(name) = name {
        let fleet = context.fleet();
        let config = fleet.as_ref().ok().map(FleetRepo::config);
        match (fleet, config) {
            (Ok(fleet), Some(Ok(config))) if config.workspaces.contains_key(name) => {
                return workspace(context, args, &fleet, &config, name);
            }
            (_, Some(Ok(config))) if !what.is_dir() || args.cluster.is_some() => {
                return Err(CommandError::unknown(
                    "workspace or folder",
                    name,
                    config.workspaces.keys().map(String::as_str),
                ));
            }
            (Err(error), _) if !what.is_dir() => return Err(error),
            (_, Some(Err(error))) if !what.is_dir() => return Err(error),
            _ => {}
        }
    }
    folder(context, args, what)
}

/// As kubectl prints it.
fn folder(context: &Context, args: &RenderArgs, dir: &Path) -> Outcome {
    if !dir.is_dir() {
        return Err(CommandError::failure(format!("{}: there is no such folder", dir.display())));
    }
    let built = objects(dir)?;
    match args.output {
        Output::Yaml => context.ui.data(&to_yaml(&built)),
        Output::Json => return context.ui.json(&built.iter().map(|it| &it.value).collect::<Vec<_>>()),
    }
    Ok(Exit::Yes)
}

/// The objects of a folder. What it refers to may be anywhere in its repo; outside of one, anywhere that its own `..` lead to.
fn objects(dir: &Path) -> Result<ResMap, CommandError> {
    let problems = |error: kustomize_rs::Error| {
        CommandError::failure(format!("{}: cannot be rendered", dir.display())).details(error.problems)
    };
    let inside = FleetRepo::find(Some(dir)).ok().and_then(|fleet| {
        let below = fleet.relative(dir)?;
        Some((fleet.files().ok()?, below))
    });
    if let Some((files, below)) = inside {
        return rendered(&files, &below).map_err(problems);
    }
    let (mut files, mut below) = (WorkTree::open(dir)?, String::new());
    let first = match rendered(&files, &below) {
        Ok(built) => return Ok(built),
        Err(error) => error,
    };
    // The root grows by one folder at a time, so that no symlink leads further than the kustomizations do.
    let leads_out =
        |error: &kustomize_rs::Error| error.problems.iter().any(|it| it.kind == ProblemKind::Outside);
    let mut last = first.clone();
    while leads_out(&last) {
        let root = files.root();
        let (Some(name), Some(parent)) = (root.file_name().and_then(|it| it.to_str()), root.parent()) else {
            break;
        };
        if parent.parent().is_none() {
            break;
        }
        below = if below.is_empty() { name.to_owned() } else { format!("{name}/{below}") };
        files = WorkTree::open(parent)?;
        last = match rendered(&files, &below) {
            Ok(built) => return Ok(built),
            Err(error) => error,
        };
    }
    // With every folder that may be seen, the first says it in the fewest words.
    Err(problems(if leads_out(&last) { first } else { last }))
}

fn rendered(files: &WorkTree, below: &str) -> Result<ResMap, kustomize_rs::Error> {
    let options = Options::default();
    if is_kustomization(files, below)? {
        build(files, below, &options)
    } else {
        load_plain(files, below, &options)
    }
}

fn workspace(
    context: &Context,
    args: &RenderArgs,
    fleet: &FleetRepo,
    config: &Config,
    name: &str,
) -> Outcome {
    let files = fleet.files()?;
    let rendered =
        render::render(&files, config, name).map_err(|found| findings("the manifests have", &found))?;
    let mut bodies = match &args.cluster {
        Some(cluster) => for_cluster(context, fleet, config, &rendered, name, cluster)?,
        None => {
            let mut variants = rendered.variants.values();
            match (variants.next(), variants.next()) {
                (Some(only), None) => only.objects.iter().map(|it| (*it.body).clone()).collect(),
                _ => {
                    let names: Vec<&str> = rendered.variants.keys().map(String::as_str).collect();
                    let message = format!("{name} has more than one variant: {}", names.join(", "));
                    return Err(
                        CommandError::usage(message).hint("--cluster NAME shows what that cluster gets")
                    );
                }
            }
        }
    };
    // Every one is masked, so all are counted.
    if !args.show_secrets && bodies.iter_mut().filter_map(|body| mask(body).then_some(())).count() > 0 {
        context.ui.note("values of Secrets are masked; --show-secrets prints them");
    }
    if args.output == Output::Json {
        return context.ui.json(&bodies);
    }
    let documents: Vec<String> = bodies.iter().map(yaml_span::emit).collect();
    context.ui.data(&documents.join("---\n"));
    Ok(Exit::Yes)
}

fn for_cluster(
    context: &Context,
    fleet: &FleetRepo,
    config: &Config,
    rendered: &Rendered,
    name: &str,
    cluster: &str,
) -> Result<Vec<Value>, CommandError> {
    let document = known("cluster", cluster, &config.clusters)?;
    let workspace = known("workspace", name, &config.workspaces)?;
    let variant = rendered.for_cluster(&document.value.metadata.labels).ok_or_else(|| {
        CommandError::failure(format!("{name} has no variant for {cluster}"))
            .hint(format!("no clusterSelector of {}/workspace.yaml fits its labels", workspace.dir))
    })?;
    let spec = &config.fleet.value.spec;
    let recorded = Recorded::read(&fleet.repo, &spec.status, Some(&spec.id), None)?;
    let api = recorded.record.clusters.get(cluster).map(|it| &it.view.api);
    let known_scopes = |kind: &kcp_core::object::GroupKind| {
        let seen = api.and_then(|api| api.kind(kind)).map(|facts| facts.namespaced);
        seen.or_else(|| scopes::built_in(kind))
    };
    let placement = config.placement_of(name);
    let (placement_name, policy) = placement
        .map_or(("", "default"), |it| (it.value.metadata.name.as_str(), it.value.spec.policy_name.as_str()));
    let part_of = applyset::set_id(&spec.id, name);
    let bundle = render::bundle(
        variant,
        workspace,
        placement_name,
        config.policy(policy),
        &known_scopes,
        &part_of,
        "(working tree)",
    );
    for problem in &bundle.problems {
        let place = problem.origin.as_ref().map(|origin| format!("{origin}: ")).unwrap_or_default();
        context.ui.note(format!("left out: {place}{}", problem.message));
    }
    Ok(bundle.objects.iter().map(|object| (*object.body).clone()).collect())
}

/// Masks the values of a Secret; says whether there were any.
fn mask(object: &mut Value) -> bool {
    let is = |field: &str, value: &str| object.get(field).and_then(Value::as_str) == Some(value);
    if !is("kind", "Secret") || !is("apiVersion", "v1") {
        return false;
    }
    let mut masked = false;
    for field in ["data", "stringData"] {
        for value in
            object.get_mut(field).and_then(Value::as_object_mut).into_iter().flat_map(|it| it.values_mut())
        {
            *value = MASK.into();
            masked = true;
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_secrets_and_of_nothing_else_are_masked() {
        let mut secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "cGFzcw=="}, "stringData": {"b": "pass"}});
        assert!(mask(&mut secret));
        assert!(!secret.to_string().contains("pass") && !secret.to_string().contains("cGFzcw"));
        let mut other = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}});
        assert!(!mask(&mut other));
        assert_eq!(other["data"]["a"], "b");
    }

    #[test]
    fn outside_of_a_repo_a_base_beside_the_folder_is_found() {
        let root = std::env::temp_dir().join(format!("kcp-render-{}", std::process::id()));
        for (path, text) in [
            ("base/kustomization.yaml", "resources: [cm.yaml]\n"),
            ("base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"),
            ("overlays/prod/kustomization.yaml", "namePrefix: prod-\nresources: [../../base]\n"),
            ("overlays/wrong/kustomization.yaml", "resources: [../../base/cm.yaml]\n"),
        ] {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let built = objects(&root.join("overlays/prod")).map(|built| to_yaml(&built));
        let wrong = objects(&root.join("overlays/wrong"));
        std::fs::remove_dir_all(&root).expect("removed");
        assert!(built.is_ok_and(|text| text.contains("name: prod-web")));
        assert!(wrong.is_err(), "a file beside it is no base");
    }
}

//! `kubectl kcp init`: makes a repo a fleet, by one file.

use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use clap::Args;
use kcp_core::config::{self, FLEET_FILE};
use kcp_git::{Edits, GitCommand, Repo, WorkTree};
use kustomize_rs::MemoryFiles;

use super::Context;
use crate::diff;
use crate::edit::{DryRun, Edit, EditArgs, apply};
use crate::error::{CommandError, Exit, Outcome, findings};
use crate::repo::{FleetRepo, unusable};

/// Make a repo a fleet: writes kcp.yaml, in a new repo where there is none
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp init
  kubectl kcp init --name acme ./fleet")]
pub(crate) struct InitArgs {
    /// Folder of the repo; default: the repo that the current folder is in, or else the current folder
    dir: Option<PathBuf>,
    /// Name of the fleet; default: the name of the folder
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    edit: EditArgs,
}

pub(crate) async fn run(context: &Context, args: InitArgs) -> Outcome {
    args.edit.check()?;
    let dir = args.dir.as_deref().or(context.repo.as_deref());
    let found = Repo::discover(dir.unwrap_or(Path::new("."))).ok().filter(|_| dir.is_none_or(Path::is_dir));
    if let (Some(dir), Some(repo)) = (dir, &found)
        && let (Ok(wanted), Some(Ok(top))) = (dir.canonicalize(), repo.root().map(Path::canonicalize))
        && wanted != top
    {
        let message = format!("{} is inside the repo {}", dir.display(), top.display());
        return Err(CommandError::failure(message)
            .hint("a fleet is a whole repo: name its top, or a folder in no repo"));
    }
    if let Some(repo) = &found
        && let Some(exit) = is_fleet_already(context, repo)?
    {
        return Ok(exit);
    }
    let top = match &found {
        Some(repo) => repo.root().map(Path::to_owned),
        None => Some(dir.map_or_else(|| PathBuf::from("."), Path::to_owned)),
    };
    let top =
        top.ok_or_else(|| CommandError::failure("the repo is bare: make a clone a fleet, and push it"))?;
    let name = match args.name {
        Some(name) => name,
        None => default_name(&std::path::absolute(&top).unwrap_or(top.clone())),
    };
    let content = fleet_file(&name, &new_id());
    // Before a repo is made for it: a name that cannot be one leaves nothing behind.
    let alone: MemoryFiles = [(FLEET_FILE, &content)].into_iter().collect();
    config::load(&alone).map_err(|found| findings("not done: kcp.yaml would have", &found))?;
    if found.is_none() && args.edit.dry_run != DryRun::None {
        context.ui.data(&diff::unified(FLEET_FILE, None, Some(&content)));
        return Ok(Exit::Yes);
    }
    let repo = match found {
        Some(repo) => repo,
        None => GitCommand::new().init(&top).await?,
    };
    let edit = Edit {
        files: Edits::from([(FLEET_FILE.to_owned(), Some(content))]),
        subject: format!("make this repo the fleet {name}"),
        unchanged: String::new(),
        next: vec!["add a cluster: kubectl kcp cluster add NAME --context CONTEXT --open".into()],
    };
    apply(context, &FleetRepo { repo }, &args.edit, edit).await
}

/// Says so and changes nothing, if there is a kcp.yaml.
fn is_fleet_already(context: &Context, repo: &Repo) -> Result<Option<Exit>, CommandError> {
    let Some(root) = repo.root() else { return Ok(None) };
    if !root.join(FLEET_FILE).exists() {
        return Ok(None);
    }
    let config = config::load(&WorkTree::of(repo)?).map_err(|found| unusable(&found))?;
    let fleet = &config.fleet.value;
    context.ui.line(format!("this repo is the fleet {} already (id {})", fleet.metadata.name, fleet.spec.id));
    Ok(Some(Exit::Yes))
}

/// The name of a folder as a DNS label.
fn default_name(dir: &Path) -> String {
    let folder = dir.components().next_back().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    let plain = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' };
    let name: String = folder.unwrap_or_default().chars().map(plain).take(63).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "fleet".into() } else { name.into() }
}

/// Eight random hexadecimal digits, of which the first is a letter: no YAML reader takes that for a number.
fn new_id() -> String {
    // The standard library seeds this from the system's random numbers.
    let random = std::hash::RandomState::new().build_hasher().finish();
    let first = ['a', 'b', 'c', 'd', 'e', 'f'][usize::try_from(random >> 32).unwrap_or_default() % 6];
    format!("{first}{:07x}", random & 0x0fff_ffff)
}

fn fleet_file(name: &str, id: &str) -> Vec<u8> {
    let name = yaml_span::emit_key(name);
    let api_version = kcp_api::API_VERSION;
    format!(
        "\
# The fleet: all clusters that this repo describes. Every file here may be edited by hand, too.
apiVersion: {api_version}
kind: Fleet
metadata:
  name: {name}
spec:
  # Part of every ownership mark on the clusters: never change it.
  id: {id}
  # How often the reconciler looks for new commits; a change of a local repo is seen at once.
  interval: 30s
  # Decisions, facts and status are recorded on a branch of their own.
  status:
    branch: kcp/status
"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_of_any_folder_and_ids_are_words() {
        assert_eq!(default_name(Path::new("/srv/My Fleet_2")), "my-fleet-2");
        assert_eq!(default_name(Path::new("/")), "fleet");
        let id = new_id();
        assert!(id.len() == 8 && id.starts_with(|c: char| c.is_ascii_lowercase()), "{id}");
        assert_ne!(id, new_id());
    }
}

//! The one user of git: snapshots of a fleet repo, the branch that is followed, the status branch, and the commits of
//! the editing verbs.
//!
//! Reading goes straight to the object database; fetching and pushing go through the `git` program. This crate must
//! never check anything out, run a hook while following a repo, or know what a file means. It prints nothing, and no
//! credential is in its errors.

mod branch;
mod commit;
mod error;
mod git_command;
mod id;
mod mirror;
mod process;
mod repo;
mod resolve;
mod snapshot;
mod source;
mod status;
mod transport;
mod url;
mod watch;
mod worktree;

#[cfg(test)]
mod tests;

pub use branch::{Author, Edits, ExpectedTip, Written};
pub use commit::{CommitError, Dirt, Dirty};
pub use error::GitError;
pub use git_command::GitCommand;
pub use id::{CommitId, NotACommitId};
pub use repo::{Relation, Repo};
pub use snapshot::{DEFAULT_MAX_FILE, Snapshot};
pub use source::{Change, Head, Source, SourceError, SourceSpec};
pub use status::{DEFAULT_MAX_COMMITS, DEFAULT_STATUS_BRANCH, MAX_STATUS_FILE, Pulled, StatusBranch};
pub use transport::{
    FetchRequest, PushRequest, Pushed, RefUpdate, Transfer, Transport, TransportError, Want,
};
pub use url::{RemoteUrl, Scheme, UrlError};
pub use watch::{BranchWatch, watch_local};
pub use worktree::WorkTree;

//! Writing a branch without a work tree: objects, then one compare-and-swap of the ref. Must never write a branch
//! that a person has checked out, and never write when nothing changed.

use std::collections::BTreeMap;
use std::fs;

use git2::{ErrorCode, ObjectType, Oid};

use crate::repo::branch_ref;
use crate::{CommitId, GitError, Repo};

/// What to write: path to new content, or `None` to remove it. Removing what is not there is no change.
pub type Edits = BTreeMap<String, Option<Vec<u8>>>;

const MAX_PATH: usize = 4096;
const MAX_DEPTH: usize = 64;

/// Who writes, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Shown in the log.
    pub name: String,
    /// Shown in the log; need not exist.
    pub email: String,
    /// Seconds since 1970, in UTC.
    pub time: i64,
}

/// Where the branch must be for a write to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedTip {
    /// Wherever it is now; made if it is not there.
    Any,
    /// Not there yet.
    Absent,
    /// At this commit.
    At(CommitId),
}

/// What came of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// A new commit; the branch is at it.
    Commit(CommitId),
    /// The branch has that content already; it is at this commit, or not there at all where nothing was to be written.
    Unchanged(Option<CommitId>),
    /// The branch is not where it was expected; nothing was changed. It is here.
    Moved(Option<CommitId>),
}

/// How a new commit stands to the tip.
pub(crate) enum Parent {
    /// On top of it.
    Tip,
    /// In its place: a new history.
    Nothing,
}

impl Repo {
    /// Commits edits on top of a branch, without a work tree.
    ///
    /// # Errors
    /// A bad branch name or path, a branch that is checked out, the disk. Nothing was changed then.
    pub fn write_branch(
        &self,
        branch: &str,
        edits: &Edits,
        message: &str,
        author: &Author,
        expected: ExpectedTip,
    ) -> Result<Written, GitError> {
        self.write_with(branch, Base::Tip, edits, author, expected, |_| Ok((Parent::Tip, message.to_owned())))
    }

    /// Moves a branch to a commit that is there already.
    pub(crate) fn move_branch(
        &self,
        branch: &str,
        old: Option<CommitId>,
        new: CommitId,
    ) -> Result<(), GitError> {
        let name = branch_ref(branch)?;
        let repo = self.lock();
        if is_checked_out(&repo, &name)? {
            return Err(GitError::CheckedOut { branch: branch.into() });
        }
        match swap(&repo, &name, old, new.0, branch)? {
            Written::Moved(_) => Err(GitError::Git {
                what: format!("move branch {branch}"),
                message: "somebody else wrote it at the same time; try again".into(),
            }),
            _ => Ok(()),
        }
    }

    /// As `write_branch`; `message` gets the tip and says how the new commit stands to it.
    pub(crate) fn write_with(
        &self,
        branch: &str,
        base: Base,
        edits: &Edits,
        author: &Author,
        expected: ExpectedTip,
        message: impl FnOnce(Option<&git2::Commit<'_>>) -> Result<(Parent, String), GitError>,
    ) -> Result<Written, GitError> {
        let name = branch_ref(branch)?;
        let edits = Node::from_edits(edits)?;
        let found = self.branch_tip(branch)?;
        match expected {
            ExpectedTip::Any => {}
            ExpectedTip::Absent if found.is_none() => {}
            ExpectedTip::At(commit) if found == Some(commit) => {}
            ExpectedTip::Absent | ExpectedTip::At(_) => return Ok(Written::Moved(found)),
        }
        let repo = self.lock();
        if is_checked_out(&repo, &name)? {
            return Err(GitError::CheckedOut { branch: branch.into() });
        }
        let during = |what: &str| GitError::during(format!("{what} branch {branch}"));
        let tip = match found {
            Some(id) => Some(repo.find_commit(id.0).map_err(during("read the tip of"))?),
            None => None,
        };
        let old_tree = match &tip {
            Some(commit) => Some(commit.tree().map_err(during("read the files of"))?),
            None => None,
        };
        let from = match base {
            Base::Tip => old_tree.as_ref().map(git2::Tree::id),
            Base::Nothing => None,
        };
        let tree = match edits.write(&repo, from)? {
            Some(tree) => tree,
            None => repo.treebuilder(None).and_then(|b| b.write()).map_err(during("write"))?,
        };
        let unchanged = match &old_tree {
            Some(old) => old.id() == tree,
            None => edits.is_nothing(),
        };
        if unchanged {
            return Ok(Written::Unchanged(found));
        }
        let (parent, message) = message(tip.as_ref())?;
        let parents: Vec<&git2::Commit<'_>> = match parent {
            Parent::Tip => tip.iter().collect(),
            Parent::Nothing => Vec::new(),
        };
        let time = git2::Time::new(author.time, 0);
        let who =
            git2::Signature::new(&author.name, &author.email, &time).map_err(during("name the author of"))?;
        let tree = repo.find_tree(tree).map_err(during("write"))?;
        let new = repo.commit(None, &who, &who, &message, &tree, &parents).map_err(during("commit to"))?;
        swap(&repo, &name, found, new, branch)
    }
}

/// What edits start from.
pub(crate) enum Base {
    /// The files of the tip.
    Tip,
    /// No files: what is not in the edits is gone.
    Nothing,
}

/// Moves the ref if it is still where it was.
fn swap(
    repo: &git2::Repository,
    name: &str,
    old: Option<CommitId>,
    new: Oid,
    branch: &str,
) -> Result<Written, GitError> {
    let done = match old {
        Some(old) => repo.reference_matching(name, new, true, old.0, "kcp: write"),
        None => repo.reference(name, new, false, "kcp: write"),
    };
    match done {
        Ok(_) => Ok(Written::Commit(CommitId(new))),
        Err(e) if matches!(e.code(), ErrorCode::Modified | ErrorCode::Exists | ErrorCode::NotFound) => {
            let now = repo.refname_to_id(name).ok().map(CommitId);
            Ok(Written::Moved(now))
        }
        Err(e) => Err(GitError::during(format!("move branch {branch}"))(e)),
    }
}

fn is_checked_out(repo: &git2::Repository, name: &str) -> Result<bool, GitError> {
    let mut heads = Vec::new();
    if !repo.is_bare() {
        heads.push(repo.path().join("HEAD"));
    }
    if repo.is_worktree() {
        heads.push(repo.commondir().join("HEAD"));
    }
    // In a bare repo HEAD names a branch, but nothing is checked out of it; linked work trees may be.
    match fs::read_dir(repo.commondir().join("worktrees")) {
        Ok(trees) => heads.extend(trees.flatten().map(|tree| tree.path().join("HEAD"))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(GitError::io(repo.commondir(), "list the work trees")(e)),
    }
    for head in heads {
        match fs::read_to_string(&head) {
            // A branch without commits is checked out, too.
            Ok(text) if text.trim().strip_prefix("ref:").map(str::trim) == Some(name) => return Ok(true),
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(GitError::io(&head, "read what is checked out")(e)),
        }
    }
    Ok(false)
}

/// Edits as a tree of names.
enum Node<'a> {
    Write(&'a [u8]),
    Remove,
    /// Edits below; `true` where the name itself is to be removed first.
    Dir(BTreeMap<&'a str, Node<'a>>, bool),
}

impl<'a> Node<'a> {
    fn from_edits(edits: &'a Edits) -> Result<Self, GitError> {
        let mut root = Node::Dir(BTreeMap::new(), false);
        for (path, content) in edits {
            let refuse = |why| GitError::InvalidPath { path: path.clone(), why };
            check_path(path).map_err(refuse)?;
            let mut at = &mut root;
            for name in path.split('/') {
                if matches!(at, Node::Remove) {
                    *at = Node::Dir(BTreeMap::new(), true);
                }
                let Node::Dir(below, _) = at else {
                    return Err(refuse("another edit makes a file of its folder"));
                };
                at = below.entry(name).or_insert_with(|| Node::Dir(BTreeMap::new(), false));
            }
            // Sorted by path, a folder's name comes before what is in it: nothing is here yet.
            *at = match content {
                Some(bytes) => Node::Write(bytes),
                None => Node::Remove,
            };
        }
        Ok(root)
    }

    fn is_nothing(&self) -> bool {
        match self {
            Node::Write(_) => false,
            Node::Remove => true,
            Node::Dir(below, _) => below.values().all(Node::is_nothing),
        }
    }

    /// The tree that these edits make of `base`; `None` where nothing is left of it. As deep as the paths, which are
    /// bounded.
    fn write(&self, repo: &git2::Repository, base: Option<Oid>) -> Result<Option<Oid>, GitError> {
        let Node::Dir(below, fresh) = self else { return Ok(base) };
        let during = || GitError::during("write a folder of the branch");
        let base = match base.filter(|_| !fresh) {
            Some(id) => Some(repo.find_tree(id).map_err(during())?),
            None => None,
        };
        let mut builder = repo.treebuilder(base.as_ref()).map_err(during())?;
        for (name, node) in below {
            let there = base.as_ref().and_then(|tree| tree.get_name_bytes(name.as_bytes()));
            match node {
                Node::Write(bytes) => {
                    let blob = repo.blob(bytes).map_err(during())?;
                    let mode = match &there {
                        Some(entry) if entry.filemode() == 0o100_755 => 0o100_755,
                        _ => 0o100_644,
                    };
                    if there.as_ref().is_some_and(|entry| entry.kind() == Some(ObjectType::Tree)) {
                        return Err(GitError::InvalidPath {
                            path: (*name).into(),
                            why: "a folder has that name",
                        });
                    }
                    builder.insert(*name, blob, mode).map_err(during())?;
                }
                Node::Remove => {
                    if there.is_some() {
                        builder.remove(*name).map_err(during())?;
                    }
                }
                Node::Dir(_, fresh) => {
                    let base = match &there {
                        None => None,
                        Some(entry) if entry.kind() == Some(ObjectType::Tree) => Some(entry.id()),
                        Some(_) if *fresh => None,
                        // Below a file is nothing to remove.
                        Some(_) if node.is_nothing() => continue,
                        Some(_) => {
                            return Err(GitError::InvalidPath {
                                path: (*name).into(),
                                why: "a file has that name",
                            });
                        }
                    };
                    match node.write(repo, base)? {
                        Some(tree) => {
                            builder.insert(*name, tree, 0o040_000).map_err(during())?;
                        }
                        // Git keeps no empty folders.
                        None if there.is_some() => builder.remove(*name).map_err(during())?,
                        None => {}
                    }
                }
            }
        }
        if builder.is_empty() {
            return Ok(None);
        }
        builder.write().map(Some).map_err(during())
    }
}

/// Whether a path may be written to a repo: plain, relative, and safe to check out on any system.
pub(crate) fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() || path.len() > MAX_PATH {
        return Err("it is empty or too long");
    }
    if path.split('/').count() > MAX_DEPTH {
        return Err("it is nested too deeply");
    }
    for name in path.split('/') {
        if matches!(name, "" | "." | "..") {
            return Err("it must be relative, without empty names, `.` and `..`");
        }
        if name.chars().any(|c| c.is_control() || c == '\\') {
            return Err("it holds a backslash or a control character");
        }
        if name.trim_end_matches(['.', ' ']).eq_ignore_ascii_case(".git")
            || name.eq_ignore_ascii_case("git~1")
        {
            return Err("it names git's own folder");
        }
    }
    Ok(())
}

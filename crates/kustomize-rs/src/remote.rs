//! Addresses of other repositories, and the one way to what is there: a [`Fetcher`] that the caller brings. Nothing here
//! reaches for a network; without a fetcher an address is an error.

use std::fmt;
use std::sync::Arc;

use crate::Files;

/// A directory of another repository, as an entry of `resources` or `components` names it:
/// `https://host.example/org/repo//dir?ref=v1`.
///
/// It holds no credentials: an address with a password, or any user over HTTP, is refused, since a [`Fetcher`] has its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Remote {
    /// `https`, `http` or `ssh`, in small letters.
    pub scheme: String,
    /// The user of an SSH address; usually `git`.
    pub user: Option<String>,
    /// The host, in small letters, with its port if one is written. Compare the whole of it with what is allowed.
    pub host: String,
    /// The path of the repository on the host, without a slash at its start: `org/repo` or `org/repo.git`.
    pub repo: String,
    /// The directory within the repository, without `..`; `""` is its root.
    pub path: String,
    /// Branch, tag or commit (`ref`, or else `version`); `None` is what the repository takes for its default.
    pub reference: Option<String>,
}

/// What a [`Fetcher`] found at an address.
#[derive(Clone)]
pub struct Fetched {
    /// The tree of the repository. The build of the directory sees nothing else, as it sees nothing but its own tree before.
    pub files: Arc<dyn Files>,
    /// The directory in that tree that holds the kustomization; usually [`Remote::path`].
    pub dir: String,
    /// A name for the content, such as the commit: equal ids mean equal content. A [`crate::Cache`] tells results apart by it.
    pub id: String,
}

impl fmt::Debug for Fetched {
    /// Without the files: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched").field("dir", &self.dir).field("id", &self.id).finish_non_exhaustive()
    }
}

/// Brings what addresses name, from the hosts that the caller allows.
///
/// A build with a [`crate::Cache`] asks again for each address, to learn whether the content is still the same: keep what
/// was fetched, or resolve `ref` once. Within one build an address should always give the same.
///
/// ```
/// use std::sync::Arc;
/// use kustomize_rs::{Fetched, Fetcher, MemoryFiles, Options, Remote, build};
///
/// #[derive(Debug)]
/// struct Ours;
///
/// impl Fetcher for Ours {
///     fn fetch(&self, remote: &Remote) -> Result<Fetched, String> {
///         if remote.host != "git.example" {
///             return Err("only git.example is allowed".into());
///         }
///         let files: MemoryFiles = [
///             ("base/kustomization.yaml", "resources: [cm.yaml]\n"),
///             ("base/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"),
///         ]
///         .into_iter()
///         .collect();
///         Ok(Fetched { files: Arc::new(files), dir: remote.path.clone(), id: "1f0c".into() })
///     }
/// }
///
/// let files: MemoryFiles =
///     [("kustomization.yaml", "resources: ['https://git.example/org/repo//base?ref=v1']\n")].into_iter().collect();
/// let options = Options { fetcher: Some(Arc::new(Ours)), ..Options::default() };
/// assert_eq!(build(&files, "", &options)?.len(), 1);
/// assert!(build(&files, "", &Options::default()).is_err());
/// # Ok::<(), kustomize_rs::Error>(())
/// ```
pub trait Fetcher: Send + Sync + fmt::Debug {
    /// The tree at an address.
    ///
    /// # Errors
    /// Why not, for the person who wrote the address: the host is not allowed, there is no such branch. It must name no
    /// credentials.
    fn fetch(&self, remote: &Remote) -> Result<Fetched, String>;
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.clone_url())?;
        if !self.path.is_empty() {
            write!(f, "//{}", self.path)?;
        }
        match &self.reference {
            Some(reference) => write!(f, "?ref={reference}"),
            None => Ok(()),
        }
    }
}

impl Remote {
    /// The address of the repository itself: `https://host.example/org/repo`.
    #[must_use]
    pub fn clone_url(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        format!("{}://{user}{}/{}", self.scheme, self.host, self.repo)
    }

    /// Reads an address as the reference does.
    ///
    /// # Errors
    /// Why it is none.
    pub(crate) fn parse(written: &str) -> Result<Self, &'static str> {
        let written = without_prefix(written, "git::").unwrap_or(written);
        let (address, query) = written.split_once('?').unwrap_or((written, ""));
        let schemes = ["ssh", "https", "http"];
        let named = schemes.iter().find_map(|scheme| {
            let rest = without_prefix(address, scheme)?.strip_prefix("://")?;
            Some((*scheme, rest))
        });
        if named.is_none() && address.contains("://") {
            return Err("an address begins with https:// or ssh://");
        }
        let rest = named.map_or(address, |(_, rest)| rest);
        let authority_end = rest.find('/').unwrap_or(rest.len());
        let (user, rest) = match rest[..authority_end].rsplit_once('@') {
            Some((user, _)) => (Some(user), &rest[user.len() + 1..]),
            None => (None, rest),
        };
        let known = ["github.com/", "github.com:"].iter().any(|host| without_prefix(rest, host).is_some());
        let scheme = match named {
            Some((scheme, _)) => scheme,
            None if user.is_some() => "ssh",
            None if known => "https",
            None => return Err("an address begins with https:// or ssh://"),
        };
        match user {
            Some(user) if scheme != "ssh" || user.contains(':') || user.is_empty() => {
                return Err("an address holds no credentials; whoever fetches has its own");
            }
            _ => {}
        }
        // `git@host:org/repo`, but a port where a scheme is written.
        let ends = |byte: char| byte == '/' || byte == ':' && named.is_none();
        let (host, rest) =
            rest.find(ends).map(|at| (&rest[..at], &rest[at + 1..])).ok_or("names no repository")?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        if host.is_empty() || host.starts_with('-') || !host.bytes().all(plain) {
            return Err("the host is not one");
        }
        let (repo, path) = divided(rest).ok_or("names no repository: HOST/ORG/REPO//DIR?ref=REF")?;
        let names = |path: &str| path.split('/').any(|name| name == "..");
        if names(repo) || names(path) {
            return Err("leads out of the repository");
        }
        let value = |wanted: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .filter(|(name, value)| *name == wanted && !value.is_empty())
                .map(|(_, value)| value.to_owned())
                .next()
        };
        let path: Vec<&str> = path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        Ok(Self {
            scheme: scheme.into(),
            user: user.map(str::to_owned),
            host: host.to_ascii_lowercase(),
            repo: repo.trim_matches('/').into(),
            path: path.join("/"),
            reference: value("ref").or_else(|| value("version")),
        })
    }
}

/// What follows a prefix, in letters of any case.
fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

/// The repository and the path in it: divided after `_git/NAME`, at `//`, after `.git`, or after two names.
fn divided(path: &str) -> Option<(&str, &str)> {
    let at = |at: usize| Some((&path[..at], &path[at..]));
    let (repo, rest) = if let Some(marker) = path.find("_git/") {
        let name = marker + "_git/".len();
        at(path[name..].find('/').map_or(path.len(), |end| name + end))
    } else if let Some(marker) = path.find("//") {
        at(marker)
    } else if let Some(marker) = path.find(".git") {
        at(marker + ".git".len())
    } else {
        let mut slashes = path.match_indices('/').map(|(at, _)| at);
        slashes.next()?;
        at(slashes.next().unwrap_or(path.len()))
    }?;
    (!repo.trim_matches('/').is_empty()).then_some((repo, rest))
}

/// A file of a fetched tree, as it is shown.
pub(crate) fn within(remote: &Remote, file: &str) -> String {
    let reference = remote.reference.as_ref().map(|it| format!("?ref={it}")).unwrap_or_default();
    format!("{}//{file}{reference}", remote.clone_url())
}

#[cfg(test)]
mod tests {
    use super::Remote;

    #[test]
    fn addresses_are_read_as_the_reference_does() {
        for (written, url, path, reference) in [
            ("https://host.example/org/repo//a/b?ref=v1", "https://host.example/org/repo", "a/b", Some("v1")),
            ("github.com/org/repo/a?version=v2&timeout=9s", "https://github.com/org/repo", "a", Some("v2")),
            ("git@host.example:org/repo.git/a", "ssh://git@host.example/org/repo.git", "a", None),
            (
                "git::https://Host.example:8443/o/p/_git/r/a",
                "https://host.example:8443/o/p/_git/r",
                "a",
                None,
            ),
            ("ssh://git@host.example/org/repo", "ssh://git@host.example/org/repo", "", None),
        ] {
            let remote = Remote::parse(written).expect(written);
            assert_eq!((remote.clone_url().as_str(), remote.path.as_str()), (url, path), "{written}");
            assert_eq!(remote.reference.as_deref(), reference, "{written}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for written in [
            "host.example/org/repo",
            "file:///org/repo",
            "https://host.example",
            "https://host.example/org",
            "https://me:word@host.example/org/repo",
            "https://token@host.example/org/repo",
            "https://host.example/org/repo//../x",
            "ssh://-o@-x/org/repo",
            "https://",
            "é",
        ] {
            assert!(Remote::parse(written).is_err(), "{written}");
        }
    }
}

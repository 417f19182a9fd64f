//! Where a repo is: which addresses are accepted, and how they are shown. Must never hold or show a password.

use std::fmt;
use std::path::{Path, PathBuf};

/// Longer addresses are refused.
const MAX_LENGTH: usize = 2048;
/// How user names begin that are tokens in truth.
const TOKEN_PREFIXES: [&str; 9] =
    ["ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "gldt-", "ATBB", "x-token-auth"];

/// How the repo is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// `https://`
    Https,
    /// `ssh://` or `user@host:path`
    Ssh,
    /// `file://` or a path
    File,
}

/// The address of a repo, checked: https, ssh, `[user@]host:path`, `file://` or a path; without a password.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl {
    text: String,
    scheme: Scheme,
}

/// An address that is not accepted. Never repeats the address: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the address of the repository is not accepted: {why}")]
pub struct UrlError {
    /// What is wrong, and what to do.
    pub why: String,
}

fn refuse<T>(why: impl Into<String>) -> Result<T, UrlError> {
    Err(UrlError { why: why.into() })
}

impl RemoteUrl {
    /// Checks an address. A relative path is taken from the current directory.
    ///
    /// # Errors
    /// Another scheme, a password or token in it, an option in disguise, control characters, too long.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.is_empty() || text.len() > MAX_LENGTH {
            return refuse(format!("it must have 1 to {MAX_LENGTH} characters"));
        }
        if text.chars().any(|c| c.is_control() || c == ' ') {
            return refuse("it holds a space or a control character");
        }
        if text.starts_with('-') {
            return refuse("it starts with a dash");
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let scheme = match scheme {
                "https" => Scheme::Https,
                "ssh" => Scheme::Ssh,
                "file" => Scheme::File,
                _ => return refuse("only https, ssh, file, host:path and plain paths are used"),
            };
            if scheme == Scheme::File {
                if !rest.starts_with('/') {
                    return refuse("a file address is written file:///path");
                }
                return Ok(Self { text: text.into(), scheme });
            }
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            check_authority(authority, scheme)?;
            if rest.contains(['?', '#']) {
                return refuse(
                    "it holds a query; credentials belong into a credential helper (git help credentials)",
                );
            }
            return Ok(Self { text: text.into(), scheme });
        }
        // `ext::command` and its like run programs.
        if text.split_once("::").is_some_and(|(helper, _)| !helper.contains('/')) {
            return refuse("remote helpers (name::address) are not used");
        }
        match text.split_once(':') {
            Some((authority, path)) if !authority.contains('/') => {
                check_authority(authority, Scheme::Ssh)?;
                if path.starts_with('-') || path.is_empty() {
                    return refuse("the path after the host is empty or starts with a dash");
                }
                if path.split('/').next().is_some_and(|first| first.contains('@')) {
                    return refuse("it looks like it holds a password; use an ssh key");
                }
                Ok(Self { text: text.into(), scheme: Scheme::Ssh })
            }
            _ => {
                let path = std::path::absolute(text).map_err(|e| UrlError { why: e.to_string() })?;
                match path.into_os_string().into_string() {
                    Ok(text) => Ok(Self { text, scheme: Scheme::File }),
                    Err(_) => refuse("the path is not UTF-8"),
                }
            }
        }
    }

    /// How it is reached.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The folder, if it is one on this machine.
    #[must_use]
    pub fn local_path(&self) -> Option<PathBuf> {
        (self.scheme == Scheme::File)
            .then(|| Path::new(self.text.strip_prefix("file://").unwrap_or(&self.text)).to_owned())
    }

    /// As given to the git program.
    pub(crate) fn as_arg(&self) -> &str {
        &self.text
    }
}

fn check_authority(authority: &str, scheme: Scheme) -> Result<(), UrlError> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    // An IPv6 address has colons of its own, in brackets.
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    if name.is_empty() || name.starts_with('-') {
        return refuse("the host is empty or starts with a dash");
    }
    if port.is_some_and(|port| port.is_empty() || !port.bytes().all(|b| b.is_ascii_digit())) {
        return refuse(
            "what follows the colon is no port; if it is a password, take it out and use a credential helper",
        );
    }
    let Some(user) = user else { return Ok(()) };
    let lower = user.to_ascii_lowercase();
    if user.contains(':') || lower.contains("%3a") {
        return refuse(
            "it holds a password; take it out and use a credential helper (git help credentials) or an ssh key",
        );
    }
    let token = TOKEN_PREFIXES.iter().any(|prefix| lower.starts_with(&prefix.to_ascii_lowercase()));
    if scheme == Scheme::Https && (token || user.len() > 64) {
        return refuse("the user name looks like a token; use a credential helper (git help credentials)");
    }
    let usual = |b: u8| b.is_ascii_alphanumeric() || b"._~%+-".contains(&b);
    if user.is_empty() || user.starts_with('-') || !user.bytes().all(usual) {
        return refuse(
            "the user name is empty, starts with a dash or holds more than letters, digits and ._~%+-",
        );
    }
    Ok(())
}

/// The user name of an https address is not shown: some hosts take a token there.
impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(&self.text))
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteUrl({self})")
    }
}

/// Takes user names and passwords out of all addresses in a text.
pub(crate) fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after
            .find(|c: char| c == '/' || c.is_whitespace() || c == '\'' || c == '"')
            .unwrap_or(after.len());
        // A password may hold a slash where somebody forgot to encode it: look further, up to the next space.
        let word = after.find(char::is_whitespace).unwrap_or(after.len());
        let at_sign = after[..end].rfind('@').or_else(|| {
            let colon = after[..end].find(':')?;
            let port = after[colon + 1..end].bytes().all(|b| b.is_ascii_digit());
            if port { None } else { after[..word].rfind('@') }
        });
        match at_sign {
            Some(at) => rest = &after[at + 1..],
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted() {
        for (text, scheme) in [
            ("https://git.example/team/fleet.git", Scheme::Https),
            ("https://org@git.example/team/_git/fleet", Scheme::Https),
            ("https://git.example:8443/fleet", Scheme::Https),
            ("https://[2001:db8::1]:8443/fleet", Scheme::Https),
            ("https://[2001:db8::1]/fleet", Scheme::Https),
            ("ssh://git@git.example:2222/fleet.git", Scheme::Ssh),
            ("git@git.example:team/fleet.git", Scheme::Ssh),
            ("git.example:fleet", Scheme::Ssh),
            ("file:///srv/fleet.git", Scheme::File),
            ("/srv/fleet.git", Scheme::File),
            ("./with:colon", Scheme::File),
        ] {
            assert_eq!(RemoteUrl::parse(text).map(|url| url.scheme()), Ok(scheme), "{text}");
        }
    }

    #[test]
    fn hostile_addresses_are_refused_and_not_repeated() {
        for text in [
            "",
            "ext::sh -c evil",
            "ext::sh",
            "fd::3",
            "--upload-pack=evil",
            "-oProxyCommand=evil",
            "ssh://-oProxyCommand=evil/x",
            "ssh://git@-oProxyCommand=evil/x",
            "ssh://-x@host/x",
            "-x@host:path",
            "host:-path",
            "git@-host:path",
            "https://user:hunter2@host/x",
            "https://:hunter2@host/x",
            "https://user%3Ahunter2@host/x",
            "https://ghp_hunter2hunter2@host/x",
            "https://host/x?private_token=hunter2",
            "user:hunter2@host:path",
            "http://host/x",
            "git://host/x",
            "ftp://host/x",
            "https:///x",
            "https://hunter2'ae@host/x",
            "https://user:hunter2/x@host",
            "https://host:/x",
            "https://host/x\nhost: y",
            "file://relative",
        ] {
            let error = RemoteUrl::parse(text).expect_err(text).to_string();
            assert!(!error.contains("hunter2"), "{text}: {error}");
        }
        assert!(RemoteUrl::parse(&format!("/{}", "x".repeat(MAX_LENGTH))).is_err());
    }

    #[test]
    fn credentials_are_never_shown() {
        let url = RemoteUrl::parse("https://someone@git.example/x").unwrap();
        assert_eq!(url.to_string(), "https://git.example/x");
        for (text, shown) in [
            ("fatal: 'https://u:p@h/x' not found", "fatal: 'https://h/x' not found"),
            ("a https://u:p@h/x b https://t@i/y", "a https://h/x b https://i/y"),
            ("https://u:p/q@h/x", "https://h/x"),
            ("https://h:8443/x/@v1", "https://h:8443/x/@v1"),
            ("no address", "no address"),
        ] {
            assert_eq!(redact(text), shown);
        }
    }
}

//! What a command ends with: an exit code and, when it failed, words for the person. Never holds a credential or the
//! value of a Secret: what is put in comes from errors that do not.

use std::fmt::Display;

/// How a command ended; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or: the answer is yes.
    Yes = 0,
    /// The answer is no: it differs, is not ready, is held, or has findings.
    No = 1,
    /// The words of the command are wrong.
    Usage = 2,
    /// It could not be done.
    Failure = 3,
    /// It was not done in time.
    Timeout = 4,
}

/// What each command gives back.
pub(crate) type Outcome = Result<Exit, CommandError>;

/// Why a command failed, for the person who gave it.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// The exit code.
    pub(crate) exit: Exit,
    /// What is wrong; starts in lower case, has no full stop.
    pub(crate) message: String,
    /// One line each, below the message.
    pub(crate) details: Vec<String>,
    /// What to do next.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// The words of the command are wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, message: message.into(), details: Vec::new(), hints: Vec::new() }
    }

    /// It could not be done.
    pub(crate) fn failure(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failure, ..Self::usage(message) }
    }

    /// A name that nothing has; says which one may be meant, or which there are.
    pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let error = Self::failure(format!("there is no {what} `{name}`"));
        match yaml_span::did_you_mean(name, known.iter().copied()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if known.is_empty() => error.hint(format!("the fleet has no {what} yet")),
            None => error.hint(format!("there are: {}", some_of(&known))),
        }
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds lines below the message.
    pub(crate) fn details(mut self, details: impl IntoIterator<Item = impl Display>) -> Self {
        self.details.extend(details.into_iter().map(|it| it.to_string()));
        self
    }
}

/// The first names of a list, in one line.
fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

macro_rules! failures {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::failure(error.to_string())
            }
        })*
    };
}

failures!(
    kcp_git::CommitError,
    kcp_git::GitError,
    kcp_cluster::CallError,
    kustomize_rs::FilesError,
    yaml_span::EditError,
);

impl From<kcp_cluster::ConnectError> for CommandError {
    fn from(error: kcp_cluster::ConnectError) -> Self {
        let hint = match &error {
            kcp_cluster::ConnectError::NoContext { context, known } => yaml_span::did_you_mean(
                context,
                known.iter().map(String::as_str),
            )
            .map_or_else(|| "name one with --context".to_owned(), |near| format!("did you mean `{near}`?")),
            kcp_cluster::ConnectError::Kubeconfig { .. } => {
                "name the file with --kubeconfig, or set KUBECONFIG".into()
            }
            _ => return Self::failure(error.to_string()),
        };
        Self::failure(error.to_string()).hint(hint)
    }
}

impl From<kcp_reconciler::RunError> for CommandError {
    fn from(error: kcp_reconciler::RunError) -> Self {
        Self::failure(error.to_string())
    }
}

/// Every finding of a repo, as one error.
pub(crate) fn findings(what: &str, found: &[yaml_span::Diagnostic]) -> CommandError {
    let count = if found.len() == 1 { "an error".to_owned() } else { format!("{} errors", found.len()) };
    CommandError::failure(format!("{what} {count}")).details(found)
}

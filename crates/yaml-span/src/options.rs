//! What a text may be: which words are booleans, and how large it may grow.

/// How plain (unquoted) scalars are understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schema {
    /// As `kubectl apply -f` reads manifests: `yes`, `no`, `on`, `off`, `y` and `n` are booleans, `0777` is octal,
    /// `_` may stand in numbers, dates stay strings, unknown tags are ignored.
    #[default]
    Kubernetes,
    /// As kustomize reads manifests: like [`Schema::Kubernetes`], but the words `yes`, `on` and so on are strings,
    /// and an unquoted date becomes an RFC 3339 string.
    Kustomize,
    /// For our own documents: YAML 1.2 core. A plain word that YAML 1.1 reads as a boolean is an error that says
    /// to quote it, and so is a tag that is not one of YAML's own.
    Strict,
}

/// How large a text may be. Beyond a limit, reading ends with an error that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the whole text.
    pub bytes: usize,
    /// Levels of nesting, aliases expanded; never more than [`Limits::MAX_DEPTH`].
    pub depth: usize,
    /// Nodes of the whole text, aliases expanded.
    pub nodes: usize,
    /// Aliases (`*name`) of the whole text.
    pub aliases: usize,
    /// Bytes of strings that aliases may copy, in the whole text.
    pub alias_bytes: usize,
    /// Documents of the whole text.
    pub documents: usize,
}

impl Limits {
    /// No setting allows deeper trees: what walks them afterwards calls itself.
    pub const MAX_DEPTH: usize = 200;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 << 20,
            depth: 64,
            nodes: 1_000_000,
            aliases: 10_000,
            alias_bytes: 8 << 20,
            documents: 10_000,
        }
    }
}

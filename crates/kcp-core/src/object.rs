//! Objects as values: their identity, their content hash, and the few fields everybody asks for.
//!
//! Bodies are JSON values behind an `Arc`; equal content is compared by hash. Nothing here knows a typed API.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Group and kind: what an object is, whatever version it is written in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind, as in `Deployment`.
    pub kind: String,
}

impl GroupKind {
    /// A group and kind.
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { group: group.into(), kind: kind.into() }
    }
}

impl fmt::Display for GroupKind {
    /// As kubectl writes it: `Deployment.apps`, `ConfigMap`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.kind)
        } else {
            write!(f, "{}.{}", self.kind, self.group)
        }
    }
}

/// What names one object on one cluster. The version is not part of it: `v1` and `v1beta1` are the same object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ObjectKey {
    /// Whether it is a Secret of the core group.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }

    /// The group and kind of this object.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&self.group, &self.kind)
    }
}

impl fmt::Display for ObjectKey {
    /// `Deployment.apps shop/web`, or `Namespace shop` for a cluster-scoped object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.group_kind())?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

/// A hash of content, 128 bits: equal hashes mean equal content for all our purposes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 16]);

impl ContentHash {
    /// Stands in a record for a hash that is not told: that of a Secret, whose content could be guessed by it.
    pub const WITHHELD: Self = Self([0; 16]);

    /// The hash of bytes (the first half of their SHA-256).
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(bytes);
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        Self(half)
    }

    /// The hash of a JSON value; the order of its keys does not count, numbers and quantities count by value.
    #[must_use]
    pub fn of_value(value: &Value) -> Self {
        Self::of_bytes(&kcp_merge::canonical_bytes(value))
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::str::FromStr for ContentHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not a content hash: 32 hexadecimal digits");
        if text.len() != 32 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 16];
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Where an object was written: the file in the repo, and the line of its document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// Path in the repo.
    pub file: String,
    /// Line, from 1; 0 where it was generated.
    pub line: u32,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { f.write_str(&self.file) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}

/// One object of the desired state, ready to be sent, with the hash of its content.
///
/// The body has apiVersion, kind and metadata.name; the hash leaves out the annotations that change without a change
/// of content (commit, source). Cloning is cheap.
#[derive(Clone)]
pub struct Object {
    /// Identity.
    pub key: ObjectKey,
    /// API version without the group, as in `v1`.
    pub version: String,
    /// The whole object as JSON.
    pub body: Arc<Value>,
    /// Hash of the content that we mean to own.
    pub hash: ContentHash,
    /// Where it was written.
    pub origin: Origin,
}

impl Object {
    /// The value of an annotation.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.body.get("metadata")?.get("annotations")?.get(name)?.as_str()
    }

    /// The apiVersion as written: `apps/v1`, `v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.key.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.key.group, self.version)
        }
    }
}

/// Without the body: it may be a Secret.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}, {})", self.key, self.version, self.hash, self.origin)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.version == other.version && self.hash == other.hash
    }
}

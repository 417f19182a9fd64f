//! What all our documents share: `apiVersion`, `kind`, `metadata`, `spec`, `status`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::validate::Finding;

/// Name, labels and annotations of a document of the repo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Unique among the documents of this kind. Lower-case letters, digits, `-` and `.`, at most 63 characters.
    pub name: String,
    /// Labels, as in Kubernetes: selectors choose by them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations, as in Kubernetes: notes that nothing selects by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// A kind of document that we own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// The fleet itself: one per repo.
    Fleet,
    /// A member cluster.
    Cluster,
    /// A folder of manifests.
    Workspace,
    /// Rules: which workspaces go where.
    Placement,
    /// Rules of one pipeline.
    SyncPolicy,
    /// The ceiling of a team.
    Tenant,
    /// A person's yes to held actions.
    Approval,
}

impl Kind {
    /// All kinds, in the order in which the design explains them.
    pub const ALL: [Self; 7] = [
        Self::Fleet,
        Self::Cluster,
        Self::Workspace,
        Self::Placement,
        Self::SyncPolicy,
        Self::Tenant,
        Self::Approval,
    ];

    /// What `kind` of a document says.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fleet => "Fleet",
            Self::Cluster => "Cluster",
            Self::Workspace => "Workspace",
            Self::Placement => "Placement",
            Self::SyncPolicy => "SyncPolicy",
            Self::Tenant => "Tenant",
            Self::Approval => "Approval",
        }
    }

    /// Plural of the resource: the name in URLs and the name of the CRD's file.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Fleet => "fleets",
            Self::Cluster => "clusters",
            Self::Workspace => "workspaces",
            Self::Placement => "placements",
            Self::SyncPolicy => "syncpolicies",
            Self::Tenant => "tenants",
            Self::Approval => "approvals",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not a kind of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseKindError;

impl fmt::Display for ParseKindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown kind, expected one of ")?;
        for (i, kind) in Kind::ALL.iter().enumerate() {
            write!(f, "{}{kind}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseKindError {}

impl FromStr for Kind {
    type Err = ParseKindError;

    fn from_str(text: &str) -> Result<Self, ParseKindError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(ParseKindError)
    }
}

/// A document of the fleet repo.
pub trait Document: Sized + serde::de::DeserializeOwned + Serialize {
    /// Its kind.
    const KIND: Kind;

    /// Its name, labels and annotations.
    fn metadata(&self) -> &Metadata;

    /// Everything that is wrong with this document by itself, in the order of its fields: values out of range,
    /// names that are none, and fields whose effect is not built yet. References to other documents are not
    /// checked here. Empty means: use it.
    fn validate(&self) -> Vec<Finding>;
}

/// Defines the envelope of one kind: the struct, `new`, and [`Document`] by way of `$check`.
macro_rules! document {
    ($(#[$doc:meta])* $kind:ident, $(#[$spec_attr:meta])* $spec:ty, $status:ty, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $kind {
            /// Group and version of the format.
            pub api_version: String,
            /// Kind of the document.
            pub kind: String,
            /// Name, labels and annotations.
            pub metadata: $crate::Metadata,
            /// What is wanted.
            $(#[$spec_attr])*
            pub spec: $spec,
            /// What was seen: written by the reconciler, never in the repo's own documents.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub status: Option<$status>,
        }

        impl $kind {
            /// A document of the current version with this name.
            pub fn new(name: impl Into<String>, spec: $spec) -> Self {
                Self {
                    api_version: $crate::API_VERSION.to_owned(),
                    kind: stringify!($kind).to_owned(),
                    metadata: $crate::Metadata { name: name.into(), ..Default::default() },
                    spec,
                    status: None,
                }
            }
        }

        impl $crate::Document for $kind {
            const KIND: $crate::Kind = $crate::Kind::$kind;

            fn metadata(&self) -> &$crate::Metadata {
                &self.metadata
            }

            fn validate(&self) -> Vec<$crate::Finding> {
                let mut check = $crate::validate::Check::default();
                check.envelope(Self::KIND, &self.api_version, &self.kind, &self.metadata, self.status.is_some());
                $check(self, &mut check);
                check.into_findings()
            }
        }
    };
}
pub(crate) use document;

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_parse_back_and_the_error_lists_them() {
        for kind in Kind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        let error = "Placment".parse::<Kind>().unwrap_err().to_string();
        assert!(error.contains("Placement"), "{error}");
    }
}

//! `kind: Tenant`: the ceiling of a team.

use serde::{Deserialize, Serialize};

use crate::{DocumentStatus, KindRule, LabelSelector, SecretRef, document::document, validate};

document! {
    /// What a team may do, checked on the final objects. Once one exists, a workspace that fits none is refused.
    Tenant, TenantSpec, DocumentStatus, validate::tenant
}

/// The limits of a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TenantSpec {
    /// Workspaces of the team; `*` stands for any characters.
    pub workspaces: Vec<String>,
    /// Clusters it may use; left out means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_selector: Option<LabelSelector>,
    /// Namespaces it may use; `*` stands for any characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Kinds without a namespace that it may use; empty means none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cluster_scoped_kinds: Vec<KindRule>,
    /// ServiceAccount that is impersonated when applying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account_name: Option<String>,
    /// Other repos that its workspaces may come from; `*` stands for any characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// How its encrypted values are opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decryption: Option<Decryption>,
}

/// How encrypted values are opened, only at the moment of applying: exactly one of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Decryption {
    /// By SOPS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sops: Option<SopsDecryption>,
}

/// Where the key of SOPS is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SopsDecryption {
    /// Secret, where the reconciler runs, that holds the key.
    pub secret: SecretRef,
}

//! The one list of reasons: every condition, hold and decision takes its reason from here.
//!
//! A reason is a stable word for programs; its line of documentation becomes the reference page.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! reasons {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// Why a condition, a hold or a decision is what it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Reason {
            /// All reasons, grouped as in the list.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The word in documents, status and messages. Stable: programs compare it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// What it means, in one sentence.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)*
                }
            }
        }
    };
}

reasons! {
    // It is as it should be, or on its way.
    /// Everything wanted was done.
    Succeeded,
    /// Work is going on.
    Progressing,
    /// Nothing has been seen yet.
    Pending,
    /// The copy is on its way to another cluster.
    Moving,
    /// The copy leaves this cluster.
    Leaving,

    // The repo.
    /// The repo could not be fetched: the last good commit stays in force.
    FetchFailed,
    /// The branch was rewritten: its new history is not used until a person says so.
    ForcePushed,
    /// The branch is gone from the repo.
    BranchMissing,
    /// Documents of the repo have errors: the last good commit stays in force.
    InvalidRepo,
    /// The commit has no signature that counts.
    UnverifiedCommit,
    /// The status branch could not be written.
    RecordFailed,
    /// The workspace could not be rendered: what was applied before stays.
    WorkspaceFailedToRender,
    /// The workspace renders to no objects: its deletes are held.
    EmptyWorkspace,
    /// The folder of the workspace is gone: its deletes are held.
    WorkspaceRemoved,
    /// The placement of the workspace is gone: its deletes are held.
    PlacementRemoved,
    /// No placement is about this workspace, so it goes nowhere.
    NotPlaced,
    /// Two placements claim this workspace.
    TwoPlacements,
    /// Two workspaces claim this object: the present owner keeps it.
    TwoClaims,

    // Which clusters, and why.
    /// This cluster was chosen.
    Chosen,
    /// The workspace is here already, and staying is worth more than a better place.
    StaysPut,
    /// Enough better clusters were chosen.
    NotNeeded,
    /// No cluster fulfils the rules, or too few do.
    NoClusterFits,
    /// The cluster's labels do not match the selector.
    SelectorMismatch,
    /// No variant of the workspace fits this cluster.
    NoVariantFits,
    /// The cluster takes nothing new.
    Cordoned,
    /// The cluster has a taint that is not tolerated.
    TaintNotTolerated,
    /// The cluster's mode is None: only a person syncs it.
    ManualCluster,
    /// The document of the cluster is gone: everything there stays, and nothing is done any more.
    Detached,
    /// The taint is tolerated for a while, and the copy leaves when that ends.
    Evicting,

    // The cluster.
    /// The cluster answers, and what is known of it is fresh.
    Connected,
    /// The cluster cannot be reached.
    ClusterUnreachable,
    /// The connection leads to another cluster than the one that joined.
    ClusterIdentityChanged,
    /// The Cluster document has no UID yet: `kubectl kcp cluster add` records it.
    ClusterIdentityUnknown,
    /// The cluster refused the credentials.
    Unauthorized,
    /// The connection does not check the cluster's certificate, which this reconciler does not allow.
    InsecureConnection,
    /// The reconciler may not use this connection: the context is missing or not allowed.
    ConnectionRefused,
    /// Some API groups of the cluster could not be discovered: what they hold is unknown.
    DiscoveryIncomplete,
    /// What is known of the cluster is old, because its watches are.
    StaleWatches,

    // The objects.
    /// The object is not ready yet.
    NotReady,
    /// The object cannot become ready by itself.
    ObjectFailed,
    /// The cluster refused the object as invalid.
    InvalidObject,
    /// The cluster has no such kind.
    KindMissing,
    /// The cluster refused the action: the rights do not allow it.
    Forbidden,
    /// The object is there and belongs to somebody else.
    ForeignObject,
    /// Somebody else owns fields of the object that the repo sets.
    FieldConflict,
    /// Somebody else keeps writing fields of the object that the repo sets.
    Fighting,
    /// The object differs from the repo, and the policy says to report that only.
    Drifted,
    /// The object left the repo and stays on the cluster, as the policy says for its kind.
    Retained,
    /// The object names no namespace, and the workspace has no default one.
    NamespaceMissing,
    /// The object could not be applied for another reason, which the message says.
    ApplyFailed,
    /// The object could not be deleted for another reason, which the message says.
    DeleteFailed,
    /// The list of what is on the cluster is not complete, so nothing is deleted.
    InventoryIncomplete,

    // Stopped on purpose.
    /// More would be deleted or moved than the safety budget allows.
    BudgetExceeded,
    /// The last copy of the workspace would go.
    LastCopy,
    /// So many clusters were lost at once that the fault may be ours.
    SuspectOurselves,
    /// The new copy did not become ready in time, so the old one stays.
    HandOverTimeout,
    /// Moving would leave data behind.
    StatefulMove,
    /// The document, its fleet or its cluster is suspended.
    Suspended,
    /// A person stopped the reconciler with `kubectl kcp halt`.
    Halted,
    /// Another reconciler works on this fleet.
    SecondReconciler,
    /// A newer decision for this workspace was found on the cluster.
    NewerEpoch,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The word is not in the list of reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseReasonError;

impl fmt::Display for ParseReasonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown reason: it was written by another version of kcp")
    }
}

impl std::error::Error for ParseReasonError {}

impl FromStr for Reason {
    type Err = ParseReasonError;

    fn from_str(text: &str) -> Result<Self, ParseReasonError> {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == text).ok_or(ParseReasonError)
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Reason {
    fn schema_name() -> Cow<'static, str> {
        "Reason".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // Not an enum: the list grows, and an older CRD must keep what a newer reconciler writes.
        schemars::json_schema!({
            "type": "string",
            "description": "A word of the list of reasons.",
            "pattern": "^[A-Z][A-Za-z]*$",
            "maxLength": 64,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Reason;

    #[test]
    fn each_reason_is_one_word_with_one_sentence_and_parses_back() {
        let mut words = BTreeSet::new();
        let mut sentences = BTreeSet::new();
        for reason in Reason::ALL {
            let word = reason.as_str();
            assert!(word.starts_with(|c: char| c.is_ascii_uppercase()), "{word}");
            assert!(word.len() <= 64 && word.bytes().all(|b| b.is_ascii_alphabetic()), "{word}");
            assert!(words.insert(word.to_ascii_lowercase()), "{word} is there twice");
            let sentence = reason.description();
            assert!(sentence.ends_with('.') && sentence.len() < 110, "{word}: {sentence}");
            assert!(sentences.insert(sentence), "two reasons say: {sentence}");
            assert_eq!(word.parse(), Ok(*reason));
        }
    }

    #[test]
    fn a_word_that_is_not_listed_is_refused() {
        assert!(serde_json::from_str::<Reason>("\"BecauseISaidSo\"").is_err());
        assert!(serde_json::from_str::<Reason>("\"ready\"").is_err());
    }
}

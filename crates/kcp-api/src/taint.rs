//! Taints of clusters and tolerations of placements, with Kubernetes' meaning.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What a taint does to a workspace that does not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Effect {
    /// Nothing new comes; what is there stays.
    NoSchedule,
    /// Other clusters are preferred for what is new.
    PreferNoSchedule,
    /// Nothing new comes, and what is there leaves.
    NoExecute,
}

impl Effect {
    /// The word in documents and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

/// A mark on a cluster that keeps workspaces away unless they tolerate it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Key, written like that of a label.
    pub key: String,
    /// Value, written like that of a label; may be left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// What it does.
    pub effect: Effect,
    /// When it was added: tolerationSeconds count from here. Without it they count from when it was first seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_added: Option<Timestamp>,
}

impl std::fmt::Display for Taint {
    /// As kubectl writes it: `key=value:Effect`, or `key:Effect` without a value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.key)?;
        if !self.value.is_empty() {
            write!(f, "={}", self.value)?;
        }
        write!(f, ":{}", self.effect.as_str())
    }
}

/// How a toleration compares values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TolerationOperator {
    /// Key and value are the same.
    #[default]
    Equal,
    /// The key is the same, whatever the value.
    Exists,
}

/// What a placement puts up with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    /// Key of the taints meant; left out (with operator Exists) means all keys.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the value is compared.
    pub operator: TolerationOperator,
    /// With operator Equal: the value meant.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Effect of the taints meant; left out means all effects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// With effect NoExecute: for so many seconds only, then the workspace leaves. Zero or less means at once;
    /// left out means for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

impl Toleration {
    /// Whether this taint is meant, without regard to time.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.effect.is_none_or(|effect| effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && match self.operator {
                TolerationOperator::Exists => true,
                TolerationOperator::Equal => self.value == taint.value,
            }
    }

    /// For how many seconds a NoExecute taint is tolerated; `None` is for ever.
    pub fn seconds(&self) -> Option<u64> {
        self.toleration_seconds.map(|seconds| u64::try_from(seconds).unwrap_or(0))
    }
}

/// The toleration that counts for this taint: the first that tolerates it, as in Kubernetes.
pub fn toleration_for<'a>(tolerations: &'a [Toleration], taint: &Taint) -> Option<&'a Toleration> {
    tolerations.iter().find(|toleration| toleration.tolerates(taint))
}

#[cfg(test)]
mod tests {
    use super::{Effect, Taint, Toleration, TolerationOperator, toleration_for};

    fn taint(key: &str, value: &str, effect: Effect) -> Taint {
        Taint { key: key.into(), value: value.into(), effect, time_added: None }
    }

    fn toleration(
        key: &str,
        operator: TolerationOperator,
        value: &str,
        effect: Option<Effect>,
    ) -> Toleration {
        Toleration { key: key.into(), operator, value: value.into(), effect, toleration_seconds: None }
    }

    #[test]
    fn tolerates_by_key_value_and_effect() {
        use TolerationOperator::{Equal, Exists};
        let gpu = taint("gpu", "a100", Effect::NoSchedule);
        for (toleration, expected) in [
            (toleration("gpu", Equal, "a100", None), true),
            (toleration("gpu", Equal, "h100", None), false),
            (toleration("gpu", Exists, "", None), true),
            (toleration("cpu", Exists, "", None), false),
            (toleration("", Exists, "", None), true),
            (toleration("gpu", Exists, "", Some(Effect::NoSchedule)), true),
            (toleration("gpu", Exists, "", Some(Effect::NoExecute)), false),
        ] {
            assert_eq!(toleration.tolerates(&gpu), expected, "{toleration:?}");
        }
    }

    #[test]
    fn the_first_match_says_for_how_long() {
        let mut short = toleration("", TolerationOperator::Exists, "", Some(Effect::NoExecute));
        short.toleration_seconds = Some(-5);
        let forever = toleration("", TolerationOperator::Exists, "", None);
        let taint = taint("maintenance", "", Effect::NoExecute);
        let tolerations = [short, forever];
        assert_eq!(toleration_for(&tolerations, &taint).map(Toleration::seconds), Some(Some(0)));
        assert_eq!(toleration_for(&tolerations[1..], &taint).map(Toleration::seconds), Some(None));
        assert_eq!(toleration_for(&[], &taint), None);
    }

    #[test]
    fn prints_as_kubectl_does() {
        assert_eq!(taint("a", "", Effect::NoExecute).to_string(), "a:NoExecute");
        assert_eq!(taint("a", "b", Effect::NoSchedule).to_string(), "a=b:NoSchedule");
    }
}

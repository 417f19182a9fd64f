//! Label selectors, with Kubernetes' meaning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Chooses by labels: all of `matchLabels` and all of `matchExpressions` must hold. Empty chooses everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels that must be there with exactly these values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Conditions on labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<SelectorRequirement>,
}

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SelectorRequirement {
    /// Key of the label.
    pub key: String,
    /// How the label is compared.
    pub operator: SelectorOperator,
    /// For In and NotIn: the values; empty for the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// How a label is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SelectorOperator {
    /// The label is there, with one of the values.
    In,
    /// The label is missing, or has none of the values.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is missing.
    DoesNotExist,
}

impl LabelSelector {
    /// Whether these labels are chosen.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.match_expressions.iter().all(|requirement| requirement.matches(labels))
    }

    /// Whether it says nothing and so chooses everything.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}

impl SelectorRequirement {
    /// Whether these labels fulfil it.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            SelectorOperator::In => value.is_some_and(|value| self.values.contains(value)),
            SelectorOperator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            SelectorOperator::Exists => value.is_some(),
            SelectorOperator::DoesNotExist => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{LabelSelector, SelectorOperator, SelectorRequirement};

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn requirement(operator: SelectorOperator, values: &[&str]) -> LabelSelector {
        LabelSelector {
            match_labels: BTreeMap::new(),
            match_expressions: vec![SelectorRequirement {
                key: "tier".into(),
                operator,
                values: values.iter().map(|value| (*value).to_owned()).collect(),
            }],
        }
    }

    #[test]
    fn each_operator_over_present_other_and_missing_labels() {
        use SelectorOperator::{DoesNotExist, Exists, In, NotIn};
        let (edge, core, none) = (labels(&[("tier", "edge")]), labels(&[("tier", "core")]), labels(&[]));
        for (operator, values, expected) in [
            (In, vec!["edge", "far"], [true, false, false]),
            (NotIn, vec!["edge"], [false, true, true]),
            (Exists, vec![], [true, true, false]),
            (DoesNotExist, vec![], [false, false, true]),
        ] {
            let selector = requirement(operator, &values);
            let got = [&edge, &core, &none].map(|labels| selector.matches(labels));
            assert_eq!(got, expected, "{operator:?}");
        }
    }

    #[test]
    fn all_parts_must_hold_and_empty_chooses_all() {
        assert!(LabelSelector::default().matches(&labels(&[])));
        let mut selector = requirement(SelectorOperator::Exists, &[]);
        selector.match_labels = labels(&[("stage", "prod")]);
        assert!(selector.matches(&labels(&[("stage", "prod"), ("tier", "x")])));
        assert!(!selector.matches(&labels(&[("stage", "prod")])));
        assert!(!selector.matches(&labels(&[("tier", "x")])));
    }
}

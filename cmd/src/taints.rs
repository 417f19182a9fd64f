//! Taints and tolerations as kubectl takes them on its command line.

use kcp_api::{Effect, Taint, Toleration, TolerationOperator};

/// A change of taints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TaintChange {
    /// `key=value:Effect` or `key:Effect`.
    Add(Taint),
    /// `key:Effect-`, or `key-` for all effects.
    Remove {
        /// The key.
        key: String,
        /// One effect only.
        effect: Option<Effect>,
    },
}

/// Reads one change of taints.
pub(crate) fn change(text: &str) -> Result<TaintChange, String> {
    let wrong =
        || "write key=value:Effect or key:Effect to add a taint, key:Effect- or key- to remove it".to_owned();
    if let Some(text) = text.strip_suffix('-') {
        let (key, effect) = match text.split_once(':') {
            Some((key, word)) => (key, Some(effect(word)?)),
            None => (text, None),
        };
        // kubectl takes and ignores a value here.
        let key = key.split_once('=').map_or(key, |(key, _)| key);
        return if key.is_empty() {
            Err(wrong())
        } else {
            Ok(TaintChange::Remove { key: key.into(), effect })
        };
    }
    let (marked, word) = text.split_once(':').ok_or_else(wrong)?;
    let (key, value) = marked.split_once('=').unwrap_or((marked, ""));
    if key.is_empty() {
        return Err(wrong());
    }
    Ok(TaintChange::Add(Taint {
        key: key.into(),
        value: value.into(),
        effect: effect(word)?,
        time_added: None,
    }))
}

/// Reads `key`, `key=value`, each with or without `:Effect`.
pub(crate) fn toleration(text: &str) -> Result<Toleration, String> {
    let (marked, word) = text.split_once(':').map_or((text, None), |(marked, word)| (marked, Some(word)));
    let (key, value) = marked.split_once('=').map_or((marked, None), |(key, value)| (key, Some(value)));
    if key.is_empty() {
        return Err("write key, key=value, key:Effect or key=value:Effect".into());
    }
    Ok(Toleration {
        key: key.into(),
        operator: if value.is_some() { TolerationOperator::Equal } else { TolerationOperator::Exists },
        value: value.unwrap_or_default().into(),
        effect: word.map(effect).transpose()?,
        toleration_seconds: None,
    })
}

fn effect(word: &str) -> Result<Effect, String> {
    let all = [Effect::NoSchedule, Effect::PreferNoSchedule, Effect::NoExecute];
    all.into_iter().find(|effect| effect.as_str() == word).ok_or_else(|| {
        let near = yaml_span::did_you_mean(word, all.map(Effect::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("unknown effect `{word}`: NoSchedule, PreferNoSchedule or NoExecute{near}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_are_written_as_in_kubectl() {
        let TaintChange::Add(taint) = change("gpu=a100:NoSchedule").unwrap() else { panic!("adds") };
        assert_eq!(taint.to_string(), "gpu=a100:NoSchedule");
        assert!(matches!(change("gpu:NoExecute").unwrap(), TaintChange::Add(_)));
        let removed = |effect| TaintChange::Remove { key: "gpu".into(), effect };
        assert_eq!(change("gpu-").unwrap(), removed(None));
        assert_eq!(change("gpu:NoExecute-").unwrap(), removed(Some(Effect::NoExecute)));
        assert!(change("gpu:NoExecut").unwrap_err().contains("did you mean `NoExecute`"));
        assert!(change("gpu").is_err() && change(":NoExecute").is_err() && change("-").is_err());
    }

    #[test]
    fn a_toleration_without_value_is_for_any_value() {
        assert_eq!(toleration("gpu").unwrap().operator, TolerationOperator::Exists);
        let exact = toleration("gpu=a100:NoExecute").unwrap();
        assert_eq!((exact.operator, exact.value.as_str()), (TolerationOperator::Equal, "a100"));
        assert_eq!(exact.effect, Some(Effect::NoExecute));
    }
}

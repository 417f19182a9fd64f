//! Labels and label selectors as kubectl takes them on its command line.

use kcp_api::{LabelSelector, SelectorOperator, SelectorRequirement};

use crate::error::CommandError;

/// A change of labels: `key=value` sets, `key-` removes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelChange {
    /// The key.
    pub(crate) key: String,
    /// The value, or `None` to remove it.
    pub(crate) value: Option<String>,
}

/// Reads `key=value` or `key-`. What keys and values may be is checked with the document.
pub(crate) fn change(text: &str) -> Result<LabelChange, String> {
    match (text.split_once('='), text.strip_suffix('-')) {
        (Some((key, value)), _) if !key.is_empty() => {
            Ok(LabelChange { key: key.into(), value: Some(value.into()) })
        }
        (None, Some(key)) if !key.is_empty() => Ok(LabelChange { key: key.into(), value: None }),
        _ => Err("write key=value to set a label, key- to remove it".into()),
    }
}

/// Reads `key=value`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write key=value".into()),
    }
}

/// Reads a selector: `a=b,c!=d,e,!f,g in (h,i),j notin (k)`.
pub(crate) fn selector(text: &str) -> Result<LabelSelector, CommandError> {
    let mut selector = LabelSelector::default();
    for term in terms(text) {
        let wrong = || {
            CommandError::usage(format!("selector {text}: `{term}` is no requirement"))
                .hint("write key=value, key!=value, key, !key, key in (a,b) or key notin (a,b), separated by commas")
        };
        let mut require = |key: &str, operator, values: Vec<String>| {
            let key = key.trim();
            if key.is_empty() || key.contains(|c: char| c.is_whitespace() || "()=!".contains(c)) {
                return Err(wrong());
            }
            selector.match_expressions.push(SelectorRequirement { key: key.into(), operator, values });
            Ok(())
        };
        if let Some((head, list)) = term.split_once('(') {
            let list = list.strip_suffix(')').ok_or_else(wrong)?;
            let values = list.split(',').map(|value| value.trim().to_owned()).collect();
            let (key, word) = head.trim().rsplit_once(char::is_whitespace).ok_or_else(wrong)?;
            match word {
                "in" => require(key, SelectorOperator::In, values)?,
                "notin" => require(key, SelectorOperator::NotIn, values)?,
                _ => return Err(wrong()),
            }
        } else if let Some((key, value)) = term.split_once("!=") {
            require(key, SelectorOperator::NotIn, vec![value.trim().into()])?;
        } else if let Some((key, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
            let (key, value) = (key.trim(), value.trim());
            if key.is_empty() || value.contains('=') {
                return Err(wrong());
            }
            if let Some(other) = selector.match_labels.insert(key.into(), value.into())
                && other != value
            {
                let message = format!("selector {text}: {key} cannot be both {other} and {value}");
                return Err(CommandError::usage(message));
            }
        } else if let Some(key) = term.strip_prefix('!') {
            require(key, SelectorOperator::DoesNotExist, Vec::new())?;
        } else {
            require(&term, SelectorOperator::Exists, Vec::new())?;
        }
    }
    if selector.is_empty() {
        return Err(CommandError::usage("the selector is empty").hint("leave it out to choose all"));
    }
    Ok(selector)
}

/// The parts between commas that are in no parentheses.
fn terms(text: &str) -> Vec<String> {
    let (mut terms, mut depth) = (vec![String::new()], 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                terms.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = terms.last_mut() {
            last.push(c);
        }
    }
    terms.iter().map(|term| term.trim().to_owned()).filter(|term| !term.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_mean_what_they_mean_in_kubectl() {
        let labels = |list: &[(&str, &str)]| list.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let chooses = |text: &str, list: &[(&str, &str)]| selector(text).unwrap().matches(&labels(list));
        assert!(chooses("a=b, c in (d,e),!f", &[("a", "b"), ("c", "e")]));
        assert!(!chooses("a=b,c in (d,e),!f", &[("a", "b"), ("c", "e"), ("f", "")]));
        assert!(chooses("a!=b", &[]));
        assert!(!chooses("a==b,g", &[("a", "b")]));
        assert!(!chooses("x notin (y)", &[("x", "y")]));
        for wrong in ["", "a b", "a in b", "=b", "a=b=c", "a=b,a=c", "a in (b", "!"] {
            assert_eq!(selector(wrong).unwrap_err().exit, crate::error::Exit::Usage, "{wrong}");
        }
    }

    #[test]
    fn changes_set_or_remove() {
        assert_eq!(change("a=b-").unwrap(), LabelChange { key: "a".into(), value: Some("b-".into()) });
        assert_eq!(change("a-").unwrap(), LabelChange { key: "a".into(), value: None });
        assert!(change("a").is_err() && change("-").is_err() && change("=b").is_err());
    }
}

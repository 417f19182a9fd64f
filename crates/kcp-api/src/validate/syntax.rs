//! The grammars of names, labels, times and paths.

/// A DNS-1123 label: 1 to 63 lower-case letters, digits and `-`, with no `-` at the ends.
pub(super) fn is_dns_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    ends_and_middle(text, 63, inner, |b| b == b'-')
}

/// A label key: an optional DNS name of up to 253 characters and `/`, then a name of up to 63.
pub(super) fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => {
            prefix.len() <= 253 && prefix.split('.').all(is_dns_label) && is_label_name(name)
        }
        None => is_label_name(text),
    }
}

/// A label value: empty, or up to 63 letters, digits, `-`, `_` and `.`.
pub(super) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_label_name(text)
}

fn is_label_name(text: &str) -> bool {
    ends_and_middle(text, 63, |b| b.is_ascii_alphanumeric(), |b| matches!(b, b'-' | b'_' | b'.'))
}

/// Not empty, not longer than `most`; all bytes pass `inner`, those between the ends also `middle`.
fn ends_and_middle(text: &str, most: usize, inner: impl Fn(u8) -> bool, middle: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            bytes.len() <= most
                && inner(*first)
                && inner(*last)
                && bytes.iter().all(|b| inner(*b) || middle(*b))
        }
        _ => false,
    }
}

/// A relative path that stays inside: the error says why it does not.
pub(super) fn repo_path(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > 1024 {
        return Err("it is longer than 1024 characters");
    }
    if text.starts_with('/') {
        return Err("it starts with /");
    }
    if text.contains('\\') || text.chars().any(char::is_control) {
        return Err("it has a backslash or a control character");
    }
    if text.split('/').any(|part| part == "..") {
        return Err("it has ..");
    }
    Ok(())
}

/// Name of a git branch, as far as a reader can be wrong about it by accident.
pub(super) fn is_branch(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && !text.starts_with('-')
        && !text.ends_with('.')
        && text != "@"
        && !text.contains("..")
        && !text.contains("@{")
        && text.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"))
        && !text.chars().any(|c| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c))
}

/// A time of the day as HH:MM.
pub(super) fn is_time_of_day(text: &str) -> bool {
    let number = |part: &str, below: u8| {
        part.len() == 2
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|value| value < below)
    };
    text.split_once(':').is_some_and(|(hour, minute)| number(hour, 24) && number(minute, 60))
}

#[cfg(test)]
mod tests {
    use super::{is_branch, is_dns_label, is_label_key, is_label_value, is_time_of_day, repo_path};

    #[test]
    fn names_and_labels_are_what_kubernetes_takes() {
        assert!(["eu-1", "a", "1a"].into_iter().all(is_dns_label));
        assert!(!["", "-a", "a-", "A", "a.b", "a_b", "\u{e4}"].into_iter().any(is_dns_label));
        assert!(!is_dns_label(&"a".repeat(64)));
        assert!(["a", "topology.kubernetes.io/zone", "A_b.c"].into_iter().all(is_label_key));
        assert!(!["", "/a", "a/", "a/b/c", "A.io/b", "a..b/c", "-a"].into_iter().any(is_label_key));
        assert!(["", "eu-a", "1.36", "A_b"].into_iter().all(is_label_value));
        assert!(!["a b", "-a", "a/b"].into_iter().any(is_label_value));
    }

    #[test]
    fn paths_stay_inside_the_repo() {
        assert!(["clusters", "a/b", "./a", "a..b"].into_iter().all(|path| repo_path(path).is_ok()));
        assert!(!["", "/etc", "..", "a/../../b", "a\\b", "a\nb"].into_iter().any(|p| repo_path(p).is_ok()));
    }

    #[test]
    fn branches_and_times() {
        assert!(["kcp/status", "main"].into_iter().all(is_branch));
        assert!(!["", "a b", "a..b", "/a", "a/", "-a", "a.lock", "a~1", "@"].into_iter().any(is_branch));
        assert!(["00:00", "23:59"].into_iter().all(is_time_of_day));
        assert!(!["24:00", "8:00", "08:60", "0800", "+8:00"].into_iter().any(is_time_of_day));
    }
}

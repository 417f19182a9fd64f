//! Where a node is inside a document: a list of keys and indices.

use std::fmt;
use std::str::FromStr;

/// One step from a node to its child.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// The value of this key of a mapping.
    Key(String),
    /// The item of this index of a sequence, counted from 0.
    Index(usize),
}

impl From<&str> for Segment {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<String> for Segment {
    fn from(key: String) -> Self {
        Self::Key(key)
    }
}

impl From<usize> for Segment {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A list of steps from the root of a document. Shown as `spec.clusters[0].name`; a key that holds other
/// characters is shown quoted: `metadata.labels["app.kubernetes.io/name"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The path of the root.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// This path with one more key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.0.push(Segment::Key(key.into()));
        self
    }

    /// This path with one more index.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Segment::Index(index));
        self
    }

    /// Adds a step at the end.
    pub fn push(&mut self, segment: impl Into<Segment>) {
        self.0.push(segment.into());
    }

    /// Takes the last step off.
    pub fn pop(&mut self) -> Option<Segment> {
        self.0.pop()
    }

    /// The steps, from the root.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The path without its last step, and that step; `None` for the root.
    #[must_use]
    pub fn split_last(&self) -> Option<(Self, &Segment)> {
        let (last, parent) = self.0.split_last()?;
        Some((Self(parent.to_vec()), last))
    }

    /// True for the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// True when `self` is `other` or lies inside it.
    #[must_use]
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl<S: Into<Segment>> FromIterator<S> for Path {
    fn from_iter<I: IntoIterator<Item = S>>(iter: I) -> Self {
        Self(iter.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if is_plain(key) => {
                    if i > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(key)?;
                }
                Segment::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// A text that is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a path at character {at}: {reason}; write it like `spec.clusters[0].name` or `metadata.labels[\"a.b/c\"]`"
)]
pub struct PathError {
    /// Where in the text, in characters from 1.
    pub at: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let chars: Vec<char> = text.chars().collect();
        let mut path = Self::root();
        let mut i = 0;
        let fail = |at: usize, reason| Err(PathError { at: at + 1, reason });
        while let Some(&c) = chars.get(i) {
            if c == '[' {
                if chars.get(i + 1) == Some(&'"') {
                    let (key, next) = quoted(&chars, i + 2)
                        .ok_or(PathError { at: i + 1, reason: "a quoted key must end with \"]" })?;
                    path.push(key);
                    i = next;
                } else {
                    let end = chars[i..].iter().position(|&c| c == ']').map(|n| i + n);
                    let Some(end) = end else {
                        return fail(i, "`[` without `]`");
                    };
                    let digits: String = chars[i + 1..end].iter().collect();
                    match digits.parse::<usize>() {
                        Ok(index) => path.push(index),
                        Err(_) => return fail(i + 1, "an index is a number from 0"),
                    }
                    i = end + 1;
                }
                continue;
            }
            if c == '.' {
                if path.is_root() {
                    return fail(i, "a path does not start with `.`");
                }
                i += 1;
            } else if !path.is_root() {
                return fail(i, "expected `.` or `[`");
            }
            let start = i;
            while chars.get(i).is_some_and(|&c| c != '.' && c != '[') {
                i += 1;
            }
            if start == i {
                return fail(i, "an empty key");
            }
            path.push(chars[start..i].iter().collect::<String>());
        }
        Ok(path)
    }
}

/// Reads up to the closing `"]`; the escapes are `\\` and `\"`.
fn quoted(chars: &[char], mut i: usize) -> Option<(String, usize)> {
    let mut key = String::new();
    loop {
        match chars.get(i)? {
            '"' if chars.get(i + 1) == Some(&']') => return Some((key, i + 2)),
            '\\' => {
                key.push(*chars.get(i + 1)?);
                i += 2;
            }
            c => {
                key.push(*c);
                i += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn paths_read_back_what_they_show() {
        for text in ["spec.clusters[0].name", "metadata.labels[\"a.b/c\"].x", "[3][\"q\\\"\"]", ""] {
            let path: Path = text.parse().expect("a path");
            assert_eq!(path.to_string(), text);
        }
        for bad in [".a", "a..b", "a[", "a[x]", "a[0]b", "a[\"x"] {
            assert!(bad.parse::<Path>().is_err(), "{bad}");
        }
    }
}

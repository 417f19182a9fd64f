//! "Did you mean": the known name nearest to one that is not known.

/// The candidate nearest to `word`, if one is near enough to be a likely slip: the same but for case, `_` and `-`,
/// or at most a third of its letters changed, added, left out or swapped.
#[must_use]
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The table is words squared: what is longer than any name of ours is no slip of it.
    if word.len() > 64 {
        return None;
    }
    let folded = fold(word);
    candidates
        .into_iter()
        .filter(|c| c.len() <= 64 && *c != word)
        .filter_map(|c| {
            let candidate = fold(c);
            let distance = distance(&folded, &candidate);
            let allowed = (candidate.len().max(folded.len()) / 3).max(1);
            (distance <= allowed && distance < candidate.len()).then_some((distance, c))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

fn fold(word: &str) -> Vec<char> {
    word.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).collect()
}

/// Edits between two words, where swapping two neighbours is one edit.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0_usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let same = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + same);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["exactly", "min", "max", "all", "clusterSelector"];
        assert_eq!(did_you_mean("exactl", known), Some("exactly"));
        assert_eq!(did_you_mean("exaclty", known), Some("exactly"));
        assert_eq!(did_you_mean("cluster_selector", known), Some("clusterSelector"));
        assert_eq!(did_you_mean("ClusterSelector", known), Some("clusterSelector"));
        assert_eq!(did_you_mean("replicas", known), None);
        assert_eq!(did_you_mean(&"x".repeat(1_000_000), known), None);
    }
}

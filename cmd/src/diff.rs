//! Unified diffs of texts, for a person to read. Secret manifests are the person's own files: what is shown is what
//! is about to be written, nothing else.

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Above so many cells of the table, a change is shown as one block: all lines out, all lines in.
const MAX_CELLS: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Same,
    Out,
    In,
}

/// The diff of a file as git shows it; `None` is a file that is not there. Empty if nothing differs.
pub(crate) fn unified(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    if before == after {
        return String::new();
    }
    let name =
        |prefix: &str, side: Option<&[u8]>| side.map_or("/dev/null".into(), |_| format!("{prefix}/{path}"));
    let head = format!("--- {}\n+++ {}\n", name("a", before), name("b", after));
    let (Ok(before), Ok(after)) =
        (std::str::from_utf8(before.unwrap_or_default()), std::str::from_utf8(after.unwrap_or_default()))
    else {
        return head + "binary files differ\n";
    };
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    head + &hunks(&old, &new, &steps(&old, &new))
}

/// How to get from the old lines to the new ones: a longest common subsequence, of the part that differs.
fn steps(old: &[&str], new: &[&str]) -> Vec<Step> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let mut steps = vec![Step::Same; start];
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MAX_CELLS {
        steps.extend(old.iter().map(|_| Step::Out));
        steps.extend(new.iter().map(|_| Step::In));
    } else {
        let mut longest = vec![0_u32; (old.len() + 1) * width];
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                longest[i * width + j] = if old[i] == new[j] {
                    longest[(i + 1) * width + j + 1] + 1
                } else {
                    longest[(i + 1) * width + j].max(longest[i * width + j + 1])
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < old.len() || j < new.len() {
            let step = if i < old.len() && j < new.len() && old[i] == new[j] {
                Step::Same
            } else if j == new.len()
                || (i < old.len() && longest[(i + 1) * width + j] >= longest[i * width + j + 1])
            {
                Step::Out
            } else {
                Step::In
            };
            i += usize::from(step != Step::In);
            j += usize::from(step != Step::Out);
            steps.push(step);
        }
    }
    steps.extend(std::iter::repeat_n(Step::Same, end));
    steps
}

fn hunks(old: &[&str], new: &[&str], steps: &[Step]) -> String {
    let changed: Vec<usize> = (0..steps.len()).filter(|at| steps[*at] != Step::Same).collect();
    let mut out = String::new();
    let mut rest = changed.as_slice();
    // Lines of each side before the step at `seen`.
    let (mut seen, mut before, mut after) = (0, 0, 0);
    while let Some(first) = rest.first() {
        let mut last = *first;
        let joined = rest.iter().take_while(|at| {
            let near = **at <= last + 2 * CONTEXT + 1;
            if near {
                last = **at;
            }
            near
        });
        let count = joined.count();
        rest = &rest[count..];
        let (from, to) = (first.saturating_sub(CONTEXT).max(seen), (last + CONTEXT + 1).min(steps.len()));
        for step in &steps[seen..from] {
            before += usize::from(*step != Step::In);
            after += usize::from(*step != Step::Out);
        }
        let (start_before, start_after) = (before, after);
        let mut body = String::new();
        for step in &steps[from..to] {
            let (sign, line) = match step {
                Step::Same => (' ', old[before]),
                Step::Out => ('-', old[before]),
                Step::In => ('+', new[after]),
            };
            before += usize::from(*step != Step::In);
            after += usize::from(*step != Step::Out);
            body.push(sign);
            body.push_str(line);
            if !line.ends_with('\n') {
                body.push_str("\n\\ No newline at end of file\n");
            }
        }
        let range = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        let (old_range, new_range) = (range(start_before, before), range(start_after, after));
        out.push_str(&format!("@@ -{old_range} +{new_range} @@\n{body}"));
        seen = to;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn shows_what_git_shows() {
        let before = (1..=20).map(|n| format!("{n}\n")).collect::<String>();
        let after = before.replace("2\n3\n", "2\nthree\n").replace("19\n", "");
        let expected = "--- a/f\n+++ b/f\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n\
                        @@ -16,5 +16,4 @@\n 16\n 17\n 18\n-19\n 20\n";
        assert_eq!(unified("f", Some(before.as_bytes()), Some(after.as_bytes())), expected);
        assert_eq!(
            unified("f", None, Some(b"a")),
            "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("f", Some(b"a\n"), None), "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified("f", Some(b"a"), Some(b"a")), "");
    }
}

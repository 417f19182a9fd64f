//! What differs between two texts, for the person who mends it. It must never be what decides whether they are equal.

use std::fmt::Write as _;

/// Lines around a difference.
const CONTEXT: usize = 3;
/// How far it looks for the place where both texts agree again.
const REACH: usize = 400;

/// The first line in which the texts differ.
pub(super) fn first(ours: &str, theirs: &str) -> String {
    let differ = ours.lines().zip(theirs.lines()).position(|(ours, theirs)| ours != theirs);
    let at = differ.unwrap_or_else(|| ours.lines().count().min(theirs.lines().count()));
    let (ours, theirs) = (ours.lines().nth(at), theirs.lines().nth(at));
    format!("line {}: ours {ours:?}, reference {theirs:?}", at + 1)
}

/// A unified diff from the reference (`-`) to ours (`+`).
pub(super) fn unified(ours: &str, theirs: &str) -> String {
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    let (mut a, mut b) = (0, 0);
    let mut text = String::new();
    let mut shown = 0;
    while a < theirs.len() || b < ours.len() {
        if a < theirs.len() && b < ours.len() && theirs[a] == ours[b] {
            (a, b) = (a + 1, b + 1);
            continue;
        }
        let (skip_a, skip_b) = agreement(&theirs[a..], &ours[b..]);
        let from = a.saturating_sub(CONTEXT).max(shown);
        if from > shown || text.is_empty() {
            let _ = writeln!(text, "@@ reference line {}, ours {} @@", a + 1, b + 1);
        }
        let mut show = |mark: char, lines: &[&str]| {
            lines.iter().for_each(|line| {
                let _ = writeln!(text, "{mark}{line}");
            });
        };
        show(' ', &theirs[from..a]);
        show('-', &theirs[a..a + skip_a]);
        show('+', &ours[b..b + skip_b]);
        (a, b) = (a + skip_a, b + skip_b);
        let same = theirs[a..].iter().zip(&ours[b..]).take(CONTEXT).take_while(|(a, b)| a == b).count();
        show(' ', &theirs[a..a + same]);
        (a, b, shown) = (a + same, b + same, a + same);
    }
    text
}

/// How many lines of each text come before the nearest place where two lines in a row are equal again.
fn agreement(a: &[&str], b: &[&str]) -> (usize, usize) {
    for distance in 1..=REACH {
        for skip_a in 0..=distance {
            let skip_b = distance - skip_a;
            let (rest_a, rest_b) = (a.get(skip_a..), b.get(skip_b..));
            if let (Some(rest_a), Some(rest_b)) = (rest_a, rest_b)
                && rest_a.iter().take(2).eq(rest_b.iter().take(2))
            {
                return (skip_a, skip_b);
            }
        }
    }
    (a.len(), b.len())
}

#[test]
fn a_diff_shows_both_sides_and_what_is_around() {
    let theirs = "a\nb\nc\nd\n1\n2\n3\n4\n5\n6\n7\nlast\n";
    let ours = "a\nb\nX\nd\n1\n2\n3\n4\n5\n6\n7\n";
    assert_eq!(
        unified(ours, theirs),
        "@@ reference line 3, ours 3 @@\n a\n b\n-c\n+X\n d\n 1\n 2\n@@ reference line 12, ours 12 @@\n 5\n 6\n 7\n-last\n"
    );
    assert_eq!(first(ours, theirs), "line 3: ours Some(\"X\"), reference Some(\"c\")");
}

//! Rounds, their medians and ratios, as a table for people and CSV for everybody else.

use std::fmt::Write as _;

use super::{raw_file, say};

/// Times that pairs are drawn anew for a confidence interval.
const DRAWS: usize = 5000;

/// One round of one tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Round {
    pub(super) tool: &'static str,
    /// Rounds of the same number belong together.
    pub(super) pair: u32,
    /// Seconds.
    pub(super) wall: f64,
    /// CPU seconds of the client.
    pub(super) cpu: f64,
    pub(super) requests: usize,
    /// How many of the requests were to change something.
    pub(super) writes: usize,
}

/// A figure of a round, with its name and its digits after the point.
type Figure = (&'static str, usize, fn(&Round) -> f64);

const FIGURES: [Figure; 4] = [
    ("wall, s", 2, |round| round.wall),
    ("client CPU, s", 2, |round| round.cpu),
    ("requests", 0, |round| round.requests as f64),
    ("writes", 0, |round| round.writes as f64),
];

/// Prints a table of all tools, with ratios against the first, and keeps the raw numbers.
pub(super) fn report(name: &str, title: &str, rounds: &[Round]) -> anyhow::Result<()> {
    let mut csv = "tool,pair,wall_seconds,cpu_seconds,requests,writes\n".to_owned();
    for Round { tool, pair, wall, cpu, requests, writes } in rounds {
        writeln!(csv, "{tool},{pair},{wall:.4},{cpu:.2},{requests},{writes}")?;
    }
    let path = raw_file(&format!("{name}.csv"))?;
    std::fs::write(&path, csv)?;
    say(&format!("\n{title}\n\n{}\nraw numbers: {}", table(rounds), path.display()))
}

/// Markdown: for each figure and tool the median with minimum and maximum, and the ratio to the first tool.
fn table(rounds: &[Round]) -> String {
    let mut tools: Vec<&str> = Vec::new();
    for round in rounds {
        if !tools.contains(&round.tool) {
            tools.push(round.tool);
        }
    }
    let mut text =
        format!("| median (min..max) of {} | {} |", rounds.len() / tools.len().max(1), tools.join(" | "));
    text += &format!("\n|---{}|\n", "|---".repeat(tools.len()));
    for (name, digits, figure) in FIGURES {
        let of = |tool: &str| -> Vec<f64> {
            let mut of: Vec<_> = rounds.iter().filter(|round| round.tool == tool).collect();
            of.sort_by_key(|round| round.pair);
            of.into_iter().map(figure).collect()
        };
        text += &format!("| {name} |");
        let Some((first, others)) = tools.split_first() else { continue };
        let ours = of(first);
        text += &format!(" {} |", spread(&ours, digits));
        for other in others {
            let theirs = of(other);
            text += &format!(" {}{} |", spread(&theirs, digits), against(&theirs, &ours));
        }
        text.push('\n');
    }
    text
}

pub(super) fn spread(values: &[f64], digits: usize) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{:.digits$} ({least:.digits$}..{most:.digits$})", median(values))
}

/// How many times `ours` theirs is, pair by pair; nothing where we have a zero.
pub(super) fn against(theirs: &[f64], ours: &[f64]) -> String {
    let ratios: Vec<f64> = theirs.iter().zip(ours).map(|(theirs, ours)| theirs / ours).collect();
    if ours.contains(&0.0) {
        return String::new();
    }
    let (low, high) = interval(&ratios);
    format!(" = **{:.2}x** [{low:.2}, {high:.2}]", median(&ratios))
}

/// The middle one; of two, their mean.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => sorted[len / 2],
        len => f64::midpoint(sorted[len / 2 - 1], sorted[len / 2]),
    }
}

/// The 95 % bootstrap interval of the median. The draws are the same each time.
fn interval(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        // xorshift: good enough to draw pairs.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[usize::try_from(state >> 33).unwrap_or_default() % values.len()]
    };
    let mut medians: Vec<f64> = (0..DRAWS)
        .map(|_| median(&std::iter::repeat_with(&mut draw).take(values.len()).collect::<Vec<_>>()))
        .collect();
    medians.sort_by(f64::total_cmp);
    (medians[DRAWS / 40], medians[DRAWS - 1 - DRAWS / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        let round = |tool, pair, cpu| Round { tool, pair, wall: 1.0, cpu, requests: 4, writes: 0 };
        // The machine was three times as slow in the last pair, for both; the order of rounds does not count.
        let rounds =
            [("a", 0, 1.0), ("b", 0, 2.0), ("b", 1, 2.0), ("a", 1, 1.0), ("a", 2, 3.0), ("b", 2, 6.0)];
        let table = table(&rounds.map(|(tool, pair, cpu)| round(tool, pair, cpu)));
        assert!(
            table.contains(
                "| client CPU, s | 1.00 (1.00..3.00) | 2.00 (2.00..6.00) = **2.00x** [2.00, 2.00] |"
            ),
            "{table}"
        );
        assert!(table.contains("| writes | 0 (0..0) | 0 (0..0) |"), "{table}");
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}

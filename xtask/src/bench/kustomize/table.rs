//! Rows of directories with samples of each program, as a table for people and CSV for everybody else.

use std::fmt::Write as _;

use crate::bench::figures::{against, spread};
use crate::bench::{raw_file, say};

/// What was measured of one program.
pub(super) struct Samples {
    name: &'static str,
    values: Vec<f64>,
}

impl Samples {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, values: Vec::new() }
    }

    pub(super) fn push(&mut self, value: f64) {
        self.values.push(value);
    }
}

/// One directory. A program is compared with the first one of the same measure: what follows `, ` in its name.
pub(super) struct Row {
    pub(super) name: String,
    /// Of the output.
    pub(super) bytes: usize,
    pub(super) values: Vec<Samples>,
}

pub(super) fn report(name: &str, title: &str, rows: &[Row]) -> anyhow::Result<()> {
    let mut csv = "directory,bytes,program,round,value\n".to_owned();
    for row in rows {
        for samples in &row.values {
            for (round, value) in samples.values.iter().enumerate() {
                writeln!(csv, "{},{},\"{}\",{round},{value:.4}", row.name, row.bytes, samples.name)?;
            }
        }
    }
    let path = raw_file(&format!("{name}.csv"))?;
    std::fs::write(&path, csv)?;
    say(&format!("\n{title}\n\n{}\nraw numbers: {}\n", table(rows), path.display()))
}

fn table(rows: &[Row]) -> String {
    let mut columns: Vec<&'static str> = Vec::new();
    for samples in rows.iter().flat_map(|row| &row.values) {
        if !columns.contains(&samples.name) {
            columns.push(samples.name);
        }
    }
    let mut text = format!(
        "| directory | output, kB | {} |\n|---|---{}|\n",
        columns.join(" | "),
        "|---".repeat(columns.len())
    );
    for row in rows {
        let _ = write!(text, "| {} | {:.1} |", row.name, row.bytes as f64 / 1e3);
        for column in &columns {
            let measure = |name: &'static str| name.split_once(", ").map(|(_, measure)| measure);
            let of = |name: &str| row.values.iter().find(|samples| samples.name == name);
            let first = row.values.iter().find(|samples| measure(samples.name) == measure(column));
            text += &match (of(column), first) {
                (Some(theirs), Some(ours)) if ours.name != theirs.name => {
                    format!(" {}{} |", shown(&theirs.values, 1), ratio(&theirs.values, &ours.values))
                }
                (Some(ours), _) => format!(" {} |", shown(&ours.values, 2)),
                (None, _) => " |".to_owned(),
            };
        }
        text.push('\n');
    }
    text
}

/// With minimum and maximum, where there is more than one.
fn shown(values: &[f64], digits: usize) -> String {
    match values {
        [only] => format!("{only:.digits$}"),
        values => spread(values, digits),
    }
}

fn ratio(theirs: &[f64], ours: &[f64]) -> String {
    match (theirs, ours) {
        ([theirs], [ours]) if *ours > 0.0 => format!(" = **{:.1}x**", theirs / ours),
        _ => against(theirs, ours),
    }
}

#[test]
fn each_measure_is_compared_with_our_own() {
    let samples = |name, values: &[f64]| Samples { name, values: values.to_vec() };
    let values = vec![
        samples("ours", &[2.0, 2.0]),
        samples("theirs", &[40.0, 60.0]),
        samples("ours, peak", &[5.0]),
        samples("theirs, peak", &[20.0]),
    ];
    let table = table(&[Row { name: "a".into(), bytes: 1500, values }]);
    assert!(
        table.contains("| a | 1.5 | 2.00 (2.00..2.00) | 50.0 (40.0..60.0) = **25.00x** [20.00, 30.00] |"),
        "{table}"
    );
    assert!(table.contains("| 5.00 | 20.0 = **4.0x** |"), "{table}");
}

//! `kubectl kcp api validate`: which of several states of CRDs accept an object, and keep all of it.

use std::io::Read as _;
use std::path::Path;

use clap::{Args, ValueEnum};
use kcp_schema::{Judge, Pool, Release, Verdict};
use serde_json::{Value, json};
use yaml_span::Limits;

use super::source::{self, Found};
use crate::commands::Context;
use crate::error::{CommandError, Exit, Outcome};
use crate::ui::{Table, Text, Tone};

/// Bytes of a file of objects.
const MAX_BYTES: u64 = 16 << 20;

/// Say which clusters accept an object and keep all of it
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kubectl kcp api validate -f widget.yaml --against eu-1.yaml,us-1.yaml

Exit codes:
  0  each object is accepted and kept everywhere
  1  some object is refused, stripped, or not known somewhere, or it cannot be said
  2  the words of the command, or what is read, are wrong")]
pub(crate) struct ValidateArgs {
    /// A file of objects, - for standard input
    #[arg(short, long, value_name = "FILE")]
    filename: String,
    /// The states of CRDs: FILE, DIR or git:REF:PATH, with commas
    #[arg(long, value_name = "STATE", required = true, value_delimiter = ',')]
    against: Vec<String>,
    /// How it is shown
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs
    Json,
}

/// What one state says about one object.
struct Answer {
    object: String,
    state: String,
    word: &'static str,
    path: String,
    why: String,
}

pub(crate) fn run(context: &Context, args: &ValidateArgs) -> Outcome {
    let objects = objects(&args.filename)?;
    let mut pool = Pool::new();
    let mut answers = Vec::new();
    for state in &args.against {
        let found = source::read(state, context.repo.as_deref(), false, &mut pool)?;
        for object in &objects {
            let (word, path, why) = answer(&found, object);
            answers.push(Answer { object: name(object), state: state.clone(), word, path, why });
        }
    }
    answers.sort_by(|left, right| left.object.cmp(&right.object));
    match args.output {
        Output::Text => {
            let mut table = Table::new(["OBJECT", "STATE", "ANSWER", "PATH", "WHY"]);
            for it in &answers {
                let tone = match it.word {
                    "accepted" => Tone::Good,
                    "unknown" => Tone::Warn,
                    _ => Tone::Bad,
                };
                table.row(vec![
                    it.object.as_str().into(),
                    it.state.as_str().into(),
                    Text::toned(tone, it.word),
                    it.path.as_str().into(),
                    it.why.as_str().into(),
                ]);
            }
            context.ui.table(&table);
        }
        Output::Json => {
            let values: Vec<Value> = answers
                .iter()
                .map(|it| {
                    json!({"object": it.object, "state": it.state, "answer": it.word, "path": it.path, "why": it.why})
                })
                .collect();
            context.ui.json(&values)?;
        }
    }
    Ok(if answers.iter().all(|it| it.word == "accepted") { Exit::Yes } else { Exit::No })
}

fn answer(found: &[Found], object: &Value) -> (&'static str, String, String) {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    let known = found.iter().find(|it| *it.crd.group == *group && *it.crd.names.kind == *text("kind"));
    let served = known.filter(|it| it.crd.version(version).is_some_and(|version| version.served));
    let Some(found) = served else {
        let why = if known.is_some() { "the version is not served" } else { "no CRD has this kind" };
        return ("no-such-api", String::new(), why.to_owned());
    };
    let Some(judge) = Judge::of_crd(&found.crd, version, Release::default()) else {
        return ("accepted", String::new(), String::new());
    };
    match judge.accepts_and_keeps(object) {
        Verdict::Yes => ("accepted", String::new(), String::new()),
        Verdict::No { path, why: why @ kcp_schema::Why::Dropped } => {
            ("stripped", path.to_string(), why.to_string())
        }
        Verdict::No { path, why } => ("refused", path.to_string(), why.to_string()),
        Verdict::Unknown(doubt) => ("unknown", doubt.path.to_string(), doubt.why.to_string()),
    }
}

fn name(object: &Value) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("?").to_owned();
    let metadata = object.get("metadata");
    format!("{}/{}", text(object.get("kind")), text(metadata.and_then(|it| it.get("name"))))
}

fn objects(filename: &str) -> Result<Vec<Value>, CommandError> {
    let wrong = |error: std::io::Error| CommandError::usage(format!("{filename}: {error}"));
    let mut text = String::new();
    let read = if filename == "-" {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_string(&mut text)
    } else {
        std::fs::File::open(Path::new(filename)).map_err(wrong)?.take(MAX_BYTES + 1).read_to_string(&mut text)
    };
    if read.map_err(wrong)? as u64 > MAX_BYTES {
        return Err(CommandError::usage(format!("{filename}: is larger than {MAX_BYTES} bytes")));
    }
    let limits = Limits { depth: Limits::MAX_DEPTH, bytes: MAX_BYTES as usize, ..Limits::default() };
    let documents = yaml_span::parse(&text, yaml_span::Schema::Kubernetes, &limits).map_err(|errors| {
        CommandError::usage(format!("{filename}: cannot be read")).details(errors.diagnostics(filename))
    })?;
    let mut all = Vec::new();
    for document in documents.iter().filter(|document| !document.empty) {
        let value = document.root.to_json();
        match value.get("items").and_then(Value::as_array) {
            Some(items) if value.get("kind").and_then(Value::as_str) == Some("List") => {
                all.extend(items.clone())
            }
            _ => all.push(value),
        }
    }
    if all.is_empty() {
        return Err(CommandError::usage(format!("{filename}: there is no object")));
    }
    Ok(all)
}

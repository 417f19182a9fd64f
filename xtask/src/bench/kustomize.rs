//! kustomize-rs against the reference of the same version: as processes, and as libraries in a warm process. Directories
//! are those of the corpus: the median one by its output, and the ten largest. It must never compare before it has seen
//! that both print the same bytes.

mod process;
mod table;
mod warm;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use kcp_tests::{control_planes, oracles};

use self::process::Program;
use self::table::{Row, Samples};
use self::warm::Warm;
use super::{say, target};
use crate::demo::{checked, root};

/// Builds of one round in a warm process, where they are short; of larger outputs one.
const WARM_BUILDS: u32 = 5;
const LARGE: usize = 100_000;

/// A directory of the corpus.
struct Dir {
    name: String,
    project: PathBuf,
    path: PathBuf,
    expected: Vec<u8>,
}

pub(super) fn run(pairs: u32) -> anyhow::Result<()> {
    let mut dirs = corpus()?;
    dirs.sort_by_key(|dir| dir.expected.len());
    let ours = build_ours()?;
    let oracle = oracles::kustomize()?;
    let kubectl = control_planes::build()?.program("kubectl");
    let median = dirs.len() / 2;
    let mut chosen: Vec<&Dir> = vec![&dirs[median]];
    chosen.extend(dirs.iter().rev().take(10));

    let mut programs = vec![
        Program::new(["kustomize-rs", "kustomize-rs, CPU", "kustomize-rs, peak"], &ours, &["--root"]),
        Program::new(
            ["kustomize", "kustomize, CPU", "kustomize, peak"],
            &oracle.join("kustomize"),
            &["build"],
        ),
    ];
    // Another version may print other bytes: it is measured, not compared.
    programs.push(Program::new(
        ["kubectl kustomize", "kubectl, CPU", "kubectl, peak"],
        &kubectl,
        &["kustomize"],
    ));
    let mut rows = Vec::new();
    for dir in &chosen {
        say(&format!("kustomize: {} as a process", dir.name))?;
        rows.push(as_processes(&programs, dir, pairs)?);
    }
    table::report(
        "kustomize-process",
        "One directory, as a process: wall time and mean CPU time in ms, peak memory in MiB",
        &rows,
    )?;

    let mut ours = Warm::start(Command::new(&ours).arg("--root").arg(corpus_root()?).arg("-"))?;
    let mut theirs = Warm::start(&mut Command::new(oracle.join("warm")))?;
    let mut rows = Vec::new();
    for dir in &chosen {
        say(&format!("kustomize: {} in a warm process", dir.name))?;
        rows.push(warm_pairs(&mut ours, &mut theirs, dir, pairs)?);
    }
    rows.push(whole_corpus(&mut ours, &mut theirs, &dirs)?);
    table::report("kustomize-warm", "One directory, in a warm process: ms", &rows)?;
    incremental()
}

/// The folder of the corpus.
fn corpus_root() -> anyhow::Result<PathBuf> {
    let data =
        std::env::var_os("KCP_TEST_DATA").map_or_else(|| root().join("../shared/test-data"), PathBuf::from);
    data.canonicalize().with_context(|| format!("no corpus at {}: set KCP_TEST_DATA", data.display()))
}

fn corpus() -> anyhow::Result<Vec<Dir>> {
    let data = corpus_root()?;
    let (inputs, outputs) = (data.join("kustomize"), data.join("kustomize-expected"));
    let (mut dirs, mut open) = (Vec::new(), vec![outputs.clone()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(&outputs)?.to_string_lossy().into_owned();
            let Some(name) = name.strip_suffix(".yaml") else { continue };
            let project = name.split('/').next().unwrap_or_default();
            if project != "micro" {
                let (project, path_of) = (inputs.join(project), inputs.join(name));
                dirs.push(Dir {
                    name: name.to_owned(),
                    project,
                    path: path_of,
                    expected: std::fs::read(&path)?,
                });
            }
        }
    }
    ensure!(dirs.len() > 100, "the corpus at {} is not whole", data.display());
    Ok(dirs)
}

/// The example program of the crate, as it is released.
fn build_ours() -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--release", "-p", "kustomize-rs", "--example", "build"]);
    checked(cargo.current_dir(root()))?;
    Ok(target().join("release/examples/build"))
}

fn as_processes(programs: &[Program], dir: &Dir, pairs: u32) -> anyhow::Result<Row> {
    let mut wall: Vec<Samples> = programs.iter().map(|program| Samples::new(program.name)).collect();
    for program in &programs[..2] {
        let printed = program.run(dir)?.text;
        ensure!(printed == dir.expected, "{} prints other bytes for {}", program.name, dir.name);
    }
    let mut cpu = vec![0.0; programs.len()];
    for pair in 0..pairs {
        for at in 0..programs.len() {
            let at = if pair % 2 == 0 { at } else { programs.len() - 1 - at };
            let run = programs[at].run(dir)?;
            wall[at].push(run.wall.as_secs_f64() * 1e3);
            cpu[at] += run.cpu.as_secs_f64() * 1e3;
        }
    }
    let mut row = Row { name: dir.name.clone(), bytes: dir.expected.len(), values: wall };
    for (program, cpu) in programs.iter().zip(cpu) {
        let mut samples = Samples::new(program.cpu);
        samples.push(cpu / f64::from(pairs));
        row.values.push(samples);
    }
    for program in &programs[..2] {
        // Only an output that does not fit into a pipe stops the process where its memory can be read.
        if let Some(peak) = program.peak(dir)? {
            let mut samples = Samples::new(program.memory);
            samples.push(peak as f64 / f64::from(1 << 20));
            row.values.push(samples);
        }
    }
    Ok(row)
}

fn warm_pairs(ours: &mut Warm, theirs: &mut Warm, dir: &Dir, pairs: u32) -> anyhow::Result<Row> {
    let mut samples = [Samples::new("kustomize-rs"), Samples::new("Go library")];
    for warm in [&mut *ours, &mut *theirs] {
        let (text, _) = warm.build(&dir.path)?;
        ensure!(text == dir.expected, "a warm process prints other bytes for {}", dir.name);
    }
    for pair in 0..pairs {
        for at in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
            let warm = if at == 0 { &mut *ours } else { &mut *theirs };
            let mut took = Vec::new();
            for _ in 0..if dir.expected.len() > LARGE { 1 } else { WARM_BUILDS } {
                took.push(warm.build(&dir.path)?.1.as_secs_f64() * 1e3);
            }
            samples[at].push(super::figures::median(&took));
        }
    }
    Ok(Row { name: dir.name.clone(), bytes: dir.expected.len(), values: samples.into() })
}

/// All directories, once in each process, turn by turn.
fn whole_corpus(ours: &mut Warm, theirs: &mut Warm, dirs: &[Dir]) -> anyhow::Result<Row> {
    let (mut sums, mut bytes) = ([0.0, 0.0], 0);
    for dir in dirs {
        for (at, warm) in [&mut *ours, &mut *theirs].into_iter().enumerate() {
            sums[at] += warm.build(&dir.path)?.1.as_secs_f64() * 1e3;
        }
        bytes += dir.expected.len();
    }
    let mut samples = [Samples::new("kustomize-rs"), Samples::new("Go library")];
    samples.iter_mut().zip(sums).for_each(|(samples, sum)| samples.push(sum));
    Ok(Row { name: format!("all {} directories", dirs.len()), bytes, values: samples.into() })
}

/// What the cache spares; the program prints it.
fn incremental() -> anyhow::Result<()> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--release", "-p", "kustomize-rs", "--example", "incremental"]);
    checked(cargo.current_dir(root()))
}

impl Dir {
    fn project(&self) -> &Path {
        &self.project
    }
}

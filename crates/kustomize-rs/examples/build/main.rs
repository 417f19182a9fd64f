//! The library as a program: prints what a directory builds, as `kustomize build` does.
//!
//! ```text
//! cargo run --release -p kustomize-rs --example build -- [--root ROOT] DIR
//! ```
//! Bases may be anywhere below ROOT; without it, below the git repository that DIR is in. With `-` for DIR, the names of
//! directories are read, one a line; each is answered by `ok NANOSECONDS BYTES` or `fail NANOSECONDS BYTES` and that many
//! bytes, so that the library can be measured without the start of a process.

mod disk;

use std::io::{BufRead as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use disk::Disk;
use kustomize_rs::{Options, build, to_yaml};

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = match arguments.first().map(String::as_str) {
        Some("--root") if arguments.len() > 1 => {
            Some(PathBuf::from(arguments.drain(..2).nth(1).unwrap_or_default()))
        }
        _ => None,
    };
    let out = std::io::stdout().lock();
    let done = match &arguments[..] {
        [dir] if dir == "-" => many(root.as_deref().unwrap_or(Path::new(".")), out),
        [dir] => one(root, Path::new(dir), out),
        _ => Err("usage: build [--root ROOT] DIR".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn one(root: Option<PathBuf>, dir: &Path, mut out: impl Write) -> Result<(), String> {
    let root = root.unwrap_or_else(|| repository(dir));
    let files = Disk::open(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    let text = text(&files, dir)?;
    out.write_all(text.as_bytes()).map_err(|error| error.to_string())
}

fn many(root: &Path, mut out: impl Write) -> Result<(), String> {
    let files = Disk::open(root).map_err(|error| format!("{}: {error}", root.display()))?;
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let start = Instant::now();
        let built = text(&files, Path::new(&line));
        let took = start.elapsed().as_nanos();
        let (word, text) = match built {
            Ok(text) => ("ok", text),
            Err(error) => ("fail", error),
        };
        write!(out, "{word} {took} {}\n{text}", text.len()).map_err(|error| error.to_string())?;
        out.flush().map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn text(files: &Disk, dir: &Path) -> Result<String, String> {
    let inside = files.relative(dir).ok_or_else(|| format!("{}: not in the root", dir.display()))?;
    build(files, &inside, &Options::default())
        .map(|objects| to_yaml(&objects))
        .map_err(|error| error.to_string())
}

/// The folder with `.git` around a directory, or the directory.
fn repository(dir: &Path) -> PathBuf {
    let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    real.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&real).to_owned()
}

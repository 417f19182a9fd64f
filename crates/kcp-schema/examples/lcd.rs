//! How long common denominators take: 300 CRDs over 100 clusters with at most three distinct schemas each, made from a
//! folder of real CRDs. Usage: `cargo run --release -p kcp-schema --example lcd -- FOLDER`
#![expect(clippy::print_stdout, reason = "a benchmark's result")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kcp_schema::{Crd, CrdLcd, Denominator, Options, Pool};
use serde_json::Value;

const KINDS: usize = 300;
const CLUSTERS: usize = 100;

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs of up to three releases of one CRD.
fn triples(folder: &Path) -> Result<Vec<Vec<Value>>, Box<dyn Error>> {
    let mut series: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for path in files(folder)? {
        let text = std::fs::read_to_string(&path)?;
        let documents = yaml_span::parse(&text, yaml_span::Schema::Kubernetes, &yaml_span::Limits::default());
        let documents = documents.map_err(|errors| format!("{}: {errors}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        series.entry(name).or_default().extend(documents.first().map(|document| document.root.to_json()));
    }
    Ok(series.values().flat_map(|all| all.windows(all.len().min(3)).map(<[Value]>::to_vec)).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: lcd FOLDER")?;
    let triples = triples(Path::new(&folder))?;
    for clusters in [3, CLUSTERS] {
        let start = Instant::now();
        let mut pool = Pool::new();
        let kinds: Vec<Vec<Crd>> = triples
            .iter()
            .cycle()
            .take(KINDS)
            .map(|all| {
                all.iter().map(|document| Crd::parse(document, &Options::default(), &mut pool)).collect()
            })
            .collect::<Result<_, _>>()?;
        let parsed = start.elapsed();
        let (mut common, mut exact, mut other) = (0, 0, 0);
        let start = Instant::now();
        for crds in &kinds {
            let members: Vec<&Crd> = crds.iter().cycle().take(clusters).collect();
            for lcd in CrdLcd::of(&members)?.versions.values() {
                match &lcd.outcome {
                    Denominator::Common(schema) => {
                        common += 1;
                        exact += usize::from(schema.exact());
                    }
                    Denominator::Empty(_) | Denominator::Unknown(_) => other += 1,
                }
            }
        }
        let met = start.elapsed();
        println!(
            "{KINDS} CRDs over {clusters} clusters: parsed in {parsed:?}, met in {met:?}: {common} common ({exact} exact), {other} without; {} distinct nodes",
            pool.len()
        );
    }
    Ok(())
}

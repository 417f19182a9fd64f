//! What a shared cache spares: a fleet of 1,000 kustomizations (50 bases, 19 overlays on each), built whole, built again, and
//! built after one file of it changed; and 20 overlays on one base.
//!
//! ```text
//! cargo run --release -p kustomize-rs --example incremental
//! ```

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use kustomize_rs::{Cache, CacheStatistics, Error, MemoryFiles, Options, build, to_yaml};

const BASES: usize = 50;
const OVERLAYS: usize = 19;
/// Objects of a base, each in a file of its own.
const OBJECTS: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout();
    let mut files = MemoryFiles::new();
    for base in 0..BASES {
        add_base(&mut files, base, OVERLAYS);
    }
    writeln!(
        out,
        "| {} kustomizations, {} files | ms | files parsed | directories built | results built |",
        BASES * (OVERLAYS + 1),
        files_of(BASES, OVERLAYS)
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    let cache = Arc::new(Cache::default());
    let mut step =
        |what: &str, files: &MemoryFiles, options: &Options| -> Result<(), Box<dyn std::error::Error>> {
            let before = cache.statistics();
            let start = Instant::now();
            for dir in directories() {
                // The text is what somebody would apply or compare; without a change it needs not be made.
                build(files, &dir, options)?;
            }
            let took = start.elapsed().as_secs_f64() * 1e3;
            let CacheStatistics { files_parsed, directories_built, results_built, .. } = cache.statistics();
            let (parsed, built, results) = (
                files_parsed - before.files_parsed,
                directories_built - before.directories_built,
                results_built - before.results_built,
            );
            Ok(writeln!(out, "| {what} | {took:.1} | {parsed} | {built} | {results} |")?)
        };
    let shared = Options { cache: Some(cache.clone()), ..Options::default() };
    step("without a cache", &files, &Options::default())?;
    step("with an empty cache", &files, &shared)?;
    step("nothing changed", &files, &shared)?;
    files.insert("app-7/overlay-3/kustomization.yaml", overlay("changed-"));
    step("one overlay changed", &files, &shared)?;
    files.insert("app-7/base/object-3.yaml", object(3, "changed"));
    step("one file of a base changed", &files, &shared)?;
    twenty(&mut out)
}

/// 20 overlays on one base.
fn twenty(out: &mut impl std::io::Write) -> Result<(), Box<dyn std::error::Error>> {
    let mut files = MemoryFiles::new();
    add_base(&mut files, 0, 20);
    let cache = Arc::new(Cache::default());
    let options = Options { cache: Some(cache.clone()), ..Options::default() };
    let build_all = |options: &Options| -> Result<f64, Error> {
        let start = Instant::now();
        for overlay in 0..20 {
            std::hint::black_box(to_yaml(&build(&files, &format!("app-0/overlay-{overlay}"), options)?));
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let (without, with) = (build_all(&Options::default())?, build_all(&options)?);
    let CacheStatistics { files_parsed, directories_built, .. } = cache.statistics();
    Ok(writeln!(
        out,
        "\n20 overlays on one base of {OBJECTS} files: {files_parsed} files parsed, {directories_built} base built; {with:.2} ms, without a cache {without:.2} ms"
    )?)
}

fn directories() -> impl Iterator<Item = String> {
    (0..BASES).flat_map(|base| {
        let overlays = (0..OVERLAYS).map(move |overlay| format!("app-{base}/overlay-{overlay}"));
        std::iter::once(format!("app-{base}/base")).chain(overlays)
    })
}

fn files_of(bases: usize, overlays: usize) -> usize {
    bases * (1 + OBJECTS + overlays)
}

fn add_base(files: &mut MemoryFiles, base: usize, overlays: usize) {
    let names: Vec<String> = (0..OBJECTS).map(|object| format!("object-{object}.yaml")).collect();
    files.insert(
        format!("app-{base}/base/kustomization.yaml"),
        format!("resources: [{}]\n", names.join(", ")),
    );
    for (number, name) in names.iter().enumerate() {
        files.insert(format!("app-{base}/base/{name}"), object(number, &format!("v{base}")));
    }
    for number in 0..overlays {
        files.insert(
            format!("app-{base}/overlay-{number}/kustomization.yaml"),
            overlay(&format!("o{number}-")),
        );
    }
}

fn object(number: usize, tag: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: part-{number}\n  labels: {{app: shop}}\nspec:\n  \
         replicas: 2\n  selector:\n    matchLabels: {{app: shop}}\n  template:\n    metadata:\n      labels: {{app: shop}}\n    \
         spec:\n      serviceAccountName: shop\n      containers:\n      - name: main\n        image: shop:{tag}\n        ports:\n        \
         - containerPort: 8080\n        env:\n        - name: MODE\n          value: \"on\"\n        resources:\n          \
         limits: {{cpu: \"1\", memory: 1Gi}}\n"
    )
}

fn overlay(prefix: &str) -> String {
    format!(
        "namespace: shop\nnamePrefix: {prefix}\nresources: [../base]\nlabels:\n- pairs: {{stage: prod}}\nimages:\n- {{name: shop, newTag: v2}}\n\
         patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {{name: part-0}}\n    spec: {{replicas: 5}}\n"
    )
}

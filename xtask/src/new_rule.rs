//! `cargo xtask new-rule NAME`: the skeleton of a comparison rule. What the rule finds is then written by hand.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};

/// Make the skeleton of a comparison rule of kcp-schema
#[derive(clap::Args)]
pub(crate) struct Args {
    /// In kebab case, saying what changed: `field-removed`
    name: String,
}

const ABOVE: &str = "    // New rules go above this line.";
const BEFORE: &str = "\n## Limits\n";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is in the workspace")?;
    let name = args.name.as_str();
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    if name.is_empty() || !name.bytes().all(fits) || name.starts_with('-') || name.ends_with('-') {
        bail!("{name:?}: a rule is named in kebab case, for example field-removed");
    }
    let schema = root.join("crates/kcp-schema");
    let table = schema.join("src/rules/table.rs");
    let docs = root.join("docs/api-compat.md");
    let fixtures = schema.join("fixtures/rules").join(name);
    let text = std::fs::read_to_string(&table).context("cannot read the table of rules")?;
    if text.contains(&format!("\"{name}\"")) || fixtures.exists() {
        bail!("there is a rule {name} already");
    }
    let entry = format!(
        "    rule(\n        \"{name}\",\n        Level::Error,\n        &[Writers, Stored],\n        \"What changed.\",\n        \"What to do.\",\n    ),\n{ABOVE}"
    );
    let heading = format!(
        "\n#### {name}\n\nWhat changed. Can break: writers, stored objects. Level: error. What to do.\n{BEFORE}"
    );
    let explained = std::fs::read_to_string(&docs).context("cannot read the documentation of rules")?;
    if !text.contains(ABOVE) || !explained.contains(BEFORE) {
        bail!("the line that new entries go above is gone from {} or {}", table.display(), docs.display());
    }
    std::fs::write(&table, text.replacen(ABOVE, &entry, 1))?;
    std::fs::write(&docs, explained.replacen(BEFORE, &heading, 1))?;
    std::fs::create_dir_all(&fixtures)?;
    for file in ["old.yaml", "new.yaml"] {
        std::fs::copy(schema.join("fixtures/rules/field-added").join("old.yaml"), fixtures.join(file))?;
    }
    writeln!(
        std::io::stdout(),
        "made the rule {name}. Next:
  1. say what changed and what to do: crates/kcp-schema/src/rules/table.rs and docs/api-compat.md
  2. make the smallest pair that shows it: crates/kcp-schema/fixtures/rules/{name}/
  3. find it: crates/kcp-schema/src/compare/ (a gap of src/subsume, or a change of its own)
  4. KCP_WRITE_SNAPSHOTS=1 cargo test -p kcp-schema rules, and read what changed in the snapshot"
    )?;
    Ok(())
}

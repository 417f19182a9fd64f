//! `cargo xtask krew`: checks `krew/kcp.yaml` by the rules that krew's own validation applies, so that a release is not
//! refused after it was made.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context, bail};
use serde_json::Value;

/// `krew search` cuts longer ones.
const SHORT: usize = 50;

/// Check the plugin manifest.
pub(crate) fn run() -> anyhow::Result<()> {
    let path = crate::demo::root().join("krew/kcp.yaml");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let manifest: Value = serde_yaml::from_str(&text).context("krew/kcp.yaml")?;
    let faults = faults(&manifest, env!("CARGO_PKG_VERSION"));
    if !faults.is_empty() {
        bail!("krew/kcp.yaml:\n  {}", faults.join("\n  "));
    }
    writeln!(std::io::stdout(), "krew/kcp.yaml is valid")?;
    Ok(())
}

fn faults(manifest: &Value, version: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut expect = |good: bool, fault: &str| {
        if !good {
            faults.push(fault.to_owned());
        }
    };
    expect(text("/apiVersion") == "krew.googlecontainertools.github.com/v1alpha2", "apiVersion: not krew's");
    expect(text("/kind") == "Plugin", "kind: must be Plugin");
    expect(text("/metadata/name") == "kcp", "metadata.name: must be the file's name");
    expect(
        text("/spec/version") == format!("v{version}"),
        "spec.version: must be v and the version in Cargo.toml",
    );
    let short = text("/spec/shortDescription");
    expect(!short.is_empty() && short.len() <= SHORT, "spec.shortDescription: 1 to 50 characters");
    expect(!text("/spec/homepage").is_empty(), "spec.homepage: missing");
    let platforms =
        manifest.pointer("/spec/platforms").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    expect(!platforms.is_empty(), "spec.platforms: none");
    let mut seen = BTreeSet::new();
    for platform in platforms {
        let field = |name: &str| platform.get(name).and_then(Value::as_str).unwrap_or_default();
        let label = |name: &str| {
            platform
                .pointer(&format!("/selector/matchLabels/{name}"))
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let name = format!("{}/{}", label("os"), label("arch"));
        expect(!label("os").is_empty() && !label("arch").is_empty(), "selector: os and arch");
        expect(seen.insert(name.clone()), &format!("{name}: two platforms overlap"));
        let uri = field("uri");
        let archive = uri.ends_with(".tar.gz") || uri.ends_with(".zip");
        expect(
            uri.starts_with("https://") && archive,
            &format!("{name}: uri must be https and .tar.gz or .zip"),
        );
        expect(uri.contains(&format!("v{version}")), &format!("{name}: uri is of another version"));
        let sum = field("sha256");
        let hex = sum.len() == 64 && sum.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        expect(hex, &format!("{name}: sha256 must be 64 lower-case hex digits"));
        let bin = if label("os") == "windows" { "kubectl-kcp.exe" } else { "kubectl-kcp" };
        expect(field("bin") == bin, &format!("{name}: bin must be {bin}"));
        // Absent means all files: the licence lands in the installation, which krew demands.
        expect(
            platform.get("files").is_none(),
            &format!("{name}: leave `files` out, or the licence is lost"),
        );
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest() -> Value {
        json!({
            "apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin",
            "metadata": {"name": "kcp"},
            "spec": {"version": "v1.2.3", "homepage": "https://h.example", "shortDescription": "Places things",
                "platforms": [{"selector": {"matchLabels": {"os": "linux", "arch": "amd64"}},
                    "uri": "https://h.example/v1.2.3/a.tar.gz", "sha256": "0".repeat(64), "bin": "kubectl-kcp"}]}
        })
    }

    #[test]
    fn a_good_manifest_passes_and_each_rule_bites() {
        assert_eq!(faults(&manifest(), "1.2.3"), Vec::<String>::new());
        for (pointer, bad) in [
            ("/spec/version", json!("1.2.3")),
            ("/spec/shortDescription", json!("x".repeat(51))),
            ("/spec/platforms/0/sha256", json!("A".repeat(64))),
            ("/spec/platforms/0/uri", json!("http://h.example/v1.2.3/a.tar.gz")),
            ("/spec/platforms/0/bin", json!("kcp")),
            ("/metadata/name", json!("kubectl-kcp")),
        ] {
            let mut manifest = manifest();
            *manifest.pointer_mut(pointer).unwrap() = bad;
            assert_eq!(faults(&manifest, "1.2.3").len(), 1, "{pointer}");
        }
        let mut twice = manifest();
        let platform = twice["spec"]["platforms"][0].clone();
        twice["spec"]["platforms"].as_array_mut().unwrap().push(platform);
        assert_eq!(faults(&twice, "1.2.3"), ["linux/amd64: two platforms overlap"]);
    }
}

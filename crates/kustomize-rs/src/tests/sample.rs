//! The sample workspaces: our text is what the reference prints for them, and what they claim of themselves holds.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::load;
use crate::{Options, build, is_kustomization, load_plain, to_yaml};

const EXPECTED: [(&str, &str); 2] = [
    ("shop/overlays/prod", include_str!("expected/shop-prod.yaml")),
    ("shop/overlays/staging", include_str!("expected/shop-staging.yaml")),
];

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests/samples")
}

#[test]
fn the_shop_is_rendered_as_the_reference_does() {
    let files = load(&samples());
    for (dir, expected) in EXPECTED {
        let resources = build(&files, dir, &Options::default()).expect("the sample builds");
        for (number, (ours, theirs)) in to_yaml(&resources).lines().zip(expected.lines()).enumerate() {
            assert_eq!(ours, theirs, "{dir}, line {}", number + 1);
        }
        assert_eq!(to_yaml(&resources).len(), expected.len(), "{dir}");
        assert!(resources.len() >= 25, "the shop is a realistic one");
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a test may say that it was skipped")]
fn the_expected_text_is_what_kubectl_prints() {
    for (dir, expected) in EXPECTED {
        let Ok(output) = Command::new("kubectl").arg("kustomize").arg(samples().join(dir)).output() else {
            eprintln!("skipped: no kubectl on PATH");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{dir}");
    }
}

#[test]
fn objects_know_where_they_were_written() {
    let files = load(&samples());
    let resources = build(&files, "shop/overlays/prod", &Options::default()).expect("builds");
    let service = resources.get("", "Service", Some("shop"), "postgres").expect("is there");
    assert_eq!(service.origin.file, "shop/base/postgres.yaml");
    assert_eq!(service.origin.document, 1);
    let text = std::fs::read_to_string(samples().join(&service.origin.file)).expect("readable");
    let line = text.lines().nth(service.origin.line as usize - 1);
    assert_eq!(line, Some("apiVersion: v1"), "line {}", service.origin.line);
}

#[test]
fn the_guestbook_is_plain_and_its_workspace_document_is_no_manifest() {
    let files = load(&samples());
    assert_eq!(is_kustomization(&files, "guestbook"), Ok(false));
    let resources = load_plain(&files, "guestbook", &Options::default()).expect("loads");
    let kinds: Vec<&str> = resources.iter().map(crate::Resource::kind).collect();
    assert_eq!(kinds, ["ConfigMap", "Deployment", "Service"]);
}

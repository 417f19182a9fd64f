use kustomize_rs::MemoryFiles;

use super::{Config, load};

const FLEET: &str =
    "apiVersion: kcp.dev/v1alpha1\nkind: Fleet\nmetadata: {name: acme}\nspec: {id: 5f0c7c1e}\n";

fn cluster(name: &str, more: &str) -> String {
    format!(
        "apiVersion: kcp.dev/v1alpha1\nkind: Cluster\nmetadata:\n  name: {name}\nspec:\n  connection: {{context: {name}}}\n{more}"
    )
}

fn placement(name: &str, spec: &str) -> String {
    format!("apiVersion: kcp.dev/v1alpha1\nkind: Placement\nmetadata:\n  name: {name}\nspec:\n{spec}")
}

fn workspace(name: &str, labels: &str) -> String {
    format!(
        "apiVersion: kcp.dev/v1alpha1\nkind: Workspace\nmetadata:\n  name: {name}\n  labels: {{{labels}}}\nspec: {{}}\n"
    )
}

const SHOP: &str = "  workspaces: {names: [shop]}\n  clusters: {exactly: 1}\n";

/// A small right repo, with files laid over it; an empty text takes a file away.
fn repo(files: &[(&str, &str)]) -> MemoryFiles {
    let mut tree = MemoryFiles::new();
    tree.insert("kcp.yaml", FLEET);
    tree.insert("clusters/eu-1.yaml", cluster("eu-1", ""));
    tree.insert("placements/shop.yaml", placement("shop", SHOP));
    tree.insert(
        "workspaces/shop/cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n",
    );
    for (path, text) in files {
        if text.is_empty() {
            tree.remove(path);
        } else {
            tree.insert(*path, text);
        }
    }
    tree
}

fn good(files: &[(&str, &str)]) -> Config {
    load(&repo(files)).unwrap_or_else(|errors| panic!("{}", text(&errors)))
}

fn text(errors: &[yaml_span::Diagnostic]) -> String {
    Vec::from_iter(errors.iter().map(ToString::to_string)).join("\n")
}

/// Exactly these findings, each as `place` and a part of what it says.
#[track_caller]
fn wrong(files: &[(&str, &str)], expected: &[(&str, &str)]) {
    let errors = load(&repo(files)).expect_err("a wrong repo");
    let shown = text(&errors);
    assert_eq!(errors.len(), expected.len(), "{shown}");
    for (error, (place, part)) in errors.iter().zip(expected) {
        let error = error.to_string();
        assert!(
            error.starts_with(&format!("{place}:")) && error.contains(part),
            "expected {place}: {part}\n{shown}"
        );
    }
}

#[test]
fn a_small_repo_gives_documents_with_their_places() {
    let config = good(&[("workspaces/shop/workspace.yaml", &workspace("shop", "team: shop"))]);
    assert_eq!(config.fleet.value.spec.id, "5f0c7c1e");
    assert_eq!(config.clusters["eu-1"].origin().to_string(), "clusters/eu-1.yaml:1");
    assert_eq!(config.workspaces["shop"].dir, "workspaces/shop");
    assert_eq!(config.workspaces["shop"].labels()["team"], "shop");
    assert_eq!(config.placement_of("shop").map(|it| it.value.metadata.name.as_str()), Some("shop"));
    assert_eq!(config.placement_of("none"), None);
    assert_eq!(*config.policy("default"), kcp_api::SyncPolicySpec::default());
}

#[test]
fn no_fleet_says_how_to_begin() {
    wrong(&[("kcp.yaml", "")], &[("kcp.yaml:1:1", "run `kubectl kcp init`")]);
}

#[test]
fn a_fleet_file_without_a_document_is_told() {
    wrong(&[("kcp.yaml", "# nothing\n")], &[("kcp.yaml:1:1", "it has no document")]);
}

#[test]
fn all_errors_of_a_repo_come_together() {
    wrong(
        &[
            ("kcp.yaml", "apiVersion: kcp.dev/v1alpha1\nkind: Fleet\nmetadata: {name: acme}\nspec: {}\n"),
            ("clusters/bad.yaml", "a: [\n"),
            ("clusters/typo.yaml", &cluster("eu-2", "  unschedulabel: true\n")),
            (
                "placements/shop.yaml",
                &placement("shop", "  workspaces: {names: [shpo]}\n  clusters: {exactly: 1, min: 2}\n"),
            ),
            ("workspaces/shop/workspace.yaml", &workspace("store", "")),
        ],
        &[
            ("clusters/bad.yaml:1:4", "unclosed"),
            ("clusters/typo.yaml:7:3", "did you mean `unschedulable`"),
            ("kcp.yaml:4:7", "id"),
            ("placements/shop.yaml:6:24", "did you mean `shop`"),
            ("placements/shop.yaml:7:3", "exactly"),
            ("workspaces/shop/workspace.yaml:4:3", "must be called `shop`"),
        ],
    );
}

#[test]
fn each_place_has_its_kind() {
    let elsewhere = placement("x", SHOP);
    wrong(
        &[
            ("approvals/x.yaml", &elsewhere),
            ("clusters/a.yaml", "apiVersion: kcp.dev/v1\nkind: Cluster\n"),
            ("clusters/b.yaml", "apiVersion: kcp.dev/v1alpha1\nkind: Clutser\n"),
            ("clusters/c.yaml", "kind: Cluster\n"),
            ("clusters/d.yaml", "- a\n"),
            ("workspaces/stray.yaml", "a: b\n"),
            ("workspaces/No_Name/x.yaml", "a: b\n"),
        ],
        &[
            ("approvals/x.yaml:2:1", "does not belong here"),
            ("clusters/a.yaml:1:1", "unknown apiVersion"),
            ("clusters/b.yaml:2:1", "did you mean `Cluster`"),
            ("clusters/c.yaml:1:1", "apiVersion is missing"),
            ("clusters/d.yaml:1:1", "found a list"),
            ("workspaces/No_Name:1:1", "cannot be the name of a workspace"),
            ("workspaces/stray.yaml:1:1", "in no workspace"),
        ],
    );
}

#[test]
fn names_and_uids_are_unique() {
    let both = format!("{}---\n{}", cluster("eu-1", "  uid: u1\n"), cluster("us-1", "  uid: u1\n"));
    wrong(
        &[("clusters/z.yaml", &both)],
        &[
            ("clusters/z.yaml:4:3", "the first is at clusters/eu-1.yaml:1"),
            ("clusters/z.yaml:15:3", "the Cluster `eu-1` at clusters/z.yaml:1 has the same uid"),
        ],
    );
}

#[test]
fn two_claims_on_a_workspace_are_told_at_both() {
    let other = placement(
        "other",
        "  workspaces: {selector: {matchLabels: {team: shop}}}\n  clusters: {all: true}\n",
    );
    wrong(
        &[
            ("placements/other.yaml", &other),
            ("workspaces/shop/workspace.yaml", &workspace("shop", "team: shop")),
        ],
        &[
            ("placements/other.yaml:6:3", "also claimed by the placement `shop` at placements/shop.yaml:1"),
            ("placements/shop.yaml:6:3", "also claimed by the placement `other` at placements/other.yaml:1"),
        ],
    );
}

#[test]
fn references_lead_somewhere() {
    let suspend = "  suspend:\n  - {clusters: [eu-1, eu-9], until: \"2026-01-01T00:00:00Z\"}\n";
    let spec = format!("{SHOP}  policyName: strikt\n{suspend}");
    let policy = "apiVersion: kcp.dev/v1alpha1\nkind: SyncPolicy\nmetadata: {name: strict}\nspec: {}\n";
    wrong(
        &[("placements/shop.yaml", &placement("shop", &spec)), ("policies/strict.yaml", policy)],
        &[
            ("placements/shop.yaml:8:3", "did you mean `strict`"),
            ("placements/shop.yaml:10:23", "there is no cluster `eu-9`"),
        ],
    );
}

#[test]
fn a_reference_to_a_broken_document_is_no_second_mistake() {
    let spec = format!("{SHOP}  policyName: strict\n");
    let policy =
        "apiVersion: kcp.dev/v1alpha1\nkind: SyncPolicy\nmetadata: {name: strict}\nspec: {aply: {}}\n";
    wrong(
        &[("placements/shop.yaml", &placement("shop", &spec)), ("policies/strict.yaml", policy)],
        &[("policies/strict.yaml:4:8", "did you mean `apply`")],
    );
    wrong(
        &[("placements/shop.yaml", &placement("shop", &spec)), ("policies/strict.yaml", "a: [")],
        &[("policies/strict.yaml:1:4", "unclosed")],
    );
}

#[test]
fn variants_are_folders_of_the_workspace() {
    let document = format!(
        "{}  variants:\n  - {{name: a, path: base}}\n  - {{name: b, path: bas}}\n  - {{name: c, path: ../x}}\n",
        workspace("shop", "").replace("spec: {}\n", "spec:\n")
    );
    let errors = load(&repo(&[
        ("workspaces/shop/workspace.yaml", &document),
        ("workspaces/shop/base/cm.yaml", "a: b"),
    ]));
    let shown = text(&errors.expect_err("two wrong variants"));
    assert!(
        shown
            .contains("workspace.yaml:9:15: spec.variants[1].path: there is no folder `workspaces/shop/bas`"),
        "{shown}"
    );
    assert!(shown.contains("workspace.yaml:10:15: spec.variants[2].path: "), "{shown}");
}

#[test]
fn folders_can_be_elsewhere_and_must_be_apart() {
    let paths =
        |paths: &str| FLEET.replace("{id: 5f0c7c1e}", &format!("\n  id: 5f0c7c1e\n  paths: {{{paths}}}"));
    let moved = paths("clusters: fleet/members/, workspaces: ./apps");
    let config = good(&[
        ("kcp.yaml", &moved),
        ("clusters/eu-1.yaml", ""),
        ("fleet/members/deep/eu-2.yaml", &cluster("eu-2", "")),
        ("workspaces/shop/cm.yaml", ""),
        ("apps/shop/cm.yaml", "a: b\n"),
    ]);
    assert!(config.clusters.contains_key("eu-2") && config.workspaces["shop"].dir == "apps/shop");

    let wrong = paths("clusters: a, placements: a/b, policies: ../x, tenants: /y");
    let shown = text(&load(&repo(&[("kcp.yaml", &wrong)])).expect_err("wrong paths"));
    for part in ["paths.placements: overlaps with spec.paths.clusters", "paths.policies: ", "paths.tenants: "]
    {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn hostile_files_are_errors() {
    let deep = "[".repeat(100_000);
    let mut tree = repo(&[("clusters/deep.yaml", &deep)]);
    tree.insert("clusters/bytes.yaml", [0xff, 0xfe, 0x00]);
    tree.insert("clusters/huge.yaml", vec![b'#'; 5 << 20]);
    let errors = load(&tree).expect_err("three hostile files");
    let shown = text(&errors);
    for file in ["clusters/bytes.yaml", "clusters/deep.yaml", "clusters/huge.yaml"] {
        assert!(errors.iter().any(|it| it.file == file), "{file}\n{shown}");
    }
}

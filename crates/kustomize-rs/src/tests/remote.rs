//! Directories of other repositories: they come from the caller's fetcher or not at all, stay in their own tree, and a cache
//! knows what was fetched.

use std::sync::{Arc, Mutex};

use super::tree;
use crate::{
    Cache, Error, Fetched, Fetcher, MemoryFiles, Options, ProblemKind, Remote, ResMap, build, to_yaml,
};

/// Serves one tree for one host.
#[derive(Debug)]
struct Served(Mutex<(MemoryFiles, &'static str)>);

impl Fetcher for Served {
    fn fetch(&self, remote: &Remote) -> Result<Fetched, String> {
        if remote.host != "git.example" {
            return Err("the host is not allowed".into());
        }
        let (files, id) = self.0.lock().expect("nobody panicked").clone();
        Ok(Fetched { files: Arc::new(files), dir: remote.path.clone(), id: id.into() })
    }
}

fn served(files: &[(&str, &str)], id: &'static str) -> Arc<Served> {
    Arc::new(Served(Mutex::new((tree(files), id))))
}

fn top(kustomization: &str, options: &Options) -> Result<ResMap, Error> {
    build(&tree(&[("kustomization.yaml", kustomization), ("secret.yaml", "kind: Secret\n")]), "", options)
}

const BASE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n";

#[test]
fn a_fetched_directory_is_built_in_its_own_tree() {
    let fetcher = served(
        &[
            ("base/kustomization.yaml", "namePrefix: p-\nresources: [../more, cm.yaml]\n"),
            ("base/cm.yaml", BASE),
            (
                "more/kustomization.yaml",
                "configMapGenerator: [{name: made, options: {disableNameSuffixHash: true}}]\n",
            ),
            (
                "part/kustomization.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -c\n",
            ),
            ("out/kustomization.yaml", "resources: [../../secret.yaml]\n"),
            ("again/kustomization.yaml", "resources: ['https://git.example/o/r//again']\n"),
        ],
        "1",
    );
    let options = Options { fetcher: Some(fetcher), ..Options::default() };
    let both = "resources: ['https://git.example/o/r//base?ref=v1']\ncomponents: ['git@git.example:o/r.git//part']\n";
    let objects = top(both, &options).expect("builds");
    let names: Vec<&str> = objects.iter().map(crate::Resource::name).collect();
    assert_eq!(names, ["p-made-c", "p-web-c"]);
    assert_eq!(
        objects.as_slice()[1].origin.to_string(),
        "https://git.example/o/r//base/cm.yaml?ref=v1:1",
        "it says where it is from"
    );
    for (dir, kind) in [
        ("https://git.example/o/r//out", ProblemKind::Outside),
        ("https://git.example/o/r//again", ProblemKind::Limit),
        ("https://git.example/o/r//none", ProblemKind::Read),
        ("https://other.example/o/r//base", ProblemKind::Unsupported),
        ("https://me:hidden@git.example/o/r//base", ProblemKind::Invalid),
    ] {
        let error = top(&format!("resources: ['{dir}']\n"), &options).expect_err(dir);
        assert_eq!(error.problems[0].kind, kind, "{error}");
        assert!(!error.to_string().contains("hidden"), "{error}");
    }
    let refused = top(both, &Options::default()).expect_err("nothing is fetched by itself");
    assert!(refused.problems.iter().all(|it| it.kind == ProblemKind::Unsupported), "{refused}");
}

#[test]
fn a_cache_knows_what_was_fetched() {
    let fetcher = served(&[("kustomization.yaml", "resources: [cm.yaml]\n"), ("cm.yaml", BASE)], "1");
    let options = Options {
        cache: Some(Arc::new(Cache::default())),
        fetcher: Some(fetcher.clone()),
        ..Options::default()
    };
    let text = |options: &Options| {
        top("resources: ['https://git.example/o/r']\n", options).map(|objects| to_yaml(&objects))
    };
    let first = text(&options).expect("builds");
    assert_eq!(text(&options), Ok(first.clone()));
    assert_eq!(options.cache.as_ref().map(|it| it.statistics().results_shared), Some(1));
    let moved =
        tree(&[("kustomization.yaml", "namePrefix: new-\nresources: [cm.yaml]\n"), ("cm.yaml", BASE)]);
    *fetcher.0.lock().expect("nobody panicked") = (moved, "2");
    assert!(
        text(&options).expect("builds").contains("name: new-web\n"),
        "what was there before is not shown"
    );
    let without = Options { fetcher: None, ..options };
    assert!(text(&without).is_err(), "a build without a fetcher gets nothing from others");
}

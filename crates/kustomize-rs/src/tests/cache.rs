//! Builds that share a cache make what builds alone make, and no work twice.

use std::sync::Arc;

use crate::{Cache, Kustomization, MemoryFiles, Options, to_yaml};

const BASE: &str = "commonLabels: {app: web}\nresources: [d.yaml]\n\
                    configMapGenerator: [{name: settings, literals: [a=b]}]\n";
const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 1}\n";

fn overlays(count: usize) -> MemoryFiles {
    let mut files: MemoryFiles =
        [("base/kustomization.yaml", BASE), ("base/d.yaml", DEPLOYMENT)].into_iter().collect();
    for number in 0..count {
        let overlay = format!(
            "namePrefix: o{number}-\nresources: [../base]\nreplicas: [{{name: d, count: {number}}}]\n"
        );
        files.insert(format!("o{number}/kustomization.yaml"), overlay);
    }
    files
}

fn text(files: &MemoryFiles, dir: &str, options: &Options) -> String {
    to_yaml(&Kustomization::load(files, dir).and_then(|it| it.build(options)).expect("builds"))
}

#[test]
fn overlays_on_one_base_parse_and_build_it_once() {
    let mut files = overlays(20);
    let cache = Arc::new(Cache::default());
    let shared = Options { cache: Some(cache.clone()), ..Options::default() };
    for number in 0..20 {
        let dir = format!("o{number}");
        assert_eq!(text(&files, &dir, &shared), text(&files, &dir, &Options::default()));
    }
    let seen = cache.statistics();
    assert_eq!((seen.files_parsed, seen.directories_built, seen.directories_shared), (1, 1, 19));

    // What did not change is not built again; what did is, with all that depends on it.
    for number in 0..20 {
        text(&files, &format!("o{number}"), &shared);
    }
    assert_eq!(cache.statistics().results_shared, 20);
    files.insert("o7/kustomization.yaml", "nameSuffix: -new\nresources: [../base]\n");
    assert!(text(&files, "o7", &shared).contains("name: d-new\n"));
    assert_eq!(cache.statistics().directories_built, 1);
    files.insert("base/d.yaml", DEPLOYMENT.replace("name: d", "name: e"));
    assert!(text(&files, "o7", &shared).contains("name: e-new\n"));
    assert_eq!((cache.statistics().files_parsed, cache.statistics().directories_built), (2, 2));
    assert_eq!(text(&files, "o7", &shared), text(&files, "o7", &Options::default()));
}

#[test]
fn a_file_that_comes_later_counts() {
    let mut files = overlays(1);
    let options = Options { cache: Some(Arc::new(Cache::default())), ..Options::default() };
    text(&files, "o0", &options);
    files.insert("base/Kustomization", BASE);
    let built = Kustomization::load(&files, "o0").and_then(|it| it.build(&options));
    assert!(built.is_err(), "two kustomizations in one directory");
}

#[test]
fn a_small_cache_forgets_and_stays_right() {
    let files = overlays(8);
    let cache = Arc::new(Cache::with_capacity(64));
    let options = Options { cache: Some(cache), ..Options::default() };
    for number in (0..8).chain(0..8) {
        let dir = format!("o{number}");
        assert_eq!(text(&files, &dir, &options), text(&files, &dir, &Options::default()));
    }
}

//! A kustomization and what it names: building never panics nor runs away, a refusal says why, a cache changes nothing,
//! and what is printed reads back as the very objects that were built.

#![no_main]

use kustomize_rs::{Limits, Options, build, load_plain, to_yaml};
use libfuzzer_sys::fuzz_target;
use yaml_span::{Schema, parse};

fuzz_target!(|input: &str| {
    let files = kcp_fuzz::files(input);
    let limits = Limits { kustomizations: 100, changes: 10_000, resources: 500, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let cached = Options { cache: Some(std::sync::Arc::default()), ..options.clone() };
    let printed = |options: &Options| build(&files, "", options).map(|built| to_yaml(&built));
    let plain = printed(&options);
    assert_eq!(plain, printed(&cached), "a new cache makes a difference");
    assert_eq!(plain, printed(&cached), "a filled cache makes a difference");
    for found in [build(&files, "", &options), load_plain(&files, "", &options)] {
        let built = match found {
            Ok(built) => built,
            Err(error) => {
                assert!(!error.to_string().is_empty(), "refused without a reason");
                continue;
            }
        };
        let text = to_yaml(&built);
        let read = parse(&text, Schema::Kubernetes, &yaml_span::Limits::default());
        let read = read.unwrap_or_else(|errors| panic!("what was printed cannot be read: {errors}\n{text}"));
        let read: Vec<_> = read.iter().filter(|it| !it.empty).map(|it| it.root.to_json()).collect();
        assert_eq!(read.len(), built.len(), "{text}");
        for (read, built) in read.iter().zip(&built) {
            let built: &serde_json::Value = &built.value;
            assert_eq!(read, built, "{text}");
        }
    }
});

//! A whole repo: reading the fleet's documents and rendering its workspaces never panics, a refusal always says why and
//! where, and the same repo always means the same.

#![no_main]

use kcp_core::config::load;
use kcp_core::render::{bundle, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let files = kcp_fuzz::files(input);
    let config = match load(&files) {
        Ok(config) => config,
        Err(found) => {
            assert!(!found.is_empty(), "refused without a reason");
            assert!(found.iter().all(|it| !it.to_string().is_empty()));
            return;
        }
    };
    assert_eq!(load(&files).ok().as_ref(), Some(&config), "read twice, it means something else");
    for (name, workspace) in &config.workspaces {
        let rendered = match render(&files, &config, name) {
            Ok(rendered) => rendered,
            Err(found) => {
                assert!(!found.is_empty(), "refused without a reason");
                continue;
            }
        };
        let placement = config.placement_of(name);
        let policy = placement.map_or("default", |it| it.value.spec.policy_name.as_str());
        for variant in rendered.variants.values() {
            let made = bundle(variant, workspace, "p", config.policy(policy), &|_| None, "id", "commit");
            // What a bundle holds is what would be applied: each object once.
            let mut keys: Vec<_> = made.objects.iter().map(|it| &it.key).collect();
            let count = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), count, "one object twice in a bundle");
        }
    }
});

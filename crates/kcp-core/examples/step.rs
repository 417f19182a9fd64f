//! Measures what one step of a reconciler costs after one object was seen to change: the plan and the statuses. Run it
//! with `cargo run --release -p kcp-core --example step -- 10000 100`: so many objects in so many workspaces; on a machine that does other things, the least counts.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use kcp_core::config;
use kcp_core::planner::{Memo, Scope, plan_with};
use kcp_core::render;
use kcp_core::status::{self, Statuses};
use kcp_core::world::{
    ClusterUid, ClusterView, Contact, Desired, Health, HealthStatus, ObservedObject, ObservedSet,
    ParentFacts, WorkspaceState, World,
};
use kustomize_rs::MemoryFiles;

const HEAD: &str = "apiVersion: kcp.dev/v1alpha1\n";
/// Documents of one file.
const IN_A_FILE: usize = 100;
const ROUNDS: usize = 101;

fn main() {
    let argument = |index: usize| std::env::args().nth(index).and_then(|count| count.parse::<usize>().ok());
    let (objects, workspaces) = (argument(1).unwrap_or(10_000), argument(2).unwrap_or(1).max(1));
    let mut world = world(objects / workspaces, workspaces);
    let mut memo = Memo::default();
    let mut statuses = Statuses::default();
    apply(&mut world, &mut memo);
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let view = world.clusters.values_mut().next().expect("there is a cluster");
        let set = view.sets.values_mut().nth(round % workspaces).expect("it is applied");
        if let Some(seen) = set.objects.values_mut().nth(round) {
            seen.health.status = HealthStatus::InProgress;
        }
        let begun = Instant::now();
        let plan = plan_with(&world, &Scope::Daemon, &mut memo);
        let planned = begun.elapsed();
        statuses = status::statuses(&world, &plan, &statuses);
        assert!(plan.is_quiet());
        times.push((begun.elapsed(), planned));
    }
    times.sort();
    for (word, (step, plan)) in [("at least", times[0]), ("in the middle", times[ROUNDS / 2])] {
        println!("{objects} objects: {word} {step:?} for a step, of it {plan:?} for the plan");
    }
}

/// Workspaces with so many objects each, for one cluster that has none of them.
fn world(objects: usize, workspaces: usize) -> World {
    let mut files = MemoryFiles::new();
    files.insert("kcp.yaml", format!("{HEAD}kind: Fleet\nmetadata: {{name: acme}}\nspec: {{id: f1}}\n"));
    files.insert(
        "clusters/a.yaml",
        format!(
            "{HEAD}kind: Cluster\nmetadata: {{name: a}}\nspec: {{connection: {{context: a}}, uid: u-a}}\n"
        ),
    );
    for workspace in (0..workspaces).map(|number| format!("big-{number:04}")) {
        let spec = format!("{{workspaces: {{names: [{workspace}]}}, clusters: {{all: true}}}}");
        let placement = format!("{HEAD}kind: Placement\nmetadata: {{name: {workspace}}}\nspec: {spec}\n");
        files.insert(format!("placements/{workspace}.yaml"), placement);
        for first in (0..objects).step_by(IN_A_FILE) {
            let documents = (first..objects.min(first + IN_A_FILE)).map(|number| {
                let metadata = format!("{{name: settings-of-something-{number:06}, namespace: {workspace}}}");
                format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\ndata: {{a: \"1\"}}\n")
            });
            files.insert(format!("workspaces/{workspace}/{first:06}.yaml"), documents.collect::<String>());
        }
    }
    let config = config::load(&files).expect("its documents are valid");
    let rendered = config.workspaces.keys().map(|name| {
        let rendered = render::render(&files, &config, name).expect("it can be rendered");
        (name.clone(), WorkspaceState::Rendered(Arc::new(rendered)))
    });
    let desired = Desired {
        commit: "0123456789012345678901234567890123456789".to_owned(),
        workspaces: rendered.collect(),
        config: Arc::new(config),
    };
    let mut world = World::new(1_000_000, desired);
    let view = ClusterView {
        contact: Contact::Live { since: 1 },
        uid: Some(ClusterUid("u-a".to_owned())),
        complete: true,
        ..ClusterView::default()
    };
    world.clusters.insert("a".to_owned(), view);
    world
}

/// Everything is there as planned.
fn apply(world: &mut World, memo: &mut Memo) {
    let plan = plan_with(world, &Scope::Daemon, memo);
    for (workspace, set) in &plan.clusters["a"].sets {
        let seen = set.apply.iter().enumerate().map(|(number, action)| {
            let object = ObservedObject {
                uid: format!("00000000-0000-0000-0000-{number:012}"),
                resource_version: number.to_string(),
                own: action.object.hash,
                applied: Some(action.object.hash),
                managed: true,
                workspace: Some(workspace.clone()),
                controlled: false,
                terminating: false,
                commit: Some(world.desired.commit.clone()),
                health: Health { status: HealthStatus::Current, message: String::new() },
            };
            (action.object.key.clone(), object)
        });
        let objects: BTreeMap<_, _> = seen.collect();
        let parent = ParentFacts {
            uid: "p".to_owned(),
            group_kinds: set.group_kinds.clone(),
            namespaces: set.namespaces.clone(),
            decision: set.decision.clone(),
            applied: set.applied.clone(),
            ..ParentFacts::default()
        };
        let set = ObservedSet { parent, objects, unlisted: BTreeMap::new() };
        world.clusters.entry("a".to_owned()).or_default().sets.insert(workspace.clone(), set);
    }
    let units = plan_with(world, &Scope::Daemon, memo).units;
    world.memory = units.into_iter().filter_map(|(unit, it)| Some((unit, it.decision?))).collect();
}

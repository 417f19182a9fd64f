//! Generated fleets and histories: what must hold at every step, whatever happens.

use std::collections::BTreeSet;

use kcp_api::{Effect, Reason};
use proptest::prelude::*;

use super::fixture::*;
use crate::plan::Plan;
use crate::planner::{Memo, Scope, plan, plan_with};
use crate::world::{ActKind, ClusterView, Contact, Halt, UnitId, WorkspaceState, World};

const CLUSTERS: [&str; 3] = ["a", "b", "c"];
const WORKSPACES: [&str; 3] = ["blog", "shop", "web"];

/// Something that happens between two plans. Indices are taken modulo what there is.
#[derive(Debug, Clone)]
enum Event {
    /// Git gets these objects for a workspace.
    Write(usize, BTreeSet<u8>, u8),
    Fail(usize, bool),
    Place(usize, u32),
    Unplace(usize),
    RemoveWorkspace(usize),
    Select(usize, Option<usize>),
    Taint(usize, bool),
    Untaint(usize),
    Cordon(usize, bool),
    Lose(usize),
    Forget(usize),
    FindAgain(usize),
    Incomplete(usize),
    /// Somebody edits, or copies a label, or takes the marks away.
    Edit(usize, usize, u8),
    Sicken(usize),
    Heal,
    Forgetful,
    Halt,
    Wait(u16),
}

fn event() -> impl Strategy<Value = Event> {
    let (c, w) = (0..CLUSTERS.len(), 0..WORKSPACES.len());
    let objects = prop::collection::btree_set(0u8..12, 0..10);
    prop_oneof![
        6 => (w.clone(), objects, 0u8..2).prop_map(|(w, objects, content)| Event::Write(w, objects, content)),
        1 => (w.clone(), any::<bool>()).prop_map(|(w, kept)| Event::Fail(w, kept)),
        3 => (w.clone(), 0u32..4).prop_map(|(w, count)| Event::Place(w, count)),
        1 => w.clone().prop_map(Event::Unplace),
        1 => w.clone().prop_map(Event::RemoveWorkspace),
        2 => (w, prop::option::of(c.clone())).prop_map(|(w, c)| Event::Select(w, c)),
        1 => (c.clone(), any::<bool>()).prop_map(|(c, hard)| Event::Taint(c, hard)),
        2 => c.clone().prop_map(Event::Untaint),
        1 => (c.clone(), any::<bool>()).prop_map(|(c, on)| Event::Cordon(c, on)),
        1 => c.clone().prop_map(Event::Lose),
        1 => c.clone().prop_map(Event::Forget),
        3 => c.clone().prop_map(Event::FindAgain),
        1 => c.clone().prop_map(Event::Incomplete),
        2 => (c.clone(), 0usize..40, 0u8..6).prop_map(|(c, object, how)| Event::Edit(c, object, how)),
        1 => c.prop_map(Event::Sicken),
        3 => Just(Event::Heal),
        1 => Just(Event::Forgetful),
        1 => Just(Event::Halt),
        3 => (0u16..2000).prop_map(Event::Wait),
    ]
}

/// A fleet: what clusters would answer if they were asked, and what was seen of them.
struct Fleet {
    world: World,
    /// Views of clusters that cannot be seen now.
    hidden: std::collections::BTreeMap<String, ClusterView>,
    most: std::collections::BTreeMap<String, usize>,
    memo: Memo,
}

impl Fleet {
    fn new() -> Self {
        let (hidden, most) = Default::default();
        Self { world: world(&CLUSTERS, &[]), hidden, most, memo: Memo::default() }
    }
}

fn object_names(objects: &BTreeSet<u8>, content: u8) -> Vec<String> {
    objects
        .iter()
        .map(|it| match it {
            0 => "Namespace/shared".to_owned(),
            1 => "PersistentVolumeClaim/data".to_owned(),
            _ => format!("x{it}={content}"),
        })
        .collect()
}

fn happen(fleet: &mut Fleet, event: &Event) {
    let world = &mut fleet.world;
    match event {
        Event::Write(w, objects, content) => {
            let names = object_names(objects, *content);
            write(world, WORKSPACES[*w], &names.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Event::Fail(w, kept) => {
            if world.desired.workspaces.contains_key(WORKSPACES[*w]) {
                fail(world, WORKSPACES[*w], kept.then(|| rendered(WORKSPACES[*w], &["x2", "x3=1"])));
            }
        }
        Event::Place(w, count) => place(world, WORKSPACES[*w], exactly(*count)),
        Event::Unplace(w) => drop(config(world).placements.remove(WORKSPACES[*w])),
        Event::RemoveWorkspace(w) => {
            config(world).workspaces.remove(WORKSPACES[*w]);
            config(world).placements.remove(WORKSPACES[*w]);
            world.desired.workspaces.remove(WORKSPACES[*w]);
        }
        Event::Select(w, c) => {
            if world.desired.config.placements.contains_key(WORKSPACES[*w]) {
                match c {
                    Some(c) => select(world, WORKSPACES[*w], CLUSTERS[*c]),
                    None => placement(world, WORKSPACES[*w]).cluster_selector = None,
                }
            }
        }
        Event::Taint(c, hard) => {
            taint(world, CLUSTERS[*c], if *hard { Effect::NoExecute } else { Effect::NoSchedule });
        }
        Event::Untaint(c) => cluster(world, CLUSTERS[*c]).spec.taints.clear(),
        Event::Cordon(c, on) => cluster(world, CLUSTERS[*c]).spec.unschedulable = *on,
        Event::Lose(c) => lose(world, CLUSTERS[*c]),
        Event::Forget(c) => {
            // After a restart nothing is known of it.
            let seen = std::mem::take(view(world, CLUSTERS[*c]));
            if seen.uid.is_some() {
                fleet.hidden.insert(CLUSTERS[*c].to_owned(), seen);
            }
        }
        Event::FindAgain(c) => {
            if let Some(seen) = fleet.hidden.remove(CLUSTERS[*c]) {
                *view(world, CLUSTERS[*c]) = seen;
            }
            find_again(world, CLUSTERS[*c]);
            view(world, CLUSTERS[*c]).complete = true;
        }
        Event::Incomplete(c) => view(world, CLUSTERS[*c]).complete = false,
        Event::Edit(c, index, how) => edit(world, CLUSTERS[*c], *index, *how),
        Event::Sicken(c) => {
            let sets = view(world, CLUSTERS[*c]).sets.values_mut();
            sets.flat_map(|set| set.objects.values_mut()).for_each(|object| object.health = sick());
        }
        Event::Heal => heal(world),
        Event::Forgetful => world.memory.clear(),
        Event::Halt => world.halted = Some(Halt { until: world.now + 100, reason: "test".to_owned() }),
        Event::Wait(seconds) => world.now += i64::from(*seconds),
    }
}

fn edit(world: &mut World, cluster: &str, index: usize, how: u8) {
    let sets = view(world, cluster).sets.values_mut();
    let mut objects: Vec<_> = sets.flat_map(|set| set.objects.values_mut()).collect();
    let count = objects.len().max(1);
    let Some(object) = objects.get_mut(index % count) else { return };
    match how {
        0 => object.managed = false,
        1 => object.workspace = Some("stranger".to_owned()),
        2 => object.controlled = true,
        3 => object.workspace = None,
        _ => {
            object.own = crate::object::ContentHash::of_bytes(b"edited");
            object.applied = None;
        }
    }
}

/// What must hold of every plan.
fn check(fleet: &mut Fleet, it: &Plan) {
    let world = &fleet.world;
    assert_eq!(*it, plan(world), "the same world, the same plan");
    let with_memo = plan_with(world, &Scope::Daemon, &mut fleet.memo);
    assert_eq!(*it, with_memo, "what is kept from the last plan changes nothing");
    for (cluster, cluster_plan) in &it.clusters {
        let seen = &world.clusters[cluster];
        let is_live = matches!(seen.contact, Contact::Live { .. });
        for (workspace, set) in &cluster_plan.sets {
            let halted = world.halted.as_ref().is_some_and(|halt| halt.until > world.now);
            assert!(set.is_quiet() || (is_live && !halted), "{workspace} writes to {cluster}");
            for action in &set.delete {
                let what = format!("{cluster} {} of {workspace}: {}", action.key, action.why);
                assert!(seen.complete && is_live, "not seen whole: {what}");
                let failed =
                    matches!(world.desired.workspaces.get(workspace), Some(WorkspaceState::Failed { .. }));
                let placed = world.desired.config.placement_of(workspace).is_some();
                assert!(!failed || !placed, "could not be rendered: {what}");
                let object = &seen.sets[workspace].objects[&action.key];
                let ours =
                    object.managed && !object.controlled && object.workspace.as_deref() == Some(workspace);
                assert!(ours && object.uid == action.uid, "not ours: {what}");
                assert!(
                    !matches!(action.key.kind.as_str(), "Namespace" | "PersistentVolumeClaim"),
                    "kept kind: {what}"
                );
                if action.moved {
                    let decision =
                        it.units[&UnitId::workspace(workspace.as_str())].decision.clone().expect("it moves");
                    assert!(!decision.targets.is_empty(), "the last copy: {what}");
                    assert!(
                        decision.targets.iter().all(|uid| is_healthy(world, &uid.0, workspace)),
                        "no successor: {what}"
                    );
                }
            }
            for action in &set.apply {
                let stranger = seen.sets.get(workspace).and_then(|set| set.objects.get(&action.object.key));
                let stranger =
                    stranger.is_some_and(|it| it.controlled || it.workspace.as_deref() == Some("stranger"));
                assert!(!stranger, "a foreign object is written: {}", action.object.key);
            }
        }
    }
    for hold in it.holds.iter().filter(|hold| hold.reason == Reason::BudgetExceeded) {
        assert!(!hold.id.is_empty() && hold.message.contains(&hold.id));
    }
    budget(fleet, it);
}

fn is_healthy(world: &World, uid: &str, workspace: &str) -> bool {
    let view = world.clusters.values().find(|view| view.uid.as_ref().is_some_and(|it| it.0 == uid));
    let set = view.and_then(|view| view.sets.get(workspace));
    set.is_some_and(|set| !set.objects.is_empty())
}

/// No workspace loses more within an hour than its budget allows, measured on the most it ever had.
fn budget(fleet: &mut Fleet, it: &Plan) {
    let world = &fleet.world;
    for workspace in WORKSPACES {
        let views = world.clusters.values().chain(fleet.hidden.values());
        let present: usize =
            views.filter_map(|view| view.sets.get(workspace)).map(|set| set.objects.len()).sum();
        let most = fleet.most.entry(workspace.to_owned()).or_default();
        *most = (*most).max(present);
        let old = world.recent.iter().filter(|act| act.at > world.now - 3600);
        let new = it.acts(world.now);
        let acts = old.chain(&new).filter(|act| act.kind == ActKind::Delete && act.workspace == workspace);
        let ids: BTreeSet<&str> = acts.map(|act| act.id.as_str()).collect();
        let limit = (*most + ids.len()) / 10;
        assert!(ids.len() <= limit.max(5), "{workspace} loses {} of {most}", ids.len());
        let deleted = it
            .clusters
            .values()
            .filter_map(|cluster| cluster.sets.get(workspace))
            .flat_map(|set| &set.delete);
        let counted =
            new.iter().filter(|act| act.workspace == workspace && act.kind == ActKind::Delete).count();
        assert_eq!(deleted.filter(|it| !it.moved).count(), counted, "each delete is counted");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_plan_is_safe_and_comes_to_rest(events in prop::collection::vec(event(), 1..25)) {
        let mut fleet = Fleet::new();
        for (index, event) in events.iter().enumerate() {
            happen(&mut fleet, event);
            let it = plan(&fleet.world);
            check(&mut fleet, &it);
            let health = if index % 3 == 0 { sick() } else { current() };
            execute(&mut fleet.world, &it, &health);
        }
        heal(&mut fleet.world);
        for _ in 0..10 {
            let it = plan(&fleet.world);
            check(&mut fleet, &it);
            if it.is_quiet() {
                return Ok(());
            }
            execute(&mut fleet.world, &it, &current());
        }
        prop_assert!(false, "not quiet: {:#?}", plan(&fleet.world).clusters);
    }

    #[test]
    fn names_of_cluster_documents_do_not_matter(events in prop::collection::vec(event(), 1..15)) {
        let mut fleet = Fleet::new();
        for event in &events {
            happen(&mut fleet, event);
            let it = plan(&fleet.world);
            let renamed = plan(&renamed(&fleet.world));
            for (unit, plan) in &it.units {
                prop_assert_eq!(&plan.decision, &renamed.units[unit].decision);
            }
            for (old, cluster) in &it.clusters {
                prop_assert_eq!(&cluster.sets, &renamed.clusters[&new_name(old)].sets);
            }
            let ids = |plan: &Plan| plan.holds.iter().map(|hold| hold.id.clone()).collect::<BTreeSet<_>>();
            prop_assert_eq!(ids(&it), ids(&renamed));
            execute(&mut fleet.world, &it, &current());
        }
    }
}

/// Another order of names: the first becomes the last.
fn new_name(old: &str) -> String {
    match old {
        "a" => "z".to_owned(),
        other => format!("m-{other}"),
    }
}

fn renamed(world: &World) -> World {
    let mut renamed = world.clone();
    let config = config(&mut renamed);
    config.clusters = config.clusters.iter().map(|(name, it)| (new_name(name), it.clone())).collect();
    renamed.clusters = world.clusters.iter().map(|(name, view)| (new_name(name), view.clone())).collect();
    renamed
}

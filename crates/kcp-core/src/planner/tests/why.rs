//! The answers of `why`, on plans of small worlds.

use kcp_api::Reason;

use super::fixture::*;
use crate::explain::{Explanation, State, Subject, find, why};
use crate::plan::Role;
use crate::planner::plan;
use crate::world::World;

fn ask(world: &World, object: &str) -> Explanation {
    let mut found = why(world, &plan(world), &Subject::Object(key(object)));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn state(world: &World, object: &str, cluster: &str) -> State {
    ask(world, object).rows.iter().find(|row| row.cluster == cluster).expect("each cluster has a row").state
}

#[test]
fn every_cluster_has_a_row_losers_too() {
    let mut world = world(&["a", "b"], &[("shop", &["web"], 1)]);
    select(&mut world, "shop", "a");
    let answer = ask(&world, "web");
    assert_eq!((answer.workspace.as_str(), answer.placement.as_deref()), ("shop", Some("shop")));
    assert_eq!(answer.origin.map(|it| it.to_string()).as_deref(), Some("workspaces/shop/web.yaml:1"));
    let rows: Vec<(Role, Reason, State)> =
        answer.rows.iter().map(|row| (row.role, row.reason, row.state)).collect();
    assert_eq!(
        rows,
        [
            (Role::Chosen, Reason::Chosen, State::ToCreate),
            (Role::Excluded, Reason::SelectorMismatch, State::Absent)
        ]
    );
}

#[test]
fn the_state_follows_the_object() {
    let mut world = world(&["a"], &[("shop", &["web", "old"], 1)]);
    settle(&mut world);
    assert_eq!(state(&world, "web", "a"), State::InSync);
    seen(&mut world, "a", "shop", "web").health = sick();
    assert_eq!(state(&world, "web", "a"), State::NotReady);
    write(&mut world, "shop", &["web=1"]);
    assert_eq!(state(&world, "web", "a"), State::ToUpdate);
    assert_eq!(state(&world, "old", "a"), State::ToDelete);
    write(&mut world, "shop", &[]);
    let answer = ask(&world, "old");
    assert_eq!((answer.rows[0].state, answer.holds.len()), (State::Held, 1));
    assert!(answer.rows[0].detail.contains("kubectl kcp approve"));
    write(&mut world, "shop", &["web", "new"]);
    let foreign = crate::world::Foreign { uid: "u".into(), owner: "Flux".into(), managers: vec![] };
    view(&mut world, "a").foreign.insert(key("new"), foreign);
    assert_eq!(state(&world, "new", "a"), State::Failed);
    lose(&mut world, "a");
    assert_eq!(state(&world, "web", "a"), State::Unknown);
}

#[test]
fn objects_are_found_in_git_and_on_clusters() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    write(&mut world, "shop", &["new"]);
    let it = plan(&world);
    assert_eq!(find(&world, &it, "configmap", None, "web"), [key("web")]);
    assert_eq!(find(&world, &it, "configmaps", Some("shared"), "new"), [key("new")]);
    assert_eq!(find(&world, &it, "configmap", Some("elsewhere"), "new"), []);
    assert!(why(&world, &it, &Subject::Object(key("nobody"))).is_empty());
    assert_eq!(why(&world, &it, &Subject::Workspace("shop".to_owned()))[0].rows[0].state, State::ToCreate);
}

//! What could not be read keeps the last state.

use super::fixture::*;
use crate::planner::plan;
use crate::world::WorkspaceState;

#[test]
fn a_failed_workspace_is_kept_up_from_its_last_good_state() {
    let mut world = world(&["a"], &[("shop", &["web", "db"], 1)]);
    settle(&mut world);
    fail(&mut world, "shop", Some(rendered("shop", &["web=1"])));
    let it = plan(&world);
    assert_eq!((writes(&it), deletes(&it)), (vec!["a update web".to_owned()], vec![]));
    assert_eq!(problems(&it), ["WorkspaceFailedToRender shop"]);
    assert!(it.problems[0].message.contains("web.yaml:3:1"));
}

#[test]
fn a_failed_workspace_without_one_is_not_touched() {
    let mut world = world(&["a"], &[("shop", &["web", "db"], 1)]);
    settle(&mut world);
    let before = decision(&plan(&world), "shop");
    fail(&mut world, "shop", None);
    seen(&mut world, "a", "shop", "web").applied = None;
    seen(&mut world, "a", "shop", "web").own = crate::object::ContentHash::of_bytes(b"edited");
    let it = plan(&world);
    assert!(it.is_quiet());
    assert_eq!(decision(&it, "shop"), before);
    // And one that was never there is not placed.
    fail(&mut world, "new", None);
    write(&mut world, "new", &[]);
    place(&mut world, "new", exactly(1));
    fail(&mut world, "new", Some(rendered("new", &["x"])));
    assert_eq!(decision(&plan(&world), "new"), None);
}

#[test]
fn a_workspace_that_was_not_rendered_at_all_is_not_an_empty_one() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    world.desired.workspaces.clear();
    let it = plan(&world);
    assert!(it.is_quiet() && it.holds.is_empty());
}

#[test]
fn a_cluster_that_no_variant_fits_keeps_what_it_has() {
    let mut world = world(&["a"], &[("shop", &["web"], 1)]);
    settle(&mut world);
    if let Some(WorkspaceState::Rendered(rendered)) = world.desired.workspaces.get_mut("shop") {
        std::sync::Arc::make_mut(rendered).choices.clear();
    }
    let it = plan(&world);
    assert!(it.is_quiet() && it.holds.is_empty());
    assert_eq!(problems(&it), ["NoVariantFits shop"]);
}

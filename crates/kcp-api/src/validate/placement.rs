//! Checks of `kind: Placement`.

use super::{Check, fleet, quoted};
use crate::{
    Affinity, Availability, ClusterCount, Duration, Effect, Movement, Placement, PlacementSpec, Replicas,
    Toleration, TolerationOperator, Unit, WorkspaceRefs,
};

pub(crate) fn placement(placement: &Placement, check: &mut Check) {
    // Taken apart, so that a new field cannot be forgotten here.
    let PlacementSpec {
        workspaces,
        clusters,
        cluster_selector,
        targets,
        unit,
        resources,
        affinity,
        tolerations,
        topology_spread_constraints,
        replicas,
        availability,
        priority,
        movement,
        rollout,
        policy_name,
        suspend,
        windows,
    } = &placement.spec;
    workspace_refs(workspaces, check);
    cluster_count("spec.clusters", clusters, check);
    if let Some(selector) = cluster_selector {
        check.selector("spec.clusterSelector", selector);
    }
    check.refuse("spec.targets", targets.is_empty());
    check.unique_names("spec.targets", targets.iter().map(|item| item.name.as_str()));
    check.refuse_other_than("spec.unit", *unit == Unit::Workspace, "Workspace");
    check.refuse("spec.resources", resources.is_empty());
    check.refuse("spec.affinity", *affinity == Affinity::default());
    self::tolerations("spec.tolerations", tolerations, check);
    check.refuse("spec.topologySpreadConstraints", topology_spread_constraints.is_empty());
    check.refuse("spec.replicas", *replicas == Replicas::default());
    check.refuse_other_than(
        "spec.availability.minClusters",
        *availability == Availability::default(),
        Availability::default().min_clusters,
    );
    check.refuse_other_than("spec.priority", *priority == 0, 0);
    self::movement(movement, check);
    check.refuse("spec.rollout", rollout.is_none());
    if let Some(rollout) = rollout {
        check.unique_names("spec.rollout.waves", rollout.waves.iter().map(|item| item.name.as_str()));
    }
    check.dns_name("spec.policyName", policy_name);
    check.suspensions("spec.suspend", suspend);
    fleet::windows("spec.windows", windows, check);
}

fn workspace_refs(refs: &WorkspaceRefs, check: &mut Check) {
    check.exactly_one(
        "spec.workspaces",
        &[("names", !refs.names.is_empty()), ("selector", refs.selector.is_some())],
    );
    check.unique_texts("spec.workspaces.names", &refs.names);
    for (i, name) in refs.names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        check.dns_label(&format!("spec.workspaces.names[{i}]"), name);
    }
    if let Some(selector) = &refs.selector {
        check.selector("spec.workspaces.selector", selector);
    }
}

fn cluster_count(path: &str, count: &ClusterCount, check: &mut Check) {
    let ClusterCount { exactly, min, max, all } = count;
    if *all == Some(false) {
        check.error_with_help(format!("{path}.all"), "can only be true", "leave it out");
        return;
    }
    check.exactly_one(
        path,
        &[
            ("exactly", exactly.is_some()),
            ("min and max", min.is_some() || max.is_some()),
            ("all", all.is_some()),
        ],
    );
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        check.error(path, format!("min {min} is more than max {max}"));
    }
}

fn tolerations(path: &str, tolerations: &[Toleration], check: &mut Check) {
    for (i, toleration) in tolerations.iter().enumerate() {
        let path = format!("{path}[{i}]");
        if !toleration.key.is_empty() {
            check.label_key(&format!("{path}.key"), &toleration.key);
        } else if toleration.operator != TolerationOperator::Exists {
            check.error_with_help(
                format!("{path}.operator"),
                "must be Exists when there is no key",
                "give the key of the taint, or operator: Exists for all taints",
            );
        }
        match toleration.operator {
            TolerationOperator::Exists if !toleration.value.is_empty() => {
                check.error(
                    format!("{path}.value"),
                    format!("operator Exists takes no value, found {}", quoted(&toleration.value)),
                );
            }
            TolerationOperator::Exists => {}
            TolerationOperator::Equal => check.label_value(&format!("{path}.value"), &toleration.value),
        }
        if toleration.toleration_seconds.is_some() && toleration.effect != Some(Effect::NoExecute) {
            check.error(format!("{path}.effect"), "must be NoExecute when tolerationSeconds is given");
        }
    }
}

fn movement(movement: &Movement, check: &mut Check) {
    let Movement { strategy, health_timeout, stabilization, max_concurrent, on_unreachable, state } =
        movement;
    let default = Movement::default();
    let path = |field: &str| format!("spec.movement.{field}");
    check.refuse_other_than(&path("strategy"), *strategy == default.strategy, "MakeBeforeBreak");
    if *health_timeout < Duration::from_secs(1) || *health_timeout > Duration::from_mins(24 * 60) {
        check.error(path("healthTimeout"), format!("{health_timeout} is not sensible: 1s to 24h"));
    }
    check.refuse_other_than(
        &path("stabilization"),
        *stabilization == default.stabilization,
        default.stabilization,
    );
    check.refuse_other_than(
        &path("maxConcurrent"),
        *max_concurrent == default.max_concurrent,
        default.max_concurrent,
    );
    check.refuse_other_than(&path("onUnreachable"), *on_unreachable == default.on_unreachable, "Move");
    check.refuse_other_than(&path("state"), *state == default.state, "Stay");
}

//! Checks of `kind: Cluster`.

use std::collections::BTreeSet;

use super::{Check, quoted};
use crate::{Cluster, ClusterMode, Connection, Taint};

pub(crate) fn cluster(cluster: &Cluster, check: &mut Check) {
    let spec = &cluster.spec;
    check.refuse_other_than("spec.mode", spec.mode != ClusterMode::Pull, "Push and None");
    connection(&spec.connection, check);
    if let Some(uid) = &spec.uid {
        check.not_empty("spec.uid", uid);
    }
    taints(&spec.taints, check);
    check.refuse("spec.variables", spec.variables.is_empty());
    check.refuse("spec.drain", spec.drain.is_none());
    check.refuse("spec.capacity", spec.capacity.is_empty());
    check.refuse("spec.reconciler", spec.reconciler.is_empty());
    check.suspensions("spec.suspend", &spec.suspend);
    for (i, suspension) in spec.suspend.iter().enumerate() {
        if suspension.clusters.iter().any(|name| *name != cluster.metadata.name) {
            check.error_with_help(
                format!("spec.suspend[{i}].clusters"),
                "names another cluster than its own",
                "leave clusters out here, or suspend in the Fleet",
            );
        }
    }
}

fn connection(connection: &Connection, check: &mut Check) {
    let Connection { context, secret, cluster_profile, simulated } = connection;
    check.exactly_one(
        "spec.connection",
        &[
            ("context", context.is_some()),
            ("secret", secret.is_some()),
            ("clusterProfile", cluster_profile.is_some()),
            ("simulated", simulated.is_some()),
        ],
    );
    if let Some(context) = context {
        check.not_empty("spec.connection.context", context);
    }
    check.refuse("spec.connection.secret", secret.is_none());
    check.refuse("spec.connection.clusterProfile", cluster_profile.is_none());
    check.refuse("spec.connection.simulated", simulated.is_none());
}

fn taints(taints: &[Taint], check: &mut Check) {
    let mut seen = BTreeSet::new();
    for (i, taint) in taints.iter().enumerate() {
        let path = format!("spec.taints[{i}]");
        check.label_key(&format!("{path}.key"), &taint.key);
        check.label_value(&format!("{path}.value"), &taint.value);
        if !seen.insert((&taint.key, taint.effect)) {
            check.error(
                &path,
                format!("key {} with effect {} is there twice", quoted(&taint.key), taint.effect.as_str()),
            );
        }
    }
}

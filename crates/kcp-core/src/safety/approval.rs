//! What people approved: held actions are released one by one, by what they do and to what, never by time or commit.

use kcp_api::ApprovalSpec;
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::plan::HeldAction;
use crate::world::UnixSeconds;

/// Clocks of people and of the reconciler may differ by so many seconds.
const SKEW: i64 = 5 * 60;

/// The approvals that count at one time.
#[derive(Debug)]
pub(crate) struct Approvals<'w> {
    valid: Vec<&'w ApprovalSpec>,
}

impl<'w> Approvals<'w> {
    /// Those of the config that count now.
    pub(crate) fn new(config: &'w Config, now: UnixSeconds) -> Self {
        let all = config.approvals.values().map(|approval| &approval.value.spec);
        let valid = all.filter(|spec| {
            let at = spec.at.epoch_seconds();
            now >= at.saturating_sub(SKEW) && spec.is_valid_at(now.max(at))
        });
        Self { valid: valid.collect() }
    }

    /// Whether one action is approved.
    pub(crate) fn cover(&self, action: &HeldAction) -> bool {
        let Some(asked) = action.action() else { return false };
        self.valid.iter().any(|spec| spec.covers(&asked, spec.at.epoch_seconds()))
    }
}

/// The id of a hold: a hash of what it would do, where, to what; not of names, times or commits.
#[must_use]
pub(crate) fn hold_id(actions: &[HeldAction]) -> String {
    let mut lines: Vec<String> = actions.iter().map(line).collect();
    lines.sort();
    let digest = Sha256::digest(lines.join("\n").as_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn line(action: &HeldAction) -> String {
    let object = &action.object;
    let named = [&object.group, &object.kind, &object.namespace, &object.name].map(String::as_str).join("/");
    format!("{} {} {named}", action.verb, action.cluster_uid)
}

#[cfg(test)]
mod tests {
    use super::hold_id;
    use crate::object::ObjectKey;
    use crate::plan::HeldAction;
    use crate::world::ClusterUid;

    fn action(name: &str, cluster: &str, uid: Option<&str>) -> HeldAction {
        HeldAction {
            verb: "delete".to_owned(),
            cluster_uid: ClusterUid("c1".to_owned()),
            cluster: cluster.to_owned(),
            object: ObjectKey {
                group: "apps".to_owned(),
                kind: "Deployment".to_owned(),
                namespace: "shop".to_owned(),
                name: name.to_owned(),
            },
            uid: uid.map(str::to_owned),
        }
    }

    /// The ids are in approvals that people have committed: they must never change.
    #[test]
    fn the_id_is_a_hash_of_what_is_done_to_what() {
        let id = hold_id(&[action("a", "eu-1", Some("u1")), action("b", "eu-1", None)]);
        assert_eq!(id, "e68bb619b89b");
        assert_eq!(id, hold_id(&[action("b", "renamed", Some("u9")), action("a", "renamed", None)]));
        assert_ne!(id, hold_id(&[action("a", "eu-1", None)]));
    }
}

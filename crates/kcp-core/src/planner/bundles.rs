//! What each cluster gets of each unit: made once for all clusters that serve the same kinds.

use std::collections::BTreeMap;
use std::sync::Arc;

use kcp_api::SyncPolicySpec;

use super::fleet::{Fleet, Member};
use super::unit::{Placed, Unit};
use crate::applyset;
use crate::config::WorkspaceConfig;
use crate::object::{ContentHash, GroupKind, ObjectKey};
use crate::render::{Bundle, RenderedVariant, bundle};
use crate::world::{ApiFacts, World};

/// One unit for one cluster.
#[derive(Debug, Clone)]
pub(crate) struct Content<'w> {
    /// What it was made from.
    pub(crate) variant: &'w Arc<RenderedVariant>,
    /// Its objects.
    pub(crate) bundle: Arc<Bundle>,
    /// The keys of its objects.
    pub(crate) keys: Arc<BTreeMap<ObjectKey, usize>>,
}

impl Content<'_> {
    /// Whether it has an object of this key.
    pub(crate) fn has(&self, key: &ObjectKey) -> bool {
        self.keys.contains_key(key)
    }

    /// Whether the cluster is known not to serve a kind that this very bundle does not bring either.
    pub(crate) fn lacks(&self, api: &ApiFacts, kind: &GroupKind) -> bool {
        api.lacks(kind) && !self.variant.crds.contains_key(kind)
    }
}

/// Bundles of earlier plans, for a process that plans again and again: what did not change is not made again. Holds
/// what the last plan used, nothing more. A plan is the same with and without it.
#[derive(Debug, Default)]
pub struct Memo {
    made: BTreeMap<(String, String, ContentHash), Made>,
}

/// One bundle and all that it was made from.
#[derive(Debug, Clone)]
struct Made {
    variant: Arc<RenderedVariant>,
    workspace: WorkspaceConfig,
    placement: String,
    policy: SyncPolicySpec,
    fleet: String,
    commit: String,
    bundle: Arc<Bundle>,
    keys: Arc<BTreeMap<ObjectKey, usize>>,
}

impl Made {
    fn is_for(
        &self,
        world: &World,
        unit: &Unit<'_>,
        placed: &Placed<'_>,
        variant: &Arc<RenderedVariant>,
    ) -> bool {
        Arc::ptr_eq(&self.variant, variant)
            && self.commit == world.desired.commit
            && self.placement == placed.placement.metadata.name
            && self.fleet == world.desired.config.fleet.value.spec.id
            && self.workspace == *placed.workspace
            && self.policy == *unit.policy
    }
}

/// Makes bundles, each once.
pub(crate) struct Bundles<'w, 'm> {
    world: &'w World,
    /// A hash of what each cluster serves: the same bundles are for all that serve the same.
    served: BTreeMap<&'w str, ContentHash>,
    memo: &'m mut Memo,
    used: Memo,
}

impl<'w, 'm> Bundles<'w, 'm> {
    /// For the clusters of a fleet.
    pub(crate) fn new(world: &'w World, fleet: &Fleet<'w>, memo: &'m mut Memo) -> Self {
        let mut known: Vec<(&ApiFacts, ContentHash)> = Vec::new();
        let mut served = BTreeMap::new();
        for (name, member) in &fleet.members {
            let api = &member.view.api;
            let hash = match known.iter().find(|(facts, _)| *facts == api) {
                Some((_, hash)) => *hash,
                None => {
                    let bytes = serde_json::to_vec(&api.kinds).expect("maps of strings are JSON");
                    let hash = ContentHash::of_bytes(&bytes);
                    known.push((api, hash));
                    hash
                }
            };
            served.insert(*name, hash);
        }
        Self { world, served, memo, used: Memo::default() }
    }

    /// What a cluster gets of a unit; `None` if there is nothing to render it from, or no variant fits.
    pub(crate) fn content(&mut self, unit: &Unit<'w>, member: &Member<'w>) -> Option<Content<'w>> {
        let placed = unit.placed()?;
        let variant = placed.rendered?.for_cluster(&member.document.metadata.labels)?;
        let key = (unit.name.to_owned(), variant.name.clone(), *self.served.get(member.name)?);
        let world = self.world;
        let made = self.used.made.entry(key).or_insert_with_key(|key| {
            let before = self.memo.made.remove(key);
            if let Some(made) = before.filter(|made| made.is_for(world, unit, placed, variant)) {
                return made;
            }
            let bundle = make(world, unit, placed, member, variant);
            let keys = bundle
                .objects
                .iter()
                .enumerate()
                .map(|(index, object)| (object.key.clone(), index))
                .collect();
            Made {
                variant: variant.clone(),
                workspace: placed.workspace.clone(),
                placement: placed.placement.metadata.name.clone(),
                policy: unit.policy.clone(),
                fleet: world.desired.config.fleet.value.spec.id.clone(),
                commit: world.desired.commit.clone(),
                bundle: Arc::new(bundle),
                keys: Arc::new(keys),
            }
        });
        Some(Content { variant, bundle: made.bundle.clone(), keys: made.keys.clone() })
    }

    /// What a cluster got before, for showing changed fields; `None` where that is not at hand.
    pub(crate) fn before(&self, unit: &Unit<'w>, member: &Member<'w>) -> Option<Bundle> {
        if self.world.baseline.is_empty() {
            return None;
        }
        let variant = self.world.baseline.get(&(member.name.to_owned(), unit.name.to_owned()))?;
        Some(make(self.world, unit, unit.placed()?, member, variant))
    }

    /// Keeps what was used for the next plan.
    pub(crate) fn keep(self) {
        *self.memo = self.used;
    }
}

fn make(
    world: &World,
    unit: &Unit<'_>,
    placed: &Placed<'_>,
    member: &Member<'_>,
    variant: &RenderedVariant,
) -> Bundle {
    let scopes = |kind: &GroupKind| member.view.api.kind(kind).map(|facts| facts.namespaced);
    let part_of = applyset::set_id(&world.desired.config.fleet.value.spec.id, unit.name);
    let placement = &placed.placement.metadata.name;
    bundle(variant, placed.workspace, placement, unit.policy, &scopes, &part_of, &world.desired.commit)
}

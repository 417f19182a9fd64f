//! What each cluster gets of each unit: made once for all clusters that serve the same kinds.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use kcp_api::{Cluster, SyncPolicySpec};

use super::fleet::{Fleet, Member};
use super::unit::Unit;
use crate::applyset;
use crate::config::WorkspaceConfig;
use crate::object::{ContentHash, GroupKind, Object, ObjectKey};
use crate::render::{Bundle, RenderedVariant, bundle};
use crate::world::{ApiFacts, ClusterView, Desired, WorkspaceState, World};

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
    /// Whether the cluster is known not to serve a kind that this very bundle does not bring either.
    pub(crate) fn lacks(&self, api: &ApiFacts, kind: &GroupKind) -> bool {
        api.lacks(kind) && !self.variant.crds.contains_key(kind)
    }
}

/// Bundles of earlier plans, for a process that plans again and again: what did not change is not made again. Holds
/// what the last plan used, nothing more. A plan is the same with and without it.
#[derive(Debug, Default)]
pub struct Memo {
    made: Store,
    /// Of the commit before.
    earlier: Store,
}

type Store = BTreeMap<(String, String, ContentHash), Made>;

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

/// What a bundle is made from, but for what the cluster serves.
#[derive(Clone, Copy)]
struct Source<'a> {
    desired: &'a Desired,
    workspace: &'a WorkspaceConfig,
    placement: &'a str,
    policy: &'a SyncPolicySpec,
    variant: &'a Arc<RenderedVariant>,
}

impl<'a> Source<'a> {
    /// What a desired state has of a workspace for a cluster; `document` counts where it does not know the cluster.
    /// `None` if it has nothing for it.
    fn of(
        desired: &'a Desired,
        workspace: &str,
        cluster: &str,
        document: Option<&'a Cluster>,
    ) -> Option<Self> {
        let config = &desired.config;
        let placement = &config.placement_of(workspace)?.value;
        let rendered = match desired.workspaces.get(workspace)? {
            WorkspaceState::Rendered(rendered) => rendered,
            WorkspaceState::Failed { last_good, .. } => last_good.as_ref()?,
        };
        let document = config.clusters.get(cluster).map(|it| &it.value).or(document)?;
        Some(Self {
            desired,
            workspace: config.workspaces.get(workspace)?,
            placement: &placement.metadata.name,
            policy: config.policy(&placement.spec.policy_name),
            variant: rendered.for_cluster(&document.metadata.labels)?,
        })
    }

    fn fleet(&self) -> &str {
        &self.desired.config.fleet.value.spec.id
    }

    fn gave(&self, made: &Made) -> bool {
        Arc::ptr_eq(&made.variant, self.variant)
            && made.commit == self.desired.commit
            && made.placement == self.placement
            && made.fleet == self.fleet()
            && made.workspace == *self.workspace
            && made.policy == *self.policy
    }

    fn bundle(&self, api: &ApiFacts) -> Bundle {
        let scopes = |kind: &GroupKind| api.kind(kind).map(|facts| facts.namespaced);
        let part_of = applyset::set_id(self.fleet(), &self.workspace.name);
        let commit = &self.desired.commit;
        bundle(self.variant, self.workspace, self.placement, self.policy, &scopes, &part_of, commit)
    }

    fn make(&self, member: &Member<'_>) -> Made {
        let bundle = self.bundle(&member.view.api);
        let keys = bundle.objects.iter().enumerate().map(|(index, object)| (object.key.clone(), index));
        Made {
            variant: self.variant.clone(),
            workspace: self.workspace.clone(),
            placement: self.placement.to_owned(),
            policy: self.policy.clone(),
            fleet: self.fleet().to_owned(),
            commit: self.desired.commit.clone(),
            keys: Arc::new(keys.collect()),
            bundle: Arc::new(bundle),
        }
    }
}

/// Fills in what a record withholds of Secrets: they are taken to be as `desired` has them, which was in force when the
/// clusters were recorded. Where it does not have them they stay withheld, and a plan says that they may have changed.
pub fn recall_secrets(clusters: &mut BTreeMap<String, ClusterView>, desired: &Desired) {
    for (cluster, view) in clusters.iter_mut().filter(|(_, view)| view.withholds()) {
        for (workspace, set) in &mut view.sets {
            let Some(source) = Source::of(desired, workspace, cluster, None) else { continue };
            for object in source.bundle(&view.api).objects.into_iter().filter(|it| it.key.is_secret()) {
                if let Some(seen) = set.objects.get_mut(&object.key)
                    && seen.own == ContentHash::WITHHELD
                {
                    (seen.own, seen.applied) = (object.hash, Some(object.hash));
                }
            }
        }
    }
}

/// What a cluster got of a unit by the commit before.
#[derive(Debug, Clone)]
pub(crate) struct Earlier {
    bundle: Arc<Bundle>,
    keys: Arc<BTreeMap<ObjectKey, usize>>,
}

impl Earlier {
    /// The object as it was, if it had exactly this content.
    pub(crate) fn object(&self, key: &ObjectKey, hash: ContentHash) -> Option<&Object> {
        let object = self.bundle.objects.get(*self.keys.get(key)?)?;
        (object.hash == hash).then_some(object)
    }
}

/// Makes bundles, each once.
pub(crate) struct Bundles<'w, 'm> {
    world: &'w World,
    /// A hash of what each cluster serves: the same bundles are for all that serve the same.
    served: BTreeMap<&'w str, ContentHash>,
    memo: &'m mut Memo,
    used: Store,
    /// Few plans ask for these, and late.
    earlier: RefCell<Store>,
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
        Self { world, served, memo, used: Store::new(), earlier: RefCell::default() }
    }

    /// What a cluster gets of a unit; `None` if there is nothing to render it from, or no variant fits.
    pub(crate) fn content(&mut self, unit: &Unit<'w>, member: &Member<'w>) -> Option<Content<'w>> {
        let placed = unit.placed()?;
        let variant = placed.rendered?.for_cluster(&member.document.metadata.labels)?;
        let source = Source {
            desired: &self.world.desired,
            workspace: placed.workspace,
            placement: &placed.placement.metadata.name,
            policy: unit.policy,
            variant,
        };
        let key = (unit.name.to_owned(), variant.name.clone(), *self.served.get(member.name)?);
        let made = self.used.entry(key).or_insert_with_key(|key| {
            let before = self.memo.made.remove(key).filter(|made| source.gave(made));
            before.unwrap_or_else(|| source.make(member))
        });
        Some(Content { variant, bundle: made.bundle.clone(), keys: made.keys.clone() })
    }

    /// What a cluster got before, for showing changed fields; `None` where that is not at hand.
    pub(crate) fn before(&self, unit: &Unit<'w>, member: &Member<'w>) -> Option<Bundle> {
        if self.world.baseline.is_empty() {
            return None;
        }
        let variant = self.world.baseline.get(&(member.name.to_owned(), unit.name.to_owned()))?;
        let placed = unit.placed()?;
        let source = Source {
            desired: &self.world.desired,
            workspace: placed.workspace,
            placement: &placed.placement.metadata.name,
            policy: unit.policy,
            variant,
        };
        Some(source.bundle(&member.view.api))
    }

    /// What a cluster got by the commit before, whether it is there or not; `None` where that is not known.
    pub(crate) fn earlier(&self, unit: &Unit<'w>, member: &Member<'w>) -> Option<Earlier> {
        let desired = self.world.before.as_deref()?;
        let source = Source::of(desired, unit.name, member.name, Some(member.document))?;
        let key = (unit.name.to_owned(), source.variant.name.clone(), *self.served.get(member.name)?);
        let mut earlier = self.earlier.borrow_mut();
        let made = earlier.entry(key).or_insert_with_key(|key| {
            let known = self.memo.earlier.get(key).filter(|made| source.gave(made)).cloned();
            known.unwrap_or_else(|| source.make(member))
        });
        Some(Earlier { bundle: made.bundle.clone(), keys: made.keys.clone() })
    }

    /// Keeps what was used for the next plan.
    pub(crate) fn keep(self) {
        *self.memo = Memo { made: self.used, earlier: self.earlier.into_inner() };
    }
}

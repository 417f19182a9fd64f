//! The clusters of the fleet as the planner sees them: document, view, identity, and what must not be done there.
//!
//! Never assumes anything about a cluster that was not seen.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kcp_api::{Cluster, ClusterMode, Reason};

use super::Scope;
use crate::safety::stops;
use crate::world::{ClusterUid, ClusterView, Contact, World};

static NOTHING_SEEN: LazyLock<ClusterView> = LazyLock::new(ClusterView::default);

/// How far a cluster is known and may be worked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// Seen whole, fresh.
    Open,
    /// Fresh, but some of its lists could not be read: what is not in the view may still be there.
    Partial,
    /// Nothing was seen since the start.
    Unseen,
    /// Cannot be reached; the view is what was seen last.
    Lost(String),
    /// Must not be worked with, and why.
    Closed(Reason, String),
}

/// One cluster of the fleet.
#[derive(Debug)]
pub(crate) struct Member<'w> {
    /// Name of its document.
    pub(crate) name: &'w str,
    /// Its document.
    pub(crate) document: &'w Cluster,
    /// What was seen of it; nothing, if it never was.
    pub(crate) view: &'w ClusterView,
    /// What it is.
    pub(crate) uid: Option<ClusterUid>,
    /// How far it is known.
    pub(crate) access: Access,
    /// Its view is of this run, not of what another one recorded.
    pub(crate) fresh: bool,
    /// Writes are stopped on purpose: halt, or suspended by the fleet's or its own document.
    pub(crate) suspended: Option<(Reason, String)>,
}

impl Member<'_> {
    /// Why nothing at all is written there; `None` if it may be.
    pub(crate) fn stopped(&self) -> Option<(Reason, String)> {
        match &self.access {
            Access::Open | Access::Partial => self.suspended.clone(),
            Access::Unseen => Some((Reason::Pending, "it was not read whole yet since the start".to_owned())),
            Access::Lost(message) => Some((Reason::ClusterUnreachable, message.clone())),
            Access::Closed(reason, message) => Some((*reason, message.clone())),
        }
    }

    /// Whether something may be written there now.
    pub(crate) fn is_writable(&self) -> bool {
        matches!(self.access, Access::Open | Access::Partial) && self.suspended.is_none()
    }

    /// Whether absence in the view means absence on the cluster.
    pub(crate) fn is_whole(&self) -> bool {
        self.access == Access::Open
    }

    /// Whether what the view says can be of this cluster at all: not if another one answers at its address.
    pub(crate) fn has_own_view(&self) -> bool {
        !matches!(self.access, Access::Closed(Reason::ClusterIdentityChanged, _))
    }
}

/// All clusters that the config names, by the name of their document.
#[derive(Debug)]
pub(crate) struct Fleet<'w> {
    /// The clusters.
    pub(crate) members: BTreeMap<&'w str, Member<'w>>,
    /// Names of the documents by UID, the first of each.
    names: BTreeMap<ClusterUid, &'w str>,
}

impl<'w> Fleet<'w> {
    /// Reads contact, mode and identity of each cluster.
    pub(crate) fn new(world: &'w World, scope: &Scope) -> Self {
        let mut members: BTreeMap<&str, Member<'_>> = BTreeMap::new();
        for (name, document) in &world.desired.config.clusters {
            let view = world.clusters.get(name).unwrap_or(&NOTHING_SEEN);
            let document = &document.value;
            let uid = document.spec.uid.clone().map(ClusterUid).or_else(|| view.uid.clone());
            let access = access(name, document, view, scope);
            let suspended = stops::on_cluster(world, name, document);
            let fresh = *scope == Scope::Daemon || scope.names(name);
            members.insert(name, Member { name, document, view, uid, access, fresh, suspended });
        }
        close_doubles(&mut members);
        let mut names = BTreeMap::new();
        for member in members.values() {
            if let Some(uid) = &member.uid {
                names.entry(uid.clone()).or_insert(member.name);
            }
        }
        Self { members, names }
    }

    /// The name of the document of a cluster, for people; its UID if no document has it.
    pub(crate) fn name_of(&self, uid: &ClusterUid) -> String {
        self.by_uid(uid).map_or_else(|| uid.0.clone(), |member| member.name.to_owned())
    }

    /// The cluster with this UID.
    pub(crate) fn by_uid(&self, uid: &ClusterUid) -> Option<&Member<'w>> {
        self.members.get(self.names.get(uid)?)
    }
}

fn access(name: &str, document: &Cluster, view: &ClusterView, scope: &Scope) -> Access {
    if document.spec.mode != ClusterMode::Push && !scope.names(name) {
        let message = format!("mode None: only by `kubectl kcp sync --cluster {name}`");
        return Access::Closed(Reason::ManualCluster, message);
    }
    if let (Some(recorded), Some(seen)) = (&document.spec.uid, &view.uid)
        && *recorded != seen.0
    {
        let message = format!(
            "its connection leads to another cluster: UID {seen}, recorded is {recorded}; point the context back, or \
             change spec.uid of the Cluster document if it was replaced on purpose"
        );
        return Access::Closed(Reason::ClusterIdentityChanged, message);
    }
    match &view.contact {
        Contact::Pending => Access::Unseen,
        Contact::Lost { message, .. } => Access::Lost(message.clone()),
        Contact::Refused { reason, message, .. } => Access::Closed(*reason, message.clone()),
        Contact::Live { .. } if view.uid.is_none() => {
            let message = "its identity is not known: the UID of its kube-system namespace could not be read";
            Access::Closed(Reason::ClusterIdentityUnknown, message.to_owned())
        }
        Contact::Live { .. } if view.complete => Access::Open,
        // An incomplete view that says what it lacks was read; one that does not is still being read.
        Contact::Live { .. } if !view.parent_errors.is_empty() => {
            Access::Closed(Reason::InventoryIncomplete, unreadable(view))
        }
        Contact::Live { .. } if view.sets.values().any(|set| !set.unlisted.is_empty()) => Access::Partial,
        Contact::Live { .. } => Access::Unseen,
    }
}

/// What to do about parents that cannot be read: they would never get readable by waiting.
fn unreadable(view: &ClusterView) -> String {
    let each: Vec<String> =
        view.parent_errors.iter().map(|(parent, error)| format!("{parent}: {error}")).collect();
    format!(
        "what is there cannot be told, so nothing is written: these inventories (parent Secrets) cannot be read, repair or \
         remove them: {}",
        each.join("; ")
    )
}

/// Two documents that lead to one cluster would own each other's objects: neither is worked with.
fn close_doubles(members: &mut BTreeMap<&str, Member<'_>>) {
    let mut seen: BTreeMap<ClusterUid, Vec<String>> = BTreeMap::new();
    // A connection that leads astray takes nothing from the document whose cluster it leads to.
    for member in members.values().filter(|member| member.has_own_view()) {
        if let Some(uid) = member.view.uid.clone().or_else(|| member.uid.clone()) {
            seen.entry(uid).or_default().push(member.name.to_owned());
        }
    }
    for (uid, names) in seen.iter().filter(|(_, names)| names.len() > 1) {
        for member in members.values_mut().filter(|member| names.iter().any(|name| name == member.name)) {
            if !matches!(member.access, Access::Closed(..)) {
                let message =
                    format!("{} are one cluster (UID {uid}): remove all but one document", names.join(", "));
                member.access = Access::Closed(Reason::ClusterIdentityChanged, message);
            }
        }
    }
}

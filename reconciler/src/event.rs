//! Everything that can happen, in one stream: the loop handles one event after the other and shares no state.

use kcp_core::observe::Observation;
use kcp_core::world::Desired;

use crate::record::SourceState;

/// Something happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A new commit is in force.
    Desired(Box<Desired>, SourceState),
    /// The source changed in another way: it cannot be read, or is held, or is well again.
    Source(SourceState),
    /// Something was seen or done on a cluster.
    Cluster {
        /// Name of the Cluster document.
        cluster: String,
        /// What.
        observation: Box<Observation>,
    },
}

impl Event {
    /// What a worker saw.
    pub(crate) fn of(cluster: String, observation: Observation) -> Self {
        Self::Cluster { cluster, observation: Box::new(observation) }
    }
}

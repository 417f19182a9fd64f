//! What of a view is published, and how the rest is recalled. Whoever reads a record could guess a weak value of a Secret
//! by the hash of its content, so no hash of any Secret is in one. The clusters themselves keep them, in a Secret.

use crate::object::ContentHash;
use crate::observe::stored_name;
use crate::world::ClusterView;

impl ClusterView {
    /// The view without any hash of the content of a Secret.
    #[must_use]
    pub fn withholding_secrets(mut self) -> Self {
        let secret = "Secret ";
        let stored = stored_name(secret);
        for set in self.sets.values_mut() {
            set.parent.applied.retain(|name, _| !name.starts_with(secret) && !name.starts_with(&stored));
            for (_, object) in set.objects.iter_mut().filter(|(key, _)| key.is_secret()) {
                (object.own, object.applied) = (ContentHash::WITHHELD, None);
            }
        }
        for (_, failure) in self.failures.iter_mut().filter(|(key, _)| key.is_secret()) {
            failure.hash = failure.hash.map(|_| ContentHash::WITHHELD);
        }
        self
    }

    /// Whether anything in it is withheld.
    #[must_use]
    pub fn withholds(&self) -> bool {
        self.sets.values().flat_map(|set| set.objects.values()).any(|it| it.own == ContentHash::WITHHELD)
    }
}

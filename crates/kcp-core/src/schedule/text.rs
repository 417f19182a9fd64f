//! The one line that says why fewer clusters were found than asked for, in the way of kube-scheduler.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kcp_api::Wanted;

use super::choose::Candidate;
use super::filter::Judgement;
use crate::world::ClusterUid;

/// As in `1/2 clusters: 0/3 more are available: 2 didn't match the selector, 1 took nothing new (unschedulable).`
pub(crate) fn unplaced(
    wanted: Option<Wanted>,
    fitting: usize,
    candidates: &[Candidate<'_>],
    targets: &BTreeSet<ClusterUid>,
    staying: &BTreeSet<ClusterUid>,
) -> String {
    if candidates.is_empty() {
        return "there is no cluster yet: add one with `kubectl kcp cluster add`".to_owned();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for it in candidates {
        let is_target =
            it.member.uid.as_ref().is_some_and(|uid| targets.contains(uid) && !staying.contains(uid));
        let phrase = match &it.judgement {
            _ if is_target => continue,
            Judgement::Excluded(why) | Judgement::MustLeave { why, .. } => why.phrase.clone(),
            Judgement::Unseen => "had not been seen yet".to_owned(),
            Judgement::Fits { .. } => "not needed".to_owned(),
        };
        *counts.entry(phrase).or_default() += 1;
    }
    let others: usize = counts.values().sum();
    let mut reasons: Vec<(String, usize)> = counts.into_iter().collect();
    reasons.sort_by_key(|(phrase, count)| (Reverse(*count), phrase.clone()));
    let reasons: Vec<String> =
        reasons.into_iter().map(|(phrase, count)| format!("{count} {phrase}")).collect();
    let (asked, more) = match wanted {
        Some(Wanted::Exactly(count) | Wanted::Between { min: count, .. }) => {
            (format!("{fitting}/{count}"), "more ")
        }
        Some(Wanted::All) | None => (fitting.to_string(), ""),
    };
    let list = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
    format!("{asked} clusters: 0/{others} {more}are available{list}.")
}

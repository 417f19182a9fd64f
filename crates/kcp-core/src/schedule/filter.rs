//! Which clusters may have a unit: one rule after the other, the first that says no is the reason.
//!
//! Rules for newcomers leave alone what is there; only a NoExecute taint and a change in git make a copy leave.

use kcp_api::{Effect, LabelSelector, Reason, Taint, Timestamp, toleration_for};

use super::Question;
use super::choose::Presence;
use crate::planner::fleet::{Access, Member};
use crate::safety::stops;

/// Whether a cluster may have the unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It may. Less is better.
    Fits {
        /// Untolerated PreferNoSchedule taints.
        penalty: usize,
        /// What is to be said about it.
        note: Option<Why>,
    },
    /// It may not, and has none.
    Excluded(Why),
    /// It has a copy that must leave.
    MustLeave {
        /// The rule.
        why: Why,
        /// A change in git, not the state of the cluster.
        voluntary: bool,
    },
    /// It would fit and nothing was seen of it yet.
    Unseen,
}

/// A rule and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Why {
    /// The rule.
    pub(crate) reason: Reason,
    /// Short, as it is counted in a list: `didn't match the selector`.
    pub(crate) phrase: String,
    /// More, about this very cluster.
    pub(crate) detail: Option<String>,
}

impl Why {
    fn new(reason: Reason, phrase: impl Into<String>) -> Self {
        Self { reason, phrase: phrase.into(), detail: None }
    }

    fn with(reason: Reason, phrase: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { reason, phrase: phrase.into(), detail: Some(detail.into()) }
    }

    /// Both.
    pub(crate) fn message(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}: {detail}", self.phrase),
            None => self.phrase.clone(),
        }
    }
}

/// Judges one cluster for one unit.
pub(crate) fn judge(question: &Question<'_>, member: &Member<'_>, presence: Presence) -> Judgement {
    let is_new = presence == Presence::Absent;
    let contact = contact(question, member);
    if is_new && let Some(why) = contact.clone() {
        return Judgement::Excluded(why);
    }
    if is_new && member.document.spec.unschedulable {
        return Judgement::Excluded(Why::new(Reason::Cordoned, "took nothing new (unschedulable)"));
    }
    if let Some(why) = selector(question, member) {
        return if is_new { Judgement::Excluded(why) } else { Judgement::MustLeave { why, voluntary: true } };
    }
    let taints = taints(question, member);
    if let Some(why) = taints.evicts {
        return if is_new {
            Judgement::Excluded(why)
        } else {
            Judgement::MustLeave { why, voluntary: false }
        };
    }
    if is_new && let Some(why) = taints.keeps_away {
        return Judgement::Excluded(why);
    }
    if is_new && member.access == Access::Unseen {
        return Judgement::Unseen;
    }
    Judgement::Fits { penalty: taints.penalty, note: contact.or(taints.note) }
}

/// What keeps newcomers away for want of contact.
fn contact(question: &Question<'_>, member: &Member<'_>) -> Option<Why> {
    match &member.access {
        Access::Lost(message) => Some(Why::with(Reason::ClusterUnreachable, "could not be reached", message)),
        Access::Closed(reason, message) if *reason == Reason::ManualCluster => {
            Some(Why::with(*reason, "had mode None", message))
        }
        Access::Closed(reason, message) => Some(Why::with(*reason, "must not be worked with", message)),
        Access::Open | Access::Partial if member.uid.is_none() => {
            Some(Why::new(Reason::ClusterIdentityUnknown, "had no known identity"))
        }
        Access::Open | Access::Partial | Access::Unseen => {
            let suspended = member.suspended.clone();
            let suspended =
                suspended.or_else(|| stops::on_placement(question.placement, member.name, question.now));
            suspended.map(|(reason, message)| Why::with(reason, "had its work suspended", message))
        }
    }
}

fn selector(question: &Question<'_>, member: &Member<'_>) -> Option<Why> {
    let selector: &LabelSelector = question.placement.spec.cluster_selector.as_ref()?;
    let fits = selector.matches(&member.document.metadata.labels);
    (!fits).then(|| Why::new(Reason::SelectorMismatch, "didn't match the selector"))
}

#[derive(Default)]
struct Taints {
    evicts: Option<Why>,
    keeps_away: Option<Why>,
    penalty: usize,
    note: Option<Why>,
}

fn taints(question: &Question<'_>, member: &Member<'_>) -> Taints {
    let mut found = Taints::default();
    for taint in &member.document.spec.taints {
        let toleration = toleration_for(&question.placement.spec.tolerations, taint);
        match (taint.effect, toleration) {
            (Effect::PreferNoSchedule, None) => found.penalty += 1,
            (Effect::NoSchedule, None) => {
                _ = found.keeps_away.get_or_insert_with(|| untolerated(taint, None))
            }
            (Effect::NoExecute, None) => _ = found.evicts.get_or_insert_with(|| untolerated(taint, None)),
            (Effect::NoExecute, Some(toleration)) => {
                let Some(seconds) = toleration.seconds() else { continue };
                let Some(added) = &taint.time_added else {
                    let said = format!(
                        "tolerates taint {} for {seconds} s, but the taint has no timeAdded to count from: stays",
                        braced(taint)
                    );
                    found.note.get_or_insert_with(|| Why::new(Reason::StaysPut, said));
                    continue;
                };
                let end = added.epoch_seconds().saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX));
                if end <= question.now {
                    let detail = format!("tolerated for {seconds} s, that is over");
                    found.evicts.get_or_insert_with(|| untolerated(taint, Some(detail)));
                } else {
                    // Bringing there now what has to leave soon helps nobody.
                    let detail = format!("tolerated for {seconds} s only");
                    found.keeps_away.get_or_insert_with(|| untolerated(taint, Some(detail)));
                    // No countdown: what is said must be the same until it happens.
                    let until = Timestamp::from_epoch_seconds(end);
                    let said = format!("tolerates taint {} until {}", braced(taint), until.as_str());
                    found.note.get_or_insert_with(|| Why::new(Reason::Evicting, said));
                }
            }
            (_, Some(_)) => {}
        }
    }
    found
}

fn untolerated(taint: &Taint, detail: Option<String>) -> Why {
    let phrase = format!("had untolerated taint {}", braced(taint));
    Why { reason: Reason::TaintNotTolerated, phrase, detail }
}

/// As kube-scheduler writes it: `{key: effect}`, with the value where there is one.
fn braced(taint: &Taint) -> String {
    let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
    format!("{{{}{value}: {}}}", taint.key, taint.effect.as_str())
}

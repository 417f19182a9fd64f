//! Times of the week in which changes may be made.

use serde::{Deserialize, Serialize};

use crate::Duration;

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs)]
pub enum Day {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

/// A time of the week in which changes may be made; outside of all windows they wait. Evacuations do not wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// Unique in its list.
    pub name: String,
    /// Days on which it opens; empty means every day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<Day>,
    /// When it opens, as HH:MM.
    pub start: String,
    /// How long it stays open.
    pub duration: Duration,
    /// Name of the time zone of `start`, like Europe/Berlin. Default: UTC.
    #[serde(default = "utc")]
    pub time_zone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

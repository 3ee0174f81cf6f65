//! When the program verifies matches, and anchors their ledgers.

use serde::Deserialize;

/// The regular verification of ledgers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// Hours between two verifications of all matches. 0: never.
    pub every_hours: u32,
    /// Hour of the day, in the zone of `match.zone`, at which the heads of all ledgers are anchored.
    pub anchor_hour: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Audit { every_hours: 24, anchor_hour: 3 }
    }
}

impl Audit {
    pub(super) fn check(&self) -> Result<(), String> {
        match self.anchor_hour {
            0..24 => Ok(()),
            hour => Err(format!("audit.anchor_hour is {hour}; it must be from 0 to 23")),
        }
    }
}

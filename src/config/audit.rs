//! The schedule on which the program verifies matches.

use serde::Deserialize;

/// The regular verification of ledgers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// Hours between two verifications of all matches. 0: never.
    pub every_hours: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Audit { every_hours: 24 }
    }
}
